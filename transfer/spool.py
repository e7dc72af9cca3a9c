"""The valid articles of an import, in a temporary file until they are written."""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, NamedTuple

from content.derived import fill_derived_fields
from converters.articles import Claim, ImportProblem, SourceArticle
from models import UNKNOWN_ORIGIN
from schemas import MAX_SLUG_LENGTH
from transfer.checks import ArticleRow, check_article, locate
from transfer.report import ImportReport
from transfer.temporary import create_temporary_file, writing_to

OLDEST = datetime.min.replace(tzinfo=UTC)
# Articles of one import must differ in each of these. field -> what to do otherwise
UNIQUE_FIELDS = {
    "origin": "Remove one of the two, change a row's slug or a file's path, or import one with --source NAME.",
    "id": "Remove one of the two, or change its id.",
    "slug": "Remove one of the two, or change its slug.",
}


class SpooledArticle(NamedTuple):
    """A valid article, ready to be written."""

    article: SourceArticle  # without its fields
    row: ArticleRow  # the columns that it gives or that are derived from them


@dataclass(slots=True, frozen=True, eq=False)
class SpoolEntry:
    """What the plan needs to know about a valid article, and its place in the temporary file."""

    offset: int
    id: str  # "" if the source gives none
    slug: str
    title: str
    status: str | None  # only in formats of this service
    date: datetime | None
    claim: Claim | None  # its source's or, in formats of this service, the exported one
    source: str | None  # the name of its source; None for formats of this service
    has_reusable_key: bool
    origin: str  # in formats of this service, the exported one, or ""
    may_match_slug: bool
    pages: tuple[str, ...]  # of the old site, which show it

    @property
    def dated_slug(self) -> str:
        """The slug with the day of publication (UTC) appended, or "" without a date or if that would be too long."""
        slug = f"{self.slug}-{self.date.date()}" if self.date else ""
        return slug if len(slug) <= MAX_SLUG_LENGTH else ""

    @property
    def sort_date(self) -> datetime:
        """The date of publication. Articles without one are the oldest."""
        return self.date or OLDEST


class Spool:
    """The valid articles of an import. Only their entries are in memory."""

    def __init__(self, file: Any) -> None:
        self.entries: list[SpoolEntry] = []
        # by unique field and value
        self.accepted: dict[tuple[str, str], SpoolEntry] = {}
        self.rejected: dict[tuple[str, str], str] = {}  # where the articles with problems are
        self.trashed: set[str] = set()  # origins of articles in their source's trash
        self.trashed_ids: set[str] = set()
        self._file = file
        self._size = 0  # bytes

    @property
    def sources(self) -> set[str]:
        """The names of the valid articles' sources. Formats of this service have none."""
        return {entry.source for entry in self.entries if entry.source}

    def add(self, articles: Iterable[SourceArticle], report: ImportReport) -> None:
        """Add the valid articles, and report the problems in the others.

        Raises ImportFailedError if the disk is full, for example.
        """
        for article in articles:
            if article.is_trashed or article.keeps_stored_text:
                self.trashed.add(str(article.origin))
                self.trashed_ids.add(article.fields.get("id"))
                continue
            with writing_to(self._file):
                self._add(article, report)
        with writing_to(self._file):
            self._file.flush()

    def _add(self, article: SourceArticle, report: ImportReport) -> None:
        row, problems = check_article(article)
        if article.origin:
            row["origin"] = str(article.origin)
        if problems:
            given = article.fields if isinstance(article.fields, dict) else {}
            for unique in _unique_values(given | row):
                self.rejected.setdefault(unique, locate(article))
        elif duplicate := self._find_duplicate(article, row):
            problems.append(duplicate)
        if problems:
            report.reject(*problems)
        else:
            self._append(article, row)

    def _find_duplicate(self, article: SourceArticle, row: ArticleRow) -> ImportProblem | None:
        """Return a problem if an earlier article, valid or not, has the same id, slug or origin."""
        for field, value in _unique_values(row):
            entry = self.accepted.get((field, value))
            if field == "slug" and article.origin and (not entry or entry.source):
                continue  # Articles of other systems may share a slug (`transfer.slugs`).
            where = self.locate(entry) if entry else self.rejected.get((field, value))
            if where:
                # In a CSV file, the slug is the origin's key. Name the slug, since authors never see origins.
                has_slug_as_key = article.origin is not None and article.origin.key == row["slug"]
                shown, shown_value = ("slug", row["slug"]) if has_slug_as_key else (field, value)
                reason = f"Is also the {shown} of {{}}. {UNIQUE_FIELDS[field]}"
                return ImportProblem(locate(article), reason, shown, shown_value, other=where)
        return None

    def _append(self, article: SourceArticle, row: ArticleRow) -> None:
        entry = SpoolEntry(
            offset=self._size,
            id=row.get("id", ""),
            slug=row["slug"],
            title=row["title"],
            status=row.get("status"),
            date=row.get("published_at"),
            claim=article.claim if article.origin else row.get("claim"),
            source=article.origin.source if article.origin else None,
            has_reusable_key=article.origin is not None and article.origin.has_reusable_key,
            origin=row.get("origin", ""),
            may_match_slug=article.may_match_slug,
            pages=tuple(article.pages),
        )
        self.entries.append(entry)
        self.accepted |= dict.fromkeys(_unique_values(row), entry)
        located = replace(article, where=locate(article), fields=None)
        spooled = SpooledArticle(located, fill_derived_fields(row))
        self._file.seek(self._size)
        self._size += self._file.write(pickle.dumps(spooled, pickle.HIGHEST_PROTOCOL))

    def read(self, entry: SpoolEntry) -> SpooledArticle:
        """Return the article of an entry."""
        self._file.seek(entry.offset)
        spooled: SpooledArticle = pickle.load(self._file)  # noqa: S301  # written by this process
        return spooled

    def locate(self, entry: SpoolEntry) -> str:
        """Return the source, position and slug of an entry's article."""
        return self.read(entry).article.where


def _unique_values(row: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the unique fields that an article has. Any number of articles may have an unknown origin."""
    values = ((field, str(row[field])) for field in UNIQUE_FIELDS if row.get(field))
    return [value for value in values if value != ("origin", UNKNOWN_ORIGIN)]


@contextmanager
def create_spool() -> Iterator[Spool]:
    """Yield an empty spool. Raises ImportFailedError if there is no folder for temporary files."""
    with create_temporary_file() as file:
        yield Spool(file)
