"""Import articles that have been checked: plan, write what is new or different, and report."""

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from content.urls import split_page
from converters.source_articles import Note, SourceArticle, Subject
from models import Customer
from schema_fields import truncate_to_milliseconds
from transfer import SuspiciousImportError
from transfer.article_links import ArticleLinks
from transfer.checks import CheckedArticles, check_articles
from transfer.json_files import read_records
from transfer.matching import StoredArticle, has_appended_date
from transfer.plan import ImportOptions, ImportPlan, find_stop_reasons, plan_import
from transfer.report import ImportReport
from transfer.writer import ImportResult, write_plan

DATED_SLUG = Note("New articles whose slug was taken, so their date was appended")
LEFT_ALONE = Note(
    "Left alone, because other articles have their slugs or ids",
    advice="Rename or delete one of the two.",
    subject=Subject.DECISION,
)
NOT_WITHDRAWN = Note(
    "Missing articles stay, because nobody can tell which article an error concerns",
    unit="source",
    advice="Correct the error.",
    subject=Subject.DECISION,
)
KEPT_SLUG = Note(
    "Not renamed, because other articles have the new slugs", advice="Rename those first.", subject=Subject.DECISION
)
DELAYED = Note(
    "Scheduled for a later time than their source has now",
    advice="To take the earlier one: --publish.",
    subject=Subject.DECISION,
)
PUBLIC_HERE = Note(
    "Public by a decision made here, although their source does not publish them",
    advice="To hide them: flask articles unpublish SLUG.",
    subject=Subject.DECISION,
)
KEPT_PICTURES = Note(
    "Pictures stay at their hosts", advice="Those of the old site move with --pictures-url.", subject=Subject.OLD_SITE
)


def import_records(customer: Customer, records: Iterable[Any]) -> Counter[str]:
    """Import JSON records without a source in the session's transaction. Returns how many are new and so on.

    Raises ImportFailedError if one is invalid.
    """
    report = ImportReport()
    checked = check_articles(read_records("the records", records), report)
    return write_articles(customer, checked, report, ImportOptions()).counts


def write_articles(
    customer: Customer, checked: CheckedArticles, report: ImportReport, options: ImportOptions
) -> ImportResult:
    """Write an import's articles in the session's transaction, which the caller begins and ends. A dry run only reads.

    Raises ImportFailedError if there are problems, and SuspiciousImportError if the import would hide, leave alone or
    replace suspiciously many articles. The caller must then roll back.
    """
    now = truncate_to_milliseconds(datetime.now(UTC))
    plan = plan_import(customer.id, checked, options, now)
    reasons = "" if options.yes else find_stop_reasons(plan)
    is_valid = options.skip_invalid or not (report.invalid or plan.problems)
    if reasons and is_valid and not report.fatal and not options.dry_run:
        raise SuspiciousImportError(reasons)
    report.invalid += [(problem,) for problem in plan.problems]
    report.raise_if_problems(has_valid=bool(plan.slugs), skip_invalid=options.skip_invalid)
    result = write_plan(customer, plan, options, ArticleLinks(plan.slugs, customer.site))
    result.stop_reasons = reasons
    _report_decisions(plan, report)
    if options.unpublish_missing:
        for source in checked.incomplete_sources:
            report.add_notes(source, [NOT_WITHDRAWN])
    return result


def report_notes(result: ImportResult, report: ImportReport, *, dry_run: bool) -> None:
    """Report notes about the articles that were written, or in a dry run about all. No transaction is needed."""
    links = result.links
    for article in result.plan.slugs if dry_run else result.written:
        slug = result.plan.slugs[article]
        report.add_notes(slug, [*article.notes, *links.notes(article)])
        if article not in result.plan.matches and slug != article.row["slug"]:
            report.add_notes(slug, [DATED_SLUG])
        report.add_urls(links.old_links, links.find_old(article))
        for url in article.kept_pictures:
            report.add_urls(KEPT_PICTURES._replace(detail=split_page(url)[0]), [url])


def find_waiting(result: ImportResult) -> list[SourceArticle]:
    """Return the articles that their source publishes, but that are pending here."""
    publications = result.plan.publications.items()
    return [article for article, after in publications if after.status == "pending" and article.claim == "published"]


def _report_decisions(plan: ImportPlan, report: ImportReport) -> None:
    """Report what waits for a decision, even if nothing was written."""
    for article, holder in plan.left_alone.items():
        report.add_notes(f"{article.row['slug']} ({article.where}; stored: {holder})", [LEFT_ALONE])
    withheld = plan.withdrawn.keys() | {row.pk for article, row in plan.matches.items() if article.claim == "withheld"}
    for row in plan.stored:
        if row.pk in withheld and row.publication_edited and row.status == "published":
            report.add_notes(row.slug, [PUBLIC_HERE])
    for article, row in plan.matches.items():
        if article in plan.slugs and article.origin:
            report.add_notes(plan.slugs[article], _decisions_about(article, row, plan))


def _decisions_about(article: SourceArticle, stored: StoredArticle, plan: ImportPlan) -> Iterator[Note]:
    """Yield notes about what a stored article keeps although its source differs."""
    date = article.row.get("published_at")
    after = plan.publications[article].published_at
    if date and after and date < after and not stored.publication_edited:
        yield DELAYED
    wanted = article.row["slug"]
    is_kept = plan.slugs[article] == stored.slug != wanted and not has_appended_date(stored.slug, wanted)
    if is_kept and not stored.text_edited:
        yield KEPT_SLUG._replace(detail=wanted)
