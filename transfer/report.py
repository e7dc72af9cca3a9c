"""The report of an import: mistakes, what readers may notice, what was dropped and ignored, and what changed."""

import re
import reprlib
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate, chain
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
    plain_name,
    unreadable,
)
from transfer import ImportFailedError

MAX_CHANGES = 20  # articles whose changes are shown
MAX_REASONS = 20
MAX_EXAMPLES = 3
MAX_MISTAKE_LENGTH = 500  # characters
MAX_LINE_LENGTH = 300  # characters
MAX_NAME_LENGTH = 50  # characters
MARKDOWN = re.compile(r"^(?:#{1,6} |[*-] |> |```)|\]\(\S|\*\*\w", re.MULTILINE)
# UTF-8 decoded as Latin-1 or Windows-1252, without sequences that also occur in real text, such as a quote after "Ã"
WRONG_ENCODING = re.compile("Ã[\x80-\x9f¡-ª¬-º¼-¿„Ÿœ‰˜Š]|â[€\x80]|\N{REPLACEMENT CHARACTER}")

# marshmallow's messages
REASONS = {
    "Missing data for required field.": "Missing.",
    "Field may not be null.": "Must not be null.",
    "Not a valid string.": "Must be text.",
    "Not a valid list.": "Must be a list.",
}

show = reprlib.Repr()
show.maxstring, show.maxother, show.fillvalue = 80, 80, "…"  # maxother: for subclasses of str


NamesByNote = dict[Note, list[str]]  # slugs or names of files


class ImportReport:
    """The report of one import, printed at its end."""

    def __init__(self) -> None:
        self.mistakes = 0
        self.invalid = 0  # articles
        self.is_incomplete = False  # a source could not be read to its end
        # slugs or file names by note
        self.noticeable: NamesByNote = defaultdict(list)
        self.dropped: NamesByNote = defaultdict(list)
        self.ignored: NamesByNote = defaultdict(list)
        # the first new and the first changed articles: slugs, with the changed fields
        self.changes: list[tuple[str, list[str]]] = []
        # lines by field and reason
        self._lines: dict[tuple[str, str], list[str]] = {}

    def add(self, mistake: Mistake) -> None:
        """Record a mistake that stops the import, such as a source that cannot be read to its end."""
        self.is_incomplete = True
        self._add(mistake)

    def reject(self, *mistakes: Mistake) -> None:
        """Record an invalid article, with its mistakes."""
        self.invalid += 1
        for each in mistakes:
            self._add(each)

    def _add(self, mistake: Mistake) -> None:
        self.mistakes += 1
        where, reason, field, value = mistake.where, mistake.reason, mistake.field, mistake.value
        if (field, reason) in self._lines or len(self._lines) < MAX_REASONS:
            parts = [where, field] if field else [where]
            shown = reason if value is None else f"{show.repr(value)} {reason[0].lower()}{reason[1:]}"
            self._lines.setdefault((field, reason), []).append(": ".join([*parts, shown])[:MAX_MISTAKE_LENGTH])

    @contextmanager
    def catch(self, where: str) -> Iterator[None]:
        """Record errors raised while the block reads a source."""
        try:
            yield
        except (SourceError, OSError) as error:
            self.add(unreadable(where, error))

    def ignore(self, item: IgnoredItem) -> None:
        """Record an item of a source that is not imported."""
        self.ignored[Note(item.kind, item.detail, item.unit)].append(item.name)

    def describe(self, article: SourceArticle, row: dict[str, Any]) -> None:
        """Record what there is to report about a new or changed article and its row."""
        notes = [*article.notes, *warnings_about(row)]
        # With a site, converters report the URLs that they cannot resolve.
        if not article.urls_resolved and has_relative_urls(row["content_html"]):
            hint = ", or set your site's URL with --site or SITE_URL" if article.names else ""
            notes.append(Note("Links and images with relative URLs", advice=f"Write absolute URLs{hint}."))
        for note in dict.fromkeys(notes):
            self.noticeable[note].append(row["slug"])
        for note in dict.fromkeys(article.dropped):
            self.dropped[note].append(row["slug"])

    def note_change(self, slug: str, fields: list[str]) -> None:
        """Record the changed fields of an article, or none for a new one."""
        if sum(bool(fields) == bool(other) for _, other in self.changes) < MAX_CHANGES:
            self.changes.append((slug, fields))

    def lines(self) -> Iterator[str]:
        """Yield one line per kind: what readers may notice, what was dropped, what was ignored."""
        for notes in (self.noticeable, self.dropped, self.ignored):
            kinds: dict[str, NamesByNote] = {}
            for note, names in notes.items():
                kinds.setdefault(note.kind, {})[note] = names
            for kind, details in kinds.items():
                yield _summarize(kind, details)

    def mistake_lines(self) -> list[str]:
        """Return one line per mistake. A mistake that repeats is shown for the first articles only."""
        shown = []
        for lines in self._lines.values():
            shown += lines[:MAX_EXAMPLES]
            if len(lines) > MAX_EXAMPLES:
                shown.append(f"… and {len(lines) - MAX_EXAMPLES} more with this mistake.")
        if rest := self.mistakes - sum(map(len, self._lines.values())):
            shown.append(f"… and {rest} more.")
        return shown

    def raise_if_mistakes(self, *, can_skip: bool, skip_invalid: bool) -> None:
        """Raise ImportFailedError if there are mistakes, unless they may be skipped.

        `can_skip`: whether there are valid articles to import without the invalid ones.
        """
        can_skip = can_skip and not self.is_incomplete
        if self.mistakes and not (can_skip and skip_invalid):
            hint = ["To import the valid articles anyway, add --skip-invalid."] if can_skip else []
            lines = ["Nothing was written, because of these mistakes:", *self.mistake_lines(), *hint]
            raise ImportFailedError("\n".join(map(printable, lines)))


