"""The sources of an import: files, standard input, another instance of this service."""

import codecs
import http.client
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import orjson

from importing.errors import ImportErrors, SourceLocation
from settings import read_version
from storage import Progress

PAGE_SIZE = 100  # articles that are requested from another instance at a time
TIMEOUT_SECONDS = 60  # that it may be silent
NO_ENDPOINT = "Its response is not that of an articles endpoint. Check the URL."
NO_SITEMAP = "The response of the sitemap endpoint beside it is not that of one. Check the URL."
ARRAY_HINT = "A JSON array belongs in a .json file."
CHANGED = "The articles changed while they were read. Import them again."


class SourceError(Exception):
    """Why a source cannot be read, or not to its end."""


class NotFoundError(SourceError):
    """Another instance has nothing at a URL."""


def is_url(source: str) -> bool:
    """Return whether `source` is another instance's URL."""
    return source.lower().startswith(("http://", "https://"))


def is_filtered(source: str) -> bool:
    """Return whether `source` is a URL that asks for some of the articles only."""
    query = source.partition("#")[0].partition("?")[2]
    return is_url(source) and any(name == "q" for name, _ in parse_qsl(query))


def is_source(text: str) -> bool:
    """Return whether `text` is a .json or .jsonl file's name, an http(s) URL or "-"."""
    return text == "-" or is_url(text) or Path(text).suffix.lower() in (".json", ".jsonl")


class JsonLinesSource(NamedTuple):
    """A source as a file of JSON Lines (https://jsonlines.org); `unit` is what a line is in the source itself."""

    name: str
    unit: str
    file: IO[bytes]


@contextmanager
def open_sources(
    sources: tuple[str, ...], key: str | None, errors: ImportErrors, progress: Progress
) -> Iterator[Iterator[tuple[SourceLocation, Any]]]:
    """Open `sources`, and yield an iterator over all their records, as their JSON says.

    Standard input and other instances, which need `key`, are first received to their end: the transaction that follows
    then waits for nobody. A `.jsonl` file is read as it comes. Sources and lines that cannot be read go to `errors`.
    """
    with ExitStack() as stack:
        opened = []
        for source in sources:
            name = "standard input" if source == "-" else source
            try:
                opened.append(stack.enter_context(_open_source(source, name, key, progress)))
            except SourceError as error:
                errors.add(SourceLocation(name), str(error))
            except OSError as error:
                errors.add(SourceLocation(name), f"It cannot be read ({error.strerror}).")
        yield chain.from_iterable(_read_records(source, errors, progress) for source in opened)


@contextmanager
def _open_source(source: str, name: str, key: str | None, progress: Progress) -> Iterator[JsonLinesSource]:
    """Yield a source as a file of JSON Lines. Raises SourceError or OSError if it cannot be read."""
    if source.lower().endswith(".jsonl") and not is_url(source):
        with open(source, "rb") as file:
            yield JsonLinesSource(name, "line", file)
    else:
        with TemporaryFile() as received:
            received.writelines(_source_lines(source, key, progress))
            received.seek(0)
            yield JsonLinesSource(name, "line" if source == "-" else "article", received)


def _source_lines(source: str, key: str | None, progress: Progress) -> Iterable[bytes]:
    """Return the lines of a source that is not a file of JSON Lines itself."""
    if source != "-":
        return _dump_lines(_read_instance(source, key, progress) if is_url(source) else _read_document(source))
    if not sys.stdin:  # it was closed before the command started
        raise SourceError("It is closed.")
    return sys.stdin.buffer


def _dump_lines(articles: Iterable[Any]) -> Iterator[bytes]:
    for number, article in enumerate(articles, start=1):
        try:
            yield orjson.dumps(article, option=orjson.OPT_APPEND_NEWLINE)
        except TypeError as error:
            raise SourceError(f"Article {number} is nested more than 250 levels deep.") from error


def _read_records(
    source: JsonLinesSource, errors: ImportErrors, progress: Progress
) -> Iterator[tuple[SourceLocation, Any]]:
    """Yield the records of a source with their locations. Lines that are not JSON go to `errors`."""
    for number, line in _numbered_lines(source, errors, progress):
        location = SourceLocation(source.name, f"{source.unit} {number}")
        try:
            record = _parse(line)
        except orjson.JSONDecodeError as error:
            hint = f" {ARRAY_HINT}" if line.startswith(b"[") else ""
            errors.add(location, f"Must be an article in JSON, in UTF-8 ({error.msg}, column {error.colno}).{hint}")
            continue
        if isinstance(record, list) and source.unit == "line":
            errors.add(location, f"Must be an object. {ARRAY_HINT}")
            continue
        yield location._replace(slug=record.get("slug") if isinstance(record, dict) else None), record


def _numbered_lines(source: JsonLinesSource, errors: ImportErrors, progress: Progress) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a source that are not blank, with their numbers from 1. A read error goes to `errors`."""
    try:
        with progress(source.name, os.fstat(source.file.fileno()).st_size) as advance:
            for number, line in enumerate(source.file, start=1):
                advance(len(line))
                if number == 1:
                    line = line.removeprefix(codecs.BOM_UTF8)
                if line.strip():
                    yield number, line
    except OSError as error:
        errors.add(SourceLocation(source.name), f"It cannot be read ({error.strerror}).")


def _parse(text: bytes) -> Any:
    """Parse JSON in UTF-8. Raises orjson.JSONDecodeError, also with the position of bytes that are not UTF-8."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            text.decode()
        except UnicodeDecodeError as error:
            before = text[: error.start].decode()
            raise orjson.JSONDecodeError("not UTF-8", before, len(before)) from error
        raise


