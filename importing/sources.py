"""The sources of an import: files, standard input, another instance of this service."""

import codecs
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any
from urllib.parse import parse_qsl

import orjson

from importing.errors import ImportErrors, SourceError, SourceLocation
from importing.instance import read_instance

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


Records = Iterator[tuple[SourceLocation, Any]]


@contextmanager
def open_sources(sources: tuple[str, ...], key: str | None, errors: ImportErrors) -> Iterator[Records]:
    """Open `sources`, and yield an iterator over all their records, as their JSON says.

    Standard input and other instances, which need `key`, are first received to their end: the transaction that follows
    then waits for nobody. A `.jsonl` file is read as it comes. Sources and lines that cannot be read go to `errors`.
    """
    with ExitStack() as stack:
        opened = []
        for source in sources:
            name = "standard input" if source == "-" else source
            try:
                opened.append(_open_source(source, name, key, errors, stack))
            except SourceError as error:
                errors.add(SourceLocation(name), str(error))
            except OSError as error:
                errors.add(SourceLocation(name), f"It cannot be read ({error.strerror}).")
        yield chain.from_iterable(opened)


def _open_source(source: str, name: str, key: str | None, errors: ImportErrors, stack: ExitStack) -> Records:
    """Return the records of a source. Raises SourceError or OSError if it cannot be read."""
    if is_url(source):
        articles = map(dump_line, read_instance(source, key))
        return _locate(name, map(orjson.loads, _receive(articles, stack)))
    if source == "-":
        if not sys.stdin:  # it was closed before the command started
            raise SourceError("It is closed.")
        return _read_lines(name, _receive(sys.stdin.buffer, stack), errors)
    if source.lower().endswith(".jsonl"):
        return _read_lines(name, stack.enter_context(open(source, "rb")), errors)
    return _locate(name, _read_document(source))


def _receive(lines: Iterable[bytes], stack: ExitStack) -> IO[bytes]:
    """Return lines, received to their end, as a file that the stack closes."""
    file = stack.enter_context(TemporaryFile())  # noqa: SIM115
    file.writelines(lines)
    file.seek(0)
    return file


def dump_line(record: Any) -> bytes:
    """Return a record as a line of JSON Lines."""
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def _locate(name: str, records: Iterable[Any]) -> Records:
    for number, record in enumerate(records, start=1):
        yield SourceLocation(name, f"article {number}").of(record), record


def _read_lines(name: str, lines: Iterable[bytes], errors: ImportErrors) -> Records:
    """Yield the records of JSON Lines (https://jsonlines.org). What cannot be read goes to `errors`."""
    try:
        for number, line in enumerate(lines, start=1):
            text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").strip()
            location = SourceLocation(name, f"line {number}")
            try:
                record = orjson.loads(text.decode() or "null")
            except orjson.JSONDecodeError as error:
                hint = f" {ARRAY_HINT}" if text.startswith(b"[") else ""
                errors.add(location, f"Must be an article in JSON, in UTF-8 ({error.msg}, column {error.colno}).{hint}")
            except UnicodeDecodeError as error:
                errors.add(location, f"Must be an article in JSON, in UTF-8 (not UTF-8, byte {error.start + 1}).")
            else:
                if isinstance(record, list):
                    errors.add(location, f"Must be an object. {ARRAY_HINT}")
                elif text:
                    yield location.of(record), record
    except OSError as error:
        errors.add(SourceLocation(name), f"It cannot be read ({error.strerror}).")


def _read_document(source: str) -> list[Any]:
    """Return the articles of one JSON document, which is held in memory as a whole. Raises SourceError."""
    try:
        document = orjson.loads(Path(source).read_text("utf-8-sig"))
    except ValueError as error:  # not UTF-8, or not JSON
        hint = " JSON Lines belong in a .jsonl file." if "unexpected content after" in str(error) else ""
        raise SourceError(f"Must be JSON in UTF-8 ({error}).{hint}") from error
    articles = document.get("data") if isinstance(document, dict) else document
    if not isinstance(articles, list):
        raise SourceError("Must hold an array of articles, or an object whose data is one.")
    return articles
