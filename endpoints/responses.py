"""JSON answers that a client can keep and ask about again."""

from collections.abc import Callable, Hashable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import orjson
from flask import Response, current_app, g, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from cache import Answer, current_cache
from models import db, next_publication

# Only the client itself may keep an answer, and it asks each time whether it still holds.
HEADERS = [("Cache-Control", "private, no-cache"), ("Vary", "Accept-Encoding, x-api-key")]
WORTH_COMPRESSING = 1400  # bytes; what is shorter goes in one packet as it is


def respond(query: tuple[Hashable, ...], render: Callable[[dict[str, Any]], dict[str, Any]]) -> Response:
    """Answer with what `render` makes, as JSON, or what it made before, with its ETag.

    `render` gets what every select binds, `customer_id` and `now`. `query` is all else that its answer depends on.
    Where the client has just that answer, it is a 304 (RFC 9110, 13.1.2).
    """

    def make(at_last: bool) -> Answer:
        now = datetime.now(UTC)
        parameters = {"customer_id": g.customer_id, "now": now}
        answer = Answer(orjson.dumps(render(parameters)), since=now.timestamp())
        if cache.keeps(g.version) and (due := db.session.connection().scalar(next_publication(), parameters)):
            answer.until = due.timestamp()
        cache.check_undisturbed(g.version, at_last=at_last)
        return answer

    def read(at_last: bool) -> Answer:
        return cache.answer((request.endpoint, g.customer_id, *query), g.version, lambda: make(at_last))

    cache = current_cache()
    answer = cache.undisturbed(read, current_app.preprocess_request)  # whose key it is, is read again too
    request.environ["cache.answer"] = answer  # for the server, which answers the next request like this one at once
    return _response_of(answer)


def _response_of(answer: Answer) -> Response:
    """Send an answer in the encoding that the client prefers, or a 304 where it has it in either."""
    environ = request.environ
    compress = len(answer.body) > WORTH_COMPRESSING and _accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", ""))
    etags = [answer.etag, f"{answer.etag}-gzip"]  # other bytes have another strong ETag: RFC 9110, 8.8.3
    if compress:
        etags.reverse()
    if "HTTP_IF_NONE_MATCH" in environ:
        for etag in filter(request.if_none_match.contains_weak, etags):
            return Response(status=304, headers=[*HEADERS, ("ETag", f'"{etag}"')])
    headers = [*HEADERS, ("ETag", f'"{etags[0]}"')]
    if compress:
        headers.append(("Content-Encoding", "gzip"))
    body = current_cache().gzipped(answer) if compress else answer.body
    return Response(body, headers=headers, content_type="application/json")


@lru_cache(1000)
def _accepts_gzip(header: str) -> bool:
    """Tell whether an Accept-Encoding header allows gzip, and does not prefer the body as it is (RFC 9110, 12.5.3)."""
    accepted = parse_accept_header(header.lower(), Accept)
    return accepted.quality("gzip") > 0 and accepted.quality("gzip") >= dict(accepted).get("identity", 0)
