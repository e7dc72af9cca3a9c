"""Hints for imports: fields that are named otherwise elsewhere, and content that is accepted but looks wrong."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from html import unescape
from typing import Any

from schemas import ArticleImportSchema

FIELD_BY_ALIAS = {  # without case, "_" and "-"
    alias: field.data_key or name
    for name, field in ArticleImportSchema().fields.items()
    for alias in (*field.metadata.get("aliases", ()), (field.data_key or name).lower())
}

ENTITY = re.compile(r"&(?:#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);", re.IGNORECASE)
# A link or a picture whose URL begins neither with a scheme nor with // or #. Each "<" is looked at once, and only as
# far as the next one, so that the time is linear in the length of any text.
RELATIVE_URL = re.compile(
    r"""<(?:a|audio|iframe|img|source|video)\s(?:[^<>]*[\s"'])?(?:href|src)\s?=\s?["']?(?![a-z][a-z0-9+.-]{0,20}:|//|#)[^\s"'>]""",
    re.IGNORECASE,
)


def unknown_field_message(name: str) -> str:
    """Return the error message for a field that no article has."""
    plain = re.sub("[_-]", "", name.lower())
    close = get_close_matches(plain, FIELD_BY_ALIAS, n=1, cutoff=0.8)
    return f"Unknown field: did you mean {FIELD_BY_ALIAS[close[0]]}?" if close else "Unknown field. Leave it out."


def warnings_about(article: dict[str, Any]) -> Iterator[str]:
    """Yield what looks wrong with an article, by `Article` column, that is accepted nevertheless."""
    if not article["title"].strip():
        yield "a title that is blank. Readers and search engines see nothing."
    if any(unescape(entity) != entity for entity in ENTITY.findall(article["title"])):
        yield "a title with HTML entities such as &amp;. Write titles as plain text."
    if RELATIVE_URL.search(article["content_html"]):
        yield "pictures or links whose URL is relative to a site. Write whole URLs, as in https://www.example.com/a.jpg."
