"""What is wrong with an import, article by article."""

from collections import Counter
from dataclasses import dataclass
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

    def __str__(self) -> str:
        slug = f"slug {self.slug[:80]!r}" if isinstance(self.slug, str) else ""
        return ", ".join(filter(None, (self.source, self.position, slug)))


@dataclass
class RepeatedError:
    """The same reason for several articles of a source, with no other error between them."""

    reason: str
    locations: list[SourceLocation]  # the first ones
    count: int = 1

    def lines(self) -> list[str]:
        """Return a line for each article, or one for all if they are many."""
        if self.count <= MAX_REPETITIONS:
            return [f"{location}: {self.reason}" for location in self.locations]
        return [f"{self.locations[0]}, and {self.count - 1} more: {self.reason}"]


class ImportErrors:
    """The errors of an import, of which the first ones are reported, and how often it gave each warning."""

    def __init__(self) -> None:
        self.count = 0
        self.warnings: Counter[str] = Counter()  # articles, by the text of the warning
        self.rejected_ids: set[str] = set()  # of articles that are not examined further
        self._reported: list[RepeatedError] = []

    def add(self, location: SourceLocation, reason: str) -> None:
        """Record what is wrong with the article, or the whole source, at `location`."""
        self.count += 1
        last = self._reported[-1] if self._reported else None
        if last and (last.locations[0].source, last.reason) == (location.source, reason):
            last.count += 1
            if last.count <= MAX_REPETITIONS:
                last.locations.append(location)
        elif len(self._reported) <= MAX_ERRORS_SHOWN:  # one more than fit, which later ones may repeat
            self._reported.append(RepeatedError(reason, [location]))

    def raise_if_any(self) -> None:
        """Raise ImportFailedError if there are errors."""
        if not self.count:
            return
        lines, reported = ["Nothing was written. What is wrong:"], 0
        for error in self._reported:
            more = error.lines()
            if len(lines) + len(more) > MAX_ERRORS_SHOWN + 1:
                break
            lines += more
            reported += error.count
        if reported < self.count:
            lines.append(f"… and {self.count - reported} more.")
        raise ImportFailedError("\n".join(map(_shorten, lines)))


def _shorten(line: str) -> str:
    return printable(line if len(line) <= MAX_LINE_LENGTH else f"{line[: MAX_LINE_LENGTH - 1]}…")
