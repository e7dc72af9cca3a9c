"""Markdown, as other systems render it."""

from unicodedata import category

from markdown_it import MarkdownIt
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.tasklists import tasklists_plugin


def _heading_id(title: str) -> str:
    """Return the id that GitHub gives a heading: https://github.com/gjtorikian/html-pipeline."""
    kept = (char for char in title.strip().lower() if char in " -" or category(char)[0] in "LM" or category(char) in ID)
    return "".join(kept).replace(" ", "-")


ID = "Nd", "Pc"  # Decimal digits, and connectors such as the underscore
RENDERER = MarkdownIt("gfm-like").use(footnote_plugin).use(tasklists_plugin)
RENDERER.use(anchors_plugin, max_level=6, slug_func=_heading_id)
# The inline rule finds whole URLs. The core rule takes README.md for one too, and four times as long.
RENDERER.core.ruler.disable("linkify")


def render_markdown(text: str) -> str:
    """Return the HTML of CommonMark with tables, strikethrough, task lists, footnotes, bare URLs and heading ids."""
    html: str = RENDERER.render(text)
    return html
