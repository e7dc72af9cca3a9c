"""The forms in which a response is sent: plain or compressed, without its body, or as a 304 (RFC 9110).

The application renders a response once, as for a GET. These functions do the rest, for the page and its files too.
"""

import gzip
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from math import inf
from typing import Any
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.datastructures import Accept, Headers
from werkzeug.http import parse_accept_header, parse_etags

from storage.changes import FRESH_UNTIL

MIN_GZIP_BYTES = 1400  # A shorter body fits in one packet as it is.
HeaderList = list[tuple[str, str]]

parse_if_none_match = lru_cache(256)(parse_etags)


@dataclass(slots=True, eq=False)
class RenderedResponse:
    """A response of the application to a GET."""

    status: str
    headers: HeaderList
    body: bytes
    etag: str  # It is empty if nobody may store the response: it is not a 200, or says no-store.
    user: str  # The customer and key id, for the access log. It is empty without a valid key.
    fresh_until: float  # In seconds since 1970. Then the response changes without a commit.
    gzipped: tuple[HeaderList, bytes] | None = None  # It is compressed when a client first asks for that.


def render(app: WSGIApplication, environ: WSGIEnvironment) -> RenderedResponse:
    """Return the application's response to a request, as if its method were GET."""
    environ = environ | {"REQUEST_METHOD": "GET"}
    started: list[Any] = []

    def start_response(status: str, headers: HeaderList, _exc_info: Any = None) -> Any:
        started[:] = status, headers

    chunks = app(environ, start_response)
    try:
        # The last part makes a copy: a join of one chunk returns orjson's bytes, which have spare room behind them.
        body = b"".join([*chunks, b""])
    finally:
        getattr(chunks, "close", lambda: None)()
    status, headers = started
    may_be_stored = status.startswith("200") and ("Cache-Control", "no-store") not in headers
    etag = sha256(body).hexdigest()[:32] if may_be_stored else ""
    return RenderedResponse(status, headers, body, etag, environ.get("REMOTE_USER", ""), environ.get(FRESH_UNTIL, inf))


def send(response: RenderedResponse, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    """Respond to a GET or HEAD request, in the form that the client asks for."""
    if response.user:
        environ["REMOTE_USER"] = response.user
    status, headers, body = select_form(response, environ)
    start_response(status, headers)
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]


def select_form(response: RenderedResponse, environ: WSGIEnvironment) -> tuple[str, HeaderList, bytes]:
    """Return status, headers and body, in the encoding that the client prefers; or a 304 if it has that body."""
    if not response.etag:
        return response.status, response.headers, response.body
    compress = len(response.body) > MIN_GZIP_BYTES and accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", ""))
    etags = [response.etag, f"{response.etag}-gzip"]  # Each encoding has its own strong ETag (RFC 9110, 8.8.3).
    if compress:
        etags.reverse()
    if "HTTP_IF_NONE_MATCH" in environ:
        known = parse_if_none_match(environ["HTTP_IF_NONE_MATCH"])
        for etag in filter(known.contains_weak, etags):
            headers = [header for header in response.headers if header[0] not in ("Content-Type", "Content-Length")]
            return "304 NOT MODIFIED", [*headers, ("ETag", f'"{etag}"')], b""
    headers, body = compressed(response) if compress else (response.headers, response.body)
    return response.status, [*headers, ("ETag", f'"{etags[0]}"')], body


def compressed(response: RenderedResponse) -> tuple[HeaderList, bytes]:
    """Return headers and body compressed, and keep them with the response."""
    if not response.gzipped:
        body, headers = gzip.compress(response.body, 6, mtime=0), Headers(response.headers)
        headers["Content-Encoding"], headers["Content-Length"] = "gzip", str(len(body))
        response.gzipped = headers.to_wsgi_list(), body
    return response.gzipped


@lru_cache(256)
def accepts_gzip(header: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip, and does not prefer plain bytes (RFC 9110, 12.5.3)."""
    accepted = parse_accept_header(header.lower().replace("x-gzip", "gzip"), Accept)  # Its old name: 8.4.1.3.
    return accepted.quality("gzip") > 0 and accepted.quality("gzip") >= dict(accepted).get("identity", 0)
