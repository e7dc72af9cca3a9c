"""Where an import's articles come from: files, standard input, another instance of this service."""

import http.client
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple
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


class Lines(NamedTuple):
    """A source as JSON Lines (https://jsonlines.org); `unit` is what a line is in the source itself."""

    source: str
    unit: str
    file: IO[bytes]


@contextmanager
def open_sources(sources: tuple[str, ...], key: str | None, faults: Faults) -> Iterator[list[Lines]]:
    """Open `sources`, and get what others still send to its end: a transaction then waits for no one.

    A `.jsonl` that is a pipe is the exception: it is read as it comes. `key` is for other instances. Sources that
    cannot be read are noted in `faults`.
    """
    with ExitStack() as stack:
        opened = []
        for source in sources:
            is_file = source.lower().endswith(".jsonl") and not is_address(source)
            unit = "line" if is_file or source == "-" else "article"
            try:
                if is_file:
                    file: IO[bytes] = stack.enter_context(open(source, "rb"))
                else:
                    file = stack.enter_context(TemporaryFile())
                    file.writelines(_received(source, key))
                    file.seek(0)
                opened.append(Lines(source, unit, file))
            except UnreadableError as error:
                faults.add(Place(source), str(error))
            except OSError as error:
                faults.add(Place(source), f"It cannot be read ({error.strerror}).")
        yield opened


def _received(source: str, key: str | None) -> Iterable[bytes]:
    """Give the lines of a source that is no file of lines itself."""
    if source != "-":
        return _as_lines(_read_instance(source, key) if is_address(source) else _read_document(source))
    if not sys.stdin:  # whoever starts a command may have closed it
        raise UnreadableError("Standard input is closed.")
    return sys.stdin.buffer


def _as_lines(articles: Iterable[Any]) -> Iterator[bytes]:
    for number, article in enumerate(articles, start=1):
        try:
            yield orjson.dumps(article, option=orjson.OPT_APPEND_NEWLINE)
        except TypeError as error:
            raise UnreadableError(f"Article {number} is nested more than 250 levels deep.") from error


def read_lines(opened: list[Lines], faults: Faults) -> Iterator[tuple[Place, Any]]:
    """Give the articles of all sources, as their JSON says, one at a time. Lines that are none go to `faults`."""
    for source, unit, file in opened:
        name = "standard input" if source == "-" else source
        for number, line in _numbered(name, file, faults):
            place = Place(name, f"{unit} {number}")
            try:
                article = _parse(line)
            except orjson.JSONDecodeError as error:
                faults.add(place, f"Must be an article in JSON, in UTF-8 ({error.msg}, column {error.colno}).")
                continue
            yield place._replace(slug=article.get("slug") if isinstance(article, dict) else None), article


def _numbered(name: str, file: IO[bytes], faults: Faults) -> Iterator[tuple[int, bytes]]:
    """Give the lines of a file, with their numbers from 1, but for blank ones. An error goes to `faults`."""
    try:
        with _progress(name, os.fstat(file.fileno()).st_size) as move_on:
            for number, line in enumerate(file, start=1):
                move_on(len(line))
                if number == 1:
                    line = line.removeprefix(BYTE_ORDER_MARK)
                if line.strip():
                    yield number, line
    except OSError as error:
        faults.add(Place(name), f"It cannot be read ({error.strerror}).")


def _parse(text: bytes) -> Any:
    """Parse JSON in UTF-8. Raises orjson.JSONDecodeError, which tells also where it is not UTF-8."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            text.decode()
        except UnicodeDecodeError as error:
            before = text[: error.start].decode()
            raise orjson.JSONDecodeError("not UTF-8", before, len(before)) from error
        raise


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


def _read_document(source: str) -> list[Any]:
    """Read one JSON document, which is held in memory as a whole."""
    try:
        document = _parse(Path(source).read_bytes().removeprefix(BYTE_ORDER_MARK))
    except orjson.JSONDecodeError as error:
        hint = " JSON Lines belong in a .jsonl file." if error.msg.startswith("unexpected content after") else ""
        raise UnreadableError(f"Must be JSON in UTF-8 ({error}).{hint}") from error
    articles = document.get("data") if isinstance(document, dict) else document
    if not isinstance(articles, list):
        raise UnreadableError("Must hold an array of articles, or an object whose data is one.")
    return articles


class _NoRedirects(HTTPRedirectHandler):
    """Take a redirect for an error: followed, it could hand the key to another host."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def _read_instance(address: str, key: str | None) -> Iterator[Any]:
    """Page through another instance's articles, oldest first: what is published meanwhile comes last."""
    page = _ask(address, key, 0)
    total, count = page["meta"]["total"], 0
    with _progress(address, total) as move_on:
        while True:
            yield from page["data"]
            count += len(page["data"])
            move_on(len(page["data"]))
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
        if isinstance(page["data"], list) and type(page["meta"]["total"]) is int:
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
        if error.code in (301, 302, 303, 307, 308):
            return f"It redirects to {urljoin(error.url, error.headers['Location'])}. Give that address."
        try:
            problem = orjson.loads(error.read())
            return f"It answers {error.code}: {problem['detail']} {problem.get('errors', '')}".rstrip()
        except (orjson.JSONDecodeError, KeyError, TypeError, OSError, http.client.HTTPException):
            return f"It answers {error.code} {error.reason}. Is it the address of an articles endpoint?"
