"""Fields derived from an article's content: reading time, meta title and meta description."""

import math
import re
from typing import Any

from content.html import PARAGRAPH_SEPARATOR, readable_text

WORDS_PER_MINUTE = 238  # silent reading, adults: Brysbaert (2019), doi:10.1016/j.jml.2019.104047
META_DESC_LENGTH = 155  # characters; search engines truncate at about this length
ONLY_A_URL = re.compile(r"\s*(?:https?://|www\.)\S+\s*", re.IGNORECASE)


def fill_derived_fields(article: dict[str, Any]) -> dict[str, Any]:
    """Fill in the reading time, meta title and meta description that are missing from an article.

    Takes and returns a dictionary keyed by `Article` column.
    """
    if {"read_time", "meta_title", "meta_desc"} <= article.keys():
        return article
    text = readable_text(article["content_html"])
    derived = {
        "read_time": float(max(1, math.ceil(len(text.split()) / WORDS_PER_MINUTE))),
        "meta_title": article["title"],
        "meta_desc": _describe(text),
    }
    return derived | article


def _describe(text: str) -> str:
    """Return the beginning of a text, without paragraphs that are only a URL, such as a video's.

    If it has to be truncated, it ends in "…", if possible after a word.
    """
    words: list[str] = []
    for paragraph in text.split(PARAGRAPH_SEPARATOR):
        if not ONLY_A_URL.fullmatch(paragraph):
            words += paragraph.split()
        if sum(map(len, words)) > META_DESC_LENGTH:
            break
    text = " ".join(words)
    if len(text) <= META_DESC_LENGTH:
        return text
    return text[:META_DESC_LENGTH].rsplit(" ", 1)[0][: META_DESC_LENGTH - 1].rstrip(".,:;") + "…"
