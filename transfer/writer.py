"""Write the articles of an import that are new or differ from the stored ones."""

from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import bindparam, func, insert, literal, select, update

from content.structured_data import canonical_row
from converters.records import Identity, Mistake, Note, Publication
from fields import truncate_to_milliseconds
from models import Article, Customer, db, publication_state
from schemas import ArticleImportSchema
from transfer.plan import GENERATED_ID, WORDPRESS_ID, Decision, PlannedArticle, batches, plan_import
from transfer.redirects import Redirects
from transfer.report import ImportReport
from transfer.rows import ArticleRow, RowBuilder, has_same_content
from transfer.spool import Spool, SpooledArticle, SpoolEntry

FIELD_NAMES = {name: field.data_key or name for name, field in ArticleImportSchema().fields.items()}
REPLACED = Note("Replaced articles that may have come from another source")
NOW_DRAFTS = Note("Published until now, but drafts in the source")
NOW_SCHEDULED = Note("Published until now, but scheduled by a later date in the source")
EMPTIED = Note("Articles that lost their content, because the source has none")
REWRITTEN = Note("Replaced posts that were deleted and rewritten under the same slug")
NOW_HIDDEN = {"draft": [NOW_DRAFTS], "scheduled": [NOW_SCHEDULED]}  # by state
STILL_DRAFT = Note("Still drafts", advice="Publish them with flask articles publish.")
STILL_SCHEDULED = Note(
    "Still scheduled for a later time than the source's", advice="Change it with flask articles publish --at."
)


class ImportOptions(NamedTuple):
    """The options of an import that concern the stored articles."""

    dry_run: bool = False
    publish: bool = False
    skip_invalid: bool = False
    unpublish_missing: bool = False


class ImportResult(NamedTuple):
    """The result of an import or, in a dry run, the result that it would have."""

    counts: Counter[str]  # "new", "changed", "unchanged", "unpublished", and the states of new articles
    pending: int  # all of the customer's pending articles, after the import
    written: list[SpoolEntry]  # the new and the changed articles


def write_articles(
    customer: Customer,
    spool: Spool,
    report: ImportReport,
    options: ImportOptions,
    redirects: Redirects | None = None,
) -> ImportResult:
    """Write an import's articles in the session's transaction, which the caller begins and ends.

    A dry run only reads. With `unpublish_missing`, the customer's other published articles become drafts, and a draft
    that arrives in a format of this service with a date but no status is published again. With `skip_invalid`, valid
    articles are written even if others are invalid. The old URLs of all imported articles go to `redirects`.

    Raises ImportFailedError if there are mistakes; the caller must then roll back.
    """
    writer = _Writer(customer, spool, report, options)
    articles = plan_import(customer.id, spool, report, writer.has_same_content_as)
    if options.unpublish_missing and not spool.entries and not report.mistake_count:
        reason = "Contain no articles, so --unpublish-missing would unpublish everything. Check them."
        report.stop(Mistake("the sources", reason))
    can_skip = bool(articles) and not options.unpublish_missing
    report.raise_if_mistakes(can_skip=can_skip, skip_invalid=options.skip_invalid)
    if options.unpublish_missing:
        writer.unpublish_missing(articles)
    writer.park_slugs(articles)
    for batch in batches(articles):
        writer.write(batch, redirects)
    return ImportResult(writer.counts, writer.pending, writer.written)


