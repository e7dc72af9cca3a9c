"""The content of a WordPress post, as WordPress shows it."""

import re
from typing import NamedTuple

from content.shortcodes import find_shortcodes
from converters.records import Note
from converters.wordpress.autop import add_paragraphs
from converters.wordpress.blocks import BlockRenderer
from converters.wordpress.blogs import Blog
from converters.wordpress.media import MediaRenderer
from converters.wordpress.shortcodes import keep_code, unescape_shortcodes
from converters.wordpress.verbatim import Verbatim

MORE = re.compile(r"<!--(?:more[^<>]*|nextpage)-->")  # <!--more Read on-->
PRE = re.compile(r"<pre(?=[\s/>]).*?(?:</pre|\Z)", re.DOTALL | re.IGNORECASE)


class Content(NamedTuple):
    """A post's content, with what there is to report about it."""

    html: str
    uses_footnotes: bool
    shortcodes: list[str]  # the names of visible ones
    notes: list[Note]


def render_content(text: str, blog: Blog, post_id: str, footnotes: str) -> Content:
    """Return the content of a post with this text. `footnotes` is JSON.

    Raises SourceError if patterns within patterns multiply the text.
    """
    blocks = BlockRenderer(blog.patterns, footnotes)
    media = MediaRenderer(blog, post_id)
    verbatim = Verbatim()
    # 1. Insert patterns and footnotes, whose content goes through all other steps.
    html = MORE.sub("", blocks.render(text))
    # 2. Hide code, so that the steps up to 6 do not change it. WordPress unescapes shortcodes in `pre` before that.
    html = keep_code(html, verbatim)
    html = verbatim.keep_elements(PRE.sub(lambda pre: unescape_shortcodes(pre[0]), html))
    # 3. Make elements of media shortcodes, before paragraphs are made around these elements.
    html = media.render(html)
    # 4. Add paragraphs. The block editor has written its own.
    html = html.strip() if "<!-- wp:" in text else add_paragraphs(html)
    # 5. Find the shortcodes that are left, while escaped ones such as [[gallery]] can be told apart from them.
    shortcodes = [name for name in blocks.shortcodes if f"[{name}" in html] + find_shortcodes(html)
    # 6. Unescape those, and show the code again.
    html = verbatim.restore(unescape_shortcodes(html))
    return Content(html, blocks.uses_footnotes, shortcodes, blocks.notes + media.notes)
