"""What an import reports: mistakes, warnings, what was lost, and what changes."""

import reprlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, tzinfo
from typing import Any, NamedTuple

from field_types import printable

MAX_REASONS = 20
MAX_EXAMPLES = 3
MAX_LINE_LENGTH = 500  # characters

Records = Iterable[tuple[str, Any]]  # for each article, where it is, and its fields by the import form's names

show = reprlib.Repr()
show.maxstring, show.fillvalue = 80, "…"


class ImportFailedError(Exception):
    """An import that wrote nothing. Its message has a line for each mistake."""


class SourceError(Exception):
    """Why a source cannot be read, or not to its end."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)


class SourceOptions(NamedTuple):
    """What the user says about the sources."""

    key: str | None = None  # of another instance
    site: str = ""  # the URL against which relative ones are completed
    zone: tzinfo = UTC  # of dates without one


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
    """What is said about an import at its end."""

    def __init__(self) -> None:
        self.mistakes = 0
        self.notes: dict[str, list[str]] = defaultdict(list)  # slugs, by what was lost or looks wrong
        self.changes: list[tuple[str, list[str]]] = []  # the first slugs, with what changes
        self._lines: dict[tuple[str, str], list[str]] = {}  # by field and reason, of which only the first are kept

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
