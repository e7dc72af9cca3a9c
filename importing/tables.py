"""Tables with a header: CSV, as spreadsheets and databases save it."""

import csv
import re
from html import escape
from typing import IO

from importing.article_files import JSON_FIELDS, to_json
from importing.errors import ImportErrors, Records, SourceError, SourceLocation, SourceOptions
from importing.fitting import fit_article
from importing.front_matter import Plain
from importing.hints import FIELD_BY_ALIAS, TAG, plain_name
from importing.paragraphs import add_paragraphs

MAX_HEADER_LENGTH = 1 << 16  # characters
MAX_CELL_LENGTH = 1 << 24


def read_table(source: str, options: SourceOptions, errors: ImportErrors) -> Records:
    """Yield the articles of a table. Raises SourceError or OSError."""
    csv.field_size_limit(MAX_CELL_LENGTH)
    with open(source, encoding="utf-8-sig", newline="") as file:
        try:
            for row_location, fields in _read_rows(source, file, errors):
                location, record = fit_article(row_location, fields, options)
                html = record.get("contentHtml")
                if html and not TAG.search(html):
                    record["contentHtml"] = add_paragraphs(escape(html, quote=False))
                yield location, record | {name: to_json(Plain(record[name])) for name in record.keys() & JSON_FIELDS}
        except UnicodeDecodeError as error:
            raise SourceError("Must be text in UTF-8. Save the table as CSV UTF-8.") from error


def _read_rows(source: str, file: IO[str], errors: ImportErrors) -> Records:
    """Yield the rows that have a cell that is not empty. Raises SourceError."""
    start, delimiter = _read_delimiter(file)
    rows = csv.reader(file, delimiter=delimiter, strict=True)
    try:
        header = [name.strip() or f"column {number}" for number, name in enumerate(next(rows, []), start=1)]
        line = start + rows.line_num
        if len(set(header)) < len(header):
            raise SourceError("The header must name each column once. Rename or remove the others.", line)
        if not {"title", "contentHtml"} <= {FIELD_BY_ALIAS.get(plain_name(name)) for name in header}:
            raise SourceError(f"The header must name title and contentHtml. It names {', '.join(header)}.", line)
        for row in rows:
            location, line = SourceLocation(source).at_line(line + 1), start + rows.line_num
            if len(row) > len(header):
                reason = f"This row has {len(row)} cells, and the header {len(header)}."
                errors.add(location, f'{reason} Put text that holds "{delimiter}" between double quotes.')
            elif any(map(str.strip, row)):
                yield location, dict(zip(header, map(str.strip, row), strict=False))
    except csv.Error as error:
        raise SourceError(f"Must be CSV ({error}).", start + rows.line_num) from error


def _read_delimiter(file: IO[str]) -> tuple[int, str]:
    """Return how many lines precede the header, and what separates the cells, which Excel may say in the first line."""
    line = file.readline(MAX_HEADER_LENGTH)
    if len(line) == MAX_HEADER_LENGTH:
        raise SourceError("The first line must name the columns, and is too long for that.", 1)
    if re.fullmatch("sep=.\r?\n", line):
        return 1, line[4]
    file.seek(0)
    return 0, max(",;\t", key=line.count)
