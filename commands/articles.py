"""`flask articles`: import, export, publish, unpublish, delete and list articles."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from sqlalchemy import Result, Row, delete, select, update

from commands import DatabaseGroup, confirm, count_articles, echo_notes, params, progress_bar
from commands.edit import edit
from commands.lookup import get_customer, require_slugs
from commands.preview import preview
from commands.watch import watch
from field_types import format_timestamp, printable
from importing.article_files import write_folder
from importing.errors import ImportErrors, SourceOptions
from importing.export import export_articles, select_articles
from importing.instance import is_filtered
from importing.json_files import dump_line
from importing.sources import open_sources
from importing.writer import save_articles
from models import Customer, article_table, db, publication_state
from settings import load_environment
from storage.engine import release_connection, write_transaction
from storage.search import search_columns, search_words, word_parameters
from storage.selects import matching
from storage.tables import open_database

STATES = "published", "scheduled", "draft"


@click.group(cls=DatabaseGroup)
def articles() -> None:
    """Import, export, edit, publish, unpublish, delete, list, preview and watch articles."""


for command in (edit, preview, watch):
    articles.add_command(command)


@articles.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=params.source)
@params.customer_option
@click.option(
    "--key",
    type=params.api_key,
    default=lambda: load_environment().get("SOURCE_API_KEY"),
    help="The other instance's key (or SOURCE_API_KEY).",
)
@click.option("--site", type=params.site, default="", help="Your site's URL, for pictures and links without one.")
@click.option("--timezone", "zone", type=params.timezone, default="UTC", help="Of dates without one, as Europe/Berlin.")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
@click.option("--unpublish-missing", is_flag=True, help="Turn published articles that no source has into drafts.")
def import_articles(
    sources: tuple[str, ...], name: str | None, dry_run: bool, unpublish_missing: bool, **options: Any
) -> None:
    """Import articles: all of them or, if anything is wrong, none.

    SOURCE is a WordPress export (.xml), a Ghost export (.json), a folder or a file of Markdown or HTML with front
    matter (.md, .html), a table (.csv), a .json file (an array, or an object whose "data" is one), a .jsonl file (JSON
    Lines), - for JSON Lines on standard input, or the http(s) URL of another instance.
    """
    _check_sources(sources, unpublish_missing)
    open_database()
    get_customer(name, changes=True)
    release_connection()
    errors = ImportErrors()
    with (
        open_sources(sources, SourceOptions(**options), errors) as records,
        progress_bar("Importing", records) as bar,
        write_transaction(),  # only now: other writers need not wait for a source
    ):
        customer = get_customer(name, changes=True)  # again: it may be gone or renamed meanwhile
        counts = save_articles(customer, bar, errors, unpublish_missing=unpublish_missing)
        if dry_run:
            db.session.rollback()
    if counts["new"] + counts["changed"] or not counts["unchanged"]:  # a nightly import without a change is silent
        echo_notes(errors)
    if not counts.total():
        click.echo("The sources hold no articles. Check their names, and the program that wrote them.", err=True)
    if dry_run:
        _echo_changes(errors, counts["new"] + counts["changed"] + counts["unpublished"])
    click.echo(_summary(counts, unpublish_missing) + (" (dry run: nothing was written)" if dry_run else ""))


def _check_sources(sources: tuple[str, ...], unpublish_missing: bool) -> None:
    if sources.count("-") > 1:
        raise click.UsageError("Standard input can be read only once.")
    if unpublish_missing and any(map(is_filtered, sources)):
        raise click.ClickException("With --unpublish-missing, a URL must ask for all articles. Remove q from the URL.")


def _echo_changes(errors: ImportErrors, total: int) -> None:
    """Print a line for each of the first articles that change: its slug, and the fields that do."""
    for slug, fields in errors.changes:
        click.echo(f"{printable(slug)}: {', '.join(fields)}")
    if total > len(errors.changes):
        click.echo(f"… and {total - len(errors.changes)} more")


def _summary(counts: Counter[str], unpublish_missing: bool) -> str:
    summary = ", ".join(f"{counts[name]} {name}" for name in ("new", "changed", "unchanged"))
    if unpublish_missing:
        summary += f", {counts['unpublished']} unpublished"
    states = ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    return summary + (f" (new: {states})" if states else "")


@articles.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only those in this state.")
@click.option("--search", type=params.words, default="", metavar="WORDS", help="With all the words in title or slug.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@params.customer_option
def list_articles(state: str | None, search: str, as_json: bool, name: str | None) -> None:
    """Print a line for each article, drafts first, then the latest: state, publication in UTC, slug, title.

    The last line, on standard error, says how many of each state are listed.
    """
    open_database()
    now, counts = datetime.now(UTC), Counter[str]()
    for row in _select_listed(get_customer(name, changes=False), search_words(search)):
        row_state = publication_state(row.status, row.published_at, now)
        if state in (None, row_state):
            counts[row_state] += 1
            moment = format_timestamp(row.published_at) if row.published_at else None
            if as_json:
                record = {"state": row_state, "publishedAt": moment, "slug": row.slug, "title": row.title}
                click.echo(dump_line(record), nl=False)
            else:
                click.echo(f"{row_state}\t{moment or '-'}\t{printable(row.slug)}\t{printable(row.title)}")
    click.echo(", ".join(f"{counts[name]} {name}" for name in STATES), err=True)


def _select_listed(customer: Customer, words: list[str]) -> Result[Any]:
    """Return state, date, slug and title of the customer's articles that a search finds, drafts first."""
    columns = article_table.c
    latest_first = columns.status, columns.published_at.desc().nulls_last(), columns.id.desc()
    rows = select(columns.status, columns.published_at, columns.slug, columns.title)
    own = rows.where(columns.customer_id == customer.id, *matching(len(words))).order_by(*latest_first)
    return db.session.execute(own, word_parameters(words))


