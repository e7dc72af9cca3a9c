"""`flask articles import`: import articles from files, standard input or another instance."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from datetime import tzinfo
from pathlib import Path
from typing import NamedTuple

import click

from commands.support import params
from commands.support.errors import Interrupted
from commands.support.groups import articles_group
from commands.support.import_result import print_missing_old_urls, print_pending, print_result
from commands.support.lookup import get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import can_ask, confirm, show_progress
from content.text import printable
from converters.articles import SourceOptions
from models import Customer
from settings import load_environment
from transfer import SuspiciousImportError
from transfer.plan import ImportOptions
from transfer.remote import find_filters, find_hosts
from transfer.report import ImportReport
from transfer.sources import read_sources
from transfer.spool import Spool, create_spool
from transfer.url_lists import create_list, list_pictures, list_redirects
from transfer.writer import ImportResult, report_notes, write_articles

UNPUBLISH_NEEDS_PUBLISH = (
    "With sources from other systems, --unpublish-missing needs --publish: "
    "otherwise, articles would disappear from your site, and none would be added."
)


class UrlLists(NamedTuple):
    """The files for lists of URLs, None for each that is not written."""

    redirects: Path | None = None
    pictures: Path | None = None


@articles_group.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=params.source)
@params.customer_option
@click.option(
    "--key",
    metavar="KEY",
    type=params.api_key,
    default=lambda: load_environment().get("SOURCE_API_KEY"),
    help="Key of the other instance (or SOURCE_API_KEY).",
)
@click.option(
    "--site",
    metavar="URL",
    type=params.site,
    callback=params.or_setting("SITE_URL"),
    help="URL of the source's site, against which its relative URLs are resolved (or SITE_URL).",
)
@click.option(
    "--timezone",
    metavar="ZONE",
    type=params.timezone,
    callback=params.or_setting("TIMEZONE"),
    help="Time zone for dates that don't name one, such as Europe/Berlin (or TIMEZONE).",
)
@click.option(
    "--source",
    metavar="NAME",
    type=params.source_name,
    help="Name of the source, to tell two folders, sites or tables of the same kind apart.",
)
@click.option("--post-type", metavar="TYPE", default="post", help="Type of the WordPress posts to import.")
@click.option("--drop-tags", is_flag=True, help="Leave out shortcodes and template tags that are not understood.")
@click.option(
    "--take-over",
    metavar="SLUG",
    multiple=True,
    type=params.text,
    help="Replace the stored article SLUG with the source's version. "
    "SOURCE/ (with a slash) takes over all articles of that source. Repeatable.",
)
@click.option("--dry-run", is_flag=True, help="Show what would change without writing anything.")
@click.option("--publish", is_flag=True, help="Publish new and pending articles that their source has published.")
@click.option("--skip-invalid", is_flag=True, help="Import the valid articles even if others have errors.")
@click.option("--unpublish-missing", is_flag=True, help="Make published articles pending if their source lacks them.")
@click.option("--yes", is_flag=True, help="Do not stop if many articles would be hidden or left alone.")
@click.option(
    "--redirects", metavar="FILE", type=params.new_file, help="Write old URLs and slugs to FILE, a new CSV file."
)
@click.option(
    "--old-urls",
    metavar="PATTERN",
    type=params.url_pattern,
    help="Path of the articles on the old site, such as /{year}/{month}/{day}/{slug}/.",
)
@click.option(
    "--pictures",
    metavar="FILE",
    type=params.new_file,
    help="Write the URLs of the old site's pictures to FILE, a new file.",
)
@click.option(
    "--pictures-url",
    metavar="URL",
    type=params.site,
    help="New base URL of the old site's pictures, whose paths stay the same.",
)
def import_articles(
    sources: tuple[str, ...],
    customer: str | None,
    key: str | None,
    site: str,
    timezone: tzinfo,
    source: str | None,
    take_over: tuple[str, ...],
    dry_run: bool,
    publish: bool,
    skip_invalid: bool,
    unpublish_missing: bool,
    yes: bool,
    redirects: Path | None,
    old_urls: str | None,
    pictures: Path | None,
    pictures_url: str | None,
    post_type: str,
    drop_tags: bool,
) -> None:
    """Import articles: all of them or, if anything is wrong, none.

    SOURCE is a WordPress export (.xml), a Ghost export (.json), a folder or a file of Markdown or HTML with front
    matter (.md, .html), a CSV file (.csv), a .json file (an article, an array of articles, or an object with such an
    array in "data"), a .jsonl file (JSON Lines), "-" for JSON Lines on standard input, or the URL of another instance.

    New articles from other systems stay hidden until you publish them: look at them (flask articles preview), then
    run flask articles publish --pending. With --publish, the import publishes what the source publishes. Changes to
    articles that are published already show at once.
    """
    source_options = SourceOptions(
        site, timezone, source or "", old_urls or "", pictures_url or "", post_type, drop_tags=drop_tags
    )
    options = ImportOptions(dry_run, publish, skip_invalid, unpublish_missing, take_over, yes)
    lists = UrlLists() if dry_run else UrlLists(redirects, pictures)
    _import(sources, key, source_options, customer, options, lists)


def _import(
    sources: tuple[str, ...],
    key: str | None,
    source_options: SourceOptions,
    customer: str | None,
    options: ImportOptions,
    lists: UrlLists,
) -> None:
    """Read, check and write articles, and print the report."""
    _check_usage(sources, key, options)
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
    report = ImportReport()
    with create_spool() as spool:
        articles = read_sources(sources, source_options, key, report, show_progress)
        with show_progress(articles, "Reading articles") as counted:
            spool.add(counted, report)
        _check_systems(spool, options)
        result, report = _write(owner, spool, report, options, lists)
        with _report_interrupt(options):
            report_notes(result, spool, report)
            print_result(result, report, dry_run=options.dry_run)
            if lists.redirects:
                print_missing_old_urls(report, lists.redirects)
            if spool.sources and result.pending:
                print_pending(result.pending, customer, dry_run=options.dry_run)


def _check_usage(sources: tuple[str, ...], key: str | None, options: ImportOptions) -> None:
    """Raise click.UsageError or ClickException if these sources and options do not go together."""
    if options.unpublish_missing and "-" in sources:
        reason = "A stream that was cut off looks complete. Save it to a .jsonl file first, and import that."
        raise click.UsageError(f"--unpublish-missing does not work with standard input. {reason}")
    if sources.count("-") > 1:
        raise click.UsageError("Standard input can be read only once.")
    if key and len(find_hosts(sources)) > 1:
        names = ", ".join(sorted(find_hosts(sources)))
        raise click.UsageError(f"The key would be sent to several hosts: {names}. Import from one at a time.")
    if options.unpublish_missing and options.skip_invalid:
        raise click.UsageError("--unpublish-missing needs every article, so it cannot be combined with --skip-invalid.")
    filtered = sorted(name for source in sources for name in find_filters(source))
    if options.unpublish_missing and filtered:
        raise click.ClickException(f"--unpublish-missing needs all articles. Remove {filtered[0]} from the URL.")


def _check_systems(spool: Spool, options: ImportOptions) -> None:
    """Raise click.UsageError if the options do not fit the systems that the articles come from."""
    if options.take_over and not spool.sources:
        raise click.UsageError("--take-over gives stored articles to another system's source, but the import has none.")
    if spool.sources and options.unpublish_missing and not options.publish:
        raise click.UsageError(UNPUBLISH_NEEDS_PUBLISH)


def _write(
    owner: Customer,
    spool: Spool,
    report: ImportReport,
    options: ImportOptions,
    lists: UrlLists,
) -> tuple[ImportResult, ImportReport]:
    """Write the articles and the lists of old URLs, all of them or none. Returns the result and the complete report.

    A dry run only reads. Asks first if the import would hide, or leave alone, suspiciously many articles.
    """
    attempt = deepcopy(report)  # A second one would report the same again.
    try:
        with ExitStack() as files, command_session(writes=not options.dry_run):
            result = write_articles(get_customer_again(owner), spool, attempt, options)
            if lists.redirects:
                text = list_redirects(result.articles, spool, result.links)
                files.enter_context(create_list(lists.redirects, text))
            if lists.pictures:
                files.enter_context(create_list(lists.pictures, list_pictures(result.articles, spool)))
        return result, attempt
    except SuspiciousImportError as error:
        reasons = str(error)
    if not can_ask():
        advice = "Nothing was written. Check the source. If it is right, run the command again with --yes."
        raise click.ClickException(f"{printable(reasons)}\n{advice}")
    confirm(printable(reasons), yes=False)
    return _write(owner, spool, report, options._replace(confirmed=reasons), lists)


@contextmanager
def _report_interrupt(options: ImportOptions) -> Iterator[None]:
    """Turn Ctrl+C into a message about whether the articles were written."""
    try:
        yield
    except KeyboardInterrupt as error:
        reason = "nothing was written." if options.dry_run else "the articles were imported; the report is incomplete."
        raise Interrupted(reason) from error
