"""The response cache: WSGI middleware that makes the application fast, and its responses never stale.

Only 200 responses of the endpoints are stored. An entry is found by the endpoint's path, the parameters that it knows,
the API key (hashed) and, with CORS, the Origin: everything of a request that the application's response depends on. It
is used while the database is at the version that was read before the application was called, and until its time: the
next scheduled article, or the end of the UTC day, when keys expire. Under these conditions the key check would come to
the same result, so a hit needs no second one. Nobody without that very key is ever served an entry; Umbraco's
CVE-2025-54425 shows what happens otherwise.

One entry serves plain, compressed, HEAD and conditional requests, so that the application renders once after a change.
"""

import gzip
import string
import time
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from io import BytesIO
from math import inf
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, quote
from weakref import WeakSet

from cachetools import LRUCache
from werkzeug.datastructures import Accept, Headers
from werkzeug.http import parse_accept_header, parse_etags
from werkzeug.wsgi import wrap_file

from storage.changes import FRESH_UNTIL, ChangeDetector

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

DAY = 86_400  # seconds
MEGABYTE = 1_000_000
ENTRY_OVERHEAD_BYTES = 2000  # that an entry takes besides its bodies
ALLOCATION_FACTOR = 1.25  # bytes of memory per byte of a body: bodies of many sizes leave gaps between them
MIN_GZIP_BYTES = 1400  # shorter bodies fit in one packet as they are
ZERO_COPY_THRESHOLD_BYTES = 32_768  # of a body, from which on every connection sends from one copy of it
MAX_SENDING_BYTES = 100_000_000  # of memory, for responses that are being sent and are not stored
HeaderList = list[tuple[str, str]]


@dataclass(slots=True, weakref_slot=True, eq=False)
class CachedResponse:
    """A response of the application, and the conditions under which it may be sent again (in seconds since 1970)."""

    status: str
    headers: HeaderList
    body: bytes
    etag: str  # empty for what nobody may store, such as an error
    user: str
    key: bytes
    version: Hashable
    valid_from: float
    expires_at: float
    gzipped: tuple[HeaderList, bytes] | None = None  # compressed when it is first asked for

    def is_fresh(self, version: Hashable, now: float) -> bool:
        """Return whether it may be sent at this version and time. The clock may have been set back."""
        return self.version == version and self.valid_from <= now < self.expires_at

    def size(self) -> int:
        """Return the bytes of memory that it takes."""
        length = len(self.body) + len(self.gzipped[1] if self.gzipped else b"")
        length += sum(len(value) for _, value in self.headers)  # Link may have 5 KB
        return int(length * ALLOCATION_FACTOR) + ENTRY_OVERHEAD_BYTES


class SharedBody(BytesIO):
    """A body that a server sends from the memory of its response, which stays for as long."""

    def __init__(self, response: CachedResponse, body: bytes) -> None:
        super().__init__(body)
        self._response = response


