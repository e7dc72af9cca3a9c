"""Tables with a header: CSV, as spreadsheets and databases save it."""

import csv
import re
from collections.abc import Iterator
from html import escape
from itertools import chain
from typing import IO

from content.html import ANY_TAG
from importing.fitting import fit_article
from importing.front_matter import Plain
from importing.paragraphs import add_paragraphs
from importing.records import FIELD_BY_ALIAS, Records, SourceError, SourceOptions, decode, plain_name
from importing.report import ImportReport

MAX_CELL_LENGTH = 1 << 24  # It counts characters.
EXCEL_LINE = re.compile(r"sep=(.)\r?\n")


def read_table(source: str, options: SourceOptions, report: ImportReport) -> Records:
    """Yield the articles of a table. Raises SourceError or OSError."""
    with open(source, "rb") as file:
        for place, cells in _read_rows(source, file, report):
            article = fit_article(cells, options)
            html = article.get("contentHtml")
            if html and not ANY_TAG.search(html):
                article["contentHtml"] = add_paragraphs(escape(html, quote=False))
            yield place, article


def _read_rows(source: str, file: IO[bytes], report: ImportReport) -> Iterator[tuple[str, dict[str, Plain]]]:
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
            place = f"{source}, row {number}"
            if len(row) > len(header):
                reason = f"A row must have no more cells than the header, which has {len(header)}."
                report.add(place, f'{reason} Put text that holds "{delimiter}" between double quotes.')
            elif any(map(str.strip, row)):
                yield place, {name: Plain(cell.strip()) for name, cell in zip(header, row, strict=False)}
    except csv.Error as error:
        raise SourceError(f"Must be CSV ({error}).", rows.line_num + bool(excel)) from error
