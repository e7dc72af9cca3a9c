"""Components of Astro, MDX and the like: non-HTML tags, and props in braces."""

import re
from collections.abc import Iterator
from html import escape

from content.html import NOT_TEXT, REST_OF_TAG
from content.urls import OPENING_TAG

# https://html.spec.whatwg.org/multipage/indices.html#elements-3, and obsolete elements that browsers still recognize
HTML = """
a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br
button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img
input ins kbd label legend li link listing main map mark marquee menu meta meter nav nobr noembed noframes noscript
object ol optgroup option output p param picture plaintext pre progress q rb rp rt rtc ruby s samp script search
section select slot small source span strike strong style sub summary sup table tbody td template textarea tfoot th
thead time title tr track tt u ul var video wbr xmp svg math
"""
ELEMENTS = frozenset(HTML.split())
ELEMENT_TAG = re.compile(rf"</?(?:{'|'.join(HTML.split())})(?=[\s/>]){REST_OF_TAG}", re.IGNORECASE)
# SVG and MathML have their own elements.
FOREIGN = re.compile(r"<(svg|math)(?=[\s>]).*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
TAG_NAME = re.compile(r"<([a-zA-Z][^\s/>]*)")
MAX_BRACES = 5  # levels
JAVASCRIPT = r"""[^{}"'`]++|"[^"\n]*+"|'[^'\n]*+'|`[^`]*+`|["'`]"""
BRACES = rf"\{{(?:{JAVASCRIPT})*+\}}"
for _ in range(MAX_BRACES - 1):
    BRACES = rf"\{{(?:{JAVASCRIPT}|{BRACES})*+\}}"
STRING = r""""[^"]*+"|'[^']*+'"""
# Ends where its author meant it to: braces may contain quotes and ">".
JSX_TAG = re.compile(rf"<[a-zA-Z][\w.:-]*+(?=[\s{{/>])(?:[^<>{{}}\"']++|{STRING}|{BRACES})*+>")
LAST_BRACE = "&#125;"
PROP = re.compile(rf"{STRING}|({BRACES})")
JSX_OR_NOT_TEXT = re.compile(rf"(?:{NOT_TEXT.pattern})|(?P<tag>{JSX_TAG.pattern})", re.DOTALL | re.IGNORECASE)


def match_component(text: str, start: int = 0) -> re.Match[str] | None:
    """Return the match of a tag with props in braces that begins at `start`."""
    match = JSX_TAG.match(text, start)
    return match if match and "{" in match[0] else None


def quote_props(html: str) -> str:
    """Quote props in braces, so that browsers end each tag where its author did."""
    return JSX_OR_NOT_TEXT.sub(lambda match: quote_tag(match[0]) if match["tag"] else match[0], html)


def quote_tag(tag: str) -> str:
    """Quote the props in braces of one tag. Their last brace is escaped as a marker for `component_names`."""
    return PROP.sub(lambda prop: f'"{escape(prop[1][:-1])}{LAST_BRACE}"' if prop[1] else prop[0], tag)


def component_names(html: str) -> Iterator[str]:
    """Yield non-HTML tags, capitalized tags, and tags with props in braces."""
    visible = FOREIGN.sub("", NOT_TEXT.sub("", html))
    for tag in OPENING_TAG.findall(visible):
        name = TAG_NAME.match(tag)
        if name and (_is_component(name[1]) or "={" in tag or LAST_BRACE in tag):
            yield f"<{name[1][:60]}>"


def _is_component(name: str) -> bool:
    return name.lower() not in ELEMENTS or (name[0].isupper() and not name.isupper())