def _summarize(kind: str, notes: NamesByNote) -> str:
    """Return the line for one kind of notes, such as `Shortcodes: gallery (2), toc (1): first, second, third, …`."""
    counts = [f"{note.detail} ({len(names)})" if note.detail else _count(note, names) for note, names in notes.items()]
    examples = list(dict.fromkeys(filter(None, chain.from_iterable(notes.values()))))
    names = [name if len(name) <= MAX_NAME_LENGTH else f"{name[:MAX_NAME_LENGTH]}…" for name in examples[:MAX_EXAMPLES]]
    end = f": {', '.join([*names, '…'] if len(examples) > MAX_EXAMPLES else names)}" if names else ""
    advice = next(iter(notes)).advice
    end += f". {advice}" if advice else ""
    room = MAX_LINE_LENGTH - len(f"{kind}: , and {len(counts)} more{end}")
    fitting = max(1, sum(length <= room for length in accumulate(len(count) + 2 for count in counts)))
    rest = [f"and {len(counts) - fitting} more"] if len(counts) > fitting else []
    return f"{kind}{' ' if counts[0].startswith('(') else ': '}{', '.join([*counts[:fitting], *rest])}{end}"


def _count(note: Note, names: list[str]) -> str:
    """Return the count of a note: `(3)` for articles, `(37 attachments)` for anything else."""
    unit = "" if note.unit == "article" else f" {note.unit}{'' if len(names) == 1 else 's'}"
    return f"({len(names)}{unit})"


def explain(article: SourceArticle, messages: dict[str, list[str]]) -> Iterator[Mistake]:
    """Yield the mistakes in an article, found by its converter or by marshmallow (`messages`, by field)."""
    record = article.fields
    if not isinstance(record, dict):
        yield Mistake(article.where, messages["_schema"][0])
        return
    slug = record.get("slug")
    where = f"{article.where}, slug {show.repr(slug)}" if slug and isinstance(slug, str) else article.where
    yield from (mistake._replace(where=where) for mistake in article.mistakes)
    rejected = {mistake.field for mistake in article.mistakes}
    for field, (reason, *_) in sorted(messages.items()):
        value, reason = record.get(field), REASONS.get(reason, reason)
        if article.names.get(field, field) in rejected:
            continue
        if reason == "Unknown field.":
            known = FIELD_BY_ALIAS.get(plain_name(field))
            reason, value = f"Unknown field: {f'did you mean {known}?' if known else 'remove it.'}", None
        yield Mistake(where, reason, article.names.get(field, field), value)


def warnings_about(article: dict[str, Any]) -> Iterator[Note]:
    """Yield warnings about an accepted article, given as a row."""
    title, html = article["title"], article["content_html"]
    if not title.strip():
        yield Note("Articles with an empty title")
    if decode_references(title) != title:
        yield Note("Titles with HTML entities such as &amp;, which visitors see", advice="Write titles as plain text.")
    if MARKDOWN.search(html) and not ANY_TAG.search(html):
        yield Note("Content that looks like Markdown, not HTML", advice="Write HTML, or import a .md file.")
    if WRONG_ENCODING.search(title) or WRONG_ENCODING.search(html):
        yield Note("Text decoded with the wrong encoding, such as Ã¼ for ü", advice="Save the source as UTF-8.")
