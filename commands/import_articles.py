"""`flask articles import`: import articles from files, standard input or another instance."""

import os
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from flask import current_app

from commands import params
from commands.groups import articles
from commands.lookup import get_customer
from commands.terminal import echo, show_progress
from commands.transactions import open_and_report, waiting_write_transaction
from models import db
from settings import load_environment
from storage.engine import release_connection
from storage.files import EXISTS

if TYPE_CHECKING:
    from converters.records import SourceArticle, SourceOptions
    from transfer.redirects import Redirects
    from transfer.report import ImportReport


class Flags(NamedTuple):
    """The boolean options."""

    dry_run: bool
    skip_invalid: bool
    unpublish_missing: bool


def new_file(value: str) -> Path:
    """Parse the path of a file that does not exist yet."""
    if os.path.lexists(value):
        raise click.BadParameter(EXISTS.format(repr(value)))
    return Path(value)


@articles.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=params.source)
@params.customer_option
@click.option(
    "--key",
    type=params.api_key,
    default=lambda: load_environment().get("SOURCE_API_KEY"),
    help="Key of the other instance (or SOURCE_API_KEY).",
)
@click.option("--site", type=params.site, help="URL of your site, for relative links and pictures (or SITE_URL).")
@click.option(
    "--timezone",
    type=params.timezone,
    help="Time zone for dates that don't name one, such as Europe/Berlin (or TIMEZONE).",
)
@click.option("--dry-run", is_flag=True, help="Show what would change without writing anything.")
@click.option("--skip-invalid", is_flag=True, help="Import the valid articles even if others have mistakes.")
@click.option("--unpublish-missing", is_flag=True, help="Turn published articles that no source contains into drafts.")
@click.option("--redirects", metavar="FILE", type=new_file, help="Write old URLs and slugs to FILE, a new CSV file.")
def import_articles(
    sources: tuple[str, ...],
    customer: str | None,
    key: str | None,
    site: str | None,
    timezone: tzinfo | None,
    dry_run: bool,
    skip_invalid: bool,
    unpublish_missing: bool,
    redirects: Path | None,
) -> None:
    """Import articles: all of them or, if anything is wrong, none.

    SOURCE is a WordPress export (.xml), a Ghost export (.json), a folder or a file of Markdown or HTML with front
    matter (.md, .html), a CSV file (.csv), a .json file (an article, an array of articles, or an object with such an
    array in "data"), a .jsonl file (JSON Lines), "-" for JSON Lines on standard input, or the URL of another instance.
    """
    from converters.records import SourceOptions
    from transfer.report import ImportReport

    flags = Flags(dry_run, skip_invalid, unpublish_missing)
    _check_usage(sources, key, flags)
    options = SourceOptions(site or current_app.config["SITE_URL"], timezone or current_app.config["TIMEZONE"])
    report = ImportReport()
    counts = _import(sources, customer, key, options, report, redirects, flags)
    _echo_result(report, counts, flags)


def _check_usage(sources: tuple[str, ...], key: str | None, flags: Flags) -> None:
    """Raise click.UsageError or ClickException if these sources and options do not go together."""
    from transfer.remote import filters, hosts

    if sources.count("-") > 1:
        raise click.UsageError("Standard input can be read only once.")
    if key and len(hosts(sources)) > 1:
        names = ", ".join(sorted(hosts(sources)))
        raise click.UsageError(f"The key would be sent to several hosts: {names}. Import from one at a time.")
    if flags.unpublish_missing and flags.skip_invalid:
        raise click.UsageError("--unpublish-missing needs every article, so it cannot be combined with --skip-invalid.")
    if flags.unpublish_missing and (filtered := sorted(set().union(*map(filters, sources)))):
        raise click.ClickException(f"--unpublish-missing needs all articles. Remove {filtered[0]} from the URL.")


def _import(
    sources: tuple[str, ...],
    customer: str | None,
    key: str | None,
    options: "SourceOptions",
    report: "ImportReport",
    redirects: Path | None,
    flags: Flags,
) -> Counter[str]:
    """Read the sources and write their articles; return the writer's counts."""
    from transfer.redirects import create_redirects
    from transfer.sources import open_sources

    open_and_report()
    get_customer(customer, writes=True)
    release_connection()
    with ExitStack() as stack:
        file = stack.enter_context(create_redirects(redirects)) if redirects and not flags.dry_run else None
        records = stack.enter_context(open_sources(sources, options, key, report, show_progress))
        counted = stack.enter_context(show_progress(records, "Importing articles"))
        return _write(counted, customer, report, file, flags)


def _write(
    records: "Iterable[SourceArticle]",
    customer: str | None,
    report: "ImportReport",
    redirects: "Redirects | None",
    flags: Flags,
) -> Counter[str]:
    """Write the articles in one transaction, and return the writer's counts."""
    from transfer.writer import save_articles

    with waiting_write_transaction():
        owner = get_customer(customer, writes=True)  # again: it may have been renamed while the sources were read
        counts = save_articles(
            owner,
            records,
            report,
            unpublish_missing=flags.unpublish_missing,
            skip_invalid=flags.skip_invalid,
            redirects=redirects,
        )
        if redirects:
            redirects.save()
        if flags.dry_run:
            db.session.rollback()
    return counts


def _echo_result(report: "ImportReport", counts: Counter[str], flags: Flags) -> None:
    """Print the report and summary. If nothing changed, as in most nightly imports, print only the summary."""
    written = counts["new"] + counts["changed"] + counts["unpublished"]
    if written or not counts["unchanged"]:
        echo_notes(report)
    if report.invalid:
        echo("Skipped because they are invalid:", err=True)
        for line in report.mistake_lines():
            echo(line, err=True)
    _echo_changes(report, counts, dry_run=flags.dry_run)
    names = ["new", "changed", "unchanged", *(["unpublished"] if flags.unpublish_missing else [])]
    summary = [
        *(f"{counts[name]} {name}" for name in names),
        *([f"{report.invalid} invalid"] if report.invalid else []),
    ]
    states = ", ".join(
        f"{counts[state]} {state}" for state in ("published", "scheduled", "pending", "draft") if counts[state]
    )
    dry_run = " (dry run: nothing was written)" if flags.dry_run else ""
    echo(", ".join(summary) + (f" (new: {states})" if states else "") + dry_run)


def _echo_changes(report: "ImportReport", counts: Counter[str], *, dry_run: bool) -> None:
    """Name the first changed articles and their fields, and in a dry run the new articles too."""
    from transfer.report import MAX_CHANGES

    total = counts["changed"] + counts["unpublished"] + (counts["new"] if dry_run else 0)
    changed_first = sorted(report.changes, key=lambda change: not change[1])
    changes = [(slug, fields) for slug, fields in changed_first if fields or dry_run][:MAX_CHANGES]
    for slug, fields in changes:
        echo(f"{slug}: {', '.join(fields) or 'new'}")
    if rest := total - len(changes):
        echo(f"… and {rest} more")


def echo_notes(report: "ImportReport") -> None:
    """Print the notes, one line per kind: noticeable differences, dropped data, ignored items."""
    for line in report.lines():
        echo(line, err=True)
