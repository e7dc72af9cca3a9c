"""Articles as the readers of sources yield them, in the form that an import takes."""

import re
from collections.abc import Iterable
from datetime import tzinfo
from typing import Any, NamedTuple

from schemas import ArticleImportSchema

DATES = {"publishedAt", "createdAt", "updatedAt"}
# The keys are as `plain_name` returns them: a field's name, and then its aliases in the order in which they count.
FIELD_BY_ALIAS = {
    alias: field.data_key or name
    for name, field in ArticleImportSchema().fields.items()
    for alias in ((field.data_key or name).lower(), *field.metadata.get("aliases", ()))
}

# For each article: where it is, and its fields by the import form's names.
Records = Iterable[tuple[str, Any]]


class SourceError(Exception):
    """A source that cannot be read, or not to its end. The message says why."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(f"line {line}: {reason}" if line else reason)


class SourceOptions(NamedTuple):
    """Options of an import that say how to read its sources."""

    key: str | None  # It is the key of another instance.
    site: str  # Relative URLs are completed with it.
    zone: tzinfo  # Dates without a zone are of it.


class SourceArticle(dict[str, Any]):
    """An article of another system or of an article file, in the form that import takes.

    If no article has its id, it is the one that has its slug. `names` are its author's names of the fields, and `notes`
    say what was lost.
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        super().__init__(fields)
        self.names: dict[str, str] = {}
        self.notes: list[str] = []


class MirroredArticle(SourceArticle):
    """An article of another instance, whose `updatedAt` is the day of its last change."""


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


def plain_name(name: str) -> str:
    """Return a field's name as `FIELD_BY_ALIAS` has it."""
    return re.sub("[_ -]", "", name.lower())
