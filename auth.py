"""API keys: creation, lookup, and authentication of requests."""

import secrets
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from flask import Flask, current_app, g, request
from sqlalchemy import Row
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from content.text import printable
from errors import MissingKeyError
from models import ApiKey, Customer, db
from storage.queries import OWNER_BY_KEY

KeyOwner = Row[int, str, int]  # id and name of the customer, and id of the key

CHALLENGE = WWWAuthenticate("ApiKey", {"header": "x-api-key"})


class KeyOwnerCache:
    """The owners of valid keys, cached until the database changes or the day (UTC) ends.

    Invalid keys are not cached, since random ones would fill up memory.
    """

    def __init__(self) -> None:
        self._cached: tuple[Any, dict[str, KeyOwner]] = None, {}

    def find(self, key_hash: str) -> KeyOwner | None:
        """Return the owner of a key, if it is cached for the request's version of the database."""
        return self._owners().get(key_hash)

    def store(self, key_hash: str, owner: KeyOwner) -> None:
        """Cache the owner of a valid key, unless the version of the database is unknown or the cache is off."""
        if g.database_version is not None and current_app.config["CACHE_MB"]:
            self._owners()[key_hash] = owner

    def _owners(self) -> dict[str, KeyOwner]:
        """Return the cached owners by the hashes of their keys."""
        valid_for = g.database_version, datetime.now(UTC).date()
        cached_for, owners = self._cached
        if cached_for != valid_for:
            owners = {}
            self._cached = valid_for, owners  # a single assignment, so it is atomic for other threads
        return owners


def init_app(app: Flask) -> None:
    """Create the cache of key owners, so that a cached response can be sent without a query."""
    app.extensions["key_owners"] = KeyOwnerCache()


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key as hexadecimal digits. Only this and the first characters of keys are stored.

    Generated keys are 256 random bits, so a fast, unsalted hash is enough. Looking keys up by their hash also avoids
    timing attacks: response times do not depend on how much of a guessed key is correct.
    """
    return sha256(key.encode()).hexdigest()


def add_key(customer: Customer, key: str | None = None, expires_on: date | None = None) -> tuple[str, ApiKey]:
    """Add `key`, by default a random one, to the customer in the session's transaction. Returns it and its record."""
    key = key or secrets.token_urlsafe(32)
    record = ApiKey(
        customer_id=customer.id,
        hash=hash_key(key),
        prefix=key[: min(6, len(key) // 4)],  # a key that an operator chose may be short
        created_at=datetime.now(UTC),
        expires_on=expires_on,
    )
    db.session.add(record)
    db.session.flush()
    return key, record


def check_key() -> None:
    """Authenticate the request.

    Sets `g.key_hash`, `g.key_owner`, `g.key_was_cached` and, for the access log, REMOTE_USER.

    OPTIONS requires no key: its response only lists methods, and preflight requests are handled by endpoints.cors.

    Raises Unauthorized (401) if the key is missing or not valid. The response is identical for unknown, revoked and
    expired keys, so that a caller cannot distinguish them.
    """
    if request.method == "OPTIONS":
        return
    key = request.headers.get("x-api-key")
    if not key:
        raise MissingKeyError("Send your API key in the x-api-key header.", www_authenticate=CHALLENGE)
    g.key_hash = hash_key(key)
    cache: KeyOwnerCache = current_app.extensions["key_owners"]
    cached = cache.find(g.key_hash)
    g.key_was_cached = cached is not None
    _set_owner(cached or find_key_owner(g.key_hash))
    if not cached:
        cache.store(g.key_hash, g.key_owner)


def check_key_again() -> None:
    """Look the key up in the transaction in which the view reads, if `check_key` found it in the cache.

    Otherwise, a restore between the two could give the customer's id, and so its articles, to another customer. Raises
    Unauthorized (401) if the key is no longer valid.
    """
    if g.key_was_cached:
        _set_owner(find_key_owner(g.key_hash))


def find_key_owner(key_hash: str) -> KeyOwner | None:
    """Look up a key by its hash. Returns a row of OWNER_BY_KEY, or None if the key is not valid."""
    parameters = {"hash": key_hash, "today": datetime.now(UTC).date()}
    return db.session.execute(OWNER_BY_KEY, parameters).one_or_none()


def _set_owner(owner: KeyOwner | None) -> None:
    """Set the owner of the request's key. Raises Unauthorized (401) without one."""
    if not owner:
        raise Unauthorized("The API key in the x-api-key header is not valid.", www_authenticate=CHALLENGE)
    g.key_owner = owner
    request.environ["REMOTE_USER"] = printable(f"{owner.name}/{owner.key_id}")
