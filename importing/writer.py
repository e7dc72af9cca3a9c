"""Writing articles: those that are new or differ from what the database has."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import uuid4

from marshmallow import ValidationError
from sqlalchemy import insert, select, update

from field_types import truncate_to_milliseconds
from importing.derived import fill_derived_fields
from importing.errors import ImportErrors, LocatedRecord, SourceLocation
from importing.hints import explain, warnings_about
from importing.instance import is_url
from models import UPDATE_BY_PK, Customer, article_table, db, publication_state
from schemas import ArticleImportSchema, ArticleSchema
from storage.search import search_columns
from storage.selects import BATCH_SIZE, select_published
from storage.structured_data import given_schema_markup, stored_article

MAX_CHANGES_SHOWN = 20  # articles of a dry run
FIELD_NAMES = {name: field.data_key or name for name, field in ArticleImportSchema().fields.items()}
PRESERVED_COLUMNS = "id", "status", "created_at", "published_at", "views"  # unless an import gives them
# A change of these moves `updated_at`.
CONTENT_COLUMNS = set(ArticleSchema().columns) - set(PRESERVED_COLUMNS)

Row = dict[str, Any]  # an article by `Article` column


def save_articles(
    customer: Customer, records: Iterable[LocatedRecord], errors: ImportErrors, *, unpublish_missing: bool = False
) -> Counter[str]:
    """Write the articles of an import's records in the session's transaction, which the caller begins and ends.

    They are held in memory a batch at a time. With `unpublish_missing`, they say what is published: the customer's
    other published articles become drafts, and a draft with a date and without a status is published again.

    Returns how many are "new", "changed", "unchanged" and "unpublished", and how many of the new ones are "published",
    "scheduled" and "draft". Raises ImportFailedError if there are errors, after which nothing must be committed.
    """
    writer = ArticleWriter(customer, errors, publish_dated=unpublish_missing)
    articles = _load_articles(records, errors)
    while batch := list(islice(articles, BATCH_SIZE)):
        writer.write(batch)
    writer.resolve_pending_slugs()
    if unpublish_missing:
        writer.unpublish_missing()
    errors.raise_if_any()
    return writer.counts


def _load_articles(records: Iterable[LocatedRecord], errors: ImportErrors) -> Iterator[tuple[SourceLocation, Row]]:
    """Yield the valid ones of some records, by `Article` column. The others go to `errors`."""
    schema = ArticleImportSchema()
    for location, record in records:
        try:
            yield location, schema.load(record)
        except ValidationError as error:
            messages = error.messages_dict
            lines = (location.lines[name] for name in messages if name in location.lines)
            reason = "" if errors.is_full else explain(record, messages)
            errors.add(location.at_line(min(lines, default=None)), reason)
            if isinstance(record, dict) and record.get("id"):
                errors.rejected_ids.add(str(record["id"]))


class ArticleWriter:
    """One import of articles of one customer."""

    def __init__(self, customer: Customer, errors: ImportErrors, *, publish_dated: bool) -> None:
        self.customer_id, self.publisher = customer.id, customer.name
        self.errors, self.publish_dated = errors, publish_dated
        self.now = truncate_to_milliseconds(datetime.now(UTC))
        self.counts: Counter[str] = Counter()
        self.ids: set[str] = set()
        self.slugs: set[str] = set()
        self.released_slugs: dict[str, str] = {}  # that articles of this import had before, with the articles' ids
        self.pending_slugs: list[tuple[SourceLocation, str, str]] = []  # that another article has, by the new one's id

    def write(self, batch: list[tuple[SourceLocation, Row]]) -> None:
        """Write the new and the changed articles of a batch."""
        by_id, by_slug = self._load_existing([article for _, article in batch])
        self.errors.imported_ids.update(article["id"] for _, article in batch if "id" in article)
        new, changed = [], []
        for location, article in batch:
            stored, holder = by_id.get(article.get("id", "")), by_slug.get(article["slug"])
            if not stored and ("id" not in article or location.matches_slug):
                is_other = "id" in article and holder and holder["id"] in self.errors.imported_ids
                stored = None if is_other else holder
            row = self._complete(article, stored, location)
            if self._is_duplicate(location, row):
                continue
            if holder and holder["id"] != row["id"]:
                self.pending_slugs.append((location, row["id"], row["slug"]))
                row["slug"] = f" {row['id']}"  # unique: no slug has a space
            if not stored:
                new.append(row)
            elif any(stored[name] != value for name, value in row.items()):
                changed.append({"article_pk": stored["pk"], **row})
                self.released_slugs[stored["slug"]] = stored["id"]
            else:
                self.counts["unchanged"] += 1
                continue
            self._report(location, article, row, stored)
        self._write_rows(new, changed)

    def _write_rows(self, new: list[Row], changed: list[Row]) -> None:
        """Write the rows of new and changed articles, and count them."""
        if new:
            db.session.execute(insert(article_table), new)
        if changed:
            db.session.execute(UPDATE_BY_PK, changed)
        self.counts.update(new=len(new), changed=len(changed))
        self.counts.update(publication_state(row["status"], row["published_at"], self.now) for row in new)

    def _report(self, location: SourceLocation, article: Row, row: Row, stored: Row | None) -> None:
        """Record what the import's report says of a new or a changed article."""
        for note in (*location.notes, *warnings_about(article)):
            self.errors.note(note, article["slug"])
        if len(self.errors.changes) < MAX_CHANGES_SHOWN:
            changes = ["new"]
            if stored:
                names = [name for column, name in FIELD_NAMES.items() if stored[column] != row[column]]
                content = [name for name in names if name != "updatedAt"]  # which follows them
                changes = content or names or ["search"]
            self.errors.changes.append((article["slug"], changes))

    def _load_existing(self, articles: list[Row]) -> tuple[dict[str, Row], dict[str, Row]]:
        """Return the rows that have any of the articles' ids and slugs, by id and by slug."""
        columns = article_table.c
        own = select(columns.pk).where(columns.customer_id == self.customer_id)
        same_ids = own.where(columns.id.in_([article["id"] for article in articles if "id" in article]))
        same_slugs = own.where(columns.slug.in_([article["slug"] for article in articles]))
        # A union: with "or" SQLite would read each of the customer's articles.
        same = select(article_table).where(columns.pk.in_(same_ids.union(same_slugs)))
        rows = [stored_article(dict(row), self.publisher) for row in db.session.execute(same).mappings()]
        return {row["id"]: row for row in rows}, {row["slug"]: row for row in rows}

    def _is_duplicate(self, location: SourceLocation, row: Row) -> bool:
        """Return whether the import has had an article with this id or slug, which is then an error."""
        for field, seen in (("id", self.ids), ("slug", self.slugs)):
            if row[field] in seen:
                self.errors.add(location, f"The article with the {field} {row[field]!r} appears twice in this import.")
                return True
            seen.add(row[field])
        return False

    def _complete(self, article: Row, stored: Row | None, location: SourceLocation) -> Row:
        """Return all columns of an article but its `pk`."""
        row = {name: stored[name] for name in PRESERVED_COLUMNS} if stored else self._new_article_defaults(article)
        if self.publish_dated and "published_at" in article:
            row["status"] = "published"
        row |= article | ({"id": stored["id"]} if stored else {})
        row = fill_derived_fields(row | search_columns(row["title"], row["slug"])) | {"customer_id": self.customer_id}
        if row["status"] == "published" and not row["published_at"]:
            row["published_at"] = self.now
        row.setdefault("schema_markup", None)
        for updated_at in filter(None, (article.get("updated_at"), stored and stored["updated_at"])):
            row["schema_markup"] = given_schema_markup(row | {"updated_at": updated_at}, self.publisher)
        row["updated_at"] = self._updated_at(row, stored, from_instance=is_url(location.source))
        return row

    def _updated_at(self, row: Row, stored: Row | None, *, from_instance: bool) -> datetime:
        """Return when the article was last changed.

        A given time that is not later than the stored one is left over from an export. From another instance comes only
        the day of the last change, which a mirror must keep.
        """
        imported: datetime | None = row.get("updated_at")
        if not stored:
            return imported or self.now
        before: datetime = stored["updated_at"]
        if imported and from_instance:
            return before if before.date() == imported.date() else imported
        if imported and imported > before:
            return imported
        return before if all(row[name] == stored[name] for name in CONTENT_COLUMNS) else self.now

    def _new_article_defaults(self, article: Row) -> Row:
        published_at = article.get("published_at")
        return {
            "id": self.released_slugs.get(article["slug"]) or str(uuid4()),
            "status": "published" if published_at else "draft",
            "created_at": published_at if published_at and published_at < self.now else self.now,
            "published_at": published_at,
            "views": 0,
        }

    def resolve_pending_slugs(self) -> None:
        """Set the slugs that other articles of the import have released."""
        own = article_table.c.customer_id == self.customer_id
        for location, id, slug in self.pending_slugs:
            holder = db.session.scalar(select(article_table.c.id).where(own, article_table.c.slug == slug))
            if holder in self.errors.rejected_ids:
                continue  # it might have released the slug
            if holder:
                reason = f"slug: The article with the id {holder!r} already has this slug."
                self.errors.add(location, f"{reason} Choose another slug. To replace that article, use its id or none.")
            else:
                db.session.execute(update(article_table).where(own, article_table.c.id == id).values(slug=slug))

    def unpublish_missing(self) -> None:
        """Turn the customer's published articles that this import has not brought into drafts.

        An import without articles is an error: the sources may be empty by mistake.
        """
        if not self.ids and not self.errors:
            reason = "They contain no articles, so the import would unpublish everything. Check them."
            self.errors.add(SourceLocation("the sources"), reason)
        parameters = {"customer_id": self.customer_id, "now": self.now}
        published = db.session.execute(select_published(("pk", "id", "slug")), parameters)
        missing = [row for row in published if row.id not in self.ids]
        if missing:
            db.session.execute(UPDATE_BY_PK.values(status="draft"), [{"article_pk": row.pk} for row in missing])
        room = MAX_CHANGES_SHOWN - len(self.errors.changes)
        self.errors.changes += [(row.slug, ["status"]) for row in missing[:room]]
        self.counts["unpublished"] = len(missing)
