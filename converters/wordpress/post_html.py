"""The HTML of WordPress posts, made from what an export contains.

WordPress fills some blocks and shortcodes at request time. They stay as they are, and are reported.
"""

import re
from contextlib import suppress
from functools import partial
from html import escape

import orjson

from converters.source_articles import SourceArticle, Subject
from converters.wordpress.wpautop import add_paragraphs, change_outside_code

FROM_SITE = "To get everything, import from the site's URL instead of its export."
# The comment that starts or ends a block. It ends before the next comment begins, so that the time is linear.
BLOCK_COMMENT = re.compile(
    r"<!--\s+/?wp:(?P<name>[\w/-]+)(?P<attributes>\s(?:[^<]|<(?!!--))*?)(?:(?P<is_dynamic>/)-->|-->\n?)"
)
BLOCK_START = "<!-- wp:"
MORE = re.compile(r"<!--(?:more[^<>]*|nextpage)-->")  # <!--more Read on-->
# [caption width="300"]<img src="a.jpg"> A day out[/caption]. Without a text there, it stays as it is.
# In a possessive repetition, Python before 3.11.5 keeps what a failed alternative has matched
# (https://github.com/python/cpython/issues/106052). To keep the time linear without one, a tag ends before the next "<"
# and text before the next caption.
TAG_ATTRIBUTES = r"""\s(?:[^<>"']|"[^<"]*"|'[^<']*')*>"""
CAPTION = re.compile(
    r"\[caption(?<!\[\[caption)[^\[\]]*+\]\s*"
    rf"(?P<picture>(?:<a{TAG_ATTRIBUTES}\s*)?<img{TAG_ATTRIBUTES}(?:\s*</a>)?)\s*"
    r"(?P<text>(?!\s|</a>|\[/caption\])(?:[^\[]|\[(?!/?caption))*)\[/caption\]"
)
# as themes that support HTML5 show it
FIGURE = r'<figure class="wp-caption">\g<picture><figcaption class="wp-caption-text">\g<text></figcaption></figure>'
URL = r"""(?P<url>https?://[^\s\0<>"\[\]]+)"""
URLS = (
    re.compile(rf"(?P<before>)\[embed(?<!\[\[embed)[^\[\]]*+\]\s*{URL}\s*\[/embed\]"),
    re.compile(rf"(?P<before>\n[ \t]*){URL}(?=[ \t\r]*\n)"),  # alone on a line
    re.compile(rf"(?P<before><p>\s*){URL}(?=\s*</p>)"),
)


def post_html(article: SourceArticle, text: str, footnotes: str) -> str:
    """Return the HTML of a post with this text, and note what readers will miss. `footnotes` is JSON."""
    html = BLOCK_COMMENT.sub(partial(_replace_block_comment, article, footnotes), MORE.sub("", text))
    has_blocks = BLOCK_START in text  # The block editor has written its own paragraphs.
    return change_outside_code(html, partial(_render_classic, article, has_blocks=has_blocks))


def _replace_block_comment(article: SourceArticle, footnotes: str, comment: re.Match[str]) -> str:
    """Return what replaces the comment that starts or ends a block: footnotes, or usually nothing."""
    name = comment["name"].removeprefix("core/")
    is_plugin = "/" in name and not name.startswith("core-embed/")
    if is_plugin or '"blockVisibility"' in comment["attributes"]:
        article.note("Blocks that may have been hidden from some readers", name, subject=Subject.ACCESS)
    if not comment["is_dynamic"]:
        return ""
    if name == "footnotes":
        with suppress(orjson.JSONDecodeError, TypeError, KeyError, AttributeError):  # otherwise, they are missing
            return _list_footnotes(footnotes)
    article.note("Missing blocks, which WordPress fills at request time", name, FROM_SITE)
    return comment[0]


def _list_footnotes(text: str) -> str:
    """Return footnotes, given as JSON, as WordPress renders them."""
    notes = [(escape(note["id"]), note["content"]) for note in orjson.loads(text)]
    items = (
        f'<li id="{id}">{content} <a href="#{id}-link" aria-label="Jump to footnote reference {number}">↩︎</a></li>'
        for number, (id, content) in enumerate(notes, start=1)
    )
    return f'<ol class="wp-block-footnotes">{"".join(items)}</ol>'


def _render_classic(article: SourceArticle, html: str, *, has_blocks: bool) -> str:
    """Return HTML without code with captions, links and paragraphs."""
    html = CAPTION.sub(FIGURE, html)
    linked = f"\n{html}\n"
    for pattern in URLS:
        linked = pattern.sub(r'\g<before><a href="\g<url>">\g<url></a>', linked)
    linked = linked[1:-1]
    if linked != html:
        article.note("URLs alone on a line, such as videos, became links", advice=FROM_SITE)
    return linked.strip() if has_blocks else add_paragraphs(linked)
