"""CSV files with a header, as spreadsheets and databases save them."""

import csv
import re
from collections import Counter
from collections.abc import Iterator
from html import escape

from converters.article_urls import ArticleUrls, old_site
from converters.claims import SWITCHES, is_status
from converters.decoding import decode_utf8
from converters.field_mapping import map_fields
from converters.field_names import FIELD_BY_ALIAS, plain_name
from converters.leftover_markup import note_leftover_markup
from converters.source_articles import (
    ConvertedItems,
    ImportProblem,
    Origin,
    SourceArticle,
    SourceError,
    SourceOptions,
    Subject,
)
from converters.values import NON_TEXT_FIELDS, Unquoted

MAX_CELL_LENGTH = 1 << 24  # characters
DELIMITERS = ",;\t"
QUOTED = re.compile(r'"[^"]*"')
MAX_HEADER = 100  # lines
CSV_HINT = 'Close each quotation mark, and write "" for one within text. In Excel, save as "CSV UTF-8".'
EXCEL_ERROR = re.compile(r"#(?:NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!|N/A)")
EMPTY_LINE = re.compile(r"\n[ \t]*\n")
HTML = re.compile(r"</[a-z]|<(?:br|hr|img|p)[\s/>]", re.IGNORECASE)
EMPTY_DATE = "Some dates of publication are empty, so the source does not say whether they are published"
NULL = ("NULL", r"\N")
Cells = dict[str, str]  # by column


def read_csv(source: str, options: SourceOptions) -> ConvertedItems:
    """Yield the articles of a CSV file.

    Raises SourceError or OSError if it cannot be read past some line.
    """
    rows = list(_read_rows(source))
    cells = (cell for row in rows if not isinstance(row, ImportProblem) for cell in row[1].items())
    state_is_status = any(plain_name(name) == "state" and is_status(text) for name, text in cells)
    for row in rows:
        if isinstance(row, ImportProblem):
            yield row._replace(origin=Origin(options.source or "csv", ""))
        else:
            yield _convert(*row, options, state_is_status=state_is_status)


def _convert(where: str, cells: Cells, options: SourceOptions, *, state_is_status: bool) -> SourceArticle:
    """Return the article of a row."""
    values = {name: _read_cell(name, text) for name, text in cells.items()}
    article = map_fields(where, values, options, state_is_status=state_is_status)
    for field in ("title", "slug"):
        given = values.get(article.names.get(field, field), "")
        if EXCEL_ERROR.fullmatch(given):
            article.reject(field, "Is a spreadsheet error. Correct the cell.", given)
    article.origin = Origin(options.source or "csv", article.fields.get("slug", ""))
    if article.claim == "published" and "publishedAt" in article.fields and _has_empty_date(cells):
        article.claim = None
        article.note(EMPTY_DATE, subject=Subject.ACCESS)
    ArticleUrls(article, old_site(options)).change()
    if "contentHtml" in article.fields:
        note_leftover_markup(article, drop_tags=options.drop_tags)
    return article


def _has_empty_date(cells: Cells) -> bool:
    """Return whether one of several columns with dates of publication is empty, as for Webflow's drafts."""
    empty = {plain_name(name) for name, text in cells.items() if not text.strip()}
    return any(FIELD_BY_ALIAS.get(name) == "publishedAt" and name not in SWITCHES for name in empty)


def _read_cell(name: str, text: str) -> str:
    """Return the value of a cell in the given column. Plain text for the content becomes HTML."""
    value = "" if text.strip() in NULL else text.strip()
    field = FIELD_BY_ALIAS.get(plain_name(name))
    if field in NON_TEXT_FIELDS:
        return Unquoted(value)
    if field != "contentHtml" or HTML.search(value):
        return value
    paragraphs = filter(None, map(str.strip, EMPTY_LINE.split(escape(value, quote=False).replace("\r\n", "\n"))))
    return "\n".join("<p>" + paragraph.replace("\n", "<br>\n") + "</p>" for paragraph in paragraphs)


def _read_rows(source: str) -> Iterator[tuple[str, Cells] | ImportProblem]:
    """Yield non-empty rows, with their places, and a problem for each row that is too long.

    Raises SourceError or OSError if the file cannot be read past some line.
    """
    csv.field_size_limit(MAX_CELL_LENGTH)  # of the process
    with open(source, "rb") as file:
        lines = [decode_utf8(line, number) for number, line in enumerate(file, start=1)]
        reader = csv.reader(lines, delimiter=_find_delimiter(lines[:MAX_HEADER]), strict=True)
        try:
            header = _read_header(next(reader, []))
            for number, row in enumerate(reader, start=2):
                where = f"{source}, row {number}"
                if len(row) > len(header):
                    reason = f"Has more than the {len(header)} cells of the header. Put text in double quotes."
                    yield ImportProblem(where, reason)
                elif any(map(str.strip, row)):
                    yield where, dict(zip(header, row, strict=False))
        except csv.Error as error:
            raise SourceError(f"Must be CSV ({error}). {CSV_HINT}", reader.line_num) from error


def _find_delimiter(lines: list[str]) -> str:
    """Return the character that splits a header into the most columns, outside quotation marks.

    The header is in the first of the lines. Line breaks in quotation marks belong to it.
    """
    header = QUOTED.sub("", "".join(lines)).partition("\n")[0]
    return max(DELIMITERS, key=header.count)


def _read_header(cells: list[str]) -> list[str]:
    """Return the names of the columns. Unknown ones may repeat.

    Raises SourceError if a required column is missing, or a known one is repeated.
    """
    names = [name.strip() for name in cells]
    for name, count in Counter(names).items():
        if count > 1 and plain_name(name) in {*FIELD_BY_ALIAS, *SWITCHES}:
            raise SourceError(f"The header names {name!r} twice. Rename or remove one of the columns.")
    if not {"title", "contentHtml"} <= {FIELD_BY_ALIAS.get(plain_name(name)) for name in names}:
        required = "title and contentHtml (or body, for example)"
        raise SourceError(f"The header must name {required}. It names {', '.join(names) or 'nothing'}.")
    return names
