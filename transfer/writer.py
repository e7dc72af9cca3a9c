"""Write the articles of an import that are new or differ from the stored ones."""

from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy import Executable, bindparam, insert, literal, select, update

from content.structured_data import Publisher, canonical_row
from content.urls import split_page
from converters.articles import ImportProblem
from fields import truncate_to_milliseconds
from models import UNKNOWN_ORIGIN, Article, Customer, db, publication_state
from schemas import ArticleImportSchema
from storage.queries import BATCH_SIZE
from transfer import SuspiciousImportError, notes
from transfer.checks import ArticleRow, notes_about
from transfer.links import ArticleLinks
from transfer.plan import ImportOptions, ImportPlan, find_stop_reasons, plan_import
from transfer.planned import PlannedArticle
from transfer.report import ImportReport
from transfer.rows import CONTENT_COLUMNS, ORIGIN_COLUMNS, RowBuilder
from transfer.spool import Spool

# fields whose changes are named
FIELD_NAMES = {
    name: field.data_key or name for name, field in ArticleImportSchema().fields.items() if name not in ORIGIN_COLUMNS
}


class ImportResult(NamedTuple):
    """The result of an import or, in a dry run, the result that it would have."""

    # "new", "changed", "unchanged", "unpublished", "left alone", "adopted", and the states of new articles
    counts: Counter[str]
    pending: int  # all of the customer's pending articles that their source publishes, after the import
    articles: list[PlannedArticle]  # all that are not left alone
    written: list[PlannedArticle]  # new and changed
    stop_reasons: str  # in a dry run, why the import would stop, one line per reason
    has_changes: bool  # any, also those that are not counted, such as to a claim
    links: ArticleLinks


def write_articles(customer: Customer, spool: Spool, report: ImportReport, options: ImportOptions) -> ImportResult:
    """Write an import's articles in the session's transaction, which the caller begins and ends. A dry run only reads.

    Raises ImportFailedError if there are problems, and SuspiciousImportError if the import would hide or leave alone
    suspiciously many articles; the caller must then roll back.
    """
    now = truncate_to_milliseconds(datetime.now(UTC))
    plan = plan_import(customer.id, spool, report, options, now)
    if options.unpublish_missing:
        for source in report.empty_sources:
            reason = "Contains no articles, so --unpublish-missing would unpublish all of its articles. Check the path."
            report.stop(ImportProblem(source, reason))
    can_skip = bool(plan.articles) and not options.unpublish_missing
    report.raise_if_problems(can_skip=can_skip, skip_invalid=options.skip_invalid)
    reasons = find_stop_reasons(plan, now)
    if reasons and reasons != options.confirmed and not (options.yes or options.dry_run):
        raise SuspiciousImportError(reasons)
    writer = _Writer(customer, spool, report, options, plan, now)
    writer.withhold()
    writer.free_slugs_and_origins()
    for start in range(0, len(plan.articles), BATCH_SIZE):
        writer.write(plan.articles[start : start + BATCH_SIZE])
    pending = writer.report_undecided()
    if options.unpublish_missing:
        writer.report_unknown_sources()
    return ImportResult(
        writer.counts, pending, plan.articles, writer.written, reasons, writer.has_changes, writer.links
    )


def report_notes(result: ImportResult, spool: Spool, report: ImportReport) -> None:
    """Report notes about the articles that were written. No transaction is needed."""
    for planned in result.written:
        article, row = spool.read(planned.entry)
        about_row = notes_about(row, is_own=not planned.entry.source)
        report.add_notes(planned.slug, [*article.notes, *about_row, *result.links.notes(article)])
        report.add_urls(result.links.old_links, result.links.find_old(article))
        for url in article.kept_pictures:
            report.add_urls(notes.KEPT_PICTURES._replace(detail=split_page(url)[0]), [url])


