"""The error report of an import, article by article."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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

    source: str  # the URL, or the file's path
    position: str = ""  # in the source: "line 3", "article 3"
    slug: Any = None
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
        slug = f"slug {self.slug[:80]!r}" if self.slug and isinstance(self.slug, str) else ""
        return ", ".join(filter(None, (self.source, self.position, slug)))


class SourceOptions(NamedTuple):
    """What the user says about the sources."""

    key: str | None = None  # of another instance
    site: str = ""  # the URL against which relative ones are completed
    zone: tzinfo = UTC  # of dates without one


LocatedRecord = tuple[SourceLocation, Any]
Records = Iterator[LocatedRecord]


def locate(source: str, records: Iterable[Any]) -> Records:
    """Yield the records of a source that are told apart by their number alone."""
    for number, record in enumerate(records, start=1):
        yield SourceLocation(source, f"article {number}").of(record), record


class ImportErrors:
    """The errors of an import, what else its report says, and what its parts know of each other's articles."""

    def __init__(self) -> None:
        self.notes: dict[str, list[str]] = defaultdict(list)  # warnings and losses, with the slugs of the articles
        self.changes: list[tuple[str, list[str]]] = []  # the first slugs, with what changes
        self.imported_ids: set[str] = set()  # of the articles so far, and of all that are not streamed
        self.rejected_ids: set[str] = set()  # of articles that are not examined further
        self._count = 0
        self._groups: list[tuple[str, list[SourceLocation]]] = []  # the first reasons, with the articles in a row

    def add(self, location: SourceLocation, reason: str) -> None:
        """Record what is wrong with the article, or the whole source, at `location`."""
        self._count += 1
        if self._groups and self._groups[-1][0] == reason:
            self._groups[-1][1].append(location)
        elif not self.is_full:
            self._groups.append((reason, [location]))

    @contextmanager
    def catch(self, location: SourceLocation) -> Iterator[None]:
        """Record that the block could not read a source or a file, or not to its end."""
        try:
            yield
        except SourceError as error:
            self.add(location.at_line(error.line), str(error))
        except OSError as error:
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
        lines, named = ["Nothing was written. What is wrong:"], 0
        for reason, locations in self._groups:
            group = [f"{location}: {reason}" for location in locations]
            if len(group) > MAX_REPETITIONS:
                group = [f"{locations[0]}, and {len(group) - 1} more: {reason}"]
            if len(lines) + len(group) > MAX_ERRORS_SHOWN + 1:
                break
            lines += group
            named += len(locations)
        if named < self._count:
            lines.append(f"… and {self._count - named} more.")
        if self:
            raise ImportFailedError("\n".join(map(_shorten, lines)))


def _shorten(line: str) -> str:
    return printable(line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 1]}…")
