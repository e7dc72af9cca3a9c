"""Fields derived from an article's content: reading time, meta title and meta description."""

import math
from typing import Any

from content.html import visible_words

WORDS_PER_MINUTE = 238  # silent reading, adults: Brysbaert (2019), doi:10.1016/j.jml.2019.104047
META_DESC_LENGTH = 155  # characters; search engines truncate at about this length


def fill_derived_fields(article: dict[str, Any]) -> dict[str, Any]:
    """Fill in the reading time, meta title and meta description that an article lacks.

    Takes and returns a dictionary keyed by `Article` column.
    """
    if {"read_time", "meta_title", "meta_desc"} <= article.keys():
        return article
    words = visible_words(article["content_html"])
    derived = {
        "read_time": float(max(1, math.ceil(len(words) / WORDS_PER_MINUTE))),
        "meta_title": article["title"],
        "meta_desc": truncate_at_word(words, META_DESC_LENGTH),
    }
    return derived | article


def truncate_at_word(words: list[str], length: int) -> str:
    """Join words into a text of at most `length` characters, truncated after a word if possible and ending in "…"."""
    text = " ".join(words[: length + 1])
    if len(text) <= length:
        return text
    return text[:length].rsplit(" ", 1)[0][: length - 1].rstrip(".,:;") + "…"
