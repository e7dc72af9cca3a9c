"""JSON and JSON Lines. Imports read both strictly; `export` writes JSON Lines."""

import codecs
from itertools import chain
from pathlib import Path
from typing import IO, Any

import orjson

from converters.ghost import read_ghost
from converters.records import (
    Converted,
    Identity,
    Mistake,
    SourceArticle,
    SourceError,
    SourceOptions,
    decode,
    number_articles,
)


def dump_line(record: Any) -> bytes:
    """Return a record as a line of JSON Lines."""
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def read_document(source: str, options: SourceOptions) -> Converted:
    """Return the articles of a JSON document or a Ghost export, which is read into memory. Raises SourceError."""
    document = _parse(Path(source).read_bytes(), "JSON Lines belong in a .jsonl file.")
    match document:
        case {"db": [{"data": {"posts": list()}}, *_] as exports}:
            return chain.from_iterable(read_ghost(source, export, options) for export in exports)
        case {"data": {"posts": list()}}:
            return read_ghost(source, document, options)
        case {"data": list(articles)} | list(articles):
            return number_articles(source, articles)
        case {"title": _} | {"slug": _}:
            return number_articles(source, [document])
    raise SourceError('Must contain an article, an array of articles, or an object with such an array in "data".')


def read_lines(source: str, _options: SourceOptions) -> Converted:
    """Yield the articles of a file of JSON Lines (https://jsonlines.org)."""
    with open(source, "rb") as file:
        yield from parse_lines(source, file, Identity.ID)


def parse_lines(name: str, file: IO[bytes], identity: Identity) -> Converted:
    """Yield the articles of JSON Lines, and a mistake for each line that is not valid JSON."""
    for number, line in enumerate(file, start=1):
        where = f"{name}, line {number}"
        if line.removeprefix(codecs.BOM_UTF8).strip():
            try:
                record = _parse(line, "Each line must be an article.", number)
            except SourceError as error:
                yield Mistake(where, str(error))
            else:
                yield SourceArticle(where, record, identity=identity)


def _parse(data: bytes, hint: str, line: int = 1) -> Any:
    """Parse JSON. Raises SourceError."""
    try:
        return orjson.loads(data.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        decode(data, line)  # raises a clearer error if the bytes are not UTF-8
        where = f"line {error.lineno + line - 1} column {error.colno}"
        raise SourceError(f"Must be JSON ({error.msg}: {where}). {hint}") from error
