"""Article files, and folders of them, as this service, Astro, Hugo, Jekyll and Eleventy have them."""

import os
import re
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from content.urls import change_urls
from converters.dates import normalize_date
from converters.front_matter import IMPORT_FIELDS, parse_front_matter, parse_scalars
from converters.markdown import render_markdown
from converters.normalize import normalize_article, normalize_slug
from converters.records import (
    DATES,
    Converted,
    IgnoredItem,
    Mistake,
    SourceArticle,
    SourceError,
    SourceOptions,
    mistake,
)

SUFFIXES = (".html", ".md", ".markdown")
DATED_NAME = re.compile(r"(?:(\d{4}-\d\d-\d\d)-)?(.*)", re.DOTALL)


def read_folder(source: str, options: SourceOptions) -> Converted:
    """Yield the articles of a file, or of the files in a folder and its folders."""
    root = Path(source) if os.path.isdir(source) else Path(source).parent
    for path in _find_files(source):
        if not isinstance(path, Path):
            yield path
            continue
        try:
            if not path.is_file():  # reading a named pipe would block forever
                raise SourceError("It is not a file that can be read. Move it elsewhere.")
            data = path.read_bytes()
            if data.startswith(b"---js"):  # Eleventy has ---js and ---json
                yield IgnoredItem("Left out: files with front matter in JavaScript or JSON", path.name)
            else:
                yield _read_file(path, data, options, root)
        except (SourceError, OSError) as error:
            yield mistake(str(path), error)


def _find_files(source: str) -> Iterator[Path | IgnoredItem | Mistake]:
    """Yield the paths of article files, in the order of their names, and what else there is."""
    if not os.path.isdir(source):
        yield Path(source)
        return
    unreadable: list[OSError] = []
    for folder, folders, names in os.walk(source, onerror=unreadable.append):
        for name in folders:
            if os.path.islink(os.path.join(folder, name)):
                yield IgnoredItem("Left out: folders that are links", name)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES) and not name.startswith(("_", ".")):
                yield Path(folder, name)
            elif name.lower().endswith((*SUFFIXES, ".mdx")):
                yield IgnoredItem("Left out: files named _* or *.mdx", name)
    for error in unreadable:
        yield mistake(error.filename, error)


def _read_file(path: Path, data: bytes, options: SourceOptions, root: Path) -> SourceArticle:
    """Return the article of a file. Raises SourceError."""
    fields, content = parse_front_matter(data)
    is_html = path.suffix.lower() == ".html"
    # An export writes HTML with a title, a slug, and no field that an import does not know. Other files are fitted.
    if is_html and {"title", "slug"} <= fields.keys() <= IMPORT_FIELDS.keys() and isinstance(fields["slug"], str):
        return own_article(str(path), fields, content, options.zone)
    date, slug = _parse_name(path)
    if "_posts" in path.parts or (date and "layout" in fields):  # Jekyll separates words by spaces.
        for name in fields.keys() & {"tags", "categories"}:
            if isinstance(fields[name], str) and "," not in fields[name]:
                fields[name] = fields[name].split()
    html = content.removesuffix("\n") if is_html else render_markdown(content)
    fields["contentHtml"] = _link_files(html, path, root, options.site)
    folder = path.parent.relative_to(root).as_posix()
    folder = quote(folder, errors="replace") + "/"
    return normalize_article(str(path), fields, options, date=date, slug=slug, folder=folder)


def own_article(where: str, fields: dict[str, Any], content: str, zone: tzinfo) -> SourceArticle:
    """Return the article of one of this service's own files, which is taken verbatim.

    `fields` and `content` are as `parse_front_matter` returns them; `zone` is for times without one.
    """
    dates = {
        name: normalize_date(fields[name], zone) for name in fields.keys() & DATES if isinstance(fields[name], str)
    }
    html = content.removesuffix("\n")  # the last line feed belongs to the file
    return SourceArticle(where, parse_scalars(fields) | dates | {"contentHtml": html})


def _parse_name(path: Path) -> tuple[str, str]:
    """Return the date and the slug that a file's name has; that of an `index` file is its folder's."""
    name = path.absolute().parent.name if path.stem == "index" else path.stem
    date, slug = DATED_NAME.findall(name.encode(errors="replace").decode())[0]
    return date, slug


def _link_files(html: str, path: Path, root: Path, site: str) -> str:
    """Return HTML in which links to other article files below `root` lead to the site's URL and their slug."""

    def link(attribute: str, url: str) -> str:
        target, mark, fragment = url.partition("#")
        file = Path(os.path.abspath(path.parent / unquote(target)))
        is_inside = file.is_relative_to(os.path.abspath(root))
        if attribute != "href" or not (is_inside and target.lower().endswith(SUFFIXES) and os.path.isfile(file)):
            return url
        try:
            fields, _ = parse_front_matter(file.read_bytes())
        except SourceError:  # The file is no article, or the report names it when it is read.
            return url
        slug = normalize_slug(str(fields.get("slug") or _parse_name(file)[1]))
        return f"{site.rstrip('/')}/{quote(slug)}{mark}{fragment}"

    return change_urls(html, link) if site else html
