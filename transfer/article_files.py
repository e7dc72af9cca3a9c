"""Article files of this service: front matter in YAML, then the content in HTML or Markdown."""

import re
from collections.abc import Iterable
from datetime import tzinfo
from hashlib import sha256
from pathlib import Path
from typing import Any
from unicodedata import normalize

import orjson

from converters.articles import DATE_FIELDS, SourceArticle, SourceOptions
from converters.front_matter import dump_front_matter
from converters.markdown import render_markdown
from converters.scalars import parse_scalars
from converters.values import normalize_date

# An export writes all of these, so a file that lacks one is another system's.
EXPORTED_FIELDS = {"id", "title", "slug", "status", "createdAt", "updatedAt", "views"}
MAX_NAME_BYTES = 255
# names that are valid on Linux, macOS and Windows, except device names and our fallback for other slugs
FILE_NAME = re.compile(
    r"""(?!(?:con|prn|aux|nul|(?:com|lpt)\d)(?:\.|\Z)|article-[0-9a-f]{64}\Z)[^\W_][^<>:"/\\|?*]*""", re.IGNORECASE
)


def parse_own_file(where: str, fields: dict[str, Any], content: str, options: SourceOptions) -> SourceArticle | None:
    """Return the article of a parsed file if this service exported it, or None if the file is another system's.

    `where` is the file's path, and `fields` and `content` are as `parse_front_matter` returns them.
    """
    if not fields.keys() >= EXPORTED_FIELDS:
        return None
    if not where.lower().endswith(".html"):
        content = render_markdown(content)
    return own_article(where, fields, content, options.zone)


def own_article(where: str, fields: dict[str, Any], content: str, zone: tzinfo) -> SourceArticle:
    """Return the article of a file that this service exported.

    `fields` are its front matter. `content` is HTML, which is taken verbatim. `zone` applies to times without one.
    """
    html = content.removesuffix("\n")  # the last line feed belongs to the file
    article = SourceArticle(where, parse_scalars(fields) | {"contentHtml": html})
    for name in fields.keys() & DATE_FIELDS:
        if fields[name] is not None:
            normalize_date(article, name, fields[name], zone)
    return article


def write_folder(folder: Path, records: Iterable[dict[str, Any]]) -> int:
    """Write exported articles to files in a folder, creating it if necessary. Returns their number.

    Raises OSError if a file cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    used: set[str] = set()
    for record in records:
        (folder / _file_name(record["id"], record["slug"], used)).write_bytes(format_article(record))
    return len(used)


def _file_name(id: str, slug: str, used: set[str]) -> str:
    """Return a file name that differs from all names in `used` on every file system, and add it to them."""
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
