"""API keys: how they are stored, and the check before each request."""

import secrets
from datetime import UTC, date, datetime
from hashlib import sha256

from flask import g, request
from sqlalchemy.exc import DBAPIError, TimeoutError
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from errors import MissingKeyError
from models import ApiKey, Customer, db
from storage.engine import end_transaction
from storage.selects import select_customer_by_key

MISSING_KEY = "Send your API key in the x-api-key header."
INVALID_KEY = "The API key in the x-api-key header is not valid."
CHALLENGE = WWWAuthenticate("ApiKey", {"header": "x-api-key"})
PREFIX_LENGTH = 6  # characters of a key that are shown to tell it from others; the rest cannot be guessed


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key, in hexadecimal: all that the database stores of it.

    A generated key is 256 random bits, so a plain hash cannot be brute-forced. Keys are found by their hash alone, so
    that no response time tells how much of a key was right.
    """
    return sha256(key.encode()).hexdigest()


def check_key() -> None:
    """Find the customer of a request that needs a key: `g.customer_id`.

    Raises Unauthorized (401), in the same words for an unknown, a revoked and an expired key, so that a stranger
    learns nothing. OPTIONS needs no key, since a browser's preflight request cannot send one.
    """
    if request.environ["REQUEST_METHOD"] == "OPTIONS":
        return
    key = request.environ.get("HTTP_X_API_KEY")
    if not key:
        raise MissingKeyError(MISSING_KEY, www_authenticate=CHALLENGE)
    customer_id = _find_customer(key)
    if not customer_id:
        raise Unauthorized(INVALID_KEY, www_authenticate=CHALLENGE)
    g.customer_id = customer_id


def identify_key() -> None:
    """Name the key in the log also for a request that needs no key, such as one that ends with 404 or 405.

    Flask runs no blueprint's `before_request` for these. A database that cannot be read does not change the response.
    """
    key = request.environ.get("HTTP_X_API_KEY")
    if key and ("api" not in request.blueprints or request.environ["REQUEST_METHOD"] == "OPTIONS"):
        try:
            _find_customer(key)
        except (DBAPIError, TimeoutError):
            end_transaction()


def _find_customer(key: str) -> int | None:
    """Return the id of a valid key's customer, or None, and set REMOTE_USER to the customer's name and the key's id."""
    parameters = {"hash": hash_key(key), "today": datetime.now(UTC).date()}
    found = db.session.connection().execute(select_customer_by_key(), parameters).first()
    if not found:
        return None
    request.environ["REMOTE_USER"] = f"{found.name}/{found.key_id}"
    customer_id: int = found.id
    return customer_id


def add_key(customer: Customer, key: str | None = None, expires_on: date | None = None) -> tuple[str, ApiKey]:
    """Add `key`, or a new random one, to the customer in the session's transaction; return it and its record."""
    key = key or secrets.token_urlsafe(32)
    record = ApiKey(
        customer_id=customer.id,
        hash=hash_key(key),
        prefix=key[: min(PREFIX_LENGTH, len(key) // 4)],  # a key of the user's own may be short
        created_at=datetime.now(UTC),
        expires_on=expires_on,
    )
    db.session.add(record)
    db.session.flush()
    return key, record