@articles.command()
@click.argument("slugs", metavar="[SLUG...]", nargs=-1, type=params.slug)
@params.customer_option
@click.option("--all-fields", is_flag=True, help="Write also what an import would derive to the same value.")
@click.option("--folder", type=params.new_folder, help="Write a file for each article into this folder, new or empty.")
def export(slugs: tuple[str, ...], name: str | None, all_fields: bool, folder: Path | None) -> None:
    """Print all articles, or those named, as JSON Lines that import takes: drafts and scheduled ones too.

    With --folder, write them as files instead, for an editor and a history in git: fields in YAML, then the HTML.
    """
    if not sys.stdout and not folder:
        raise click.ClickException("Standard output is closed. Redirect it to a file.")
    open_database()
    customer = get_customer(name, changes=False)
    require_slugs(customer, slugs)
    records = export_articles(customer, slugs, all_fields=all_fields)
    if folder:
        try:
            number = write_folder(folder, records)
        except BaseException:  # Ctrl+C too
            click.echo(f"The export to {folder} is not complete.", err=True)
            raise
        click.echo(f"Wrote {count_articles(number)} to {folder}.", err=True)
    else:
        sys.stdout.buffer.writelines(map(dump_line, records))
        sys.stdout.buffer.flush()


@articles.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.slug)
@click.option("--at", type=params.timestamp, help="When, as in 2026-01-31T09:30:00Z. In the future: scheduled.")
@params.customer_option
def publish(slugs: tuple[str, ...], at: datetime | None, name: str | None) -> None:
    """Publish the articles: as of their earlier publication, else now, or as --at says.

    All of them or, if one does not exist, none.
    """
    now, lines = datetime.now(UTC), []
    with change_articles(slugs, name) as articles:
        for article in articles:
            earlier = article.published_at
            moment = at or (earlier if earlier and earlier <= now else now)
            _update(article, status="published", published_at=moment)
            state = "published since" if moment <= now else "scheduled for"
            line = f"{printable(article.slug)}: {state} {format_timestamp(moment)}"
            if earlier not in (None, moment):
                line += f" (replaces {format_timestamp(earlier)})"
            lines.append(line)
    click.echo("\n".join(lines))


@articles.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.slug)
@params.customer_option
def unpublish(slugs: tuple[str, ...], name: str | None) -> None:
    """Turn the articles into drafts: all of them or, if one does not exist, none.

    They keep their dates, for when they are published again.
    """
    with change_articles(slugs, name) as articles:
        for article in articles:
            _update(article, status="draft")
    click.echo("\n".join(f"{printable(article.slug)}: draft" for article in articles))


@contextmanager
def change_articles(slugs: tuple[str, ...], name: str | None) -> Iterator[list[Row[Any]]]:
    """Yield the customer's articles with these slugs, in their order, in a transaction that ends with the block.

    Raises click.ClickException if one does not exist.
    """
    open_database()
    with write_transaction():
        customer = get_customer(name, changes=True)
        require_slugs(customer, slugs)
        by_slug = {row.slug: row for row in db.session.execute(select_articles(customer, slugs))}
        yield [by_slug[slug] for slug in dict.fromkeys(slugs)]


def _update(article: Row[Any], **values: Any) -> None:
    """Write these columns of an article, and what search reads. Changes by other tools stay."""
    values |= search_columns(article.title, article.slug)
    db.session.execute(update(article_table).where(article_table.c.pk == article.pk).values(values))


@articles.command("delete")
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.slug)
@params.customer_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_articles(slugs: tuple[str, ...], name: str | None, yes: bool) -> None:
    """Delete the articles for good: all of them or, if one does not exist, none."""
    open_database()
    require_slugs(get_customer(name, changes=True), slugs)
    count = count_articles(len(set(slugs)))
    confirm(f"This deletes {count} for good.", yes)
    with change_articles(slugs, name) as articles:  # they may be gone meanwhile
        pks = [article.pk for article in articles]
        db.session.execute(delete(article_table).where(article_table.c.pk.in_(pks)))
    click.echo(f"Deleted {count}.")
