"""CSV files with a header, as spreadsheets and databases save them."""

import csv
import re
from collections.abc import Iterator
from html import escape
from itertools import chain
from typing import IO

from converters.components import ELEMENT_TAG
from converters.front_matter import Plain
from converters.normalize import normalize_article
from converters.publication import DECISIVE
from converters.records import FIELD_BY_ALIAS, ConvertedItems, Mistake, SourceError, SourceOptions, decode, plain_name

MAX_CELL_LENGTH = 1 << 24  # characters
EMPTY_LINE = re.compile(r"\n[ \t]*\n")
HINT = 'In Excel, save as "CSV UTF-8".'
EXCEL_LINE = re.compile(r"sep=(.)\r?\n")


def read_csv(source: str, options: SourceOptions) -> ConvertedItems:
    """Yield the articles of a CSV file. Raises SourceError or OSError."""
    with open(source, "rb") as file:
        for row in _read_rows(source, file):
            if isinstance(row, Mistake):
                yield row
                continue
            where, cells = row
            for name, text in cells.items():
                if FIELD_BY_ALIAS.get(plain_name(name)) == "contentHtml" and not ELEMENT_TAG.search(text):
                    cells[name] = Plain(_paragraphs(text))
            article = normalize_article(where, cells, options)
            if article.fields.get("contentHtml") == "":
                article.note("Articles without any content")
            yield article


def _read_rows(source: str, file: IO[bytes]) -> Iterator[tuple[str, dict[str, Plain]] | Mistake]:
    """Yield non-empty rows, numbered as in a spreadsheet, and a mistake for each row that is too long.

    Raises SourceError.
    """
    csv.field_size_limit(MAX_CELL_LENGTH)
    lines = (_decode(line, number) for number, line in enumerate(file, start=1))
    first_line = next(lines, "")
    if "\r" in first_line.rstrip("\r\n"):
        raise SourceError(f"Its lines must end with LF or CR LF, not CR. {HINT}")
    excel = EXCEL_LINE.fullmatch(first_line)
    delimiter = excel[1] if excel else max(",;\t", key=first_line.count)
    rows = csv.reader(lines if excel else chain([first_line], lines), delimiter=delimiter, strict=True)
    try:
        header = _read_header(next(rows, []))
        for number, row in enumerate(rows, start=2):
            where = f"{source}, row {number}"
            if len(row) > len(header):
                reason = f"A row must have no more cells than the header, which has {len(header)}."
                character = "a tab" if delimiter == "\t" else f'"{delimiter}"'
                yield Mistake(where, f"{reason} Put text that contains {character} between double quotes.")
            elif any(map(str.strip, row)):
                yield where, {name: _read_cell(cell) for name, cell in zip(header, row, strict=False)}
    except csv.Error as error:
        raise SourceError(f"Must be CSV ({error}). {HINT}", rows.line_num + bool(excel)) from error


def _decode(line: bytes, number: int) -> str:
    try:
        return decode(line, number)
    except SourceError as error:
        raise SourceError(f"{error} {HINT}") from error


def _read_header(cells: list[str]) -> list[str]:
    """Return the names of the columns. Unnamed and repeated ones are named by their position. Raises SourceError."""
    names = [name.strip() for name in cells]
    if not any(names):
        raise SourceError("The first row must name the columns, at least title and contentHtml. It is empty.")
    header, seen = [], {""}
    for number, name in enumerate(names, start=1):
        if name in seen and plain_name(name) in DECISIVE:
            raise SourceError(f"The header names {name!r} twice. Rename or remove one of the columns.")
        header.append(f"{name} in column {number}".lstrip() if name in seen else name)
        seen.add(name)
    if not {"title", "contentHtml"} <= {FIELD_BY_ALIAS.get(plain_name(name)) for name in header}:
        raise SourceError(f"The header must name title and contentHtml. It names {', '.join(header)}.")
    return header


def _read_cell(text: str) -> Plain:
    """Return a cell's text without surrounding whitespace. Databases' markers for NULL become ""."""
    return Plain("" if text.strip() in ("NULL", r"\N") else text.strip())


def _paragraphs(text: str) -> str:
    """Return plain text as HTML, with a paragraph for each block of lines and `<br>` for line feeds within one."""
    paragraphs = filter(None, map(str.strip, EMPTY_LINE.split(escape(text, quote=False).replace("\r\n", "\n"))))
    return "\n".join("<p>" + paragraph.replace("\n", "<br>\n") + "</p>" for paragraph in paragraphs)
