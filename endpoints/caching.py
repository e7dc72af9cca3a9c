"""The response cache of the three endpoints that need a key.

It sits around their views: hooks run for every request, and the key has been checked before an entry is looked up by
endpoint, customer and the parameters that the endpoint knows. An entry is fresh while the database is at the version
that was read before the entry's data (so the data may be newer, but never older), and until the next scheduled article
is due.
"""

import gzip
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache, wraps
from hashlib import sha256
from threading import Lock
from typing import Any

import orjson
from cachetools import LRUCache
from flask import Flask, Response, current_app, g, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from storage.engine import end_transaction

MIN_GZIP_BYTES = 1400  # a shorter body fits in one packet as it is
ENTRY_OVERHEAD = 2000  # bytes of memory, besides the bodies
# The client may store a response, but has to revalidate it each time.
HEADERS = [("Cache-Control", "private, no-cache"), ("Vary", "Accept-Encoding, x-api-key")]


@dataclass(frozen=True)
class Rendered:
    """A rendered JSON document. Each response made from it gets separate headers."""

    body: bytes
    expires_at: datetime | None  # when it changes without a commit
    links: str = ""  # Link header

    # cached_property writes to __dict__, which works in a frozen class
    @cached_property
    def etag(self) -> str:
        return sha256(self.body).hexdigest()[:32]

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.body, 6, mtime=0)

    def make_response(self) -> Response:
        """Return a response to the current request: plain or compressed, or a 304 if the client has it already.

        `Response.make_conditional` would also evaluate If-Match, and compares one ETag. Here either encoding's matches.
        """
        etags = [self.etag, f"{self.etag}-gzip"]  # Each encoding has its own strong ETag (RFC 9110, 8.8.3).
        response = Response(self.body, headers=HEADERS, content_type="application/json")
        if len(self.body) > MIN_GZIP_BYTES and accepts_gzip(request.headers.get("Accept-Encoding", "")):
            etags.reverse()
            response.data = self.gzipped
            response.headers["Content-Encoding"] = "gzip"
        if self.links:
            response.headers["Link"] = self.links
        matched = next(filter(request.if_none_match.contains_weak, etags), None)
        if matched:
            response.status_code = 304
        response.set_etag(matched or etags[0])
        return response


def render(content: dict[str, Any], expires_at: datetime | None, links: str = "") -> Rendered:
    """Return `content` as a JSON document."""
    body = orjson.dumps(content)
    return Rendered(bytes(memoryview(body)), expires_at, links)  # a copy: orjson's buffer is up to three times as large


@lru_cache(256)
def accepts_gzip(header: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip, and does not prefer plain bytes (RFC 9110, 12.5.3)."""
    accepted = parse_accept_header(header.lower().replace("x-gzip", "gzip"), Accept)  # its old name: 8.4.1.3
    return accepted.quality("gzip") > 0 and accepted.quality("gzip") >= dict(accepted).get("identity", 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A rendered document, and the conditions under which it may be served again."""

    rendered: Rendered
    version: Hashable
    stored_at: datetime

    def size(self) -> int:
        """Return the bytes of memory that it takes, with room for the compressed body."""
        return 2 * len(self.rendered.body) + len(self.rendered.links) + ENTRY_OVERHEAD

    def is_fresh(self, version: Hashable) -> bool:
        # stored_at: the clock may have been set back since
        expires_at, now = self.rendered.expires_at, datetime.now(UTC)
        return self.version == version and self.stored_at <= now and (expires_at is None or now < expires_at)


class ResponseCache:
    """Entries of one application, the least recently used of which are evicted."""

    def __init__(self, capacity: int) -> None:
        """Create a cache of this many bytes."""
        self._entries: LRUCache[bytes, Entry] = LRUCache(capacity, Entry.size)
        self._lock = Lock()

    def find(self, key: bytes, version: Hashable) -> Rendered | None:
        """Return the document of a fresh entry, or None."""
        with self._lock:
            entry = self._entries.get(key)
        return entry.rendered if entry and entry.is_fresh(version) else None

    def store(self, key: bytes, entry: Entry) -> None:
        """Store an entry, unless it is larger than the cache."""
        if entry.size() <= self._entries.maxsize:
            with self._lock:
                self._entries[key] = entry


def init_app(app: Flask) -> None:
    """Set up the cache, and read the database's version before each request."""
    app.extensions["response_cache"] = ResponseCache(app.config["CACHE_MB"] * 1_000_000)
    app.before_request(read_version)


def read_version() -> None:
    """Set `g.database_version`, which is None while it is unknown.

    Every request does so, before it reads anything else, because this also notices a replaced database.
    """
    end_transaction()  # within an outer application context, it may hold a snapshot older than this version
    g.database_version = current_app.extensions["change_detector"].version()


def cached(*parameters: str) -> Callable[[Callable[[], Rendered]], Callable[[], Response]]:
    """Decorate a view that returns a `Rendered` document, which depends on the customer and these parameters alone."""

    def decorate(view: Callable[[], Rendered]) -> Callable[[], Response]:
        @wraps(view)
        def respond() -> Response:
            cache: ResponseCache = current_app.extensions["response_cache"]
            version = g.database_version
            if version is None:
                return view().make_response()
            arguments = request.args.to_dict()
            parts = request.endpoint, g.customer.id, *map(arguments.get, parameters)
            key = sha256(repr(parts).encode()).digest()  # odd values must not fill the memory
            rendered = cache.find(key, version)
            if not rendered:
                stored_at = datetime.now(UTC)
                rendered = view()
                cache.store(key, Entry(rendered, version, stored_at))
            return rendered.make_response()

        return respond

    return decorate
