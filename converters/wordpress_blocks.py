"""The blocks of WordPress posts. Hidden ones are removed, and dynamic ones are rendered where possible."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from converters.autop import autop
from converters.records import MEMBERS_PARTS, Note, SourceError
from converters.wordpress_items import Pattern
from converters.wordpress_shortcodes import OPENING, VISIBLE_SHORTCODES
from fields import NOT_XML

MAX_LENGTH = 1 << 22  # characters of the patterns and footnotes inserted into a post
MAX_DEPTH = 10  # of patterns in patterns
# The comment that starts or ends a block: a slash if it ends one, the name, the settings, and a slash if the block is
# empty. It ends before the next comment begins, so that the time is linear.
DELIMITER = re.compile(r"<!--\s+(/?)wp:([\w/-]+)(\s(?:[^<]|<(?!!--))*?)(?:(/)-->|-->\n?)")
SUBSCRIBER_VIEW = "premium-content/subscriber-view"
PAYWALL = "jetpack/paywall"
EXPORT_ALL = 'Export "All content" from WordPress, and import all files in one command.'


@dataclass
class Content:
    """A post's content while it is rendered, with notes for the report."""

    patterns: Mapping[str, Pattern]  # of the blog, by id
    footnotes: list[dict[str, Any]]
    html: str = ""
    notes: list[Note] = field(default_factory=list)  # missing or changed content
    uses_footnotes: bool = False
    has_paywall: bool = False
    inserted: int = 0  # characters

    def render_blocks(self, text: str, outer: tuple[str, ...] = ()) -> str:
        """Return text without the comments and the hidden parts of its blocks. A paywall block ends the post.

        `outer` are the ids of the patterns around the text. As in WordPress, each end closes the last open block, and
        an unclosed block extends to the end of the text. Raises SourceError if patterns within patterns multiply
        the text.
        """
        start, *rest = DELIMITER.split(text)  # the groups of each comment, and the text that follows it
        parts, hidden_depth = [start], 0  # number of open blocks, counted from the hidden one
        for end, name, settings, empty, following in zip(*(rest[n::5] for n in range(5)), strict=True):
            if hidden_depth:
                hidden_depth += -1 if end else int(not empty)
            elif not end and (reason := _reason_to_hide(name, settings)):
                self.notes.append(Note(reason))
                self.has_paywall = name == PAYWALL
                hidden_depth = int(not empty)
            elif not end and empty:
                parts.append(self._fill_block(name.removeprefix("core/"), settings, outer))
            elif not end and name == "shortcode":
                following = self._render_shortcodes(following)
            if self.has_paywall:
                break
            if not hidden_depth:
                parts.append(following)
        return "".join(parts)

    def _fill_block(self, name: str, settings: str, outer: tuple[str, ...]) -> str:
        """Return what WordPress shows for an empty block."""
        if name == "block":
            return self._insert_pattern(_parse_json(settings), outer)
        if name == "footnotes":
            return self._list_footnotes()
        return self._note_missing("Missing dynamic blocks, which WordPress renders on each visit", name)

    def _render_shortcodes(self, text: str) -> str:
        self.notes += [Note(VISIBLE_SHORTCODES, name) for name in OPENING.findall(text)]
        return f"{autop(text)}\n"

    def _insert(self, html: str) -> str:
        """Return `html`, which counts towards the limit. Raises SourceError if that is exceeded."""
        self.inserted += len(html)
        if self.inserted > MAX_LENGTH:
            raise SourceError("Its synced patterns and footnotes are too long. Simplify them, and export again.")
        return html

    def _note_missing(self, kind: str, detail: str = "", advice: str = "") -> str:
        """Note missing content, and return an empty string in its place."""
        self.notes.append(Note(kind, detail, advice=advice))
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
        return self.render_blocks(self._insert(pattern.content), (*outer, id))

    def _list_footnotes(self) -> str:
        """Return the post's footnotes as WordPress' block renders them."""
        if not self.footnotes:
            return self._note_missing("Footnotes that the export lacks")
        self.uses_footnotes = True
        items = (
            f'<li id="{(id := escape(str(note.get("id", ""))))}">{note.get("content", "")} '
            f'<a href="#{id}-link" aria-label="Jump to footnote reference {number}">↩︎</a></li>'
            for number, note in enumerate(self.footnotes, start=1)
        )
        return self._insert(NOT_XML.sub("", f'<ol class="wp-block-footnotes">{"".join(items)}</ol>'))


def parse_footnotes(text: str) -> list[dict[str, Any]]:
    """Return footnotes from JSON, or [] if it is empty or invalid."""
    notes = _parse_json(text)
    return notes if isinstance(notes, list) and all(isinstance(note, dict) for note in notes) else []


def _reason_to_hide(name: str, settings: str) -> str:
    """Return what to report about a block that not everyone sees, or "" for all others."""
    if name in (SUBSCRIBER_VIEW, PAYWALL):
        return MEMBERS_PARTS
    attributes = _parse_json(settings)
    metadata = attributes.get("metadata") if isinstance(attributes, dict) else None
    is_hidden = isinstance(metadata, dict) and metadata.get("blockVisibility") is False
    return "Blocks that are hidden on the old site were removed" if is_hidden else ""


def _parse_json(text: str) -> Any:
    """Parse JSON. Return None if it is empty or invalid."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
