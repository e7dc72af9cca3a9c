"""JSON answers that a client can keep and ask about again."""

from hashlib import sha256
from typing import Any

import orjson
from flask import Response, request

# Only the client itself may keep an answer, and it asks each time whether it still holds.
HEADERS = {"Cache-Control": "private, no-cache", "Vary": "Accept-Encoding, x-api-key"}


def json_response(payload: dict[str, Any]) -> Response:
    """Answer with `payload` as JSON and its ETag, or with 304 where the client has just that (RFC 9110, 13.1.2)."""
    body = orjson.dumps(payload)
    etag = sha256(body).hexdigest()[:32]
    if request.if_none_match.contains_weak(etag):
        response = Response(status=304, headers=HEADERS)
    else:
        response = Response(body, headers=HEADERS, mimetype="application/json")
    response.set_etag(etag)
    return response
