"""Fields derived from an article's content: reading time, meta title and meta description."""

import math
import re
from html import unescape
from typing import Any

from field_types import NOT_XML

# Adults read as many silently: Brysbaert (2019), doi:10.1016/j.jml.2019.104047.
WORDS_PER_MINUTE = 238
META_DESC_LENGTH = 155  # Search engines show as many characters.

# Tags as browsers read them: https://html.spec.whatwg.org/multipage/parsing.html#tag-open-state. A tag or
# comment that is not closed extends to the end, and nothing is tried twice, so that the time is linear in the length of
# any text. Parsers such as lexbor and html5lib take quadratic time for tags that are nested 10,000 levels deep.
NOT_TEXT = re.compile(
    r"<(script|style)(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*(?:>|\Z)|\Z)|<!--(?:-?>|.*?(?:--!?>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
REST_OF_TAG = r"""(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)"""
INLINE = "a abbr b cite code em i kbd mark q s small span strong sub sup u"
# Spelling out both cases takes a third of the time that IGNORECASE takes.
INLINE_TAG = re.compile(rf"</?(?:{'|'.join(f'{INLINE} {INLINE.upper()}'.split())})(?=[\s/>]|\Z){REST_OF_TAG}")
ANY_TAG = re.compile(rf"<[a-zA-Z/!?]{REST_OF_TAG}")
# A decimal character reference. Its first digits tell which character it is, or that it is none.
REFERENCE = re.compile(r"&#0*([0-9]{1,8})[0-9]*")


def fill_derived_fields(article: dict[str, Any]) -> dict[str, Any]:
    """Return an article, by `Article` column, with the reading time, meta title and meta description that it lacks."""
    if {"read_time", "meta_title", "meta_desc"} <= article.keys():
        return article
    words = visible_words(article["content_html"])
    derived = {
        "read_time": float(max(1, math.ceil(len(words) / WORDS_PER_MINUTE))),
        "meta_title": article["title"],
        "meta_desc": truncate_at_word(words, META_DESC_LENGTH),
    }
    return derived | article


def visible_words(html: str) -> list[str]:
    """Return the words that a reader of `html` sees."""
    html = INLINE_TAG.sub("", NOT_TEXT.sub(" ", html))
    return NOT_XML.sub("", decode_references(ANY_TAG.sub(" ", html))).split()


def decode_references(text: str) -> str:
    """Return `text` with the characters that HTML's character references stand for."""
    return unescape(REFERENCE.sub(r"&#\1", text))  # Python refuses integers of thousands of digits.


def truncate_at_word(words: list[str], length: int) -> str:
    """Return at most `length` characters of a text. If it is cut, then after a word if possible, and "…" follows."""
    text = " ".join(words[: length + 1])
    if len(text) <= length:
        return text
    return text[:length].rsplit(" ", 1)[0][: length - 1].rstrip(".,:;") + "…"
