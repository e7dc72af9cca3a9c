"""`flask articles import`: import articles from files, standard input, another instance or a WordPress site."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
from flask import current_app

from commands.support import params
from commands.support.command_errors import Interrupted
from commands.support.groups import articles_group
from commands.support.import_result import print_result, print_waiting
from commands.support.lookup import get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import can_ask, confirm, show_progress
from converters.source_articles import SourceOptions
from models import Customer
from settings import load_environment
from storage.new_files import create_new_file
from transfer import SuspiciousImportError
from transfer.checks import CheckedArticles, check_articles
from transfer.imports import find_waiting, write_articles
from transfer.plan import ImportOptions
from transfer.redirects import list_redirects
from transfer.remote import find_filters, find_hosts
from transfer.report import ImportReport
from transfer.sources import is_own_json, read_sources
from transfer.writer import ImportResult


@articles_group.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=params.source)
@params.customer_option
@click.option(
    "--key",
    type=params.api_key,
    default=lambda: load_environment().get("SOURCE_API_KEY"),
    help="Key of the other instance (or SOURCE_API_KEY).",
)
@click.option(
    "--site",
    type=params.url,
    default=lambda: current_app.config["SITE_URL"],
    help="URL of the source's site, against which its relative URLs are resolved (or SITE_URL).",
)
@click.option(
    "--timezone",
    "zone",
    type=params.timezone,
    default=lambda: str(current_app.config["TIMEZONE"]),
    help="Time zone for dates that don't name one, such as Europe/Berlin (or TIMEZONE).",
)
@click.option("--source", type=params.source_name, default="", help="Name of the source, to tell several apart.")
@click.option("--post-type", metavar="TYPE", default="post", help="Type of WordPress posts (default: post).")
@click.option("--drop-tags", is_flag=True, help="Leave out shortcodes and template tags that are not understood.")
@click.option("--dry-run", is_flag=True, help="Show what would change without writing anything.")
@click.option("--publish", is_flag=True, help="Publish articles that their source publishes.")
@click.option("--skip-invalid", is_flag=True, help="Import the valid articles even if others have errors.")
@click.option("--unpublish-missing", is_flag=True, help="Hide articles that are missing from their source.")
@click.option("--yes", is_flag=True, help="Do not stop if many articles would be hidden, replaced or left alone.")
@click.option("--redirects", type=params.new_file, help="Write old URLs and slugs to NEW_FILE, in CSV.")
@click.option(
    "--old-urls", type=params.url_pattern, default="", help="Articles' paths on the old site: /{year}/{slug}/"
)
@click.option("--pictures-url", type=params.url, default="", help="New base URL of the old site's pictures.")
def import_articles(
    sources: tuple[str, ...], customer: str | None, key: str | None, redirects: Path | None, **options: Any
) -> None:
    """Import articles: all of them or, if anything is wrong, none.

    SOURCE is a WordPress export (.xml), a Ghost export (.json), a folder or a file of Markdown or HTML with front
    matter (.md, .html), a CSV file (.csv), a .json file (an article, an array of articles, or an object with such an
    array in "data"), a .jsonl file (JSON Lines), "-" for JSON Lines on standard input, the URL of another instance, or
    the URL of a WordPress site.

    New articles from other systems stay hidden until you publish them: look at them (flask articles preview), then
    run flask articles publish --pending. With --publish, the import publishes what the source publishes. Changes to
    articles that are already published show at once. What was changed here stays.
    """
    # named like their options
    reading = SourceOptions(**{name: options[name] for name in SourceOptions._fields})
    writing = ImportOptions(**{name: options[name] for name in ImportOptions._fields if name in options})
    _check_usage(sources, key, reading.source, unpublish_missing=writing.unpublish_missing)
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
    report = ImportReport()
    try:
        with show_progress(read_sources(sources, reading, key), "Reading articles") as items:
            checked = check_articles(items, report)
    except KeyboardInterrupt as error:
        raise Interrupted("nothing was written.") from error
    result = _write(owner, checked, report, writing, redirects)
    print_result(result, report, dry_run=writing.dry_run)
    if waiting := find_waiting(result):
        print_waiting(len(waiting), customer)


def _check_usage(sources: tuple[str, ...], key: str | None, source: str, *, unpublish_missing: bool) -> None:
    """Raise click.UsageError or ClickException if these sources and options do not go together."""
    if sources.count("-") > 1:
        raise click.UsageError("Standard input can be read only once.")
    if key and len(find_hosts(sources)) > 1:
        names = ", ".join(sorted(find_hosts(sources)))
        raise click.UsageError(f"The key would be sent to several hosts: {names}. Import from one at a time.")
    if not unpublish_missing:
        return
    if "-" in sources:
        reason = "A stream that was cut off looks complete. Save it to a .jsonl file first, and import that."
        raise click.UsageError(f"--unpublish-missing does not work with standard input. {reason}")
    if not source and any(map(is_own_json, sources)):
        reason = "Name the source of these articles, of which missing ones are hidden."
        raise click.UsageError(f"With JSON files, --unpublish-missing needs --source NAME. {reason}")
    filtered = sorted(name for url in sources for name in find_filters(url))
    if filtered:
        raise click.ClickException(f"--unpublish-missing needs all articles. Remove {filtered[0]} from the URL.")


def _write(
    owner: Customer, checked: CheckedArticles, report: ImportReport, options: ImportOptions, redirects: Path | None
) -> ImportResult:
    """Write the articles and the list of old URLs. A dry run only reads.

    Asks first if the import would hide, leave alone or replace suspiciously many articles.
    """
    while True:
        try:
            # The file appears once the articles have been committed.
            new_file = create_new_file(redirects) if redirects and not options.dry_run else nullcontext()
            with new_file as file, command_session(writes=not options.dry_run):
                result = write_articles(get_customer_again(owner), checked, report, options)
                if file:
                    file.write(list_redirects(result.plan, result.links).encode())
                    file.flush()
            return result
        except SuspiciousImportError as error:
            reasons = str(error)
        if not can_ask():
            advice = "Nothing was written. Check the source. If it is right, run the command again with --yes."
            raise click.ClickException(f"{reasons}\n{advice}")
        confirm(reasons, yes=False)
        options = options._replace(yes=True)