class _Writer:
    """The writer of one import for one customer."""

    def __init__(self, customer: Customer, spool: Spool, report: ImportReport, options: ImportOptions) -> None:
        now = truncate_to_milliseconds(datetime.now(UTC))
        self.rows = RowBuilder(customer.id, customer.name, now, options.publish, options.unpublish_missing)
        self.spool = spool
        self.report = report
        self.options = options
        self.counts: Counter[str] = Counter()
        self.written: list[SpoolEntry] = []
        pending = Article.customer_id == customer.id, Article.status == "pending"
        self.pending = db.session.scalars(select(func.count()).select_from(Article).where(*pending)).one()

    def has_same_content_as(self, article: SpooledArticle, pk: int) -> bool:
        """Return whether readers would see the same in an article and in the stored one with this `pk`."""
        stored = self._load([pk])[pk]
        return has_same_content(self._complete(article, stored), stored)

    def _load(self, pks: list[int]) -> dict[int | None, ArticleRow]:
        """Return stored articles by pk."""
        rows = db.session.execute(select(Article.__table__).where(Article.pk.in_(pks))).mappings()
        return {row["pk"]: canonical_row(row, self.rows.customer_name) for row in rows}

    def _complete(self, article: SpooledArticle, stored: ArticleRow | None) -> ArticleRow:
        return self.rows.complete(article.row, article.publication, stored)

    def unpublish_missing(self, articles: list[PlannedArticle]) -> None:
        """Turn the customer's published articles into drafts if the import lacks them. Scheduled ones stay."""
        own = Article.customer_id == self.rows.customer_id
        visible = Article.status == "published", Article.published_at <= self.rows.now
        published = select(Article.pk, Article.slug).where(own, *visible).order_by(Article.id)
        imported = {article.stored_pk for article in articles}
        missing = [row for row in db.session.execute(published) if row.pk not in imported]
        self._update([{"pk": row.pk, "status": "draft"} for row in missing])
        for row in missing:
            self.report.add_change(row.slug, ["status"])
        self.counts["unpublished"] = len(missing)

    def park_slugs(self, articles: list[PlannedArticle]) -> None:
        """Free the slugs that stored articles lose, so that others can take them in any order.

        Until the articles are written, they have placeholders with a space, which no real slug contains.
        """
        moved = [{"stored_pk": article.stored_pk} for article in articles if article.vacates_slug]
        if moved and not self.options.dry_run:
            article = Article.__table__
            placeholder = literal(" ").concat(article.c.id)
            statement = update(article).where(article.c.pk == bindparam("stored_pk")).values(slug=placeholder)
            db.session.connection().execute(statement, moved)

    def write(self, batch: list[PlannedArticle], redirects: Redirects | None) -> None:
        """Write the new and changed articles of a batch, and the old URLs of all of its articles to `redirects`."""
        stored = self._load([article.stored_pk for article in batch if article.stored_pk])
        new: list[ArticleRow] = []
        changed: list[ArticleRow] = []
        for planned in batch:
            article = self.spool.read(planned.entry)
            if redirects:
                redirects.add(article.old_urls, planned.entry.slug)
            existing = stored.get(planned.stored_pk)
            row = self._complete(article, existing)
            if existing:
                self.report.add_notes(row["slug"], _held_back_notes(article, row, self.rows.now))
            is_same = existing is not None and existing.items() >= row.items()
            if is_same or planned.decision is Decision.KEEP:
                self.counts["unchanged"] += 1
            elif existing:
                changed.append({"pk": existing["pk"], **row})
                self._report_change(planned.entry, article, row, existing)
            else:
                new.append(row)
                self._report_new(planned.entry, row)
        self._update(changed)
        self._insert(new)

    def _report_new(self, entry: SpoolEntry, row: ArticleRow) -> None:
        self.written.append(entry)
        self.counts["new"] += 1
        self.counts[self._state(row)] += 1
        self.pending += row["status"] == "pending"
        self.report.add_new(row["slug"])

    def _report_change(self, entry: SpoolEntry, article: SpooledArticle, row: ArticleRow, stored: ArticleRow) -> None:
        self.written.append(entry)
        self.counts["changed"] += 1
        self.pending += (row["status"] == "pending") - (stored["status"] == "pending")
        notes = []
        if _replaces_other_source(entry, article, stored):
            notes.append(REWRITTEN if WORDPRESS_ID.fullmatch(entry.id) else REPLACED)
        if article.publication and self._state(stored) == "published":
            notes += NOW_HIDDEN.get(self._state(row), [])
        if stored["content_html"] and not row["content_html"]:
            notes.append(EMPTIED)
        self.report.add_notes(row["slug"], notes)
        names = [name for column, name in FIELD_NAMES.items() if stored[column] != row[column]]
        content = [name for name in names if name != "updatedAt"]  # moves with any other field
        self.report.add_change(row["slug"], content or names or ["search index"])

    def _state(self, row: ArticleRow) -> str:
        return publication_state(row["status"], row["published_at"], self.rows.now)

    def _update(self, rows: list[ArticleRow]) -> None:
        if rows and not self.options.dry_run:
            db.session.execute(update(Article), rows)

    def _insert(self, rows: list[ArticleRow]) -> None:
        if rows and not self.options.dry_run:
            db.session.execute(insert(Article), rows)


def _replaces_other_source(entry: SpoolEntry, article: SpooledArticle, stored: ArticleRow) -> bool:
    """Return whether an article is about to change one that may come from another source."""
    has_same_id = stored["id"] in (entry.id, article.former_id)
    if entry.identity is Identity.ID:
        return False
    if entry.identity is Identity.SOURCE:
        return not has_same_id
    if has_same_id:
        # In CSV and Markdown, ids may be anything, even row numbers. If the slug differs too, this may be a mix-up.
        return article.publication is not None and entry.slug != stored["slug"]
    return not GENERATED_ID.fullmatch(stored["id"])


def _held_back_notes(article: SpooledArticle, row: ArticleRow, now: datetime) -> list[Note]:
    """Return a note if a stored article stays hidden, or hidden for longer, although the source publishes it."""
    given_date = article.row.get("published_at")
    if not _source_publishes(article):
        return []
    if row["status"] == "draft":
        return [STILL_DRAFT]
    if given_date and row["published_at"] > max(now, given_date):
        return [STILL_SCHEDULED]
    return []


def _source_publishes(article: SpooledArticle) -> bool:
    """Return whether the source publishes an article. This service's formats may do so with a date alone."""
    if article.publication:
        return article.publication is Publication.PUBLISHED
    return "published_at" in article.row and "status" not in article.row
