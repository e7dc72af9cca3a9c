"""API keys: hashing, lookup, and authentication of requests."""

from collections.abc import Hashable
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from flask import Flask, current_app, g, request
from sqlalchemy import Row
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from content.text import printable
from errors import MissingKeyError
from models import db
from storage.queries import CUSTOMER_BY_KEY

CHALLENGE = WWWAuthenticate("ApiKey", {"header": "x-api-key"})


class ValidKeys:
    """A cache of valid keys for one application. It is emptied when the database changes, and at midnight UTC.

    Invalid keys are not cached, since random ones would fill up memory.
    """

    def __init__(self) -> None:
        self._cached: tuple[Any, dict[str, Row[int, str, int]]] = None, {}

    def find(self, hash: str, today: date, version: Hashable) -> Row[int, str, int] | None:
        """Return the result of `find_key_owner`, cached if possible."""
        cached_for, customers = self._cached
        if cached_for != (version, today):
            customers = {}
            self._cached = (version, today), customers  # a single assignment, so it is atomic for other threads
        if hash not in customers and (customer := find_key_owner(hash, today)):
            customers[hash] = customer
        return customers.get(hash)


def init_app(app: Flask) -> None:
    """Set up the cache of valid keys, which lets a cached response be served without a query."""
    app.extensions["valid_keys"] = ValidKeys()


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key as hexadecimal digits. Only this and the first characters of keys are stored.

    Generated keys are 256 random bits, so a fast, unsalted hash is enough. Looking keys up by their hash also avoids
    timing attacks: response times do not depend on how much of a guessed key is correct.
    """
    return sha256(key.encode()).hexdigest()


def check_key() -> None:
    """Authenticate the request. Sets `g.customer` and, for the access log, REMOTE_USER.

    OPTIONS requires no key: its response only lists methods, and preflight requests are handled by endpoints.cors.

    Raises Unauthorized (401). The response is identical for unknown, revoked and expired keys, so that a caller cannot
    distinguish them.
    """
    if request.method == "OPTIONS":
        return
    key = request.headers.get("x-api-key")
    if not key:
        raise MissingKeyError("Send your API key in the x-api-key header.", www_authenticate=CHALLENGE)
    hash, today, version = hash_key(key), datetime.now(UTC).date(), g.database_version
    if version is None or not current_app.config["CACHE_MB"]:
        customer = find_key_owner(hash, today)
    else:
        customer = current_app.extensions["valid_keys"].find(hash, today, version)
    if not customer:
        raise Unauthorized("The API key in the x-api-key header is not valid.", www_authenticate=CHALLENGE)
    g.customer = customer
    request.environ["REMOTE_USER"] = printable(f"{customer.name}/{customer.key_id}")


def find_key_owner(hash: str, today: date) -> Row[int, str, int] | None:
    """Look up a key by its hash. Returns a row of CUSTOMER_BY_KEY, or None if the key is not valid."""
    return db.session.execute(CUSTOMER_BY_KEY, {"hash": hash, "today": today}).one_or_none()
