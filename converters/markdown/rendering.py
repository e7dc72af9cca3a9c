"""Markdown: CommonMark with the extensions that static site generators share, all by markdown-it and its plugins."""

import re
from itertools import pairwise

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_core.replacements import replace_rare
from mdit_py_plugins.anchors import anchors_plugin
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.gfm import gfm_plugin

from converters.source_articles import SourceError

# markdown-it takes quadratic time for these, in a paragraph and in a document.
MAX_MARKS = 5000
MAX_HEADINGS = 5000
MARKS = "[:\"'"
HEADING_ID = re.compile(r"\s*\{#([^\s{}]+)\}\s*\Z")  # Prices {#prices}


def render_markdown(text: str) -> str:
    """Return the HTML of Markdown. Raises SourceError if its special characters would take minutes."""
    html: str = RENDERER.render(text)
    return html


def _check_and_name_headings(state: StateCore) -> None:
    """Reject hostile text, and take the ids in braces from headings, which no plugin reads there."""
    if sum(token.type == "heading_open" for token in state.tokens) > MAX_HEADINGS:
        raise SourceError(f"Has more than {MAX_HEADINGS:,} headings. Split the file.")
    for before, token in pairwise(state.tokens):
        if token.type != "inline":
            continue
        if any(token.content.count(mark) > MAX_MARKS for mark in MARKS):
            raise SourceError(f"A paragraph has more than {MAX_MARKS:,} brackets, colons or quotes. Split it.")
        heading_id = HEADING_ID.search(token.content) if before.type == "heading_open" else None
        if heading_id:
            before.attrSet("id", heading_id[1])
            token.content = token.content[: heading_id.start()]


def _replace_punctuation(state: StateCore) -> None:
    """Replace dashes and dots, but not the (c) in 501(c)(3), which markdown-it takes for a copyright sign."""
    for token in state.tokens:
        if token.type == "inline":
            replace_rare(token.children or [])


RENDERER = MarkdownIt("commonmark", {"typographer": True}).enable(["replacements", "smartquotes"])
RENDERER.use(gfm_plugin).use(deflist_plugin).use(anchors_plugin, max_level=6)
RENDERER.options["strikethrough_single_tilde"] = False  # H~2~O is a subscript elsewhere
RENDERER.core.ruler.at("replacements", _replace_punctuation)
RENDERER.core.ruler.after("block", "check_and_name_headings", _check_and_name_headings)
