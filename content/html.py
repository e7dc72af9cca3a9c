"""HTML as browsers read it: tags, character references and visible text.

Browsers accept invalid HTML too (https://html.spec.whatwg.org/multipage/parsing.html#tag-open-state): an unclosed tag
or comment extends to the end. The patterns never backtrack, so they take linear time on any input. Parsers such as
lexbor and html5lib take quadratic time on tags nested 10,000 levels deep.
"""

import re
from html import unescape

from fields import NOT_XML

NOT_TEXT = re.compile(
    r"<(script|style)(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*(?:>|\Z)|\Z)|<!--(?:-?>|.*?(?:--!?>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
REST_OF_TAG = r"""(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)"""
INLINE = "a abbr b cite code em i kbd mark q s small span strong sub sup u"
# spelled out, because IGNORECASE takes three times as long
INLINE_TAG = re.compile(rf"</?(?:{'|'.join(f'{INLINE} {INLINE.upper()}'.split())})(?=[\s/>]|\Z){REST_OF_TAG}")
ANY_TAG = re.compile(rf"<[a-zA-Z/!?]{REST_OF_TAG}")
# The first digits decide which character a decimal reference stands for, or that it is invalid.
REFERENCE = re.compile(r"&#0*([0-9]{1,8})[0-9]*")


def visible_words(html: str) -> list[str]:
    """Return the words that a reader of `html` sees."""
    html = INLINE_TAG.sub("", NOT_TEXT.sub(" ", html))
    return NOT_XML.sub("", decode_references(ANY_TAG.sub(" ", html))).split()


def decode_references(text: str) -> str:
    """Return `text` with its HTML character references decoded."""
    return unescape(REFERENCE.sub(r"&#\1", text))  # Python refuses to parse integers of thousands of digits
