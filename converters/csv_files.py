"""CSV files with a header, as spreadsheets and databases save them."""

import csv
import re
from collections.abc import Iterator
from html import escape
from itertools import chain
from typing import IO, TYPE_CHECKING

from converters import note_kinds
from converters.field_mapping import map_fields
from converters.field_names import FIELD_BY_ALIAS, plain_name
from converters.html_elements import ELEMENT_TAG
from converters.publication import SWITCHES
from converters.records import ConvertedItems, Mistake, Origin, SourceError, SourceOptions, decode_utf8
from converters.scalars import Unquoted

if TYPE_CHECKING:
    from _csv import Reader

MAX_CELL_LENGTH = 1 << 24  # characters
EXCEL_CELL_LENGTH = 32_767  # UTF-16 code units, in the longest cell
TRUNCATED_CELLS = "Cells of exactly 32,767 characters, at which Excel truncates text"
DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
EMPTY_LINE = re.compile(r"\n[ \t]*\n")
QUOTES_HINT = 'Close each quotation mark, and write "" for one within text.'
EXCEL_HINT = 'In Excel, save as "CSV UTF-8".'
BACKSLASH_HINT = 'It has quotes written as \\", which must be written as "". In MySQL, export with ESCAPED BY \'"\'.'
QUOTES_ERROR = re.compile("unexpected end of data|expected after")  # messages of the csv module
EXCEL_LINE = re.compile(r"sep=(.)\r?\n")
NULL = ("NULL", r"\N")
GERMAN_SWITCHES = {"wahr": "true", "falsch": "false"}  # German Excel
Cells = dict[str, str]  # by column


def read_csv(source: str, options: SourceOptions) -> ConvertedItems:
    """Yield the articles of a CSV file. Raises SourceError or OSError if it cannot be read any further."""
    with open(source, "rb") as file:
        for row in _read_rows(source, file):
            if isinstance(row, Mistake):
                yield row
                continue
            where, cells = row
            article = map_fields(where, {name: _read_cell(name, text) for name, text in cells.items()}, options)
            article.origin = Origin(options.source or "csv", article.fields.get("slug", ""), has_named_key=True)
            if article.fields.get("contentHtml") == "":
                article.note(note_kinds.NO_CONTENT)
            for name, text in cells.items():
                if len(text.encode("utf-16-le")) == 2 * EXCEL_CELL_LENGTH:
                    article.note(TRUNCATED_CELLS, name, "Check that they are complete.")
            yield article


def _read_cell(name: str, text: str) -> Unquoted:
    """Return the value of a cell in the given column."""
    value = text.strip()
    if value in NULL:
        return Unquoted()
    alias = plain_name(name)
    if alias in SWITCHES:
        return Unquoted(GERMAN_SWITCHES.get(value.lower(), value))
    is_text = FIELD_BY_ALIAS.get(alias) == "contentHtml" and not ELEMENT_TAG.search(value)
    return Unquoted(_paragraphs(value) if is_text else value)


def _paragraphs(text: str) -> str:
    """Return plain text as HTML, with a paragraph for each block of lines and `<br>` for line feeds within one."""
    paragraphs = filter(None, map(str.strip, EMPTY_LINE.split(escape(text, quote=False).replace("\r\n", "\n"))))
    return "\n".join("<p>" + paragraph.replace("\n", "<br>\n") + "</p>" for paragraph in paragraphs)


def _read_rows(source: str, file: IO[bytes]) -> Iterator[tuple[str, Cells] | Mistake]:
    """Yield non-empty rows, numbered as in a spreadsheet, and a mistake for each row that is too long.

    Raises SourceError if the file cannot be read any further.
    """
    reader = _open_reader(file)
    try:
        header = _read_header(_next_row(reader) or [])
        for number, row in enumerate(_other_rows(reader), start=2):
            where = f"{source}, row {number}"
            if len(row) > len(header):
                character = DELIMITERS.get(reader.dialect.delimiter, "the delimiter")
                hint = f"Put text that contains {character} in double quotes."
                hint = BACKSLASH_HINT if any(cell.endswith("\\") for cell in row) else hint
                yield Mistake(where, f"A row must have no more cells than the header, which has {len(header)}. {hint}")
            elif any(map(str.strip, row)):
                yield where, dict(zip(header, row, strict=False))
    except csv.Error as error:
        file.seek(0)
        has_backslashes = any(b'\\"' in line for line in file)
        hint = BACKSLASH_HINT if has_backslashes else QUOTES_HINT if QUOTES_ERROR.search(str(error)) else EXCEL_HINT
        raise SourceError(f"Must be CSV ({error}). {hint}", reader.line_num) from error


def _open_reader(file: IO[bytes]) -> "Reader":
    """Return a reader of a file's rows, without Excel's `sep=` line. Raises SourceError if it cannot be read."""
    lines = (_decode(line, number) for number, line in enumerate(file, start=1))
    first_line = next(lines, "")
    if "\r" in first_line.rstrip("\r\n"):
        raise SourceError(f"Its lines must end with LF or CR LF, not CR. {EXCEL_HINT}")
    excel = EXCEL_LINE.fullmatch(first_line)
    delimiter = excel[1] if excel else max(DELIMITERS, key=first_line.count)
    reader = csv.reader(chain(["\n" if excel else first_line], lines), delimiter=delimiter, strict=True)
    if excel:
        next(reader)
    return reader


def _other_rows(reader: "Reader") -> Iterator[list[str]]:
    while (row := _next_row(reader)) is not None:
        yield row


def _next_row(reader: "Reader") -> list[str] | None:
    """Return the next row, or None. The limit for the length of cells belongs to the process, so it is restored."""
    limit = csv.field_size_limit(MAX_CELL_LENGTH)
    try:
        return next(reader, None)
    finally:
        csv.field_size_limit(limit)


def _decode(line: bytes, number: int) -> str:
    try:
        return decode_utf8(line, number)
    except SourceError as error:
        raise SourceError(f"{error} {EXCEL_HINT}") from error


def _read_header(cells: list[str]) -> list[str]:
    """Return the names of the columns. Unnamed and repeated ones are named by their position.

    Raises SourceError if a required column is missing, or a known one is repeated.
    """
    names = [name.strip() for name in cells]
    if not any(names):
        raise SourceError("The first row must name the columns, at least title and contentHtml. It is empty.")
    header: list[str] = []
    seen = {""}
    for number, name in enumerate(names, start=1):
        if name in seen and plain_name(name) in {*FIELD_BY_ALIAS, *SWITCHES}:
            raise SourceError(f"The header names {name!r} twice. Rename or remove one of the columns.")
        header.append(f"{name} in column {number}".lstrip() if name in seen else name)
        seen.add(name)
    if not {"title", "contentHtml"} <= {FIELD_BY_ALIAS.get(plain_name(name)) for name in header}:
        required = "title and contentHtml (or body, for example)"
        raise SourceError(f"The header must name {required}. It names {', '.join(header)}.")
    return header