def _read_document(source: str) -> list[Any]:
    """Return the articles of one JSON document, which is held in memory as a whole. Raises SourceError."""
    try:
        document = _parse(Path(source).read_bytes().removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        hint = " JSON Lines belong in a .jsonl file." if error.msg.startswith("unexpected content after") else ""
        raise SourceError(f"Must be JSON in UTF-8 ({error}).{hint}") from error
    articles = document.get("data") if isinstance(document, dict) else document
    if not isinstance(articles, list):
        raise SourceError("Must hold an array of articles, or an object whose data is one.")
    return articles


class _NoRedirects(HTTPRedirectHandler):
    """Treats a redirect as an error: following it could send the key to another host."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def _read_instance(url: str, key: str | None, progress: Progress) -> Iterator[Any]:
    """Yield another instance's articles, the oldest first: what is published meanwhile comes last.

    Their `updatedAt` follows the sitemap, so that a mirror has the same. Raises SourceError.
    """
    lastmods = _read_sitemap(url, key)
    page = _read_page(url, key, 0)
    total, count = page["meta"]["total"], 0
    with progress(url, total) as advance:
        while True:
            yield from (_with_update(article, lastmods) for article in page["data"])
            count += len(page["data"])
            advance(len(page["data"]))
            if count >= total:
                break
            page = _read_page(url, key, count)
            if page["meta"]["total"] != total or not page["data"]:
                raise SourceError(CHANGED)
    if _read_sitemap(url, key) != lastmods:
        raise SourceError(CHANGED)


def _with_update(article: Any, lastmods: dict[str, str]) -> Any:
    """Return the article with the `updatedAt` that gives it the same day in this instance's sitemap."""
    day = lastmods.get(str(article.get("slug"))) if isinstance(article, dict) else None
    return article | {"updatedAt": f"{day}T00:00:00Z"} if day else article


def _read_page(url: str, key: str | None, skip: int) -> dict[str, Any]:
    """Return the page after `skip` articles. Raises SourceError."""
    page = _fetch(_page_url(url, skip), key, f" after {skip} articles" if skip else "")
    try:
        if isinstance(page["data"], list) and type(page["meta"]["total"]) is int:
            return dict(page)
    except (KeyError, TypeError):
        pass
    raise SourceError(NO_ENDPOINT)


def _read_sitemap(url: str, key: str | None) -> dict[str, str]:
    """Return the day of each slug's last change, and none if the instance has no sitemap. Raises SourceError."""
    try:
        sitemap = _fetch(_sitemap_url(url), key)
        return {str(entry["url"]): str(entry["lastmod"]) for entry in sitemap["data"]}
    except NotFoundError:
        return {}
    except (KeyError, TypeError) as error:
        raise SourceError(NO_SITEMAP) from error


def _page_url(url: str, skip: int) -> str:
    page = {"take": PAGE_SIZE, "skip": skip, "orderBy": "publishedAt", "order": "asc"}
    parts = urlsplit(url)
    query = dict(reversed(parse_qsl(parts.query))) | page  # the first of repeated parameters counts
    return parts._replace(query=urlencode(query), fragment="").geturl()


def _sitemap_url(url: str) -> str:
    """Return the URL of the sitemap, which lies beside the articles. Raises SourceError."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise SourceError(f"It cannot be reached ({error}). Check the URL.") from error
    return urljoin(parts._replace(path=parts.path.rstrip("/"), query="", fragment="").geturl(), "sitemap")


def _fetch(url: str, key: str | None, after: str = "") -> Any:
    """Return the JSON that another instance responds with. `after` says where in its articles.

    Raises NotFoundError for a 404, and SourceError for whatever else goes wrong.
    """
    headers = {"Accept": "application/json", "User-Agent": f"article-delivery-api/{read_version()}"}
    headers |= {"x-api-key": key} if key else {}
    try:
        with build_opener(_NoRedirects).open(Request(url, headers=headers), timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            return orjson.loads(response.read())
    except HTTPError as error:
        reason = _describe_http_error(error)
        if error.code == 404:
            raise NotFoundError(reason) from error
    except orjson.JSONDecodeError:
        reason = f"The response{after} is not JSON, or was cut off. Check that the URL is that of an articles endpoint."
    except http.client.IncompleteRead:
        reason = f"The response was cut off{after}. Import them again."
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = f"It cannot be reached{after} ({getattr(error, 'reason', error)})."
    raise SourceError(reason)


def _describe_http_error(error: HTTPError) -> str:
    """Return what an error status means, in the words of the other instance if it sends any."""
    with error:
        if error.code == 401:
            return "It does not accept the key. Set its key with --key or SOURCE_API_KEY."
        if error.code in (301, 302, 303, 307, 308):
            return f"It redirects to {urljoin(error.url, error.headers['Location'])}. Use that URL."
        try:
            problem = orjson.loads(error.read())
            return f"It responds with {error.code}: {problem['detail']} {problem.get('errors', '')}".rstrip()
        except (orjson.JSONDecodeError, KeyError, TypeError, OSError, http.client.HTTPException):
            return f"It responds with {error.code} {error.reason}. Check that the URL is that of an articles endpoint."
