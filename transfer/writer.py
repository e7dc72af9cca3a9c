"""Writing articles: those that are new or differ from what the database has."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any, NamedTuple
from uuid import uuid4

from marshmallow import ValidationError
from sqlalchemy import insert, select, update

from content.derived import fill_derived_fields
from content.search import search_columns
from content.structured_data import canonical_row, custom_schema_markup
from converters.records import Mistake, SourceArticle
from fields import truncate_to_milliseconds
from models import Article, Customer, db, publication_state
from schemas import ArticleImportSchema, ArticleSchema
from storage.queries import BATCH_SIZE, PUBLISHED
from transfer.report import ImportReport, explain, show

MAX_CHANGES_SHOWN = 20  # articles that a dry run names
FIELD_NAMES = {name: field.data_key or name for name, field in ArticleImportSchema().fields.items()}
# An article keeps these unless an import gives them.
PRESERVED_COLUMNS = "id", "status", "created_at", "published_at", "views"
# A change of these moves `updated_at`.
CONTENT_COLUMNS = set(ArticleSchema().fields) - set(PRESERVED_COLUMNS)

# An article by `Article` column.
Row = dict[str, Any]


class Incoming(NamedTuple):
    """A valid article of a source."""

    where: str  # with its slug
    article: SourceArticle
    given: Row  # the columns that it gives


def save_articles(
    customer: Customer, articles: Iterable[SourceArticle], report: ImportReport, *, unpublish_missing: bool = False
) -> Counter[str]:
    """Write an import's articles in the session's transaction, which the caller begins and ends.

    They are held in memory a batch at a time. With `unpublish_missing`, the sources decide what is published: the
    customer's other published articles become drafts, and a draft with a date and without a status is published again.

    Returns how many are "new", "changed", "unchanged" and "unpublished", and how many of the new ones are "published",
    "scheduled" and "draft". Raises ImportFailedError if there are mistakes, after which nothing must be committed.
    """
    writer = ArticleWriter(customer, report, publish_dated=unpublish_missing)
    valid = _load_articles(articles, report)
    while batch := list(islice(valid, BATCH_SIZE)):
        writer.write(batch)
    writer.set_pending_slugs()
    if unpublish_missing:
        writer.unpublish_missing()
    report.raise_if_mistakes()
    return writer.counts


def _load_articles(articles: Iterable[SourceArticle], report: ImportReport) -> Iterator[Incoming]:
    """Yield the valid articles. The mistakes in the others go to the report."""
    schema = ArticleImportSchema()
    for article in articles:
        given: Row = {}
        messages: dict[str, list[str]] = {}
        try:
            given = schema.load(article.fields)
        except ValidationError as error:
            messages = error.messages_dict
        if messages or article.mistakes:
            for mistake in explain(article, messages):
                report.add(mistake)
        else:
            yield Incoming(f"{article.where}, slug {show.repr(given['slug'])}", article, given)


class ArticleWriter:
    """One import of articles of one customer."""

    def __init__(self, customer: Customer, report: ImportReport, *, publish_dated: bool) -> None:
        self.customer_id, self.publisher = customer.id, customer.name
        self.report, self.publish_dated = report, publish_dated
        self.now = truncate_to_milliseconds(datetime.now(UTC))
        self.counts: Counter[str] = Counter()
        # Where the articles so far came from, by id and by slug.
        self.seen: dict[str, dict[str, str]] = {"id": {}, "slug": {}}
        # Articles whose slug another article still has.
        self.pending: list[tuple[str, Row]] = []

    def write(self, batch: list[Incoming]) -> None:
        """Write the new and the changed articles of a batch."""
        by_id, by_slug = self._load_existing([incoming.given for incoming in batch])
        new, changed = [], []
        for where, article, given in batch:
            holder = by_slug.get(given["slug"])
            stored = self._find_stored(article, by_id.get(given.get("id", "")), holder, has_id="id" in given)
            row = self._complete(given, stored)
            if self._appears_twice(where, row):
                continue
            if stored and all(stored[name] == value for name, value in row.items()):
                self.counts["unchanged"] += 1
                continue
            if not stored:
                self.counts[publication_state(row["status"], row["published_at"], self.now)] += 1
            self._report(article, row, stored)
            if holder and holder["id"] != row["id"]:
                row = self._park_slug(where, row)
            if stored:
                changed.append({"pk": stored["pk"], **row})
            else:
                new.append(row)
        self._write_rows(new, changed)

    def _write_rows(self, new: list[Row], changed: list[Row]) -> None:
        """Write the rows of new and changed articles, and count them."""
        if new:
            db.session.execute(insert(Article), new)
        if changed:
            db.session.execute(update(Article), changed)
        self.counts.update(new=len(new), changed=len(changed))

    def _report(self, article: SourceArticle, row: Row, stored: Row | None) -> None:
        """Record what the import's report says of a new or a changed article."""
        self.report.describe(article, row)
        if len(self.report.changes) < MAX_CHANGES_SHOWN:
            changes = ["new"]
            if stored:
                names = [name for column, name in FIELD_NAMES.items() if stored[column] != row[column]]
                content = [name for name in names if name != "updatedAt"]  # it follows them
                changes = content or names or ["search"]
            self.report.changes.append((row["slug"], changes))

    def _load_existing(self, articles: list[Row]) -> tuple[dict[str, Row], dict[str, Row]]:
        """Return the rows that have any of the articles' ids and slugs, by id and by slug."""
        pks = select(Article.pk).where(Article.customer_id == self.customer_id)
        same_ids = pks.where(Article.id.in_([article["id"] for article in articles if "id" in article]))
        same_slugs = pks.where(Article.slug.in_([article["slug"] for article in articles]))
        # A union: with "or" SQLite would read each of the customer's articles.
        same = select(Article.__table__).where(Article.pk.in_(same_ids.union(same_slugs)))
        rows = [canonical_row(row, self.publisher) for row in db.session.execute(same).mappings()]
        return {row["id"]: row for row in rows}, {row["slug"]: row for row in rows}

    def _find_stored(
        self, article: SourceArticle, same_id: Row | None, same_slug: Row | None, *, has_id: bool
    ) -> Row | None:
        """Return the stored row of an article: the one with its id or, where that identifies it, with its slug."""
        if same_id:
            return same_id
        # Native JSON carries our own ids, so an unknown id means a new article.
        if same_slug and (article.matches_slug or not has_id) and same_slug["id"] not in self.seen["id"]:
            return same_slug
        return None

    def _appears_twice(self, where: str, row: Row) -> bool:
        """Return whether the import has had an article with this id or slug, which is then a mistake."""
        for field, seen in self.seen.items():
            if row[field] in seen:
                reason = f"The article with the {field} {row[field]!r} appears twice in this import"
                hint = f"Remove one, or change its {field}."
                self.report.add(Mistake(where, f"{reason}, also in {seen[row[field]]}. {hint}"))
                return True
            seen[row[field]] = where
        return False

    def _complete(self, given: Row, stored: Row | None) -> Row:
        """Return all columns of an article but its `pk`: what is preserved, then given, then derived."""
        row = self._preserved(stored) if stored else self._new_article_defaults(given)
        row |= self._given(given, stored)
        if row["status"] == "published" and not row["published_at"]:
            row["published_at"] = self.now
        row = fill_derived_fields(row | search_columns(row["title"], row["slug"]))
        row["schema_markup"] = self._custom_markup(row, stored)
        row["updated_at"] = self._updated_at(row, stored)
        return row | {"customer_id": self.customer_id}

    def _preserved(self, stored: Row) -> Row:
        """Return the columns of a stored article that an import need not give."""
        return {name: stored[name] for name in PRESERVED_COLUMNS}

    def _new_article_defaults(self, given: Row) -> Row:
        """Return the columns of a new article that an import need not give."""
        published_at = given.get("published_at")
        return {
            "id": str(uuid4()),
            "status": "published" if published_at else "draft",
            "created_at": published_at if published_at and published_at < self.now else self.now,
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
        """Return the structured data that was given, or None if it is the generated one, which follows later changes.

        An export holds what was generated with the `updatedAt` that it has itself, or that is still stored.
        """
        markup: str | None = row.get("schema_markup")
        if markup is None:
            return None
        times = filter(None, (row.get("updated_at"), stored and stored["updated_at"]))
        generated = (custom_schema_markup(row | {"updated_at": time}, self.publisher) is None for time in times)
        return None if any(generated) else markup

    def _updated_at(self, row: Row, stored: Row | None) -> datetime:
        """Return when the article was last changed.

        A given time that is not later than the stored one is left over from an export.
        """
        given: datetime | None = row.get("updated_at")
        if not stored:
            return given or self.now
        before: datetime = stored["updated_at"]
        if given and given > before:
            return given
        return before if all(row[name] == stored[name] for name in CONTENT_COLUMNS) else self.now

    def _park_slug(self, where: str, row: Row) -> Row:
        """Return the row with a unique placeholder for its slug, which another article has until it is written too.

        `set_pending_slugs` sets the real one at the end of the import.
        """
        self.pending.append((where, row))
        return row | {"slug": f" {row['id']}"}  # no slug has a space

    def set_pending_slugs(self) -> None:
        """Set the slugs that other articles of the import have given up."""
        is_of_customer = Article.customer_id == self.customer_id
        for where, row in self.pending:
            holder = db.session.scalar(select(Article.id).where(is_of_customer, Article.slug == row["slug"]))
            if holder:
                reason = f"The article with the id {holder!r} already has this slug."
                hint = "Choose another slug. To replace that article, use its id or none."
                self.report.add(Mistake(where, f"{reason} {hint}", "slug"))
            else:
                statement = update(Article).where(is_of_customer, Article.id == row["id"])
                db.session.execute(statement.values(slug=row["slug"]))

    def unpublish_missing(self) -> None:
        """Turn the customer's published articles that this import has not brought into drafts.

        An import without articles is a mistake: the sources may be empty because of a fault.
        """
        if not self.seen["id"] and not self.report.mistakes:
            reason = "They contain no articles, so the import would unpublish everything. Check them."
            self.report.add(Mistake("the sources", reason))
        published = select(Article.pk, Article.id, Article.slug).where(*PUBLISHED).order_by(Article.id)
        parameters = {"customer_id": self.customer_id, "now": self.now}
        missing = [row for row in db.session.execute(published, parameters) if row.id not in self.seen["id"]]
        if missing:
            db.session.execute(update(Article), [{"pk": row.pk, "status": "draft"} for row in missing])
        room = MAX_CHANGES_SHOWN - len(self.report.changes)
        self.report.changes += [(row.slug, ["status"]) for row in missing[:room]]
        self.counts["unpublished"] = len(missing)
