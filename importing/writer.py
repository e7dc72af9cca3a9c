"""Writing articles: those that are new or differ from what the database has."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import uuid4

from marshmallow import ValidationError
from sqlalchemy import insert, select, update

from content.derived import fill_derived_fields
from content.search import search_columns
from content.structured_data import canonical_row, custom_schema_markup
from fields import truncate_to_milliseconds
from importing.records import MirroredArticle, Records, SourceArticle
from importing.report import ImportReport, explain, show, warnings_about
from models import Article, Customer, db, publication_state
from schemas import ArticleImportSchema, ArticleSchema
from storage.queries import BATCH_SIZE, PUBLISHED

MAX_CHANGES_SHOWN = 20  # A dry run names as many articles.
FIELD_NAMES = {name: field.data_key or name for name, field in ArticleImportSchema().fields.items()}
# An article keeps these unless an import gives them.
PRESERVED_COLUMNS = "id", "status", "created_at", "published_at", "views"
# A change of these moves `updated_at`.
CONTENT_COLUMNS = set(ArticleSchema().fields) - set(PRESERVED_COLUMNS)

# An article by `Article` column.
Row = dict[str, Any]
# The place of an article, the record, and the columns that it gives.
Incoming = tuple[str, Any, Row]


def save_articles(
    customer: Customer, records: Records, report: ImportReport, *, unpublish_missing: bool = False
) -> Counter[str]:
    """Write the articles of an import's records in the session's transaction, which the caller begins and ends.

    They are held in memory a batch at a time. With `unpublish_missing`, they say what is published: the customer's
    other published articles become drafts, and a draft with a date and without a status is published again.

    Returns how many are "new", "changed", "unchanged" and "unpublished", and how many of the new ones are "published",
    "scheduled" and "draft". Raises ImportFailedError if there are mistakes, after which nothing must be committed.
    """
    writer = ArticleWriter(customer, report, publish_dated=unpublish_missing)
    articles = _load_articles(records, report)
    while batch := list(islice(articles, BATCH_SIZE)):
        writer.write(batch)
    writer.set_pending_slugs()
    if unpublish_missing:
        writer.unpublish_missing()
    report.raise_if_mistakes()
    return writer.counts


def _load_articles(records: Records, report: ImportReport) -> Iterator[Incoming]:
    """Yield the valid ones of some records. The mistakes of the others go to the report."""
    schema = ArticleImportSchema()
    for where, record in records:
        slug = record.get("slug") if isinstance(record, dict) else None
        where += f", slug {show.repr(slug)}" if slug and isinstance(slug, str) else ""
        try:
            yield where, record, schema.load(record)
        except ValidationError as error:
            for field, reason, value in explain(record, error.messages_dict):
                report.add(where, reason, field, value)


class ArticleWriter:
    """One import of articles of one customer."""

    def __init__(self, customer: Customer, report: ImportReport, *, publish_dated: bool) -> None:
        self.customer_id, self.publisher = customer.id, customer.name
        self.report, self.publish_dated = report, publish_dated
        self.now = truncate_to_milliseconds(datetime.now(UTC))
        self.counts: Counter[str] = Counter()
        # The places of the articles so far, by id and by slug.
        self.places: dict[str, dict[str, str]] = {"id": {}, "slug": {}}
        # The place of an article, its id, and its slug, which another article still has.
        self.pending_slugs: list[tuple[str, str, str]] = []

    def write(self, batch: list[Incoming]) -> None:
        """Write the new and the changed articles of a batch."""
        by_id, by_slug = self._load_existing([article for _, _, article in batch])
        new, changed = [], []
        for where, record, article in batch:
            holder = by_slug.get(article["slug"])
            stored = by_id.get(article.get("id", ""))
            # In JSON, whose records are no SourceArticles, another id is another article.
            if not stored and (isinstance(record, SourceArticle) or "id" not in article):
                stored = holder if holder and holder["id"] not in self.places["id"] else None
            row = self._complete(article, stored, is_mirrored=isinstance(record, MirroredArticle))
            if self._appears_twice(where, row):
                continue
            if holder and holder["id"] != row["id"]:
                self.pending_slugs.append((where, row["id"], row["slug"]))
                row["slug"] = f" {row['id']}"  # It is unique, since no slug has a space.
            if not stored:
                new.append(row)
            elif any(stored[name] != value for name, value in row.items()):
                changed.append({"pk": stored["pk"], **row})
            else:
                self.counts["unchanged"] += 1
                continue
            self._report(record, article, row, stored)
        self._write_rows(new, changed)

    def _write_rows(self, new: list[Row], changed: list[Row]) -> None:
        """Write the rows of new and changed articles, and count them."""
        if new:
            db.session.execute(insert(Article), new)
        if changed:
            db.session.execute(update(Article), changed)
        self.counts.update(new=len(new), changed=len(changed))
        self.counts.update(publication_state(row["status"], row["published_at"], self.now) for row in new)

    def _report(self, record: Any, article: Row, row: Row, stored: Row | None) -> None:
        """Record what the import's report says of a new or a changed article."""
        losses = record.notes if isinstance(record, SourceArticle) else []
        for note in (*losses, *warnings_about(article)):
            self.report.note(note, article["slug"])
        if len(self.report.changes) < MAX_CHANGES_SHOWN:
            changes = ["new"]
            if stored:
                names = [name for column, name in FIELD_NAMES.items() if stored[column] != row[column]]
                content = [name for name in names if name != "updatedAt"]  # It follows them.
                changes = content or names or ["search"]
            self.report.changes.append((article["slug"], changes))

    def _load_existing(self, articles: list[Row]) -> tuple[dict[str, Row], dict[str, Row]]:
        """Return the rows that have any of the articles' ids and slugs, by id and by slug."""
        pks = select(Article.pk).where(Article.customer_id == self.customer_id)
        same_ids = pks.where(Article.id.in_([article["id"] for article in articles if "id" in article]))
        same_slugs = pks.where(Article.slug.in_([article["slug"] for article in articles]))
        # A union: with "or" SQLite would read each of the customer's articles.
        same = select(Article.__table__).where(Article.pk.in_(same_ids.union(same_slugs)))
        rows = [canonical_row(row, self.publisher) for row in db.session.execute(same).mappings()]
        return {row["id"]: row for row in rows}, {row["slug"]: row for row in rows}

    def _appears_twice(self, where: str, row: Row) -> bool:
        """Return whether the import has had an article with this id or slug, which is then a mistake."""
        for field, places in self.places.items():
            if row[field] in places:
                reason = f"The article with the {field} {row[field]!r} appears twice in this import"
                self.report.add(where, f"{reason}, also in {places[row[field]]}. Remove one, or change its {field}.")
                return True
            places[row[field]] = where
        return False

    def _complete(self, article: Row, stored: Row | None, *, is_mirrored: bool) -> Row:
        """Return all columns of an article but its `pk`."""
        row = {name: stored[name] for name in PRESERVED_COLUMNS} if stored else self._new_article_defaults(article)
        if self.publish_dated and "published_at" in article:
            row["status"] = "published"
        row |= article | ({"id": stored["id"]} if stored else {})
        row = fill_derived_fields(row | search_columns(row["title"], row["slug"])) | {"customer_id": self.customer_id}
        if row["status"] == "published" and not row["published_at"]:
            row["published_at"] = self.now
        row.setdefault("schema_markup", None)
        # Markup that equals what is generated with either time is not stored, so that it follows later changes.
        for updated_at in filter(None, (article.get("updated_at"), stored and stored["updated_at"])):
            row["schema_markup"] = custom_schema_markup(row | {"updated_at": updated_at}, self.publisher)
        row["updated_at"] = self._updated_at(row, stored, is_mirrored=is_mirrored)
        return row

    def _updated_at(self, row: Row, stored: Row | None, *, is_mirrored: bool) -> datetime:
        """Return when the article was last changed.

        A given time that is not later than the stored one is left over from an export. From another instance comes only
        the day of the last change, which a mirror must keep.
        """
        imported: datetime | None = row.get("updated_at")
        if not stored:
            return imported or self.now
        before: datetime = stored["updated_at"]
        if imported and is_mirrored:
            return before if before.date() == imported.date() else imported
        if imported and imported > before:
            return imported
        return before if all(row[name] == stored[name] for name in CONTENT_COLUMNS) else self.now

    def _new_article_defaults(self, article: Row) -> Row:
        published_at = article.get("published_at")
        return {
            "id": str(uuid4()),
            "status": "published" if published_at else "draft",
            "created_at": published_at if published_at and published_at < self.now else self.now,
            "published_at": published_at,
            "views": 0,
        }

    def set_pending_slugs(self) -> None:
        """Set the slugs that other articles of the import have given up."""
        is_of_customer = Article.customer_id == self.customer_id
        for where, id, slug in self.pending_slugs:
            holder = db.session.scalar(select(Article.id).where(is_of_customer, Article.slug == slug))
            if holder:
                reason = f"The article with the id {holder!r} already has this slug."
                hint = "Choose another slug. To replace that article, use its id or none."
                self.report.add(where, f"{reason} {hint}", "slug")
            else:
                statement = update(Article).where(is_of_customer, Article.id == id)
                db.session.execute(statement.values(slug=slug))

    def unpublish_missing(self) -> None:
        """Turn the customer's published articles that this import has not brought into drafts.

        An import without articles is a mistake: the sources may be empty because of a fault.
        """
        if not self.places["id"] and not self.report.mistakes:
            reason = "They contain no articles, so the import would unpublish everything. Check them."
            self.report.add("the sources", reason)
        published = select(Article.pk, Article.id, Article.slug).where(*PUBLISHED).order_by(Article.id)
        parameters = {"customer_id": self.customer_id, "now": self.now}
        missing = [row for row in db.session.execute(published, parameters) if row.id not in self.places["id"]]
        if missing:
            db.session.execute(update(Article), [{"pk": row.pk, "status": "draft"} for row in missing])
        room = MAX_CHANGES_SHOWN - len(self.report.changes)
        self.report.changes += [(row.slug, ["status"]) for row in missing[:room]]
        self.counts["unpublished"] = len(missing)
