"""Build complete article rows from what an import gives and what is stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from content.derived import fill_derived_fields
from content.search import search_columns
from content.structured_data import custom_schema_markup
from schemas import ArticleSchema

# an article's values by column
Row = dict[str, Any]

# kept unless the import gives them
PRESERVED_COLUMNS = "id", "status", "created_at", "published_at", "views"
# a change in any of these moves `updated_at`
CONTENT_COLUMNS = set(ArticleSchema().fields) - set(PRESERVED_COLUMNS)


def has_same_content(row: Row, stored: Row) -> bool:
    """Return whether readers see the same in both rows."""
    return all(row[name] == stored[name] for name in CONTENT_COLUMNS)


@dataclass
class RowBuilder:
    """Builder of the rows of one import for one customer."""

    customer_id: int
    publisher: str  # the customer's name
    now: datetime  # when the import began
    publish_dated: bool  # whether a date without a status means that the article is published

    def complete(self, given: Row, stored: Row | None) -> Row:
        """Return all columns of an article but its `pk`: preserved, then given, then derived values."""
        row = {name: stored[name] for name in PRESERVED_COLUMNS} if stored else self._new_article_defaults(given)
        row |= self._given(given, stored)
        if row["status"] == "published" and not row["published_at"]:
            row["published_at"] = self.now
        row = fill_derived_fields(row | search_columns(row["title"], row["slug"]))
        row["schema_markup"] = self._custom_markup(row, stored)
        row["updated_at"] = self._updated_at(row, stored)
        return row | {"customer_id": self.customer_id}

    def _new_article_defaults(self, given: Row) -> Row:
        """Return a new article's defaults for the columns that an import preserves in existing ones."""
        published_at = given.get("published_at")
        return {
            "id": str(uuid4()),
            "status": "published" if published_at else "draft",
            "created_at": self._publication_or_now(published_at),
            "published_at": published_at,
            "views": 0,
        }

    def _given(self, given: Row, stored: Row | None) -> Row:
        """Return the columns that the import gives. A stored article keeps its id."""
        row = given | ({"id": stored["id"]} if stored else {})
        if self.publish_dated and "published_at" in given:
            row.setdefault("status", "published")
        return row

    def _custom_markup(self, row: Row, stored: Row | None) -> str | None:
        """Return the given structured data, or None if it equals the generated one, which follows later changes.

        An exported article may carry markup that was generated from its own `updatedAt` or from the stored one.
        """
        markup: str | None = row.get("schema_markup")
        if markup is None:
            return None
        times = filter(None, (row.get("updated_at"), stored and stored["updated_at"]))
        generated = (custom_schema_markup(row | {"updated_at": time}, self.publisher) is None for time in times)
        return None if any(generated) else markup

    def _updated_at(self, row: Row, stored: Row | None) -> datetime:
        """Return when the article was last changed.

        If the content changed, a given time that is not later than the stored one is ignored, as left over from an
        export. If the content did not change, an earlier time is used only to correct a stored one in the future.
        """
        given: datetime | None = row.get("updated_at")
        if not stored:
            return given or self._publication_or_now(row["published_at"])
        before: datetime = stored["updated_at"]
        if given and given > before:
            return given
        if not has_same_content(row, stored):
            return self.now
        return given if given and before > self.now else before

    def _publication_or_now(self, published_at: datetime | None) -> datetime:
        """Return the publication time if it is in the past, otherwise the time of the import."""
        return published_at if published_at and published_at < self.now else self.now
