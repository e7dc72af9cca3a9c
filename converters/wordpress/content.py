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

MORE = re.compile(r"<!--(?:more[^<>]*|nextpage)-->")
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
    html = keep_code(MORE.sub("", blocks.render(text)), verbatim)
    # WordPress unescapes shortcodes in `pre` too, whose content is kept from here on.
    html = verbatim.keep_elements(PRE.sub(lambda pre: unescape_shortcodes(pre[0]), html))
    html = media.render(html)
    html = html.strip() if "<!-- wp:" in text else add_paragraphs(html)  # the block editor writes paragraphs itself
    shortcodes = [name for name in blocks.shortcodes if f"[{name}" in html] + find_shortcodes(html)
    html = verbatim.restore(unescape_shortcodes(html))  # only now, so that an escaped [[gallery]] stays text
    return Content(html, blocks.uses_footnotes, shortcodes, blocks.notes + media.notes)
