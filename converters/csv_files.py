"""CSV files with a header, as spreadsheets and databases save them."""

import csv
import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import chain
from typing import IO, TYPE_CHECKING

from converters import note_kinds
from converters.articles import ConvertedItems, ImportProblem, Origin, SourceArticle, SourceError, SourceOptions
from converters.decoding import decode_utf8
from converters.field_mapping import map_fields
from converters.field_names import FIELD_BY_ALIAS, plain_name
from converters.html_elements import ELEMENT_TAG
from converters.publication import EXPIRY_DATE, PUBLICATION_FIELDS, SWITCHES
from converters.scalars import NON_TEXT_FIELDS, Unquoted
from converters.urls import ArticleUrls, old_site

if TYPE_CHECKING:
    from _csv import Reader

MAX_CELL_LENGTH = 1 << 24  # characters
EXCEL_CELL_LENGTH = 32_767  # UTF-16 code units, in the longest cell
TRUNCATED_CELLS = "Cells of exactly 32,767 characters, at which Excel truncates text"
DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
# Excel's, in English, German, French, Spanish, Italian, Dutch and Portuguese
EXCEL_ERRORS = """
#NULL! #DIV/0! #VALUE! #REF! #NAME? #NUM! #N/A #GETTING_DATA #SPILL! #CALC! #FIELD! #BLOCKED! #CONNECT! #UNKNOWN!
#WERT! #BEZUG! #ZAHL! #NV #ÜBERLAUF! #KALK! #FELD! #NUL! #VALEUR! #NOM? #NOMBRE! #PROPAGATION! #EPARS! #CALCUL!
#¡NULO! #¡DIV/0! #¡VALOR! #¡REF! #¿NOMBRE? #¡NUM! #¡DESBORDAMIENTO! #¡CALC! #N/D #NULLO! #VALORE! #RIF! #NOME?
#ESPANSIONE! #LEEG! #DEEL/0! #WAARDE! #VERW! #NAAM? #GETAL! #N/B #OVERLOOP! #NULO! #VALOR! #NÚM! #DESPEJAR!
"""
SPREADSHEET_ERRORS = frozenset(EXCEL_ERRORS.split())
EMPTY_LINE = re.compile(r"\n[ \t]*\n")
QUOTES_HINT = 'Close each quotation mark, and write "" for one within text.'
EXCEL_HINT = 'In Excel, save as "CSV UTF-8".'
BACKSLASH_HINT = 'It has quotes written as \\", which must be written as "". In MySQL, export with ESCAPED BY \'"\'.'
QUOTES_ERROR = re.compile("unexpected end of data|expected after")  # messages of the csv module
EXCEL_LINE = re.compile(r"sep=(.)\r?\n")  # sep=;
NULL = ("NULL", r"\N")
GERMAN_SWITCHES = {"wahr": "true", "falsch": "false"}  # German Excel's; words in other languages are rejected
Cells = dict[str, str]  # by column


def read_csv(source: str, options: SourceOptions) -> ConvertedItems:
    """Yield the articles of a CSV file. Raises SourceError or OSError if it cannot be read any further."""
    with open(source, "rb") as file:
        for row in _read_rows(source, file):
            yield row if isinstance(row, ImportProblem) else _convert(*row, options)


def _convert(where: str, cells: Cells, options: SourceOptions) -> SourceArticle:
    """Return the article of a row."""
    errors = [name for name, text in cells.items() if _is_error(name, text)]
    values = {name: _read_cell(name, text) for name, text in cells.items() if name not in errors}
    article = map_fields(where, values, options)
    for name in errors:
        field = FIELD_BY_ALIAS.get(plain_name(name), name)
        article.names[field] = name
        article.reject(field, "Is a spreadsheet error. Correct the cell.", cells[name])
    ArticleUrls(article, old_site(options)).change()
    article.origin = Origin(options.source or "csv", article.fields.get("slug", ""), has_reusable_key=True)
    if article.claim == "published" and _lacks_a_date(cells):
        article.claim = None
        article.note("Some dates of publication are empty, so the source does not say whether they are published")
    if article.fields.get("contentHtml") == "":
        article.note(note_kinds.NO_CONTENT)
    for name, text in cells.items():
        if len(text.encode("utf-16-le")) == 2 * EXCEL_CELL_LENGTH:
            article.note(TRUNCATED_CELLS, name, "Check that they are complete.")
    return article


def _lacks_a_date(cells: Cells) -> bool:
    """Return whether one of several columns with dates of publication is empty, as in Webflow's drafts.

    It does not matter if another column says that the article is published.
    """
    texts = {plain_name(name): text.strip() for name, text in cells.items()}
    if any(texts.get(alias) for alias, meanings in PUBLICATION_FIELDS.items() if "published" in meanings.values()):
        return False
    return "" in (
        text for alias, text in texts.items() if FIELD_BY_ALIAS.get(alias) == "publishedAt" and alias not in SWITCHES
    )


