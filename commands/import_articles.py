"""`flask articles import`: bring articles from files, standard input or another instance."""

from collections import Counter
from datetime import tzinfo

import click
from flask import current_app

from commands import echo, params
from commands.lookup import get_customer, open_and_report
from converters.records import Note, SourceOptions
from models import db
from settings import load_environment
from storage.engine import release_connection, write_transaction
from transfer.remote import is_filtered
from transfer.report import ImportReport
from transfer.sources import open_sources
from transfer.writer import save_articles

MAX_SLUGS = 3  # per kind
MAX_DETAILS = 20  # per kind


@click.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=params.source)
@params.customer_option
@click.option(
    "--key",
    type=params.api_key,
    default=lambda: load_environment().get("SOURCE_API_KEY"),
    help="The other instance's key (or SOURCE_API_KEY).",
)
@click.option("--site", type=params.site, help="Your site's URL, for pictures and links without one (or SITE_URL).")
@click.option("--timezone", type=params.timezone, help="Of dates without one: Europe/Berlin (or TIMEZONE).")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.option("--unpublish-missing", is_flag=True, help="Turn published articles that no source has into drafts.")
def import_articles(
    sources: tuple[str, ...],
    customer: str | None,
    key: str | None,
    site: str | None,
    timezone: tzinfo | None,
    dry_run: bool,
    unpublish_missing: bool,
) -> None:
    """Import articles: all of them or, if anything is wrong, none.

    SOURCE is a WordPress export (.xml), a Ghost export (.json), a folder or a file of Markdown or HTML with front
    matter (.md, .html), a table (.csv), a .json file (an array, an object whose "data" is one, or one article), a
    .jsonl file (JSON Lines), - for JSON Lines on standard input, or the http(s) URL of another instance.
    """
    if sources.count("-") > 1:
        raise click.UsageError("Standard input can be read only once.")
    if unpublish_missing and any(map(is_filtered, sources)):
        raise click.ClickException("With --unpublish-missing, a URL must ask for all articles. Remove q from the URL.")
    open_and_report()
    get_customer(customer, writes=True)
    release_connection()
    report = ImportReport()
    options = SourceOptions(site or current_app.config["SITE_URL"], timezone or current_app.config["TIMEZONE"])
    with open_sources(sources, options, key, report) as records, write_transaction():
        # Again, because the customer may have been deleted or renamed while the sources were received.
        owner = get_customer(customer, writes=True)
        counts = save_articles(owner, records, report, unpublish_missing=unpublish_missing)
        if dry_run:
            db.session.rollback()
    _echo_result(report, counts, dry_run=dry_run, unpublish_missing=unpublish_missing)


def _echo_result(report: ImportReport, counts: Counter[str], *, dry_run: bool, unpublish_missing: bool) -> None:
    """Print what an import has to say, and its summary. A nightly one without a change prints the summary alone."""
    written = counts["new"] + counts["changed"] + counts["unpublished"]
    # An import without an article says what it left out.
    if written or not counts["unchanged"]:
        echo_notes(report)
    if dry_run:
        for slug, fields in report.changes:
            echo(f"{slug}: {', '.join(fields)}")
        if rest := written - len(report.changes):
            echo(f"… and {rest} more")
    names = "new", "changed", "unchanged", *(["unpublished"] if unpublish_missing else [])
    summary = ", ".join(f"{counts[name]} {name}" for name in names)
    states = ", ".join(f"{counts[state]} {state}" for state in ("published", "scheduled", "draft") if counts[state])
    echo(summary + (f" (new: {states})" if states else "") + (" (dry run: nothing was written)" if dry_run else ""))


def echo_notes(report: ImportReport) -> None:
    """Print what readers may notice, what was dropped and what was ignored: a line per kind."""
    for notes in (report.noticeable, report.dropped, report.ignored):
        lines: dict[str, list[str]] = {}
        for note, slugs in notes.items():
            lines.setdefault(note.kind, []).append(f"{note.detail} {_count(note, slugs)}".strip())
        for kind, details in lines.items():
            if len(details) > MAX_DETAILS:
                details[MAX_DETAILS:] = [f"and {len(details) - MAX_DETAILS} more"]
            echo(f"{kind}{' ' if details[0].startswith('(') else ': '}{', '.join(details)}", err=True)


def _count(note: Note, slugs: list[str]) -> str:
    """Return how many articles or other items a note is about, and the first slugs or names."""
    number = f"{len(slugs)} {note.unit}{'' if len(slugs) == 1 else 's'}"
    names = [*filter(None, slugs[:MAX_SLUGS]), *(["…"] if len(slugs) > MAX_SLUGS and slugs[0] else [])]
    return f"({number}: {', '.join(names)})" if names else f"({number})"
