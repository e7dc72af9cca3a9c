"""The blocks of WordPress posts. Patterns and footnotes, which WordPress inserts on each visit, are inserted here."""

import re
from collections.abc import Mapping
from html import escape
from typing import Any

import orjson

from converters.articles import SourceArticle, SourceError, Subject
from converters.wordpress.autop import autop
from converters.wordpress.blogs import EXPORT_ALL, SyncedPattern
from fields import NOT_XML, replace_lone_surrogates

MAX_LENGTH = 1 << 22  # characters of the patterns and footnotes inserted into a post
MAX_DEPTH = 10  # of patterns in patterns
# The comment that starts or ends a block. It ends before the next comment begins, so that the time is linear.
DELIMITER = re.compile(
    r"<!--\s+(?P<end>/?)wp:(?P<name>[\w/-]+)(?P<attributes>\s(?:[^<]|<(?!!--))*?)(?:(?P<self_closing>/)-->|-->\n?)"
)
SHORTCODE_BLOCK = re.compile(r"<!--\s+wp:shortcode\s+-->\n?((?:[^<]|<(?!!--))*)")


class BlockRenderer:
    """The blocks of one post."""

    def __init__(self, article: SourceArticle, patterns: Mapping[str, SyncedPattern], footnotes: str) -> None:
        """`patterns` are those of the blog by id, and `footnotes` is JSON."""
        self.article = article
        self.patterns = patterns
        self.footnotes = _parse_footnotes(footnotes)
        self._inserted = 0  # characters

    def render(self, text: str, outer: tuple[str, ...] = ()) -> str:
        """Return text without the comments of its blocks. `outer` are the ids of the patterns around it.

        Raises SourceError if patterns within patterns multiply the text.
        """
        text = SHORTCODE_BLOCK.sub(lambda block: f"{autop(block[1])}\n", text)
        return DELIMITER.sub(lambda delimiter: self._render_delimiter(delimiter, outer), text)

    def _render_delimiter(self, delimiter: re.Match[str], outer: tuple[str, ...]) -> str:
        """Return what WordPress shows for a self-closing block, and "" for the start or the end of any other."""
        name = delimiter["name"].removeprefix("core/")
        if delimiter["end"]:
            return ""
        if "/" in name and not name.startswith("core-embed/"):
            self.article.note("Blocks of plugins", name)
            return ""
        if '"blockVisibility"' in delimiter["attributes"]:
            self.article.note("Block settings", "blockVisibility", subject=Subject.ACCESS)
        if not delimiter["self_closing"]:
            return ""
        if name == "block":
            return self._insert_pattern(_parse_json(delimiter["attributes"]), outer)
        if name == "footnotes":
            return self._list_footnotes()
        return self._note_missing("Missing dynamic blocks, which WordPress renders on each visit", name)

    def _note_missing(self, kind: str, detail: str = "", advice: str = "") -> str:
        """Note missing content, and return an empty string in its place."""
        self.article.note(kind, detail, advice)
        return ""

    def _insert_pattern(self, attributes: Any, outer: tuple[str, ...]) -> str:
        id = str(attributes.get("ref")) if isinstance(attributes, dict) else ""
        pattern = self.patterns.get(id)
        if id in outer or len(outer) >= MAX_DEPTH:
            reason = f"they contain themselves, or are nested more than {MAX_DEPTH} deep"
            return self._note_missing(f"Synced patterns that are missing because {reason}")
        if not pattern:
            return self._note_missing("Synced patterns that the export lacks", advice=EXPORT_ALL)
        if not pattern.is_public:
            return self._note_missing("Synced patterns that are missing because they are not published", pattern.title)
        if attributes.get("content"):
            self._note_missing("Pattern overrides were ignored")
        pattern.is_used = True
        return self.render(self._check_length(pattern.content), (*outer, id))

    def _list_footnotes(self) -> str:
        """Return the post's footnotes as WordPress' block renders them."""
        if not self.footnotes:
            return self._note_missing("Footnotes that the export lacks, or that cannot be read")
        notes = [_render_footnote(number, note) for number, note in enumerate(self.footnotes, start=1)]
        return self._check_length(NOT_XML.sub("", f'<ol class="wp-block-footnotes">{"".join(notes)}</ol>'))

    def _check_length(self, html: str) -> str:
        """Return HTML to insert, and count its length. Raises SourceError if it makes the post too long."""
        self._inserted += len(html)
        if self._inserted > MAX_LENGTH:
            raise SourceError("Its synced patterns and footnotes are too long. Simplify them, and export again.")
        return html


def _render_footnote(number: int, footnote: dict[str, Any]) -> str:
    id = escape(str(footnote.get("id", "")))
    back = f'<a href="#{id}-link" aria-label="Jump to footnote reference {number}">↩︎</a>'
    return f'<li id="{id}">{footnote.get("content", "")} {back}</li>'


def _parse_footnotes(text: str) -> list[dict[str, Any]]:
    """Return footnotes from JSON, or [] if it is empty or invalid."""
    notes = _parse_json(text)
    return notes if isinstance(notes, list) and all(isinstance(note, dict) for note in notes) else []


def _parse_json(text: str) -> Any:
    """Parse JSON. Returns None if it is empty or invalid."""
    try:
        return orjson.loads(replace_lone_surrogates(text))
    except orjson.JSONDecodeError:
        return None
