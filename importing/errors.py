"""The error report of an import, article by article."""

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from typing import Any, NamedTuple

from field_types import printable

MAX_ERRORS_SHOWN = 20
MAX_REPETITIONS = 3  # of an error in a row that are shown one by one
MAX_LINE_LENGTH = 500  # characters


class ImportFailedError(Exception):
    """An import that wrote nothing; its message has a line for each bad article."""


class SourceError(Exception):
    """Why a source cannot be read, or not to its end; in a file, with the line."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line


class SourceLocation(NamedTuple):
    """The location of an article, and what an error or a warning about it may say."""

    source: str
    position: str = ""  # in the source or the file: "line 3", "article 3"
    slug: Any = None
    file: str = ""  # below the source, if that is a folder
    lines: dict[str, int] = {}  # noqa: RUF012  # of the article's fields, by name
    notes: Sequence[str] = ()  # what was lost on the way; said if the article is new or changed
    matches_slug: bool = False  # whether an article here with its slug is the same one, whatever the ids

    def of(self, record: Any) -> "SourceLocation":
        """Return the location of a record, as its JSON says, that is here."""
        return self._replace(slug=record.get("slug") if isinstance(record, dict) else None)

    def at_line(self, line: int | None) -> "SourceLocation":
        """Return the location of a line of this file."""
        return self._replace(position=f"line {line}") if line else self

    def __str__(self) -> str:
        path = os.path.join(self.source, self.file) if self.file else self.source
        slug = f"slug {self.slug[:80]!r}" if isinstance(self.slug, str) else ""
        return ", ".join(filter(None, (path, self.position, slug)))


class SourceOptions(NamedTuple):
    """What the user says about the sources."""

    key: str | None = None  # of another instance
    site: str = ""  # the URL against which relative ones are completed
    zone: tzinfo = UTC  # of dates without one


Records = Iterator[tuple[SourceLocation, Any]]


def locate(source: str, records: Iterable[Any]) -> Records:
    """Yield the records of a source that are told apart by their number alone."""
    for number, record in enumerate(records, start=1):
        yield SourceLocation(source, f"article {number}").of(record), record


class ErrorGroup(NamedTuple):
    """The same error, in a row, of articles of one source."""

    source: str
    reason: str
    locations: list[SourceLocation]

    def lines(self) -> list[str]:
        """Return what the error report says of them."""
        if len(self.locations) > MAX_REPETITIONS:
            return [f"{self.locations[0]}, and {len(self.locations) - 1} more: {self.reason}"]
        return [f"{location}: {self.reason}" for location in self.locations]


class ImportErrors:
    """The errors of an import, and what else its report says."""

    def __init__(self) -> None:
        self.notes: dict[str, list[str]] = defaultdict(list)  # warnings and losses, with the slugs of the articles
        self.changes: list[tuple[str, list[str]]] = []  # the first slugs, with the fields that change; new ones: none
        self.rejected_ids: set[str] = set()  # of articles that are not examined further
        self._groups: list[ErrorGroup] = []
        self._unnamed = 0  # errors that are not in a group

    def add(self, location: SourceLocation, reason: str) -> None:
        """Record what is wrong with the article, or the whole source, at `location`."""
        if self._groups and self._groups[-1][:2] == (location.source, reason):
            self._groups[-1].locations.append(location)
        elif self.is_full:
            self._unnamed += 1
        else:
            self._groups.append(ErrorGroup(location.source, reason, [location]))

    def add_unreadable(self, location: SourceLocation, error: OSError) -> None:
        """Record that a source or a file cannot be read, or not to its end."""
        self.add(location, f"It cannot be read ({error.strerror}).")

    def note(self, text: str, slug: str) -> None:
        """Record a warning about an article, or what was lost of it."""
        self.notes[text].append(slug)

    @property
    def is_full(self) -> bool:
        """Whether further errors are only counted, whatever their reason is."""
        return len(self._groups) > MAX_ERRORS_SHOWN

    def __bool__(self) -> bool:
        return bool(self._groups)

    def raise_if_any(self) -> None:
        """Raise ImportFailedError if there are errors. The first ones are named, repeated ones once."""
        lines, unnamed = ["Nothing was written. What is wrong:"], self._unnamed
        for group in self._groups:
            if unnamed > self._unnamed or len(lines) + len(group.lines()) > MAX_ERRORS_SHOWN + 1:
                unnamed += len(group.locations)
            else:
                lines += group.lines()
        if unnamed:
            lines.append(f"… and {unnamed} more.")
        if self:
            raise ImportFailedError("\n".join(map(_shorten, lines)))


def _shorten(line: str) -> str:
    return printable(line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 1]}…")
