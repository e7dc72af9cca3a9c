"""Article files, and folders of them, as this service, Astro, Hugo, Jekyll and Eleventy have them."""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import quote

import orjson
from markdown_it import MarkdownIt

from field_types import Minutes, SchemaMarkup, WholeNumber
from importing.errors import ImportErrors, LocatedRecord, Records, SourceError, SourceLocation, SourceOptions
from importing.fitting import DATES, fit_article, fit_date
from importing.front_matter import Plain, parse_front_matter
from schemas import ArticleImportSchema

SUFFIXES = (".html", ".md", ".markdown")
DATED_NAME = re.compile(r"(?:(\d{4}-\d\d-\d\d)-)?(.*)", re.DOTALL)
MARKDOWN = MarkdownIt("commonmark").enable("table")
FORM = {field.data_key or name: field for name, field in ArticleImportSchema().fields.items()}
JSON_FIELDS = {name for name, field in FORM.items() if isinstance(field, WholeNumber | Minutes | SchemaMarkup)}
JSON_STRING = re.compile(r'("(?:[^"\\]|\\.)*")(:?)')  # and whether it is a member's name
# Text that every reader of YAML takes for text without quotes, in a list too; and timestamps, as people write them.
UNQUOTED = re.compile(
    r"(?!(?:null|true|false|yes|no|on|off|y|n)\Z)[^\W\d_][\w ./()+-]*(?<! )|[\d-]{10}T[\d:.]{12}Z", re.IGNORECASE
)
MAX_NAME_LENGTH = 500  # characters of a member's name; readers of YAML do not search further for the colon
MAX_FILE_NAME_BYTES = 255
UNPORTABLE = re.compile(  # names that Windows reserves for devices, hidden files, characters of paths and patterns
    r"(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\.|\.|.*[<>:\"/\\|?*]", re.IGNORECASE
)


def read_folder(source: str, options: SourceOptions, errors: ImportErrors) -> Records:
    """Yield the articles of a file, or of the files in a folder and its folders."""
    for path in _find_files(source, errors):
        with errors.catch(SourceLocation(path)):
            if not os.path.isfile(path):  # a pipe would never end
                raise SourceError("It is not a file that can be read. Move it elsewhere.")
            data = Path(path).read_bytes()
            if data.startswith(b"---js"):  # or ---json, of Eleventy
                errors.note("Left out: files with front matter in JavaScript or JSON", Path(path).name)
            else:
                folder = Path(os.path.relpath(path, source)).parent.as_posix()
                yield _read_file(path, data, options, quote(folder, errors="replace") + "/")


def _find_files(source: str, errors: ImportErrors) -> Iterator[str]:
    """Yield the paths of article files, in the order of their names."""
    if not os.path.isdir(source):
        yield source
        return

    def add_unreadable(error: OSError) -> None:
        with errors.catch(SourceLocation(error.filename)):
            raise error

    for folder, folders, names in os.walk(source, onerror=add_unreadable):
        for name in folders:
            if os.path.islink(os.path.join(folder, name)):
                errors.note("Left out: folders that are links", name)
        folders[:] = sorted(name for name in folders if not name.startswith("."))  # such as .git
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES) and not name.startswith(("_", ".")):
                yield os.path.join(folder, name)
            elif name.lower().endswith((*SUFFIXES, ".mdx")):
                errors.note("Left out: files named _* or *.mdx", name)


def _read_file(path: str, data: bytes, options: SourceOptions, folder: str) -> LocatedRecord:
    """Return the location and the record of an article file. Raises SourceError."""
    is_html, stem = path.lower().endswith(".html"), Path(path).stem
    name = Path(path).absolute().parent.name if stem == "index" else stem
    date, slug = DATED_NAME.findall(name.encode(errors="replace").decode())[0]
    record, lines = parse_article(data, is_html=is_html)
    is_own = {"title", "slug"} <= record.keys() <= FORM.keys() and isinstance(record["slug"], str)
    if is_html and is_own:  # all is as it is to be
        texts = {name: value for name, value in record.items() if name in DATES and isinstance(value, str)}
        record |= {name: fit_date(text, options.zone) for name, text in texts.items()}
        return SourceLocation(path, slug=record["slug"], lines=lines, matches_slug=True), record
    if "_posts" in Path(path).parts or (date and "layout" in record):  # of Jekyll
        for name in record.keys() & {"tags", "categories"}:
            if isinstance(record[name], str) and "," not in record[name]:
                record[name] = record[name].split()
    return fit_article(SourceLocation(path, slug=slug, lines=lines), record, options, date, folder)


def parse_article(data: bytes, *, is_html: bool = True, first_line: int = 1) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the article of a file, with the content in `contentHtml`, and the lines of its fields.

    `first_line` is the number of the file's first line. Raises SourceError with a line.
    """
    fields, lines, content = parse_front_matter(data, first_line)
    if "contentHtml" in fields:
        raise SourceError("contentHtml belongs below the front matter.", lines.get("contentHtml"))
    record = {name: to_json(value) if name in JSON_FIELDS else value for name, value in fields.items()}
    # The line feed at the end belongs to the file.
    record["contentHtml"] = content.removesuffix("\n") if is_html else MARKDOWN.render(content)
    return record, lines


def to_json(value: Any) -> Any:
    """Return a value with a number, true or false for each scalar that is one in JSON."""

    def to_scalar(text: Plain) -> Any:
        with suppress(orjson.JSONDecodeError):  # also of a number that is too large, such as 1e999
            scalar = orjson.loads(text.encode())
            return scalar if isinstance(scalar, int | float) else str(text)
        return str(text)

    option = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_NON_STR_KEYS
    return orjson.loads(orjson.dumps(value, to_scalar, option))


def write_folder(folder: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write exported articles to files in a folder, which is created, and return their number. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    used: set[str] = set()
    for record in records:
        (folder / _file_name(record["id"], record["slug"], used)).write_bytes(format_article(record))
    return len(used)


def _file_name(id: str, slug: str, used: set[str]) -> str:
    """Return a name for an article's file that every file system can have and tell from those in `used`."""
    for stem in (slug, id, f"article {sha256(id.encode()).hexdigest()}"):  # no id or slug has a space
        name = f"{stem}.html"
        key = normalize("NFD", normalize("NFD", name).casefold())
        length = len(normalize("NFD", name).encode())
        if key not in used and length <= MAX_FILE_NAME_BYTES and name.isprintable() and not UNPORTABLE.match(name):
            break
    used.add(key)
    return name


def format_article(record: dict[str, Any]) -> bytes:
    """Return an exported article as a file with its content in HTML."""
    values = orjson.loads(orjson.dumps(record))
    content = values.pop("contentHtml")
    fields = (f"{name}: {_to_yaml(value)}" for name, value in values.items())
    return "\n".join(["---", *fields, "---", content, ""]).encode()


def _to_yaml(value: Any) -> str:
    """Return a value as YAML on one line, which is JSON but for text that needs no quotes."""
    if isinstance(value, str) and UNQUOTED.fullmatch(value):
        return value
    if isinstance(value, list):
        return f"[{', '.join(map(_to_yaml, value))}]"
    return JSON_STRING.sub(_escape, orjson.dumps(value).decode())


def _escape(string: re.Match[str]) -> str:
    """Return a string of JSON with escapes for what is not printable, marked as a name if it is a long one."""
    text = "".join(char if char.isprintable() else rf"\U{ord(char):08x}" for char in string[1])
    return f"? {text} :" if string[2] and len(text) > MAX_NAME_LENGTH else text + string[2]
