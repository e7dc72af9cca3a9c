"""What is wrong with an import, article by article."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, tzinfo
from itertools import groupby
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


class ImportErrors:
    """The errors of an import, and how often it gave each warning."""

    def __init__(self) -> None:
        self.warnings: Counter[str] = Counter()  # articles, by the text of the warning
        self.notes: dict[str, list[str]] = defaultdict(list)  # the slugs of articles, by what was lost of them
        self.rejected_ids: set[str] = set()  # of articles that are not examined further
        self._errors: list[tuple[SourceLocation, str]] = []

    def add(self, location: SourceLocation, reason: str) -> None:
        """Record what is wrong with the article, or the whole source, at `location`."""
        self._errors.append((location, reason))

    def note(self, text: str, slug: str) -> None:
        """Record what was lost of an article."""
        self.notes[text].append(slug)

    def __bool__(self) -> bool:
        return bool(self._errors)

    def raise_if_any(self) -> None:
        """Raise ImportFailedError if there are errors. The first ones are named, repeated ones once."""
        lines, named = ["Nothing was written. What is wrong:"], 0
        for (_source, reason), group in groupby(self._errors, lambda error: (error[0].source, error[1])):
            locations = [location for location, _ in group]
            more = [f"{location}: {reason}" for location in locations]
            if len(more) > MAX_REPETITIONS:
                more = [f"{locations[0]}, and {len(more) - 1} more: {reason}"]
            if len(lines) + len(more) > MAX_ERRORS_SHOWN + 1:
                break
            lines += more
            named += len(locations)
        if named < len(self._errors):
            lines.append(f"… and {len(self._errors) - named} more.")
        if self._errors:
            raise ImportFailedError("\n".join(map(_shorten, lines)))


def _shorten(line: str) -> str:
    return printable(line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 1]}…")
