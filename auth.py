"""API keys: creation, lookup, and authentication of requests."""

import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime
from hashlib import sha256

from flask import Flask, g, request
from sqlalchemy import Row
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from content.text import printable
from errors import MissingKeyError
from models import ApiKey, Customer, db
from storage.changes import ChangeDetector, DatabaseVersion, change_detector
from storage.engine import close_session
from storage.queries import access_rule

KeyOwner = Row[int, str, str, int]  # a row of storage.queries.OWNER_BY_KEY

API_BLUEPRINT = "api"  # the parent of the endpoints that require a key
CHALLENGE = WWWAuthenticate("ApiKey", {"header": "x-api-key"})


def init_app(app: Flask) -> None:
    """Before the view of each request runs, read the database's version, and authenticate requests to the API."""
    app.before_request(Authenticator(change_detector(app), may_cache=bool(app.config["CACHE_MB"])).authenticate)


@dataclass
class Access:
    """What an authenticated request may read: one customer's articles."""

    database_version: DatabaseVersion | None  # None while the database is unavailable
    key_hash: str
    owner: KeyOwner
    is_cached: bool  # the owner was looked up for this version, so it is good enough for a response cached under it

    def confirm_owner(self) -> None:
        """Look a cached owner up in the transaction in which the view will read.

        Otherwise, a restore between the two could give the customer's id, and so its articles, to another customer.
        Raises Unauthorized (401) if the key is no longer valid.
        """
        if self.is_cached:
            self.owner = _find_owner(self.key_hash)
            _log_owner(self.owner)


def current_access() -> Access:
    """Return the access of the current request, which requires a key."""
    access: Access = g.access
    return access


class Authenticator:
    """Authenticates an application's requests.

    The owners of valid keys are cached until the database changes or the day (UTC) ends, so that a cached response can
    be sent without a query. Invalid keys are not cached, since random ones would fill up memory.
    """

    def __init__(self, detector: ChangeDetector, *, may_cache: bool) -> None:
        self._detector = detector
        self._may_cache = may_cache
        self._cached: tuple[tuple[DatabaseVersion | None, date] | None, dict[str, KeyOwner]] = None, {}

    def authenticate(self) -> None:
        """Read the database's version and then, for the endpoints that require one, check the key.

        The order matters: what a request reads, including the owner of the key, may be newer than the version under
        which it is cached, but never older. The version is read for other paths too, since this also detects a
        replaced database file. OPTIONS requires neither: its response only lists methods, and endpoints.cors handles
        preflights.

        Raises Unauthorized (401) if the key is missing or not valid. The response is identical for unknown, revoked and
        expired keys, so that a caller cannot distinguish them.
        """
        close_session()  # in an outer application context, the session may hold an older snapshot
        if request.method == "OPTIONS":
            return
        version = self._detector.version()
        if API_BLUEPRINT not in request.blueprints:
            return
        key = request.headers.get("x-api-key")
        if not key:
            raise MissingKeyError("Send your API key in the x-api-key header.", www_authenticate=CHALLENGE)
        key_hash = hash_key(key)
        owners = self._cached_owners(version)
        cached = owners.get(key_hash)
        owner = cached or _find_owner(key_hash)
        if version is not None and self._may_cache:
            owners[key_hash] = owner
        g.access = Access(version, key_hash, owner, is_cached=cached is not None)
        _log_owner(owner)

    def _cached_owners(self, version: DatabaseVersion | None) -> dict[str, KeyOwner]:
        """Return the owners of valid keys, by their hashes, that are cached for a version of the database."""
        valid_for = version, datetime.now(UTC).date()
        cached_for, owners = self._cached
        if cached_for != valid_for:
            owners = {}
            self._cached = valid_for, owners  # a single assignment, so it is atomic for other threads
        return owners


def _find_owner(key_hash: str) -> KeyOwner:
    """Look up the owner of a key by the key's hash. Raises Unauthorized (401) if the key is not valid."""
    parameters = {"hash": key_hash, "today": datetime.now(UTC).date()}
    owner = db.session.execute(access_rule().key_owner, parameters).one_or_none()
    if not owner:
        raise Unauthorized("The API key in the x-api-key header is not valid.", www_authenticate=CHALLENGE)
    return owner


def _log_owner(owner: KeyOwner) -> None:
    """Name the customer and the key in the access log."""
    request.environ["REMOTE_USER"] = printable(f"{owner.name}/{owner.key_id}")


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key as hexadecimal digits. Only this and the first characters of keys are stored.

    Generated keys are 256 random bits, so a fast, unsalted hash is enough. Looking keys up by their hash also avoids
    timing attacks: response times do not depend on how much of a guessed key is correct.
    """
    return sha256(key.encode()).hexdigest()


def add_key(customer: Customer, key: str | None = None, expires_on: date | None = None) -> tuple[str, ApiKey]:
    """Add `key`, by default a random one, to the customer in the session's transaction. Returns it and its row."""
    key = key or secrets.token_urlsafe(32)
    row = ApiKey(
        customer_id=customer.id,
        hash=hash_key(key),
        prefix=key[: min(6, len(key) // 4)],  # a key that an operator chose may be short
        created_at=datetime.now(UTC),
        expires_on=expires_on,
    )
    db.session.add(row)
    db.session.flush()
    return key, row
