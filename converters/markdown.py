"""Markdown, as other systems render it."""

import re

from markdown_it import MarkdownIt
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from converters.markdown_rules import add_checkboxes, add_heading_ids, component, highlight, quote_props_of_blocks
from converters.records import SourceError

SCRIPT_URL = re.compile(r"\s*(?:javascript|vbscript|data:(?!image/))", re.IGNORECASE)
MAX_BRACKETS = 100_000  # two seconds; each may begin a link


class Renderer(MarkdownIt):
    """A renderer that allows images in `data:` URLs, as other systems do."""

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return not SCRIPT_URL.match(url)

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        # Percent-encoding megabytes of base64 takes seconds.
        return url if url.startswith("data:") else super().normalizeLink(url)


def render_markdown(text: str) -> str:
    """Return the HTML of CommonMark with GitHub's extensions, heading ids, footnotes and definition lists.

    Raises SourceError for text that would take minutes.
    """
    if text.count("[") > MAX_BRACKETS:
        raise SourceError(f"Has more than {MAX_BRACKETS:,} opening brackets, too many for Markdown. Split the file.")
    html: str = RENDERER.render(text)
    return html


RENDERER = Renderer("gfm-like").use(deflist_plugin).use(footnote_plugin)
RENDERER.block.ruler.before("fence", "highlight", highlight, {"alt": ["paragraph", "reference", "blockquote", "list"]})
RENDERER.inline.ruler.before("html_inline", "component", component)
RENDERER.core.ruler.after("inline", "checkboxes", add_checkboxes)
RENDERER.core.ruler.push("heading_ids", add_heading_ids)
RENDERER.core.ruler.push("props", quote_props_of_blocks)
# The inline rule finds URLs with a scheme. The core rule would also link README.md, and is four times slower.
RENDERER.core.ruler.disable("linkify")
