"""Markdown, as other systems render it."""

import re

from linkify_it import LinkifyIt
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline.linkify import linkify
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.footnote import footnote_plugin

from converters.articles import SourceError
from converters.markdown.rules import add_checkboxes, add_heading_ids, parse_component, parse_highlight
from converters.markdown.typography import add_typography

SCRIPT_URL = re.compile(r"\s*(?:javascript|vbscript|data:(?!image/))", re.IGNORECASE)
# https://www.example.com/a/b.html or /a/b/
PLAIN_URL = re.compile(r"(?:https?://[a-z0-9.-]{1,63})?(?:/[\w.-]+)*/?", re.ASCII)
HTTP = re.compile(r"(?<![a-z0-9.+-])https?\Z", re.IGNORECASE)
HOST = re.compile(r"://\w")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")  # \_ in a bare URL
MAX_BRACKETS = 100_000  # take two seconds, since each may begin a link


class Renderer(MarkdownIt):
    """A renderer that allows images in `data:` URLs, and escapes in bare URLs, as other systems do."""

    def validateLink(self, url: str) -> bool:  # noqa: N802
        return not SCRIPT_URL.match(url)

    def normalizeLink(self, url: str) -> str:  # noqa: N802
        # Percent-encoding megabytes of base64 takes seconds. Most other URLs need no change.
        is_plain = url.startswith("data:") or PLAIN_URL.fullmatch(url)
        return url if is_plain else super().normalizeLink(ESCAPE.sub(r"\1", url))

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802
        return super().normalizeLinkText(ESCAPE.sub(r"\1", link))


class Linkifier(LinkifyIt):  # type: ignore[misc]
    """A finder of URLs and e-mail addresses that only searches text that may have one, as its patterns are slow."""

    def pretest(self, text: str) -> bool:
        return _may_have_link(text) and super().pretest(text)

    def test(self, text: str) -> bool:
        return _may_have_link(text) and super().test(text)


def parse_url(state: StateInline, silent: bool) -> bool:
    """Parse a bare URL. The library's rule is only called for one, because it searches all of the text before."""
    is_url = HTTP.search(state.pending, len(state.pending) - len("https")) and HOST.match(state.src, state.pos)
    return is_url is not None and linkify(state, silent)


def _may_have_link(text: str) -> bool:
    return "://" in text or "@" in text


def render_markdown(text: str) -> str:
    """Return the HTML of CommonMark with GitHub's extensions, footnotes, definition lists and typographic punctuation.

    Raises SourceError if the text has so many brackets that it would take minutes.
    """
    if text.count("[") > MAX_BRACKETS:
        raise SourceError(f"Has more than {MAX_BRACKETS:,} opening brackets, too many for Markdown. Split the file.")
    html: str = RENDERER.render(text)
    return html


RENDERER = Renderer("gfm-like").use(deflist_plugin).use(footnote_plugin)
# http(s) URLs and e-mail addresses of any top-level domain become links, but README.md does not.
NOT_LINKED = {"//": None, "ftp:": None}
RENDERER.linkify = Linkifier(NOT_LINKED, {"fuzzy_link": False, "fuzzy_email": True}).tlds(["[a-z]{2,63}"])
RENDERER.inline.ruler.at("linkify", parse_url)
RENDERER.block.ruler.before(
    "fence", "highlight", parse_highlight, {"alt": ["paragraph", "reference", "blockquote", "list"]}
)
RENDERER.inline.ruler.before("html_inline", "component", parse_component)
RENDERER.core.ruler.after("inline", "checkboxes", add_checkboxes)
# Both rules must see escaped characters, which text_join turns into text. Heading ids come from the typed punctuation.
RENDERER.core.ruler.before("text_join", "heading_ids", add_heading_ids)
RENDERER.core.ruler.before("text_join", "typography", add_typography)
