"""Build complete article rows from what an import gives and what is stored."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

from content.structured_data import custom_schema_markup
from converters.records import Publication
from schemas import ArticleSchema
from transfer.publication import decide_date, decide_own_status, decide_status

# an article's values by column
ArticleRow = dict[str, Any]

# kept unless the import gives them
PRESERVED_COLUMNS = "id", "status", "created_at", "published_at", "views"
# a change in any of these moves `updated_at`
CONTENT_COLUMNS = set(ArticleSchema().fields) - set(PRESERVED_COLUMNS)


def has_same_content(row: ArticleRow, stored: ArticleRow) -> bool:
    """Return whether readers see the same in both rows."""
    return all(row[name] == stored[name] for name in CONTENT_COLUMNS)


@dataclass
class RowBuilder:
    """Builder of the rows of one import for one customer."""

    customer_id: int
    customer_name: str
    now: datetime  # when the articles are written
    publish: bool  # --publish
    unpublish_missing: bool  # --unpublish-missing

    def complete(self, given: ArticleRow, publication: Publication | None, stored: ArticleRow | None) -> ArticleRow:
        """Return all columns of an article except its `pk`.

        `given` has the columns that the import gives or that are derived from them. `publication` is what another
        system says, or None for a format of this service.
        """
        if stored:
            row = {name: stored[name] for name in PRESERVED_COLUMNS} | given | {"id": stored["id"]}
        else:
            row = {"id": str(uuid4()), "views": 0} | given
        row |= self._decide_publication(given, publication, stored)
        row.setdefault("created_at", self._publication_or_now(row["published_at"]))
        row["schema_markup"] = self._custom_markup(row, stored)
        row["updated_at"] = self._updated_at(row, stored)
        return row | {"customer_id": self.customer_id}

    def _decide_publication(
        self, given: ArticleRow, publication: Publication | None, stored: ArticleRow | None
    ) -> ArticleRow:
        """Return an article's status and time of publication. A published one without a time gets `now`."""
        given_date = given.get("published_at")
        stored_status = stored["status"] if stored else None
        stored_date = stored["published_at"] if stored else None
        if publication:
            status = decide_status(publication, stored_status, publish=self.publish)
            date = decide_date(given_date, stored_date, self.now)
        else:
            status = decide_own_status(
                given.get("status"),
                stored_status,
                gives_date=bool(given_date),
                unpublish_missing=self.unpublish_missing,
            )
            date = given_date or stored_date
        return {"status": status, "published_at": self.now if status == "published" and not date else date}

    def _custom_markup(self, row: ArticleRow, stored: ArticleRow | None) -> str | None:
        """Return the given structured data, or None if it equals the generated one, which follows later changes.

        Markup that was generated with the article's own `updatedAt`, or with the stored one, is not custom. For
        example, somebody exports an article with --all-fields, changes its `updatedAt`, and imports it again.
        """
        if row.get("schema_markup") is None:
            return None
        times = [row.get("updated_at"), stored["updated_at"] if stored else None]
        for time in filter(None, times):
            if custom_schema_markup(row | {"updated_at": time}, self.customer_name) is None:
                return None
        markup: str = row["schema_markup"]
        return markup

    def _updated_at(self, row: ArticleRow, stored: ArticleRow | None) -> datetime:
        """Return when the article was last changed.

        | Article           | Given time                        | Result                                   |
        |-------------------|-----------------------------------|------------------------------------------|
        | new               | any                               | the given time                           |
        | new               | none                              | its publication if that is in the past,  |
        |                   |                                   | otherwise now                            |
        | stored            | later than the stored one         | the given time                           |
        | content changed   | none, or not later                | now                                      |
        | content unchanged | earlier                           | the given time if the stored one is in   |
        |                   |                                   | the future, otherwise the stored one     |
        | content unchanged | none                              | the stored one                           |
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
        """Return the publication time if it is in the past, otherwise now."""
        return published_at if published_at and published_at < self.now else self.now