class _Writer:
    """The writer of one import for one customer."""

    def __init__(
        self,
        customer: Customer,
        spool: Spool,
        report: ImportReport,
        options: ImportOptions,
        plan: ImportPlan,
        now: datetime,
    ) -> None:
        ids = {article.id for article in plan.stored}
        publisher = Publisher(customer.name, customer.site)
        self.rows = RowBuilder(customer.id, publisher, now, ids, adopts_own_articles=options.unpublish_missing)
        self.spool = spool
        self.report = report
        self.options = options
        self.plan = plan
        self.counts: Counter[str] = Counter({"left alone": len(plan.left_alone)})
        self.links = ArticleLinks(plan.articles, customer.site)
        self.written: list[PlannedArticle] = []
        self.has_changes = False

    def withhold(self) -> None:
        """Withhold the stored articles that the sources no longer contain."""
        rows = []
        for article in self.plan.stored:
            publication = self.plan.withheld.get(article.pk, article.publication)
            if publication != article.publication:
                rows.append({"pk": article.pk, "status": publication.status, "claim": publication.claim})
            if publication.status != article.publication.status:
                self.counts["unpublished"] += 1
                self.report.add_change(article.slug, ["status"])
        self._execute(update(Article), rows)

    def free_slugs_and_origins(self) -> None:
        """Free the slugs and origins that stored articles lose, so that others can take them in any order.

        Until the articles are written, their slugs are placeholders with a space, which no real slug contains.
        """
        stored = [(planned, planned.stored) for planned in self.plan.articles if planned.stored]
        moving = [{"stored_pk": old.pk} for planned, old in stored if planned.slug != old.slug]
        sources = [(planned.entry.origin, old) for planned, old in stored if planned.entry.source]
        renamed = [{"stored_pk": old.pk} for origin, old in sources if origin != old.origin]
        article = Article.__table__
        this_one = update(article).where(article.c.pk == bindparam("stored_pk"))
        self._execute(this_one.values(slug=literal(" ").concat(article.c.id)), moving)
        self._execute(this_one.values(origin=None), renamed)

    def write(self, batch: list[PlannedArticle]) -> None:
        """Write the new and changed articles of a batch."""
        stored = self._load([planned.stored.pk for planned in batch if planned.stored])
        new: list[ArticleRow] = []
        changed: list[ArticleRow] = []
        for planned in batch:
            article, given = self.spool.read(planned.entry)
            given["content_html"] = self.links.rewrite(article, given["content_html"])
            existing = stored.get(planned.stored.pk) if planned.stored else None
            row = self.rows.complete(planned, given, existing)
            if existing is None:
                new.append(row)
                self._report_new(planned)
                continue
            if existing.items() >= row.items():
                self.counts["unchanged"] += 1
            else:
                changed.append({"pk": existing["pk"], **row})
                self._report_change(planned, row, existing)
            self._report_stored(planned, given, row)
        self._execute(update(Article), changed)
        self._execute(insert(Article), new)

    def report_undecided(self) -> int:
        """Report what waits for a decision. Returns the number of pending articles that their source publishes."""
        for slug, note in self.plan.left_alone:
            self.report.add_notes(slug, [note])
        pending = 0
        has_sources = bool(self.spool.sources)  # Formats of this service say nothing about the sources of others.
        for slug, publication in self.plan.publications().items():
            is_published_there = publication.claim == "published"
            pending += publication.status == "pending" and is_published_there
            if has_sources and publication.status == "pending" and not is_published_there:
                self.report.add_notes(slug, [notes.PENDING_UNPUBLISHED])
            if has_sources and publication.status == "draft" and is_published_there:
                self.report.add_notes(slug, [notes.DRAFT_HERE])
        return pending

    def report_unknown_sources(self) -> None:
        """Note the published articles from before 3.0.0 that this import lacks."""
        for article in self.plan.stored:
            is_public = article.publication.status == "published"
            if article.origin == UNKNOWN_ORIGIN and is_public and article.pk not in self.plan.by_stored_pk:
                self.report.add_notes(article.slug, [notes.UNKNOWN_SOURCE])

    def _load(self, pks: list[int]) -> dict[int, ArticleRow]:
        """Return stored articles by pk."""
        rows = db.session.execute(select(Article.__table__).where(Article.pk.in_(pks))).mappings()
        return {row["pk"]: canonical_row(row, self.rows.publisher) for row in rows}

    def _report_new(self, planned: PlannedArticle) -> None:
        self.written.append(planned)
        self.counts["new"] += 1
        publication = planned.publication
        self.counts[publication_state(publication.status, publication.published_at, self.rows.now)] += 1
        if planned.slug != planned.entry.slug:
            self.report.add_notes(planned.slug, [notes.DATED_SLUG])

    def _report_change(self, planned: PlannedArticle, row: ArticleRow, stored: ArticleRow) -> None:
        """Count and name what readers or the operator could notice, unlike a new key in the same source, or a claim."""
        names = [name for column, name in FIELD_NAMES.items() if stored[column] != row[column]]
        if planned.changes_source and not planned.is_adopted:
            names.append("source")
        if any(stored[name] != row[name] for name in ("folded_title", "search_text")):
            names = names or ["search index"]
        if not names:
            self.counts["unchanged"] += 1
            return
        self.written.append(planned)
        self.counts["changed"] += 1
        content = [name for name in names if name != "updatedAt"]  # moves with any other field
        self.report.add_change(planned.slug, content or names)
        if stored["content_html"] and not row["content_html"]:
            self.report.add_notes(planned.slug, [notes.EMPTIED])
        if planned.is_adopted and stored["content_html"] != row["content_html"]:
            self.report.add_notes(planned.slug, [notes.ADOPTED_WITH_CHANGES])

    def _report_stored(self, planned: PlannedArticle, given: ArticleRow, row: ArticleRow) -> None:
        """Note what a stored article loses, or keeps although its source, whose values are `given`, differs."""
        self.counts["adopted"] += planned.is_adopted
        if planned.keeps_content and any(given[name] != row[name] for name in CONTENT_COLUMNS & given.keys()):
            self.report.add_notes(planned.slug, [notes.KEPT_CONTENT])
        if planned.wanted_slug:
            self.report.add_notes(planned.slug, [notes.KEPT_SLUG._replace(detail=planned.wanted_slug)])
        if not planned.entry.source or not planned.stored:
            return
        before = planned.stored.publication
        after = planned.publication
        if before.is_visible(self.rows.now) and not after.is_visible(self.rows.now):
            self.report.add_notes(planned.slug, [notes.NOW_HIDDEN])
        if planned.entry.date and after.claimed_at and planned.entry.date < after.claimed_at:
            self.report.add_notes(planned.slug, [notes.DELAYED])

    def _execute(self, statement: Executable, rows: list[ArticleRow]) -> None:
        """Execute a statement for each row, unless this is a dry run."""
        self.has_changes = self.has_changes or bool(rows)
        if rows and not self.options.dry_run:
            db.session.execute(statement, rows)
