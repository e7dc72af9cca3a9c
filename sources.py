"""Where an import's articles come from: files, standard input, another instance of this service."""

import http.client
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import click
import orjson

from errors import Faults, Place

PAGE = 100  # articles of another instance asked for at a time
TIMEOUT = 60  # seconds that it may be silent
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NO_ENDPOINT = "It does not answer as an articles endpoint does. Is it the address of one?"


class UnreadableError(Exception):
    """Why a source cannot be read, or not to its end."""


class Source(click.ParamType[str]):
    """What an import reads: a .json or .jsonl file, "-" for standard input, an http(s) address."""

    name = "source"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value == "-" or is_address(value):
            return value
        if Path(value).suffix.lower() not in (".json", ".jsonl"):
            self.fail(f"{value!r} is no .json or .jsonl file, no http(s) address and not -.", param, ctx)
        return str(click.Path(exists=True, dir_okay=False)(value, param, ctx))


def is_address(source: str) -> bool:
    """Tell whether `source` is another instance's address."""
    return source.lower().startswith(("http://", "https://"))


def read_sources(sources: tuple[str, ...], key: str | None, faults: Faults) -> Iterator[tuple[Place, Any]]:
    """Give the articles of all `sources`, as their JSON says, one at a time.

    `key` is for other instances. Lines that are not JSON, and sources that cannot be read, are noted in `faults`.
    """
    for source in sources:
        try:
            if source == "-":
                yield from _read_standard_input(faults)
            elif is_address(source):
                yield from _read_instance(source, key)
            elif source.lower().endswith(".jsonl"):
                with open(source, "rb") as file:
                    yield from _read_lines(source, file, Path(source).stat().st_size, faults)
            else:
                yield from _read_document(source)
        except UnreadableError as error:
            faults.add(Place(source), str(error))
        except OSError as error:
            faults.add(Place(source), f"It cannot be read ({error.strerror}).")


@contextmanager
def _progress(source: str, length: int) -> Iterator[Callable[[int], None]]:
    """Show on a terminal how far `source` is read; give what moves the bar on, in the unit of `length`."""
    hidden = not (length and sys.stderr.isatty())
    step = max(1, length // 200)
    label = source[-40:]
    with click.progressbar(length=length, label=label, file=sys.stderr, update_min_steps=step, hidden=hidden) as bar:
        yield bar.update
        bar.update_min_steps = 1
        bar.update(0)  # what is left of the last step


def _placed(source: str, position: str, article: Any) -> tuple[Place, Any]:
    return Place(source, position, article.get("slug") if isinstance(article, dict) else None), article


def _read_standard_input(faults: Faults) -> Iterator[tuple[Place, Any]]:
    """Read JSON Lines from standard input, which whoever starts a command may have closed."""
    if not sys.stdin:
        raise UnreadableError("Standard input is closed.")
    yield from _read_lines("standard input", sys.stdin.buffer, 0, faults)


def _read_lines(source: str, file: BinaryIO, size: int, faults: Faults) -> Iterator[tuple[Place, Any]]:
    """Read JSON Lines (https://jsonlines.org). `size` is in bytes, 0 where nobody knows it."""
    with _progress(source, size) as move_on:
        for number, line in enumerate(file, start=1):
            move_on(len(line))
            if number == 1:
                line = line.removeprefix(BYTE_ORDER_MARK)
            if not line.strip():
                continue
            try:
                article = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                faults.add(Place(source, f"line {number}"), f"Not JSON in UTF-8: {error.msg}, column {error.colno}.")
                continue
            yield _placed(source, f"line {number}", article)


def _read_document(source: str) -> Iterator[tuple[Place, Any]]:
    """Read one JSON document, which is held in memory as a whole."""
    try:
        document = orjson.loads(Path(source).read_bytes().removeprefix(BYTE_ORDER_MARK))
    except orjson.JSONDecodeError as error:
        raise UnreadableError(f"Not JSON in UTF-8: {error}. (JSON Lines belong in a .jsonl file.)") from error
    articles = document.get("data") if isinstance(document, dict) else document
    if not isinstance(articles, list):
        raise UnreadableError("Must hold an array of articles, or an object whose data is one.")
    with _progress(source, len(articles)) as move_on:
        for number, article in enumerate(articles, start=1):
            move_on(1)
            yield _placed(source, f"article {number}", article)


class _NoRedirects(HTTPRedirectHandler):
    """Take a redirect for an error: followed, it could hand the key to another host."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def _read_instance(address: str, key: str | None) -> Iterator[tuple[Place, Any]]:
    """Page through another instance's articles, oldest first: what is published meanwhile comes last."""
    page = _ask(address, key, 0)
    total, count = page["meta"]["total"], 0
    with _progress(address, total) as move_on:
        while True:
            for article in page["data"]:
                count += 1
                move_on(1)
                yield _placed(address, f"article {count}", article)
            if count >= total:
                return
            page = _ask(address, key, count)
            if page["meta"]["total"] != total or not page["data"]:
                raise UnreadableError("The articles changed while they were read. Import them again.")


def _ask(address: str, key: str | None, skip: int) -> dict[str, Any]:
    """Get the page after `skip` articles. Raises UnreadableError."""
    after = f" after {skip} articles" if skip else ""
    order = {"take": PAGE, "skip": skip, "orderBy": "publishedAt", "order": "asc"}
    headers = {"Accept": "application/json", "User-Agent": "article-delivery-api"} | ({"x-api-key": key} if key else {})
    try:
        parts = urlsplit(address)
        url = parts._replace(query=urlencode(dict(reversed(parse_qsl(parts.query))) | order), fragment="").geturl()
        with build_opener(_NoRedirects).open(Request(url, headers=headers), timeout=TIMEOUT) as response:  # noqa: S310
            page = orjson.loads(response.read())
        if isinstance(page["data"], list) and isinstance(page["meta"]["total"], int):
            return dict(page)
        reason = NO_ENDPOINT
    except HTTPError as error:
        reason = _reason_of(error)
    except orjson.JSONDecodeError:
        reason = f"The answer{after} is not JSON, or was cut off. Is it the address of an articles endpoint?"
    except (KeyError, TypeError):
        reason = NO_ENDPOINT
    except http.client.IncompleteRead:
        reason = f"The answer was cut off{after}. Import them again."
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = f"It cannot be reached{after} ({getattr(error, 'reason', error)})."
    raise UnreadableError(reason)


def _reason_of(error: HTTPError) -> str:
    """Tell what an error status means, in the words of the other instance where it has any."""
    with error:
        if error.code == 401:
            return "It does not accept the key. Give its key by --key or SOURCE_API_KEY."
        if 300 <= error.code < 400:
            return f"It redirects to {urljoin(error.url, error.headers['Location'])}. Give that address."
        try:
            problem = orjson.loads(error.read())
            return f"It answers {error.code}: {problem['detail']} {problem.get('errors', '')}".rstrip()
        except (orjson.JSONDecodeError, KeyError, TypeError, OSError, http.client.HTTPException):
            return f"It answers {error.code}. {NO_ENDPOINT}"