def _is_error(name: str, text: str) -> bool:
    """Return whether a cell has a spreadsheet error. Fields about publication reject such a text by themselves."""
    return text.strip() in SPREADSHEET_ERRORS and plain_name(name) not in (*PUBLICATION_FIELDS, EXPIRY_DATE)


def _read_cell(name: str, text: str) -> str:
    """Return the value of a cell in the given column."""
    value = "" if text.strip() in NULL else text.strip()
    alias = plain_name(name)
    if alias in SWITCHES:
        return GERMAN_SWITCHES.get(value.lower(), value)
    if FIELD_BY_ALIAS.get(alias) in NON_TEXT_FIELDS:
        return Unquoted(value)
    return _paragraphs(value) if _is_plain_content(name, value) else value


def _is_plain_content(name: str, text: str) -> bool:
    """Return whether a cell in the given column is content without any HTML tag."""
    return FIELD_BY_ALIAS.get(plain_name(name)) == "contentHtml" and not ELEMENT_TAG.search(text)


def _paragraphs(text: str) -> str:
    """Return plain text as HTML, with a paragraph for each block of lines and `<br>` for line feeds within one."""
    paragraphs = filter(None, map(str.strip, EMPTY_LINE.split(escape(text, quote=False).replace("\r\n", "\n"))))
    return "\n".join("<p>" + paragraph.replace("\n", "<br>\n") + "</p>" for paragraph in paragraphs)


def _read_rows(source: str, file: IO[bytes]) -> Iterator[tuple[str, Cells] | ImportProblem]:
    """Yield non-empty rows, numbered as in a spreadsheet, and a problem for each row that is too long.

    Raises SourceError if the file cannot be read any further.
    """
    reader = _open_reader(file)
    try:
        header = _read_header(next(reader, []))
        for number, row in enumerate(reader, start=2):
            where = f"{source}, row {number}"
            if len(row) > len(header):
                character = DELIMITERS.get(reader.dialect.delimiter, "the delimiter")
                hint = f"Put text that contains {character} in double quotes."
                hint = BACKSLASH_HINT if any(cell.endswith("\\") for cell in row) else hint
                yield ImportProblem(
                    where, f"A row must have no more cells than the header, which has {len(header)}. {hint}"
                )
            elif any(map(str.strip, row)):
                yield where, dict(zip(header, row, strict=False))
    except csv.Error as error:
        file.seek(0)
        has_backslashes = any(b'\\"' in line for line in file)
        hint = BACKSLASH_HINT if has_backslashes else QUOTES_HINT if QUOTES_ERROR.search(str(error)) else EXCEL_HINT
        raise SourceError(f"Must be CSV ({error}). {hint}", reader.line_num) from error


def _open_reader(file: IO[bytes]) -> "Reader":
    """Return a reader of a file's rows, without Excel's `sep=` line. Raises SourceError if it cannot be read."""
    csv.field_size_limit(MAX_CELL_LENGTH)  # of the process
    lines = (_decode(line, number) for number, line in enumerate(file, start=1))
    first_line = next(lines, "")
    if "\r" in first_line.rstrip("\r\n"):
        raise SourceError(f"Its lines must end with LF or CR LF, not CR. {EXCEL_HINT}")
    excel = EXCEL_LINE.fullmatch(first_line)
    delimiter = excel[1] if excel else max(DELIMITERS, key=first_line.count)
    all_lines = chain(["\n" if excel else first_line], lines)
    reader = csv.reader(_remove_spaces(all_lines, delimiter), delimiter=delimiter, strict=True)
    if excel:
        next(reader)
    return reader


def _remove_spaces(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Yield lines without spaces after closing quotation marks, such as `"a" ,b`, which the csv module rejects."""
    end = re.escape(delimiter)
    # a quoted cell, or the rest of one, up to its closing quotation mark or the end of the line
    quoted = re.compile(rf'(?:^|(?<={end}))("[^"]*+(?:""[^"]*+)*+(?:"|\Z))(?: +(?=[{end}\r\n]|\Z))?')
    opening = ""  # the quotation mark of a cell that began on an earlier line
    for line in lines:
        text = opening + line
        yield quoted.sub(r"\1", text)[len(opening) :]
        cells = quoted.findall(text)
        opening = '"' if cells and cells[-1].count('"') % 2 else ""


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
    if "slug" not in map(plain_name, names):
        names = ["slug" if plain_name(name) == "handle" else name for name in names]  # Shopify
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
