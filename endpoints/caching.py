"""The response cache of the three API endpoints.

`auth.authenticate` looks for a response before the view of each request runs, and the views send it, so Flask's hooks
run for every request. Entries are keyed by day (UTC), endpoint, API key and the parameters that the endpoint supports.
An entry stays fresh until the database changes or the next scheduled article is due. The version of the database is
read before the data, so an entry may be newer than its version, but never older.
"""

import gzip
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, lru_cache, wraps
from hashlib import sha256
from threading import Lock
from typing import Any, NamedTuple

import orjson
from cachetools import LRUCache
from flask import Flask, Response, current_app, g, request
from werkzeug.datastructures import Accept
from werkzeug.http import parse_accept_header

from storage.changes import DatabaseVersion, change_detector
from storage.queries import KeyOwner

MIN_GZIP_BYTES = 1400  # anything shorter fits in one packet uncompressed
ENTRY_OVERHEAD = 2000  # bytes of memory, in addition to the bodies
CACHE_LOCK = Lock()  # cachetools is not thread-safe
HEADERS = [
    ("Content-Type", "application/json"),
    ("Cache-Control", "private, no-cache"),  # clients may store a response, but must revalidate it before each use
    ("Vary", "Accept-Encoding, x-api-key"),
]


@dataclass(frozen=True)
class Document:
    """A JSON document, from which any number of responses can be made."""

    body: bytes
    made_at: datetime  # the time for which it was rendered
    expires_at: datetime | None  # when the document changes even without a commit
    links: str = ""  # Link header

    # cached_property works in a frozen dataclass, since it writes to __dict__
    @cached_property
    def etag(self) -> str:
        return sha256(self.body).hexdigest()[:32]

    @cached_property
    def gzipped(self) -> bytes:
        return gzip.compress(self.body, 6, mtime=0)

    def make_response(self) -> Response:
        """Return a response to the current request: plain, gzipped, or a 304 if the client's copy is current.

        `Response.make_conditional` is not used because it compares only one ETag, whereas here the ETag of either
        encoding matches, and because it also evaluates If-Match.
        """
        etags = [self.etag, f"{self.etag}-gzip"]  # a strong ETag per encoding (RFC 9110, 8.8.3)
        is_gzipped = len(self.body) > MIN_GZIP_BYTES and accepts_gzip(request.headers.get("Accept-Encoding", ""))
        if is_gzipped:
            etags.reverse()
        matched = next(filter(request.if_none_match.contains_weak, etags), None)
        if matched:
            return Response(status=304, headers=self._headers(matched))
        response = Response(self.gzipped if is_gzipped else self.body, headers=self._headers(etags[0]))
        if is_gzipped:
            response.headers["Content-Encoding"] = "gzip"
        return response

    def _headers(self, etag: str) -> list[tuple[str, str]]:
        links = [("Link", self.links)] if self.links else []
        return [*HEADERS, *links, ("ETag", f'"{etag}"')]


def render_document(
    content: dict[str, Any], made_at: datetime, expires_at: datetime | None, links: str = ""
) -> Document:
    """Render `content` as JSON."""
    body = bytes(memoryview(orjson.dumps(content)))  # copied: orjson's buffer may be three times as large
    return Document(body, made_at, expires_at, links)


@lru_cache(256)
def accepts_gzip(header: str) -> bool:
    """Return whether an Accept-Encoding header allows gzip and does not prefer identity (RFC 9110, 12.5.3)."""
    accepted = parse_accept_header(header.lower().replace("x-gzip", "gzip"), Accept)  # an alias (RFC 9110, 8.4.1.3)
    return accepted.quality("gzip") > 0 and accepted.quality("gzip") >= dict(accepted).get("identity", 0)


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A cached document, the owner of the key for which it was made, and the version of the database."""

    document: Document
    key_owner: KeyOwner
    version: DatabaseVersion

    def size(self) -> int:
        """Return the entry's memory use in bytes. The compressed body may be added later, so it is included."""
        return 2 * len(self.document.body) + len(self.document.links) + ENTRY_OVERHEAD

    def is_fresh(self, version: DatabaseVersion) -> bool:
        """Return whether nothing has been committed and no article has become due since the document was made."""
        now = datetime.now(UTC)
        if self.version != version or now < self.document.made_at:  # the clock has been set back
            return False
        return self.document.expires_at is None or now < self.document.expires_at


class CacheLookup(NamedTuple):
    """What the cache has for a request."""

    key: bytes
    version: DatabaseVersion
    entry: CacheEntry | None  # fresh


def init_app(app: Flask) -> None:
    """Create the cache, in which the most recently used responses stay."""
    app.extensions["response_cache"] = LRUCache(app.config["CACHE_MB"] * 1_000_000, CacheEntry.size)


def look_up_response(key_hash: str) -> CacheLookup:
    """Read the version of the database, and look for a response to the current request with this API key.

    Raises StorageError while the database cannot be read.
    """
    version = change_detector().version()
    view = current_app.view_functions[str(request.endpoint)]
    arguments = request.args.to_dict()
    parameters = map(arguments.get, getattr(view, "cache_parameters", ()))
    parts = datetime.now(UTC).date(), request.endpoint, key_hash, *parameters
    key = sha256(repr(parts).encode()).digest()  # hashed, so that long values do not take up memory
    with CACHE_LOCK:
        entry: CacheEntry | None = current_app.extensions["response_cache"].get(key)
    return CacheLookup(key, version, entry if entry and entry.is_fresh(version) else None)


def cached(*parameters: str) -> Callable[[Callable[[], Document]], Callable[[], Response]]:
    """Cache a view that returns a `Document`.

    Besides the database, the document may depend only on the customer and these query parameters.
    """

    def decorate(view: Callable[[], Document]) -> Callable[[], Response]:
        @wraps(view)
        def respond() -> Response:
            lookup: CacheLookup = g.cache_lookup
            if lookup.entry:
                return lookup.entry.document.make_response()
            document = view()
            entry = CacheEntry(document, g.key_owner, lookup.version)
            with CACHE_LOCK, suppress(ValueError):  # larger than the cache
                current_app.extensions["response_cache"][lookup.key] = entry
            return document.make_response()

        respond.cache_parameters = parameters  # type: ignore[attr-defined]
        return respond

    return decorate
