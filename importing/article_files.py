"""Article files, and folders of them, as this service, Astro, Hugo, Jekyll and Eleventy have them."""

import os
import re
from collections.abc import Iterable, Iterator
from datetime import tzinfo
from hashlib import sha256
from pathlib import Path
from typing import Any
from unicodedata import normalize
from urllib.parse import quote, unquote

import orjson

from content.urls import change_urls
from importing.dates import fit_date
from importing.fitting import fit_article, fit_slug
from importing.front_matter import IMPORT_FIELDS, dump_front_matter, parse_front_matter, parse_scalars
from importing.markdown import render_markdown
from importing.records import DATES, Records, SourceArticle, SourceError, SourceOptions
from importing.report import ImportReport

SUFFIXES = (".html", ".md", ".markdown")
DATED_NAME = re.compile(r"(?:(\d{4}-\d\d-\d\d)-)?(.*)", re.DOTALL)
MAX_NAME_BYTES = 255
# The name of a file on Linux, macOS and Windows, and not that of a device or of an article whose slug is none.
FILE_NAME = re.compile(
    r"""(?!(?:con|prn|aux|nul|(?:com|lpt)\d)(?:\.|\Z)|article-[0-9a-f]{64}\Z)[^\W_][^<>:"/\\|?*]*""", re.IGNORECASE
)


def read_folder(source: str, options: SourceOptions, report: ImportReport) -> Records:
    """Yield the articles of a file, or of the files in a folder and its folders."""
    root = Path(source) if os.path.isdir(source) else Path(source).parent
    for path in _find_files(source, report):
        with report.catch(str(path)):
            if not path.is_file():  # A pipe would never end.
                raise SourceError("It is not a file that can be read. Move it elsewhere.")
            data = path.read_bytes()
            if data.startswith(b"---js"):  # Eleventy has ---js and ---json.
                report.note("Left out: files with front matter in JavaScript or JSON", path.name)
            else:
                yield str(path), _read_file(path, data, options, root)


def _find_files(source: str, report: ImportReport) -> Iterator[Path]:
    """Yield the paths of article files, in the order of their names."""
    if not os.path.isdir(source):
        yield Path(source)
        return

    def add_unreadable(error: OSError) -> None:
        with report.catch(error.filename):
            raise error

    for folder, folders, names in os.walk(source, onerror=add_unreadable):
        for name in folders:
            if os.path.islink(os.path.join(folder, name)):
                report.note("Left out: folders that are links", name)
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(SUFFIXES) and not name.startswith(("_", ".")):
                yield Path(folder, name)
            elif name.lower().endswith((*SUFFIXES, ".mdx")):
                report.note("Left out: files named _* or *.mdx", name)


def _read_file(path: Path, data: bytes, options: SourceOptions, root: Path) -> SourceArticle:
    """Return the article of a file. Raises SourceError."""
    fields, content = parse_front_matter(data)
    is_html = path.suffix.lower() == ".html"
    # An export writes HTML with a title, a slug, and no field that an import does not know. Other files are fitted.
    if is_html and {"title", "slug"} <= fields.keys() <= IMPORT_FIELDS.keys() and isinstance(fields["slug"], str):
        return own_article(fields, content, options.zone)
    date, slug = _parse_name(path)
    if "_posts" in path.parts or (date and "layout" in fields):  # Jekyll separates words by spaces.
        for name in fields.keys() & {"tags", "categories"}:
            if isinstance(fields[name], str) and "," not in fields[name]:
                fields[name] = fields[name].split()
    html = content.removesuffix("\n") if is_html else render_markdown(content)
    fields["contentHtml"] = _link_files(html, path, root, options.site)
    folder = path.parent.relative_to(root).as_posix()
    return fit_article(fields, options, date=date, slug=slug, folder=quote(folder, errors="replace") + "/")


def own_article(fields: dict[str, Any], content: str, zone: tzinfo) -> SourceArticle:
    """Return the article of one of this service's own files, in the form that import takes.

    `fields` and `content` are as `parse_front_matter` returns them. Times without a zone are of `zone`.
    """
    dates = {name: fit_date(fields[name], zone) for name in fields.keys() & DATES if isinstance(fields[name], str)}
    html = content.removesuffix("\n")  # The last line feed belongs to the file.
    return SourceArticle(parse_scalars(fields) | dates | {"contentHtml": html})


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
        slug = fit_slug(str(fields.get("slug") or _parse_name(file)[1]))
        return f"{site.rstrip('/')}/{quote(slug)}{mark}{fragment}"

    return change_urls(html, link) if site else html


def write_folder(folder: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write exported articles to files in a folder, which is created, and return their number. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    used: set[str] = set()
    for record in records:
        (folder / _file_name(record["id"], record["slug"], used)).write_bytes(format_article(record))
    return len(used)


def _file_name(id: str, slug: str, used: set[str]) -> str:
    """Return a name for an article's file that differs from those in `used` on every file system, and add it."""
    name = f"{slug}.html"
    key = normalize("NFD", name.casefold())
    is_short = max(len(name.encode()), len(key.encode())) <= MAX_NAME_BYTES
    is_name = FILE_NAME.fullmatch(slug) and slug.isprintable() and is_short
    if not is_name or key in used:
        name = key = f"article-{sha256(id.encode()).hexdigest()}.html"
    used.add(key)
    return name


def format_article(record: dict[str, Any]) -> bytes:
    """Return an exported article as a file with its content in HTML."""
    fields = orjson.loads(orjson.dumps(record))
    content = fields.pop("contentHtml")
    return f"{dump_front_matter(fields)}{content}\n".encode()
