"""API keys: how they are stored, and the check before each request that needs one."""

from datetime import UTC, datetime
from hashlib import sha256

from flask import g, request
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from errors import MissingKeyError
from field_types import printable
from models import db
from storage.selects import CUSTOMER_BY_KEY

CHALLENGE = WWWAuthenticate("ApiKey", {"header": "x-api-key"})


def hash_key(key: str) -> str:
    """Return the SHA-256 of a key, in hexadecimal: all that the database stores of it.

    A generated key is 256 random bits, so a plain hash cannot be brute-forced. Keys are found by their hash alone, so
    that no response time tells how much of a key was right.
    """
    return sha256(key.encode()).hexdigest()


def check_key() -> None:
    """Find the customer of a request's API key. Sets `g.customer` and, for the access log, REMOTE_USER.

    OPTIONS needs no key: its response names the methods alone, and endpoints.cors responds to preflight requests.

    Raises Unauthorized (401), in the same words for an unknown, a revoked and an expired key, so that a stranger learns
    nothing.
    """
    if request.method == "OPTIONS":
        return
    key = request.headers.get("x-api-key")
    if not key:
        raise MissingKeyError("Send your API key in the x-api-key header.", www_authenticate=CHALLENGE)
    parameters = {"hash": hash_key(key), "today": datetime.now(UTC).date()}
    customer = db.session.connection().execute(CUSTOMER_BY_KEY, parameters).first()
    if not customer:
        raise Unauthorized("The API key in the x-api-key header is not valid.", www_authenticate=CHALLENGE)
    g.customer = customer
    request.environ["REMOTE_USER"] = printable(f"{customer.name}/{customer.key_id}")
