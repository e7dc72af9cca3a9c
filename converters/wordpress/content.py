"""The content of a WordPress post, as WordPress shows it."""

import re

from converters.articles import SourceArticle
from converters.leftover_markup import note_leftover_markup
from converters.wordpress.autop import add_paragraphs
from converters.wordpress.blocks import BlockRenderer
from converters.wordpress.blogs import Blog
from converters.wordpress.items import Item
from converters.wordpress.media import MediaRenderer
from converters.wordpress.shortcodes import keep_code, unescape_shortcodes
from converters.wordpress.verbatim import Verbatim

MORE = re.compile(r"<!--(?:more[^<>]*|nextpage)-->")  # <!--more Read on-->
PRE = re.compile(r"<pre(?=[\s/>]).*?(?:</pre|\Z)", re.DOTALL | re.IGNORECASE)


def set_content(article: SourceArticle, item: Item, blog: Blog, post_id: str) -> None:
    """Set an article's content to that of its post, and note what readers will miss or see as text.

    Raises SourceError if patterns within patterns multiply the text.
    """
    text = item.texts.pop("content", "")
    blocks = BlockRenderer(article, blog.patterns, item.meta.pop("footnotes", ""))
    verbatim = Verbatim()
    # 1. Insert patterns and footnotes, whose content goes through all other steps.
    html = MORE.sub("", blocks.render(text))
    # 2. Hide code, so that the steps up to 6 do not change it. WordPress unescapes shortcodes in `pre` before that.
    html = keep_code(html, verbatim)
    html = verbatim.keep_elements(PRE.sub(lambda pre: unescape_shortcodes(pre[0]), html))
    # 3. Make elements of media shortcodes, before paragraphs are made around these elements.
    html = MediaRenderer(article, blog, post_id).render(html)
    # 4. Add paragraphs. The block editor has written its own.
    html = html.strip() if "<!-- wp:" in text else add_paragraphs(html)
    # 5. Note the shortcodes that are left, before escaped ones such as [[gallery]] look like them.
    article.fields["contentHtml"] = html
    note_leftover_markup(article)
    # 6. Unescape those, and show the code again.
    article.fields["contentHtml"] = verbatim.restore(unescape_shortcodes(html))
