"""API keys: creation, lookup, and authentication of requests."""

import secrets
from datetime import UTC, date, datetime
from hashlib import sha256

from flask import Flask, g, request
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from content.text import printable
from endpoints.caching import look_up_response
from errors import MissingKeyError
from models import ApiKey, Customer, db
from storage.engine import close_session
from storage.queries import KeyOwner, access_rule

API_BLUEPRINT = "api"  # the parent of the endpoints that require a key
CHALLENGE = WWWAuthenticate("ApiKey", {"header": "x-api-key"})


def init_app(app: Flask) -> None:
    """Authenticate each request to the API before its view runs."""
    app.before_request(authenticate)


def authenticate() -> None:
    """Check the key of a request to the API, and set `g.cache_lookup` and `g.key_owner`, whose articles it may read.

    The owner comes from memory only if a fresh response to the same request and key is cached. That response proves the
    key valid. It was made today (UTC), and keys expire only at the end of a day. The database has not changed since, so
    the key has been neither revoked nor given to another customer.

    Otherwise, the owner is looked up in the transaction in which the view reads the articles. Between two transactions,
    a restore could give the owner's id, and thereby its articles, to another customer.

    OPTIONS requires no key: its response only lists methods, and `endpoints.cors` handles preflights.

    Raises Unauthorized (401) if the key is missing or not valid. The response is identical for unknown, revoked and
    expired keys, so that a caller cannot distinguish them.
    """
    close_session()  # in an outer application context, the session may hold an older snapshot
    if request.method == "OPTIONS" or API_BLUEPRINT not in request.blueprints:
        return
    key = request.headers.get("x-api-key")
    if not key:
        raise MissingKeyError("Send your API key in the x-api-key header.", www_authenticate=CHALLENGE)
    key_hash = hash_key(key)
    lookup = look_up_response(key_hash)  # first, because it reads the version of the database
    owner = lookup.entry.key_owner if lookup.entry else _find_owner(key_hash)
    request.environ["REMOTE_USER"] = printable(f"{owner.name}/{owner.key_id}")  # for the access log
    g.cache_lookup = lookup
    g.key_owner = owner


def _find_owner(key_hash: str) -> KeyOwner:
    """Look up the owner of a key by the key's hash. Raises Unauthorized (401) if the key is not valid."""
    parameters = {"hash": key_hash, "today": datetime.now(UTC).date()}
    owner = db.session.execute(access_rule().key_owner, parameters).one_or_none()
    if not owner:
        raise Unauthorized("The API key in the x-api-key header is not valid.", www_authenticate=CHALLENGE)
    return KeyOwner(*owner)


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key as hexadecimal digits. Only this and the first characters of keys are stored.

    Generated keys are 256 random bits, so a fast, unsalted hash is enough. Looking keys up by their hash also avoids
    timing attacks: response times do not depend on how much of a guessed key is correct.
    """
    return sha256(key.encode()).hexdigest()


def add_key(customer: Customer, key: str | None = None, expires_on: date | None = None) -> tuple[str, ApiKey]:
    """Add `key`, by default a random one, to the customer in the session's transaction. Returns the key and its row."""
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
