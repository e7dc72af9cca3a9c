"""What an import reports: why an article is rejected, what readers may notice, what was dropped, and what changes."""

import re
import reprlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from content.html import ANY_TAG, decode_references
from content.text import printable
from content.urls import has_relative_urls
from converters.records import (
    FIELD_BY_ALIAS,
    IgnoredItem,
    Mistake,
    Note,
    SourceArticle,
    SourceError,
    mistake,
    plain_name,
)

MAX_REASONS = 20
MAX_EXAMPLES = 3
MAX_LINE_LENGTH = 500  # It counts characters.
MARKDOWN = re.compile(r"^(?:#{1,6} |[*-] |> |```)|\]\(\S|\*\*\w", re.MULTILINE)
# UTF-8 that was read as Latin-1 or as Windows-1252, but for what a text may hold by chance, such as a quote after "Ã".
WRONG_ENCODING = re.compile("Ã[\x80-\x9f¡-ª¬-º¼-¿„Ÿœ‰˜Š]|â[€\x80]|\N{REPLACEMENT CHARACTER}")

show = reprlib.Repr()
show.maxstring, show.fillvalue = 80, "…"


class ImportFailedError(Exception):
    """An import that wrote nothing. Its message has a line for each mistake."""


Slugs = dict[Note, list[str]]


class ImportReport:
    """A report about an import, which is printed at its end."""

    def __init__(self) -> None:
        self.mistakes = 0
        # What readers may notice, what was dropped, and what was ignored, each with its slugs or names.
        self.noticeable: Slugs = defaultdict(list)
        self.dropped: Slugs = defaultdict(list)
        self.ignored: Slugs = defaultdict(list)
        # The slugs of the first articles that change, with what changes.
        self.changes: list[tuple[str, list[str]]] = []
        # The lines about the first reasons, by field and reason.
        self._lines: dict[tuple[str, str], list[str]] = {}

    def add(self, mistake: Mistake) -> None:
        """Record a mistake in a source, in an article or in one of its fields."""
        self.mistakes += 1
        where, reason, field, value = mistake
        if (field, reason) in self._lines or len(self._lines) < MAX_REASONS:
            parts = [where, field] if field else [where]
            shown = reason if value is None else f"{show.repr(value)} {reason[0].lower()}{reason[1:]}"
            self._lines.setdefault((field, reason), []).append(": ".join([*parts, shown])[:MAX_LINE_LENGTH])

    @contextmanager
    def catch(self, where: str) -> Iterator[None]:
        """Record that the block could not read a source, or not to its end."""
        try:
            yield
        except (SourceError, OSError) as error:
            self.add(mistake(where, error))

    def ignore(self, item: IgnoredItem) -> None:
        """Record an item of a source that is not imported."""
        self.ignored[Note(item.kind, item.detail, item.unit)].append(item.name)

    def describe(self, article: SourceArticle, row: dict[str, Any]) -> None:
        """Record what there is to report about a new or changed article, whose row is given by `Article` column."""
        for note in (*article.notes, *map(Note, warnings_about(row))):
            self.noticeable[note].append(row["slug"])
        for note in article.dropped:
            self.dropped[note].append(row["slug"])

    def raise_if_mistakes(self) -> None:
        """Raise ImportFailedError if there are mistakes. Of equal ones, the first articles are named."""
        shown = ["Nothing was written. What is wrong:"]
        for lines in self._lines.values():
            shown += lines[:MAX_EXAMPLES]
            if len(lines) > MAX_EXAMPLES:
                shown.append(f"… and {len(lines) - MAX_EXAMPLES} more with this mistake.")
        if rest := self.mistakes - sum(map(len, self._lines.values())):
            shown.append(f"… and {rest} more.")
        if self.mistakes:
            raise ImportFailedError("\n".join(map(printable, shown)))


def explain(article: SourceArticle, messages: dict[str, list[str]]) -> Iterator[Mistake]:
    """Yield the mistakes in an article: those of its converter, and those of marshmallow's messages by field."""
    record = article.fields
    if not isinstance(record, dict):
        yield Mistake(article.where, messages["_schema"][0])
        return
    slug = record.get("slug")
    where = f"{article.where}, slug {show.repr(slug)}" if slug and isinstance(slug, str) else article.where
    yield from (mistake._replace(where=where) for mistake in article.mistakes)
    rejected = {mistake.field for mistake in article.mistakes}
    for field, (reason, *_) in sorted(messages.items()):
        value = record.get(field)
        if article.names.get(field, field) in rejected:
            continue
        if reason == "Unknown field.":
            known = FIELD_BY_ALIAS.get(plain_name(field))
            reason, value = f"Unknown field: {f'did you mean {known}?' if known else 'leave it out.'}", None
        yield Mistake(where, reason, article.names.get(field, field), value)


def warnings_about(article: dict[str, Any]) -> Iterator[str]:
    """Yield what looks wrong with an article, given by `Article` column, that is accepted nevertheless."""
    title, html = article["title"], article["content_html"]
    if decode_references(title) != title:
        yield "Warning: Titles with HTML entities such as &amp;. Write titles as plain text"
    if has_relative_urls(html):
        yield "Warning: Pictures or links whose URL is relative. Write whole URLs, or name your site with --site"
    if MARKDOWN.search(html) and not ANY_TAG.search(html):
        yield "Warning: Content that looks like Markdown. Write HTML, or import a .md file"
    if WRONG_ENCODING.search(title) or WRONG_ENCODING.search(html):
        yield "Warning: Text that was read in a wrong encoding, such as Ã¼ for ü. Save the source in UTF-8"
