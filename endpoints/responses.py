"""The common part of all responses."""

from datetime import datetime
from typing import Any

import orjson
from flask import Response, request

from storage.changes import FRESH_UNTIL

# Only the client itself may store a response, and it has to ask each time whether it is still valid.
HEADERS = [("Cache-Control", "private, no-cache"), ("Vary", "Accept-Encoding, x-api-key")]

# The page, its files and the description are the same for everybody.
PUBLIC_HEADERS = [("Cache-Control", "no-cache"), ("Vary", "Accept-Encoding")]


def json_response(content: dict[str, Any], next_publication: datetime | None) -> Response:
    """Return `content` as JSON, which is fresh until `next_publication`, if there is one."""
    if next_publication:
        request.environ[FRESH_UNTIL] = next_publication.timestamp()
    return Response(orjson.dumps(content), headers=HEADERS, content_type="application/json")
