"""CSV files with a header, as spreadsheets and databases save them."""

import csv
import re
from collections.abc import Iterator
from html import escape
from itertools import chain
from typing import IO

from content.html import ANY_TAG
from converters.front_matter import Plain
from converters.normalize import normalize_article
from converters.paragraphs import add_paragraphs
from converters.records import FIELD_BY_ALIAS, Converted, Mistake, SourceError, SourceOptions, decode, plain_name

MAX_CELL_LENGTH = 1 << 24  # characters
EXCEL_LINE = re.compile(r"sep=(.)\r?\n")


def read_csv(source: str, options: SourceOptions) -> Converted:
    """Yield the articles of a CSV file. Raises SourceError or OSError."""
    with open(source, "rb") as file:
        for row in _read_rows(source, file):
            if isinstance(row, Mistake):
                yield row
                continue
            where, cells = row
            article = normalize_article(where, cells, options)
            html = article.fields.get("contentHtml")
            if html and not ANY_TAG.search(html):
                article.fields["contentHtml"] = add_paragraphs(escape(html, quote=False))
            yield article


def _read_rows(source: str, file: IO[bytes]) -> Iterator[tuple[str, dict[str, Plain]] | Mistake]:
    """Yield the rows that have a cell that is not empty, counted as a spreadsheet does. Raises SourceError."""
    csv.field_size_limit(MAX_CELL_LENGTH)
    lines = (decode(line, number) for number, line in enumerate(file, start=1))
    first_line = next(lines, "")
    excel = EXCEL_LINE.fullmatch(first_line)
    delimiter = excel[1] if excel else max(",;\t", key=first_line.count)
    rows = csv.reader(lines if excel else chain([first_line], lines), delimiter=delimiter, strict=True)
    try:
        names = [name.strip() for name in next(rows, [])]
        header = [name if name not in ("", *names[:n]) else f"column {n + 1}" for n, name in enumerate(names)]
        if not {"title", "contentHtml"} <= {FIELD_BY_ALIAS.get(plain_name(name)) for name in header}:
            raise SourceError(f"The header must name title and contentHtml. It names {', '.join(header)}.")
        for number, row in enumerate(rows, start=2):
            where = f"{source}, row {number}"
            if len(row) > len(header):
                reason = f"A row must have no more cells than the header, which has {len(header)}."
                yield Mistake(where, f'{reason} Put text that holds "{delimiter}" between double quotes.')
            elif any(map(str.strip, row)):
                yield where, {name: Plain(cell.strip()) for name, cell in zip(header, row, strict=False)}
    except csv.Error as error:
        raise SourceError(f"Must be CSV ({error}).", rows.line_num + bool(excel)) from error
