"""The response cache: WSGI middleware that makes the application fast, and its responses never stale.

For each request it reads the database's version, and looks for an entry. If there is none, it calls the application
once, and stores a 200 of the endpoints under the version that was read before the call. So an entry may be newer than
its version, but never older.

An entry is found by everything that a response depends on: the endpoint's path, the parameters that it knows, the API
key (hashed) and, with CORS, the Origin. It is fresh while the database is at the same version, and until its time: the
next scheduled article, or midnight in UTC, when keys expire. Under these conditions the key check would come to the
same result. Nobody without that very key is ever served an entry.

A hit runs no hook of Flask, such as `before_request`. "What runs for every request" in CONTRIBUTING.md says how to add
something that has to.
"""

import time
from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from threading import Lock
from urllib.parse import parse_qsl, urlencode
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from cachetools import LRUCache

from serving.representations import RenderedResponse, render, send
from storage.changes import ChangeDetector

DAY_SECONDS = 86_400
ENTRY_OVERHEAD_BYTES = 2000  # An entry takes these besides its bodies.

# No response depends on these two headers, so one entry serves all of their values. The application must not see them:
# before any view runs, Werkzeug's routing rejects some hosts, such as "a..b", and a WebSocket handshake.
NEUTRAL_HEADERS = {"HTTP_HOST": "localhost", "HTTP_UPGRADE": ""}


@dataclass(slots=True, frozen=True)
class Entry:
    """A stored response, and the conditions under which it may be sent again. Times are in seconds since 1970."""

    response: RenderedResponse
    version: Hashable
    stored_at: float
    expires_at: float

    def size(self) -> int:
        """Return the bytes of memory that it takes: its body, and room for the compressed one and for gaps."""
        return 2 * len(self.response.body) + ENTRY_OVERHEAD_BYTES


class ResponseCache:
    """WSGI middleware that stores responses within `capacity` bytes, and evicts the least recently used first.

    `parameters` are those that an endpoint knows, by its path. With a capacity of 0, every request calls the
    application. Responses are sent in the form that the client asks for, stored or not.
    """

    def __init__(
        self,
        app: WSGIApplication,
        detector: ChangeDetector,
        capacity: int,
        parameters: Mapping[str, tuple[str, ...]],
        *,
        vary_by_origin: bool,
    ) -> None:
        self._app, self._detector = app, detector
        self._parameters, self._vary_by_origin = parameters, vary_by_origin
        self._entries: LRUCache[bytes, Entry] = LRUCache(capacity, Entry.size)
        self._lock = Lock()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Respond to a request."""
        # This comes first for every request, since it also makes the engine notice a replaced database.
        version = self._detector.version()
        environ |= NEUTRAL_HEADERS
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
            return self._app(environ, start_response)
        path = environ.get("PATH_INFO", "").removesuffix("/")
        if path in self._parameters:
            response = self._find_or_render(path, environ, version)
        else:
            response = render(self._app, environ)
        return send(response, environ, start_response)

    def _find_or_render(self, path: str, environ: WSGIEnvironment, version: Hashable) -> RenderedResponse:
        """Return the response of a fresh entry, or of the application. Its 200 is stored."""
        names = self._parameters[path]
        values = parse_query(environ.get("QUERY_STRING", ""), names)
        origin = environ.get("HTTP_ORIGIN") if self._vary_by_origin else None
        key = sha256(repr((path, values, environ.get("HTTP_X_API_KEY"), origin)).encode()).digest()
        now = time.time()
        with self._lock:
            entry = self._entries.get(key)
        # The clock may have been set back since the entry was stored.
        if entry and entry.version == version and entry.stored_at <= now < entry.expires_at:
            return entry.response
        known = {name: value for name, value in zip(names, values, strict=True) if value is not None}
        query = urlencode(known, encoding="latin-1")
        response = render(self._app, environ | {"QUERY_STRING": query})
        if response.etag and version is not None:
            midnight = (now // DAY_SECONDS + 1) * DAY_SECONDS
            with self._lock, suppress(ValueError):  # It is larger than the cache.
                self._entries[key] = Entry(response, version, now, min(midnight, response.fresh_until))
        return response


@lru_cache(64)
def parse_query(query: str, names: tuple[str, ...]) -> tuple[str | None, ...]:
    """Return the first value of each of these parameters in a query string.

    Latin-1 decodes each byte to another character, so that different values stay different.
    """
    values = dict(reversed(parse_qsl(query, keep_blank_values=True, encoding="latin-1")))
    return tuple(map(values.get, names))
