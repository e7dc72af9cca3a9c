"""JSON and JSON Lines: the strict forms of articles, in which `export` writes them."""

import codecs
import sys
from pathlib import Path
from typing import IO, Any

import orjson

from importing.errors import ImportErrors, Records, SourceError, SourceLocation, SourceOptions, locate
from importing.ghost import read_posts

MAX_LINE_BYTES = 32 * 1024**2  # of JSON Lines: an article's text has a hundredth of it
ARRAY_HINT = "A JSON array belongs in a .json file."
STANDARD_INPUT = "standard input"


def dump_line(record: Any) -> bytes:
    """Return a record as a line of JSON Lines."""
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def read_document(source: str, options: SourceOptions, errors: ImportErrors) -> Records:
    """Yield the articles of a JSON document or a Ghost export, which is held in memory. Raises SourceError."""
    try:
        document = orjson.loads(Path(source).read_bytes().removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        hint = " JSON Lines belong in a .jsonl file." if "unexpected content after" in str(error) else ""
        raise SourceError(f"Must be JSON in UTF-8 ({error}).{hint}") from error
    match document:
        case {"db": [{"data": {"posts": list()} as tables}, *_]} | {"data": {"posts": list()} as tables}:  # of Ghost
            return read_posts(source, tables, options, errors)
        case {"data": list(articles)} | list(articles):
            return locate(source, articles)
    raise SourceError("Must hold an array of articles, or an object whose data is one.")


def read_lines(source: str, _options: SourceOptions, errors: ImportErrors) -> Records:
    """Yield the articles of JSON Lines (https://jsonlines.org), in a file or, for "-", on standard input.

    Raises SourceError.
    """
    if source != "-":
        with open(source, "rb") as file:
            yield from _parse_lines(source, file, errors)
    elif sys.stdin:
        yield from _parse_lines(STANDARD_INPUT, sys.stdin.buffer, errors)
    else:
        raise SourceError("It is closed.")


def _parse_lines(name: str, file: IO[bytes], errors: ImportErrors) -> Records:
    number = 0
    while line := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        location = SourceLocation(name, f"line {number}")
        if len(line) > MAX_LINE_BYTES:
            errors.add(location, f"Must be an article of at most {MAX_LINE_BYTES // 1024**2} MB in JSON.")
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE_BYTES)
            continue
        text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").strip()
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
