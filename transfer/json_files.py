"""JSON and JSON Lines. Imports read both strictly; `export` writes JSON Lines."""

import codecs
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import orjson

from converters.decoding import parse_json
from converters.field_names import ORIGIN_FIELDS
from converters.source_articles import ConvertedItems, ImportProblem, Origin, SourceArticle, SourceError, SourceOptions
from storage.new_files import create_new_file

JSON_LINES_HINT = "Correct it or, if each line is an article (JSON Lines), rename the file to .jsonl."


def dump_json_line(record: Any) -> bytes:
    """Return a record as a line of JSON Lines."""
    return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)


def write_json_lines(target: Path, records: Iterable[Any]) -> int:
    """Write records to a new file of JSON Lines. Returns their number. Raises OSError if they cannot be written."""
    count = 0
    with create_new_file(target) as file:
        for record in records:
            file.write(dump_json_line(record))
            count += 1
    return count


def own_article(where: str, fields: Any, source: str = "") -> SourceArticle:
    """Return an article in a format of this service. With a source, its key there is its id, otherwise its slug.

    The source and the flags in the record then do not matter.
    """
    article = SourceArticle(where, fields, is_own_format=True)
    if source:
        fields = fields if isinstance(fields, dict) else {}
        key = fields.get("id") or fields.get("slug")
        article.origin = Origin(source, key if isinstance(key, str) else "")
        for name in ORIGIN_FIELDS:
            fields.pop(name, None)
    return article


def read_json(path: str, options: SourceOptions) -> ConvertedItems:
    """Return the articles of a JSON document, which is read into memory. Raises SourceError if it has none."""
    document = parse_json(Path(path).read_bytes(), JSON_LINES_HINT)
    match document:
        case {"data": list(articles)} | list(articles):
            return read_records(path, articles, options.source)
        case {"title": _} | {"slug": _}:
            return read_records(path, [document], options.source)
    raise SourceError('Must contain an article, an array of articles, or an object with such an array in "data".')


def read_records(name: str, records: Iterable[Any], source: str = "") -> Iterable[SourceArticle]:
    """Return the articles of JSON records, which are located by their position."""
    return (own_article(f"{name}, article {number}", record, source) for number, record in enumerate(records, start=1))


def read_json_lines(path: str, options: SourceOptions) -> ConvertedItems:
    """Yield the articles of a file of JSON Lines (https://jsonlines.org)."""
    with open(path, "rb") as file:
        yield from parse_json_lines(path, file, options.source)


def parse_json_lines(name: str, file: IO[bytes], source: str) -> ConvertedItems:
    """Yield the articles of JSON Lines, and a problem for each line that is not valid JSON."""
    for number, line in enumerate(file, start=1):
        where = f"{name}, line {number}"
        if line.removeprefix(codecs.BOM_UTF8).strip():
            try:
                record = parse_json(line, "Each line must be an article.", number)
            except SourceError as error:
                yield ImportProblem(where, str(error), origin=Origin(source, "") if source else None)
            else:
                yield own_article(where, record, source)
