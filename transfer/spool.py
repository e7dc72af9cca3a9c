"""The valid articles of an import, in a temporary file until they are written."""

import pickle
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from content.derived import fill_derived_fields
from content.search import search_columns
from converters.records import Identity, Mistake, Note, Publication, SourceArticle
from transfer.checks import check_article, locate, notes_about
from transfer.report import ImportReport
from transfer.rows import ArticleRow
from transfer.temporary import create_temporary_file, writing_to

MAX_TITLE_LENGTH = 255  # characters, as in Ghost; the plan accepts a longer one that is stored already


class SpooledArticle(NamedTuple):
    """A valid article, ready to be written."""

    where: str  # source, position and slug
    row: ArticleRow  # the columns that it gives or that are derived from them
    publication: Publication | None
    former_id: str
    urls_resolved: bool
    old_urls: tuple[str, ...]
    notes: tuple[Note, ...]


@dataclass(slots=True, frozen=True, eq=False)
class SpoolEntry:
    """A valid article's id and slug, and its place in the temporary file."""

    offset: int
    id: str  # "" if the source gives none
    slug: str
    identity: Identity
    has_long_title: bool


class Spool:
    """The valid articles of an import. Only their ids and slugs are in memory."""

    def __init__(self, file: Any) -> None:
        self.entries: list[SpoolEntry] = []
        # where articles with mistakes of their own are
        self.rejected_by_id: dict[str, str] = {}
        self.rejected_by_slug: dict[str, str] = {}
        self.has_other_systems = False  # whether any article, valid or not, is from another system
        self._by_id: dict[str, SpoolEntry] = {}
        self._by_slug: dict[str, SpoolEntry] = {}
        self._file = file
        self._size = 0  # bytes

    def add(self, articles: Iterable[SourceArticle], report: ImportReport) -> None:
        """Add the valid articles, and report the mistakes in the others.

        Raises ImportFailedError if the disk is full, for example.
        """
        for article in articles:
            with writing_to(self._file):
                self._add(article, report)
        with writing_to(self._file):
            self._file.flush()

    def _add(self, article: SourceArticle, report: ImportReport) -> None:
        self.has_other_systems = self.has_other_systems or article.publication is not None
        row, mistakes = check_article(article)
        duplicates = [] if mistakes else self._find_duplicate(article, row)
        if not mistakes and not duplicates:
            self._append(article, row)
            return
        report.reject(*mistakes, *duplicates)
        if mistakes and isinstance(article.fields, dict):
            for field, rejected in (("id", self.rejected_by_id), ("slug", self.rejected_by_slug)):
                if article.fields.get(field):
                    rejected.setdefault(str(article.fields[field]), locate(article))

    def _find_duplicate(self, article: SourceArticle, row: ArticleRow) -> list[Mistake]:
        """Return a mistake if an earlier article has the same id or slug, and is valid or has mistakes of its own."""
        for field, entries, rejected in (
            ("id", self._by_id, self.rejected_by_id),
            ("slug", self._by_slug, self.rejected_by_slug),
        ):
            value = row.get(field)
            if value in entries or value in rejected:
                where = self.read(entries[value]).where if value in entries else rejected[value]
                reason = f"Is also the {field} of {{}}. Remove one of the two, or change its {field}."
                return [Mistake(locate(article), reason, field, value, other=where)]
        return []

    def _append(self, article: SourceArticle, row: ArticleRow) -> None:
        has_long_title = len(row["title"]) > MAX_TITLE_LENGTH
        entry = SpoolEntry(self._size, row.get("id", ""), row["slug"], article.identity, has_long_title)
        self.entries.append(entry)
        self._by_slug[entry.slug] = entry
        if entry.id:
            self._by_id[entry.id] = entry
        spooled = SpooledArticle(
            where=locate(article),
            row=fill_derived_fields(row | search_columns(row["title"], row["slug"])),
            publication=article.publication,
            former_id=article.former_id,
            urls_resolved=article.urls_resolved,
            old_urls=tuple(article.old_urls),
            notes=tuple(article.notes),
        )
        self._file.seek(self._size)
        self._size += self._file.write(pickle.dumps(spooled, pickle.HIGHEST_PROTOCOL))

    def read(self, entry: SpoolEntry) -> SpooledArticle:
        """Return the article of an entry."""
        self._file.seek(entry.offset)
        article: SpooledArticle = pickle.load(self._file)  # noqa: S301  # written by this process
        return article

    def report_notes(self, written: Iterable[SpoolEntry], report: ImportReport) -> None:
        """Report what there is to note about the articles that were written. No transaction is needed."""
        for entry in written:
            article = self.read(entry)
            notes = notes_about(article.row, article.publication, urls_resolved=article.urls_resolved)
            report.add_notes(entry.slug, [*article.notes, *notes])


@contextmanager
def create_spool() -> Iterator[Spool]:
    """Yield an empty spool. Raises ImportFailedError if there is no folder for temporary files."""
    with create_temporary_file() as file:
        yield Spool(file)
