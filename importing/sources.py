"""The sources of an import: files, standard input, another instance of this service."""

import codecs
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, NamedTuple
from urllib.parse import parse_qsl

import orjson

from importing.errors import ImportErrors, SourceError, SourceLocation
from importing.instance import read_instance
from storage import Progress

ARRAY_HINT = "A JSON array belongs in a .json file."


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
        return _dump_lines(read_instance(source, key, progress) if is_url(source) else _read_document(source))
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
