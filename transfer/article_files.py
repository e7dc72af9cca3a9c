"""Article files of this service: front matter in YAML, then the content in HTML or Markdown."""

from datetime import tzinfo
from typing import Any

import orjson

from converters.front_matter import dump_front_matter
from converters.markdown import render_markdown
from converters.source_articles import DATE_FIELDS, SourceArticle, SourceOptions
from converters.values import normalize_date, parse_scalars
from transfer.json_files import own_article

# An export writes all of these, so a file without one of them is another system's.
EXPORTED_FIELDS = {"id", "title", "slug", "status", "createdAt", "updatedAt", "views"}


def parse_own_file(where: str, fields: dict[str, Any], content: str, options: SourceOptions) -> SourceArticle | None:
    """Return the article of a parsed file if this service wrote it, or None if the file is another system's.

    `where` is the file's path, and `fields` and `content` are as `parse_front_matter` returns them.
    """
    if not fields.keys() >= EXPORTED_FIELDS:
        return None
    return parse_article_file(where, fields, content, options.zone, options.source)


def parse_article_file(
    where: str, fields: dict[str, Any], content: str, zone: tzinfo, source: str = ""
) -> SourceArticle:
    """Return the article of a file that this service wrote.

    `fields` are its front matter. HTML is taken verbatim, Markdown is rendered. `zone` applies to times without one.
    """
    is_html = where.lower().endswith(".html")
    html = content.removesuffix("\n") if is_html else render_markdown(content)  # the last line feed is the file's
    article = own_article(where, parse_scalars(fields) | {"contentHtml": html}, source)
    for name in fields.keys() & DATE_FIELDS:
        if fields[name] is not None:
            normalize_date(article, name, fields[name], zone)
    return article


def format_article(record: dict[str, Any]) -> bytes:
    """Return an exported article as an article file. Its `contentHtml` becomes the text after the front matter."""
    fields = orjson.loads(orjson.dumps(record))
    content = fields.pop("contentHtml")
    return f"{dump_front_matter(fields)}{content}\n".encode()
