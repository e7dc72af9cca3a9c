"""API keys: how they are stored, and the check before each request that needs one."""

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
    """The valid keys that one application has seen, at one version of the database and on one day (UTC).

    Invalid keys are not remembered: random ones could fill the memory.
    """

    def __init__(self) -> None:
        self._seen: tuple[Any, dict[str, Row[int, str, int]]] = None, {}

    def find(self, hash: str, today: date, version: Hashable) -> Row[int, str, int] | None:
        """Return what `find_customer` does, from memory if possible."""
        seen_at, customers = self._seen
        if seen_at != (version, today):
            customers = {}
            self._seen = (version, today), customers  # one assignment, so that no thread sees half of it
        if hash not in customers and (customer := find_customer(hash, today)):
            customers[hash] = customer
        return customers.get(hash)


def init_app(app: Flask) -> None:
    """Set up the memory of valid keys, so that a cached response needs no query."""
    app.extensions["valid_keys"] = ValidKeys()


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key, in hexadecimal: the only form in which the database stores it.

    A plain hash is enough because generated keys are 256 random bits. Keys are looked up by their hash, so response
    times do not reveal how much of a key was right.
    """
    return sha256(key.encode()).hexdigest()


def check_key() -> None:
    """Find the customer of a request's API key. Sets `g.customer` and, for the access log, REMOTE_USER.

    OPTIONS needs no key: its response only lists methods, and endpoints.cors responds to preflight requests.

    Raises Unauthorized (401), identical for unknown, revoked and expired keys, so a caller cannot tell them apart.
    """
    if request.method == "OPTIONS":
        return
    key = request.headers.get("x-api-key")
    if not key:
        raise MissingKeyError("Send your API key in the x-api-key header.", www_authenticate=CHALLENGE)
    hash, today, version = hash_key(key), datetime.now(UTC).date(), g.database_version
    if version is None or not current_app.config["CACHE_MB"]:
        customer = find_customer(hash, today)
    else:
        customer = current_app.extensions["valid_keys"].find(hash, today, version)
    if not customer:
        raise Unauthorized("The API key in the x-api-key header is not valid.", www_authenticate=CHALLENGE)
    g.customer = customer
    request.environ["REMOTE_USER"] = printable(f"{customer.name}/{customer.key_id}")


def find_customer(hash: str, today: date) -> Row[int, str, int] | None:
    """Look a key up in the database. Returns what CUSTOMER_BY_KEY selects, or None if the key is not valid."""
    return db.session.execute(CUSTOMER_BY_KEY, {"hash": hash, "today": today}).one_or_none()
