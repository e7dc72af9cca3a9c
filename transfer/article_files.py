"""Article files of this service: front matter in YAML, then the content in HTML or Markdown."""

from typing import Any

import orjson

from converters.front_matter import dump_front_matter
from converters.markdown import render_markdown
from converters.slugs import slug_from_title
from converters.source_articles import DATE_FIELDS, SourceArticle, SourceOptions
from converters.values import normalize_date, parse_scalars
from transfer.json_files import own_article

# An export writes all of these, so a file without one of them is another system's.
EXPORTED_FIELDS = {"id", "title", "slug", "status", "createdAt", "updatedAt", "views"}


def parse_own_file(where: str, fields: dict[str, Any], content: str, options: SourceOptions) -> SourceArticle | None:
    """Return the article of a parsed file if this service wrote it, or None if the file is another system's.

    `where` is the file's path, and `fields` and `content` are as `parse_front_matter` returns them. HTML is taken
    verbatim, Markdown is rendered. An empty slug is made from the title.
    """
    if not fields.keys() >= EXPORTED_FIELDS:
        return None
    is_html = where.lower().endswith(".html")
    html = content.removesuffix("\n") if is_html else render_markdown(content)  # the last line feed is the file's
    slug = fields["slug"] or slug_from_title(str(fields["title"] or ""))
    article = own_article(where, parse_scalars(fields) | {"contentHtml": html, "slug": slug}, options.source)
    for name in fields.keys() & DATE_FIELDS:
        if fields[name] is not None:
            normalize_date(article, name, fields[name], options.zone)
    return article


def format_article(record: dict[str, Any]) -> bytes:
    """Return an exported article as an article file. Its `contentHtml` becomes the text after the front matter."""
    fields = orjson.loads(orjson.dumps(record))
    content = fields.pop("contentHtml")
    return f"{dump_front_matter(fields)}{content}\n".encode()
