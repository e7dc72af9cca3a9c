"""Recognize tags, character references and visible text of HTML the way browsers do.

That includes invalid HTML: an unclosed tag or comment extends to the end of the text
(https://html.spec.whatwg.org/multipage/parsing.html#tag-open-state). Regular expressions are used because their
possessive quantifiers keep them linear on any input. Parsers such as lexbor and html5lib are quadratic in the depth of
nested tags.
"""

import re
from html import unescape

from content.shortcodes import drop_shortcodes
from schema_fields import NOT_XML

NOT_TEXT = re.compile(
    r"<(script|style)(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*(?:>|\Z)|\Z)|<!--(?:-?>|.*?(?:--!?>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
REST_OF_TAG = r"""(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)"""
INLINE_TAG = re.compile(
    rf"</?(?:a|abbr|b|cite|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u)(?=[\s/>]|\Z){REST_OF_TAG}", re.IGNORECASE
)
ANY_TAG = re.compile(rf"<[a-zA-Z/!?]{REST_OF_TAG}")
# Eight digits suffice to decode a decimal reference, or to tell that it is out of range.
REFERENCE = re.compile(r"&#0*([0-9]{1,8})[0-9]*")
START_OF_TEXT = re.compile(r">(?:\s|&nbsp;)*(?!&nbsp;)[^\s<]")
# a link within the page whose text is a number or a sign, such as 1, [1], * or ↩︎
FOOTNOTE_MARK = re.compile(
    r"""<a(?=\s[^<>]*?\bhref=["']?#)[^<>]*+>\s*+\[?(?:\d{1,3}|(?:&#?\w{1,8};|[^\w\s<>\[\]&]){1,3})\]?\s*</a>""",
    re.IGNORECASE,
)
PARAGRAPH_SEPARATOR = "\u2029"  # whitespace
# elements that show something without text
MEDIA = re.compile(r"<(?:img|video|audio|iframe|svg|object|embed|picture|canvas|input|hr)(?=[\s/>])", re.IGNORECASE)


def readable_text(html: str) -> str:
    """Return the text that people read: without shortcodes and footnote marks.

    A `PARAGRAPH_SEPARATOR` replaces each tag that is not inline.
    """
    visible = NOT_TEXT.sub(" ", drop_shortcodes(html)[0])
    if "#" in visible:
        visible = FOOTNOTE_MARK.sub("", visible)
    text = ANY_TAG.sub(PARAGRAPH_SEPARATOR, INLINE_TAG.sub("", visible))
    return NOT_XML.sub("", decode_references(text))


def decode_references(text: str) -> str:
    """Decode HTML character references."""
    return unescape(REFERENCE.sub(r"&#\1", text))  # int(), which unescape calls, rejects thousands of digits


def is_empty(html: str) -> bool:
    """Return whether readers see neither text nor media."""
    visible = NOT_TEXT.sub("", html)
    return not START_OF_TEXT.search(f">{visible}") and not MEDIA.search(visible)
