"""Text and JSON of source files, decoded from bytes."""

import codecs
from typing import Any

import orjson

from converters.source_articles import SourceError


def decode_utf8(data: bytes, first_line: int = 1) -> str:
    """Decode UTF-8, with or without a byte order mark. `first_line` is the number of the first line.

    Raises SourceError, naming the first invalid byte, if it is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        *before, line = data[: error.start].split(b"\n")
        byte = f"byte {len(line) + 1} of line {len(before) + first_line}"
        raise SourceError(f"Must be text in UTF-8, but {byte} is not. Save it as UTF-8.") from error


def parse_json(data: bytes, hint: str, first_line: int = 1) -> Any:
    """Parse JSON. `hint` is advice for invalid JSON. `first_line` is the number of the line at which `data` begins.

    Raises SourceError if it is invalid.
    """
    try:
        return orjson.loads(data.removeprefix(codecs.BOM_UTF8))
    except orjson.JSONDecodeError as error:
        decode_utf8(data, first_line)  # raises a clearer error if the bytes are not UTF-8
        where = f"line {error.lineno + first_line - 1} column {error.colno}"
        raise SourceError(f"Must be JSON ({error.msg}: {where}). {hint}") from error
