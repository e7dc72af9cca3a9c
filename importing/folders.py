"""Article files, and folders of them: of this service, and of Astro, Hugo, Jekyll and Eleventy."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from importing.article_files import FORM, parse_article
from importing.errors import ImportErrors, Records, SourceError, SourceLocation, SourceOptions
from importing.fitting import DATES, RawArticle, fit_article, fit_date

SUFFIXES = (".html", ".md", ".markdown")
DATED_NAME = re.compile(r"(?:(\d{4}-\d\d-\d\d)-)?(.*)", re.DOTALL)


def read_folder(source: str, options: SourceOptions, errors: ImportErrors) -> Records:
    """Yield the articles of a file, or of the files in a folder and its folders."""
    for path in _find_files(source, errors):
        name = os.path.relpath(path, source) if path != source else ""
        location = SourceLocation(source, file=name.encode(errors="replace").decode())
        try:
            if not os.path.isfile(path):  # a pipe would never end
                raise SourceError("It is not a file that can be read. Move it elsewhere.")
            data = Path(path).read_bytes()
            if data.startswith(b"---js"):  # or ---json, of Eleventy
                errors.note("Left out: files with front matter in JavaScript or JSON", location.file)
            else:
                yield _read_file(path, data, location, options)
        except SourceError as error:
            errors.add(location.at_line(error.line), str(error))
        except OSError as error:
            errors.add_unreadable(location, error)


def _find_files(source: str, errors: ImportErrors) -> Iterator[str]:
    """Yield the paths of article files, in the order of their names."""
    if not os.path.isdir(source):
        yield source
        return

    def add_unreadable(error: OSError) -> None:
        errors.add_unreadable(SourceLocation(error.filename), error)

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


def _read_file(
    path: str, data: bytes, location: SourceLocation, options: SourceOptions
) -> tuple[SourceLocation, dict[str, Any]]:
    """Return the location and the record of an article file. Raises SourceError."""
    is_html, stem = path.lower().endswith(".html"), Path(path).stem
    name = Path(path).absolute().parent.name if stem == "index" else stem
    date, slug = DATED_NAME.findall(name.encode(errors="replace").decode())[0]
    record, lines = parse_article(data, is_html=is_html)
    location = location._replace(lines=lines)
    is_own = {"title", "slug"} <= record.keys() <= FORM.keys() and isinstance(record["slug"], str)
    if is_html and is_own:  # all is as it is to be
        texts = {name: value for name, value in record.items() if name in DATES and isinstance(value, str)}
        record |= {name: fit_date(text, options.zone) for name, text in texts.items()}
        return location._replace(slug=record["slug"], matches_slug=True), record
    if "_posts" in Path(path).parts or (date and "layout" in record):  # of Jekyll
        for name in record.keys() & {"tags", "categories"}:
            if isinstance(record[name], str) and "," not in record[name]:
                record[name] = record[name].split()
    folder = quote(Path(location.file).parent.as_posix()) + "/"
    return fit_article(RawArticle(location, record, slug=slug, date=date, folder=folder), options)
