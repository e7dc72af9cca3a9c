"""What an import reports: why an article is refused, warnings, what was lost, and what changes."""

import re
import reprlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, tzinfo
from typing import Any, NamedTuple

from field_types import printable
from importing.dates import DATE_FORMS
from importing.derived import ANY_TAG, decode_references
from importing.urls import has_relative_urls
from schemas import ArticleImportSchema

MAX_REASONS = 20
MAX_EXAMPLES = 3
MAX_LINE_LENGTH = 500  # It counts characters.
DATES = {"publishedAt", "createdAt", "updatedAt"}
# The keys are as `plain_name` returns them: a field's name, and then its aliases in the order in which they count.
FIELD_BY_ALIAS = {
    alias: field.data_key or name
    for name, field in ArticleImportSchema().fields.items()
    for alias in ((field.data_key or name).lower(), *field.metadata.get("aliases", ()))
}
MARKDOWN = re.compile(r"^(?:#{1,6} |[*-] |> |```)|\]\(\S|\*\*\w", re.MULTILINE)
# UTF-8 that was read as Latin-1 or as Windows-1252, but for what a text may hold by chance, such as a quote after "Ã"
WRONG_ENCODING = re.compile("Ã[\x80-\x9f¡-ª¬-º¼-¿„Ÿœ‰˜Š]|â[€\x80]|\N{REPLACEMENT CHARACTER}")

# For each article: where it is, and its fields by the import form's names.
Records = Iterable[tuple[str, Any]]

show = reprlib.Repr()
show.maxstring, show.fillvalue = 80, "…"


class ImportFailedError(Exception):
    """An import that wrote nothing. Its message has a line for each mistake."""


class SourceError(Exception):
    """A source that cannot be read, or not to its end. The message says why."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)


class SourceOptions(NamedTuple):
    """Options of an import that say how to read its sources."""

    key: str | None = None  # It is the key of another instance.
    site: str = ""  # Relative URLs are completed with it.
    zone: tzinfo = UTC  # Dates without a zone are of it.


class SourceArticle(dict[str, Any]):
    """An article of another system or of an article file, in the form that import takes.

    If no article has its id, it is the one that has its slug. `names` are its author's names of the fields, and `notes`
    say what was lost.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.names: dict[str, str] = {}
        self.notes: list[str] = []


def number_records(source: str, records: Iterable[Any]) -> Records:
    """Return the records of a source that are told apart by their number alone."""
    return ((f"{source}, article {number}", record) for number, record in enumerate(records, start=1))


def decode(data: bytes, first_line: int = 1) -> str:
    """Return text in UTF-8, without a byte order mark. `first_line` is the number of its first line.

    Raises SourceError that names the first byte that is not UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        *before, line = data[: error.start].split(b"\n")
        byte = f"byte {len(line) + 1} of line {len(before) + first_line} is not"
        raise SourceError(f"Must be text in UTF-8: {byte}. Save it in that encoding.") from error


class ImportReport:
    """A report about an import, which is printed at its end."""

    def __init__(self) -> None:
        self.mistakes = 0
        # Slugs, by what was lost or looks wrong.
        self.notes: dict[str, list[str]] = defaultdict(list)
        # The slugs of the first articles that change, with what changes.
        self.changes: list[tuple[str, list[str]]] = []
        # The lines about the first reasons, by field and reason.
        self._lines: dict[tuple[str, str], list[str]] = {}

    def add(self, where: str, reason: str, field: str = "", value: Any = None) -> None:
        """Record a mistake in a whole source, in an article or in one of its fields."""
        self.mistakes += 1
        if (field, reason) in self._lines or len(self._lines) < MAX_REASONS:
            parts = [where, field] if field else [where]
            shown = reason if value is None else f"{show.repr(value)} {reason[0].lower()}{reason[1:]}"
            self._lines.setdefault((field, reason), []).append(": ".join([*parts, shown])[:MAX_LINE_LENGTH])

    @contextmanager
    def catch(self, where: str) -> Iterator[None]:
        """Record that the block could not read a source or a file, or not to its end."""
        try:
            yield
        except SourceError as error:
            self.add(where, str(error))
        except OSError as error:
            self.add(where, f"It cannot be read ({error.strerror}).")

    def note(self, kind: str, slug: str) -> None:
        """Record what was lost of an article, or looks wrong with it."""
        self.notes[kind].append(slug)

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


def plain_name(name: str) -> str:
    """Return a field's name as `FIELD_BY_ALIAS` has it."""
    return re.sub("[_ -]", "", name.lower())


def explain(record: Any, messages: dict[str, list[str]]) -> Iterator[tuple[str, str, Any]]:
    """Yield what is wrong with a record: its author's name of a field, the reason, and the value if it has one."""
    if not isinstance(record, dict):
        yield "", messages["_schema"][0], None
        return
    names = record.names if isinstance(record, SourceArticle) else {}
    for field, (reason, *_) in sorted(messages.items()):
        value = record.get(field)
        if reason == "Unknown field.":
            known = FIELD_BY_ALIAS.get(plain_name(field))
            reason, value = f"Unknown field: {f'did you mean {known}?' if known else 'leave it out.'}", None
        elif field in DATES and isinstance(record, SourceArticle):
            reason = DATE_FORMS
        yield names.get(field, field), reason, value


def warnings_about(article: dict[str, Any]) -> Iterator[str]:
    """Yield what looks wrong with an article, by `Article` column, that is accepted nevertheless."""
    title, html = article["title"], article["content_html"]
    if decode_references(title) != title:
        yield "Warning: Titles with HTML entities such as &amp;. Write titles as plain text"
    if has_relative_urls(html):
        yield "Warning: Pictures or links whose URL is relative. Write whole URLs, or name your site with --site"
    if MARKDOWN.search(html) and not ANY_TAG.search(html):
        yield "Warning: Content that looks like Markdown. Write HTML, or import a .md file"
    if WRONG_ENCODING.search(title) or WRONG_ENCODING.search(html):
        yield "Warning: Text that was read in a wrong encoding, such as Ã¼ for ü. Save the source in UTF-8"
