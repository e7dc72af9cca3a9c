"""Build complete article rows from what an import gives and what is stored."""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from content.search import search_columns
from content.structured_data import Publisher, custom_schema_markup
from models import UNKNOWN_ORIGIN
from schemas import RESPONSE_COLUMNS
from transfer.checks import ArticleRow
from transfer.planned import PlannedArticle

# kept unless the import gives them
PRESERVED_COLUMNS = "id", "status", "created_at", "published_at", "views"
# never shown by the API; the values in formats of this service are stored for new articles only
ORIGIN_COLUMNS = "origin", "claim", "claimed_at", "edited"
# a change in any of these moves `updated_at`
CONTENT_COLUMNS = {*RESPONSE_COLUMNS} - {*PRESERVED_COLUMNS, "updated_at"}


def has_same_content(row: ArticleRow, stored: ArticleRow) -> bool:
    """Return whether readers see the same in both rows."""
    return all(row[name] == stored[name] for name in CONTENT_COLUMNS)


@dataclass
class RowBuilder:
    """Builder of the rows of one import for one customer."""

    customer_id: int
    publisher: Publisher
    now: datetime  # when the articles are written
    stored_ids: set[str]  # of all of the customer's articles
    # Articles from before 3.0.0 lose their unknown origin when a format of this service contains them, so that
    # --unpublish-missing covers them later.
    adopts_own_articles: bool

    def complete(self, planned: PlannedArticle, given: ArticleRow, stored: ArticleRow | None) -> ArticleRow:
        """Return all columns of an article except its `pk`.

        `given` has the columns that the import gives or that are derived from them.
        """
        publication = {"status": planned.publication.status, "published_at": planned.publication.published_at}
        if stored and planned.keeps_content:
            return {**stored, **publication, **_source_columns(planned)}
        if stored:
            row = {name: stored[name] for name in PRESERVED_COLUMNS} | given | {"id": stored["id"]}
        else:
            row = {"id": str(uuid4()), "views": 0} | given
            if row["id"] in self.stored_ids:  # of an article that is not from this source
                row["id"] = str(uuid4())
        row |= {**publication, "slug": planned.slug, **search_columns(row["title"], planned.slug)}
        row.setdefault("created_at", self._publication_or_now(row["published_at"]))
        row["schema_markup"] = self._custom_markup(row, stored)
        row["updated_at"] = self._updated_at(planned, row, stored)
        origin = _source_columns(planned) if planned.entry.source else self._own_columns(planned, row, stored)
        return row | origin | {"customer_id": self.customer_id}

    def _own_columns(self, planned: PlannedArticle, row: ArticleRow, stored: ArticleRow | None) -> ArticleRow:
        """Return the origin columns of an article in a format of this service.

        A stored article keeps them, except that changes to its content are marked, an unknown origin may be dropped,
        and the plan decides about the claim.
        """
        if not stored:
            return {name: row.get(name) for name in ORIGIN_COLUMNS} | {"edited": row.get("edited", False)}
        origin = stored["origin"]
        if origin == UNKNOWN_ORIGIN and self.adopts_own_articles and "origin" not in row:
            origin = None
        is_edited = stored["edited"] or not has_same_content(row, stored)
        claim = {"claim": planned.publication.claim, "claimed_at": stored["claimed_at"]}
        return {"origin": origin, "edited": is_edited and origin is not None, **claim}

    def _custom_markup(self, row: ArticleRow, stored: ArticleRow | None) -> str | None:
        """Return the given structured data, or None if it equals the generated one, which follows later changes.

        Markup that was generated with the article's own `updatedAt`, or with the stored one, is not custom. For
        example, somebody exports an article with --all-fields, changes its `updatedAt`, and imports it again.
        """
        given: str | None = row.get("schema_markup")
        times = {row.get("updated_at"), stored["updated_at"] if stored else None} - {None}
        possible_rows = [row | {"updated_at": time} for time in times] if given else []
        is_generated = any(custom_schema_markup(possible, self.publisher) is None for possible in possible_rows)
        return None if is_generated else given

    def _updated_at(self, planned: PlannedArticle, row: ArticleRow, stored: ArticleRow | None) -> datetime:
        """Return when the article was last changed."""
        given: datetime | None = row.get("updated_at")
        if not stored:
            return given or self._publication_or_now(row["published_at"])
        if given and planned.entry.source:  # so that an improved converter does not date the entire archive today
            return given
        before: datetime = stored["updated_at"]
        if planned.is_adopted:  # likewise
            return before
        if given and given > before:
            return given
        if not has_same_content(row, stored):
            return self.now
        return given if given and before > self.now else before  # corrects a time in the future

    def _publication_or_now(self, published_at: datetime | None) -> datetime:
        """Return the publication time if it is in the past, otherwise now."""
        return published_at if published_at and published_at < self.now else self.now


def _source_columns(planned: PlannedArticle) -> ArticleRow:
    """Return the origin columns of an article from another system."""
    publication = planned.publication
    claim = {"claim": publication.claim, "claimed_at": publication.claimed_at}
    return {"origin": planned.entry.origin, "edited": planned.keeps_content, **claim}