class ResponseCache:
    """Stores responses within `capacity` bytes, and evicts the least recently used first.

    `parameters` are those that an endpoint knows, by its path. Without a `detector` nothing is stored.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        detector: ChangeDetector | None,
        capacity: int,
        parameters: Mapping[str, tuple[str, ...]],
        *,
        vary_by_origin: bool,
    ) -> None:
        self._app, self._detector = app, detector
        self._parameters, self._vary_by_origin = parameters, vary_by_origin
        self._entries: LRUCache[bytes, CachedResponse] = LRUCache(capacity, CachedResponse.size)
        self._shared: WeakSet[CachedResponse] = WeakSet()  # stored, or not read to the end by a client
        self._lock = Lock()

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Respond to a request, from the cache if it has a fresh entry, in the encoding that the client prefers."""
        version = self._detector.version() if self._detector else None  # the engine, too, notices a replaced database
        normalize_environ(environ)
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return self._app(environ, start_response)
        key = self._entry_key(environ)
        with self._lock:
            response = self._entries.get(key)
        if not response or not response.is_fresh(version, time.time()):
            response = self._render(environ, key, version)
        if response.user:
            environ["REMOTE_USER"] = response.user
        status, headers, body = self._negotiate(response, environ)
        start_response(status, headers)
        if environ["REQUEST_METHOD"] == "HEAD":
            return []
        if len(body) < ZERO_COPY_THRESHOLD_BYTES or "wsgi.file_wrapper" not in environ or not self._share(response):
            return [body]
        return wrap_file(environ, SharedBody(response, body))

    def _entry_key(self, environ: "WSGIEnvironment") -> bytes:
        """Return what the entry of an endpoint's request is found by. Nothing is stored for other paths: b""."""
        path = environ["PATH_INFO"].removesuffix("/")
        if path not in self._parameters:
            return b""
        origin = environ.get("HTTP_ORIGIN") if self._vary_by_origin else None
        query = parse_query(environ["QUERY_STRING"], self._parameters[path])
        return sha256(repr((path, query, environ.get("HTTP_X_API_KEY"), origin)).encode()).digest()

    def _share(self, response: CachedResponse) -> bool:
        """Return whether a response may be sent from memory: those that are not read yet have a limit in all.

        waitress writes what is beyond it to temporary files.
        """
        with self._lock:
            if response not in self._shared:
                if sum(map(CachedResponse.size, self._shared)) > self._entries.maxsize + MAX_SENDING_BYTES:
                    return False
                self._shared.add(response)
        return True

    def _render(self, environ: "WSGIEnvironment", key: bytes, version: Hashable) -> CachedResponse:
        """Call the application, and store an endpoint's 200 under the version that was read before the call."""
        response = call_app(self._app, environ, key, version)
        if key and response.etag and version is not None:
            self._store(response)
        return response

    def _store(self, response: CachedResponse) -> None:
        """Store a response in place of an earlier one, or count its bytes again. Remove one that is too large."""
        with self._lock, suppress(ValueError):  # larger than the cache
            self._entries.pop(response.key, None)
            self._entries[response.key] = response

    def _negotiate(self, response: CachedResponse, environ: "WSGIEnvironment") -> tuple[str, HeaderList, bytes]:
        """Return status, headers and body, in the encoding that the client prefers; or a 304 if it has that body."""
        if not response.etag:
            return response.status, response.headers, response.body
        etags = [response.etag, f"{response.etag}-gzip"]  # each encoding has its own strong ETag: RFC 9110, 8.8.3
        compress = len(response.body) > MIN_GZIP_BYTES and accepts_gzip(environ.get("HTTP_ACCEPT_ENCODING", ""))
        if "HTTP_IF_NONE_MATCH" in environ:
            known = parse_etags(environ["HTTP_IF_NONE_MATCH"])
            for etag in filter(known.contains_weak, sorted(etags, reverse=compress)):
                headers = [header for header in response.headers if header[0] not in ("Content-Type", "Content-Length")]
                return "304 NOT MODIFIED", [*headers, ("ETag", f'"{etag}"')], b""
        headers, body = (response.gzipped or self._gzip(response)) if compress else (response.headers, response.body)
        return response.status, [*headers, ("ETag", f'"{etags[compress]}"')], body

    def _gzip(self, response: CachedResponse) -> tuple[HeaderList, bytes]:
        """Return headers and body compressed, and keep them with the entry."""
        body, headers = gzip.compress(response.body, 6, mtime=0), Headers(response.headers)
        headers["Content-Encoding"], headers["Content-Length"] = "gzip", str(len(body))
        response.gzipped = headers.to_wsgi_list(), body
        with self._lock:
            is_stored = self._entries.get(response.key) is response
        if is_stored:
            self._store(response)
        return response.gzipped


def call_app(app: "WSGIApplication", environ: "WSGIEnvironment", key: bytes, version: Hashable) -> CachedResponse:
    """Call an application with a request, as a GET, and return its response, as it may be stored under `key`."""
    now = time.time()
    environ = environ | {"REQUEST_METHOD": "GET"}
    started: list[Any] = []

    def start_response(status: str, headers: HeaderList, _exc_info: Any = None) -> Any:
        started[:] = status, headers

    chunks = app(environ, start_response)
    try:
        body = b"".join((*chunks, b""))  # a copy without the spare room of the JSON library's buffer
    finally:
        getattr(chunks, "close", lambda: None)()
    status, headers = started
    is_stored = status.startswith("200") and ("Cache-Control", "no-store") not in headers
    etag = sha256(body).hexdigest()[:32] if is_stored else ""
    expires_at = min((now // DAY + 1) * DAY, environ.get(FRESH_UNTIL, inf))
    return CachedResponse(status, headers, body, etag, environ.get("REMOTE_USER", ""), key, version, now, expires_at)


def normalize_environ(environ: "WSGIEnvironment") -> None:
    """Add what a WSGI server may leave out (PEP 3333), and remove what must not change a response.

    Werkzeug's routing rejects hosts that RFC 3986 allows, such as "a..b", and reads Upgrade. No response needs either.
    Of a query string's bytes, it reads UTF-8 alone.
    """
    query = quote(environ.get("QUERY_STRING", ""), safe=string.printable, encoding="latin-1")
    environ |= {"PATH_INFO": environ.get("PATH_INFO", ""), "QUERY_STRING": query}
    environ["HTTP_HOST"] = "localhost"
    environ.pop("HTTP_UPGRADE", None)


@lru_cache(64)
def parse_query(query: str, names: tuple[str, ...]) -> tuple[str | None, ...]:
    """Return the first value of each of these parameters in a query string.

    Latin-1 decodes each byte to another character, so that different values stay different.
    """
    values = dict(reversed(parse_qsl(query, keep_blank_values=True, encoding="latin-1"))) if names else {}
    return tuple(map(values.get, names))


@lru_cache(256)
def accepts_gzip(header: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip, and does not prefer plain bytes (RFC 9110, 12.5.3)."""
    accepted = parse_accept_header(header.lower().replace("x-gzip", "gzip"), Accept)  # its old name: 8.4.1.3
    return accepted.quality("gzip") > 0 and accepted.quality("gzip") >= dict(accepted).get("identity", 0)
