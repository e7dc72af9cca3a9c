"""Build complete article rows from what an import gives and what is stored."""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

import orjson

from content.search import search_columns
from content.structured_data import Publisher, generate_schema_markup
from converters.source_articles import SourceArticle
from schemas import RESPONSE_COLUMNS
from transfer.checks import ArticleRow
from transfer.publication import Publication

# kept unless the import gives them
PRESERVED_COLUMNS = "id", "status", "created_at", "published_at", "views"
# what is yours; the values in formats of this service are stored for new articles only
FLAGS = "text_edited", "publication_edited"
# a change in any of these moves `updated_at`
CONTENT_COLUMNS = {*RESPONSE_COLUMNS} - {*PRESERVED_COLUMNS, "updated_at"}


@dataclass
class RowBuilder:
    """Builder of the rows of one import for one customer."""

    customer_id: int
    publisher: Publisher
    now: datetime  # when the articles are written
    takes_flags: bool  # the flags that an article gives apply to a stored one too

    def complete(
        self, article: SourceArticle, slug: str, publication: Publication, stored: ArticleRow | None
    ) -> ArticleRow:
        """Return all columns of an article except its `pk`. `slug` and `publication` are those after the import."""
        decided = publication._asdict()
        if stored and article.origin and stored["text_edited"]:
            views = article.row.get("views", stored["views"])
            return {**stored, **decided, "views": views, **self._origin(article, stored, stored)}
        row: ArticleRow = dict(article.row)
        if stored:
            kept = {name: stored[name] for name in (*PRESERVED_COLUMNS, "authors")}
            row = kept | row | {"id": stored["id"]}
        else:
            row = {"id": str(uuid4()), "views": 0, "authors": "[]", **row}
        row |= {**decided, "slug": slug, **search_columns(row["title"], slug)}
        row.setdefault("created_at", self._publication_or_now(row["published_at"]))
        if not stored:
            row.setdefault("updated_at", self._publication_or_now(row["published_at"]))
        row["schema_markup"] = self._custom_markup(row, stored)
        if stored:
            row["updated_at"] = self._updated_at(article, row, stored)
        row |= {**self._origin(article, row, stored), **self._flags(article, row, stored)}
        return row | {"customer_id": self.customer_id}

    def _origin(self, article: SourceArticle, row: ArticleRow, stored: ArticleRow | None) -> ArticleRow:
        """Return the columns that say where an article comes from."""
        if article.origin:
            return {"source": article.origin.source, "source_key": article.origin.key}
        known = stored or row
        return {"source": known.get("source"), "source_key": known.get("source_key")}

    def _flags(self, article: SourceArticle, row: ArticleRow, stored: ArticleRow | None) -> ArticleRow:
        """Return the columns that say what is yours.

        What an article in a format of this service without a source changes in one that has an origin is yours.
        """
        if article.origin:
            return {name: stored[name] if stored else False for name in FLAGS}
        if not stored:
            return {name: row.get(name, False) for name in FLAGS}
        has_origin = stored["source"] is not None
        new_text = any(row[name] != stored[name] for name in (*CONTENT_COLUMNS, "created_at", "updated_at"))
        new_publication = any(row[name] != stored[name] for name in ("status", "published_at"))
        flags = {
            "text_edited": stored["text_edited"] or (has_origin and new_text),
            "publication_edited": stored["publication_edited"] or (has_origin and new_publication),
        }
        if self.takes_flags:  # if they were edited themselves
            flags |= {name: row[name] for name in FLAGS if row.get(name, stored[name]) != stored[name]}
        return flags

    def _custom_markup(self, row: ArticleRow, stored: ArticleRow | None) -> str | None:
        """Return the given structured data, or None if it equals the generated one, which follows later changes.

        Markup that was generated with the article's own `updatedAt`, or with the stored one, is not custom. For
        example, somebody exports an article with --all-fields, changes its `updatedAt`, and imports it again.
        """
        given: str | None = row.get("schema_markup")
        if not given:
            return None
        times = [article["updated_at"] for article in (row, stored) if article and "updated_at" in article]
        generated = [generate_schema_markup({**row, "updated_at": time}, self.publisher) for time in times]
        return None if orjson.loads(given) in map(orjson.loads, generated) else given

    def _updated_at(self, article: SourceArticle, row: ArticleRow, stored: ArticleRow) -> datetime:
        """Return when a stored article was last changed."""
        given: datetime | None = row.get("updated_at")
        if given and article.origin:  # so that an improved converter does not date the entire archive today
            return given
        before: datetime = stored["updated_at"]
        if given and given > before:
            return given
        return before if all(row[name] == stored[name] for name in CONTENT_COLUMNS) else self.now

    def _publication_or_now(self, published_at: datetime | None) -> datetime:
        """Return the publication time if it is in the past, otherwise now."""
        return published_at if published_at and published_at < self.now else self.now
