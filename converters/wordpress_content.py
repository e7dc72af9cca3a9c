"""The content of a WordPress post, as WordPress shows it: blocks, captions, embeds, paragraphs, shortcodes."""

import re
from collections.abc import Mapping

from converters.autop import add_paragraphs
from converters.records import Note
from converters.verbatim import Verbatim
from converters.wordpress_blocks import Content, parse_footnotes
from converters.wordpress_items import Pattern
from converters.wordpress_shortcodes import VISIBLE_SHORTCODES, find_shortcodes, keep_code, unescape_shortcodes

MORE = re.compile(r"<!--(?:more[^<>]*|nextpage)-->\n?")
PRE = re.compile(r"<pre(?=[\s/>]).*?(?:</pre|\Z)", re.DOTALL | re.IGNORECASE)
# In a possessive repetition, Python before 3.11.5 keeps what a failed alternative has matched
# (https://github.com/python/cpython/issues/106052). To keep the time linear without one, a tag ends before the next "<"
# and text before the next caption.
ATTRIBUTES = r"""\s(?:[^<>"']|"[^<"]*"|'[^<']*')*>"""
# A caption's attributes, its picture, and its text, which older versions store as an attribute
CAPTION = re.compile(
    rf"\[caption(?<!\[\[caption)([^\[\]]*+)\]\s*((?:<a{ATTRIBUTES}\s*)?<img{ATTRIBUTES}(?:\s*</a>)?)"
    r"((?:[^\[]|\[(?!/?caption))*)\[/caption\]"
)
ATTRIBUTE = re.compile(r"""\s(align|caption|class|id|width)=(?:"([^"]*)"|'([^']*)'|([^\s"']+))""")
NOT_IN_CLASS = re.compile(r"[^\w -]", re.ASCII)
URL = r"""(https?://[^\s\0<>"\[\]]+)"""
EMBED = re.compile(r"\[embed(?<!\[\[embed)[^\[\]]*+\]\s*([^\s\[\]<>]+)\s*\[/embed\]")
# a URL alone on a line, or in a paragraph
LONE_URLS = re.compile(rf"(\n[ \t]*){URL}(?=[ \t\r]*\n)"), re.compile(rf"(<p>\s*){URL}(?=\s*</p>)")


def render(text: str, patterns: Mapping[str, Pattern], footnotes: str) -> Content:
    """Return a post's content as HTML. `patterns` are those of its blog by id, and `footnotes` is JSON.

    Raises SourceError if patterns within patterns multiply the text.
    """
    content, verbatim = Content(patterns, parse_footnotes(footnotes)), Verbatim()
    html = keep_code(MORE.sub("", content.render_blocks(text)), verbatim)
    html = verbatim.keep_elements(PRE.sub(lambda pre: unescape_shortcodes(pre[0]), html))
    html = _link_embeds(CAPTION.sub(_figure, html))
    html = html.strip() if "<!-- wp:" in text else add_paragraphs(html)  # the block editor writes paragraphs itself
    content.notes += [Note(VISIBLE_SHORTCODES, name) for name in dict.fromkeys(find_shortcodes(html))]
    content.html = verbatim.restore(unescape_shortcodes(html))
    return content


def _figure(caption: re.Match[str]) -> str:
    """Return a caption as WordPress shows it in themes that support HTML5."""
    attributes = {name: "".join(values) for name, *values in ATTRIBUTE.findall(caption[1])}
    id, align, classes = (
        NOT_IN_CLASS.sub("", attributes.get(name, default))
        for name, default in (("id", ""), ("align", "alignnone"), ("class", ""))
    )
    width = re.match("[1-9][0-9]{0,4}", attributes.get("width", ""))
    start = f' id="{id.replace(" ", "")}"' if id else ""
    start += f' style="width: {width[0]}px"' if width else ""
    start += f' class="{" ".join(f"wp-caption {align} {classes}".split())}"'
    text = attributes.get("caption", caption[3].strip())
    return f'<figure{start}>{caption[2]}<figcaption class="wp-caption-text">{text}</figcaption></figure>'


def _link_embeds(html: str) -> str:
    """Replace each URL that WordPress embeds, such as a video's, with a link."""
    html = EMBED.sub(r'<a href="\1">\1</a>', f"\n{html}\n")
    for pattern in LONE_URLS:
        html = pattern.sub(r'\1<a href="\2">\2</a>', html)
    return html[1:-1]
