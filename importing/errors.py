"""What is wrong with an import, article by article."""

from collections import Counter
from itertools import groupby
from typing import Any, NamedTuple

MAX_ERRORS_SHOWN = 20
MAX_REPETITIONS = 3  # of an error in a row that are shown one by one
MAX_LINE_LENGTH = 500  # characters


class ImportFailedError(Exception):
    """An import that wrote nothing; its message has a line for each bad article."""


class SourceError(Exception):
    """Why a source cannot be read, or not to its end."""


def printable(text: str) -> str:
    """Return `text` on one line, without characters that a terminal would act on."""
    return "".join(character if character.isprintable() else " " for character in text)


class SourceLocation(NamedTuple):
    """The location of an article: its source, its position there from 1, and its slug if it has one."""

    source: str
    position: str = ""
    slug: Any = None

    def of(self, record: Any) -> "SourceLocation":
        """Return the location of a record, as its JSON says, that is here."""
        return self._replace(slug=record.get("slug") if isinstance(record, dict) else None)

    def __str__(self) -> str:
        slug = f"slug {self.slug[:80]!r}" if isinstance(self.slug, str) else ""
        return ", ".join(filter(None, (self.source, self.position, slug)))


class ImportErrors:
    """The errors of an import, and how often it gave each warning."""

    def __init__(self) -> None:
        self.warnings: Counter[str] = Counter()  # articles, by the text of the warning
        self.rejected_ids: set[str] = set()  # of articles that are not examined further
        self._errors: list[tuple[SourceLocation, str]] = []

    def add(self, location: SourceLocation, reason: str) -> None:
        """Record what is wrong with the article, or the whole source, at `location`."""
        self._errors.append((location, reason))

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
