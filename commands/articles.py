"""`flask articles`: import, list, publish, unpublish and delete articles."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import click
import orjson
from flask import current_app
from sqlalchemy import Result, Row, delete, select, update

from commands import count_articles, echo, params, progress_bar
from commands.local_time import format_local
from commands.lookup import confirm, customer_transaction, get_articles, get_customer, open_database
from commands.notes import echo_notes
from field_types import format_timestamp, printable
from importing.errors import ImportErrors, SourceOptions
from importing.instance import is_filtered
from importing.sources import open_sources
from importing.writer import save_articles
from models import Customer, article_table, db, publication_state
from settings import load_environment
from storage.engine import release_connection, write_transaction
from storage.search import search_columns, search_words, word_parameters
from storage.selects import matching

STATES = "published", "scheduled", "draft"


@click.command("import")
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
    sources: tuple[str, ...], customer: str | None, dry_run: bool, unpublish_missing: bool, **options: Any
) -> None:
    """Import articles: all of them or, if anything is wrong, none.

    SOURCE is a WordPress export (.xml), a Ghost export (.json), a folder or a file of Markdown or HTML with front
    matter (.md, .html), a table (.csv), a .json file (an array, or an object whose "data" is one), a .jsonl file (JSON
    Lines), - for JSON Lines on standard input, or the http(s) URL of another instance.
    """
    _check_sources(sources, unpublish_missing)
    open_database()
    get_customer(customer, changes=True)
    release_connection()
    errors = ImportErrors()
    with (
        open_sources(sources, SourceOptions(**options), errors) as records,
        progress_bar("Importing", records) as bar,
        write_transaction(),  # only now: other writers need not wait for a source
    ):
        owner = get_customer(customer, changes=True)  # again: it may be gone or renamed meanwhile
        counts = save_articles(owner, bar, errors, unpublish_missing=unpublish_missing)
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


@click.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only those in this state.")
@click.option("--search", type=params.text, default="", metavar="WORDS", help="With all the words in title or slug.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@params.customer_option
def list_articles(state: str | None, search: str, as_json: bool, customer: str | None) -> None:
    """Print a line for each article, drafts first.

    A line has state, publication in UTC, slug and title; the latest article comes first. The last line, on standard
    error, says how many of each state are listed.
    """
    now, counts = datetime.now(UTC), Counter[str]()
    with customer_transaction(customer, writes=False) as owner:
        for row in _select_listed(owner, search_words(search)):
            row_state = publication_state(row.status, row.published_at, now)
            if state in (None, row_state):
                counts[row_state] += 1
                moment = format_timestamp(row.published_at) if row.published_at else None
                if as_json:
                    record = {"state": row_state, "publishedAt": moment, "slug": row.slug, "title": row.title}
                    click.echo(orjson.dumps(record))
                else:
                    echo(row_state, moment or "-", row.slug, row.title)
    echo(", ".join(f"{counts[name]} {name}" for name in STATES), err=True)


def _select_listed(customer: Customer, words: list[str]) -> Result[Any]:
    """Return state, date, slug and title of the customer's articles that a search finds, drafts first."""
    columns = article_table.c
    latest_first = columns.status, columns.published_at.desc().nulls_last(), columns.id.desc()
    rows = select(columns.status, columns.published_at, columns.slug, columns.title)
    own = rows.where(columns.customer_id == customer.id, *matching(len(words))).order_by(*latest_first)
    return db.session.execute(own, word_parameters(words))


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.text)
@click.option("--at", type=params.timestamp, help='When, as in 2030-01-31 or "2030-01-31 09:30".')
@params.customer_option
def publish(slugs: tuple[str, ...], at: datetime | None, customer: str | None) -> None:
    """Publish articles, now or at a time.

    Without --at, an article keeps the date of an earlier publication. All of them or, if one does not exist, none. A
    time without a zone is of the setting TIMEZONE.
    """
    now, zone, lines = datetime.now(UTC), current_app.config["TIMEZONE"], []
    with customer_transaction(customer, writes=True) as owner:
        for article in get_articles(owner, slugs):
            earlier = article.published_at
            moment = at or (earlier if earlier and earlier <= now else now)
            _update(article, status="published", published_at=moment)
            state = "published since" if moment <= now else "scheduled for"
            replaced = f" (replaces {format_local(earlier, zone)})" if earlier not in (None, moment) else ""
            lines.append(f"{article.slug}: {state} {format_local(moment, zone)}{replaced}")
    for line in lines:
        echo(line)


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.text)
@params.customer_option
def unpublish(slugs: tuple[str, ...], customer: str | None) -> None:
    """Turn articles into drafts.

    All of them or, if one does not exist, none. They keep their dates, for when they are published again.
    """
    with customer_transaction(customer, writes=True) as owner:
        articles = get_articles(owner, slugs)
        for article in articles:
            _update(article, status="draft")
    for article in articles:
        echo(f"{article.slug}: draft")


def _update(article: Row[Any], **values: Any) -> None:
    """Write these columns of an article, and what search reads. Changes by other tools stay."""
    values |= search_columns(article.title, article.slug)
    db.session.execute(update(article_table).where(article_table.c.pk == article.pk).values(values))


@click.command("delete")
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.text)
@params.customer_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_articles(slugs: tuple[str, ...], customer: str | None, yes: bool) -> None:
    """Delete articles for good: all of them or none."""
    with customer_transaction(customer, writes=False) as owner:
        count = count_articles(len(get_articles(owner, slugs)))
    confirm(f"This deletes {count} for good.", yes)
    with customer_transaction(customer, writes=True) as owner:
        pks = [article.pk for article in get_articles(owner, slugs)]  # Some may be gone meanwhile.
        db.session.execute(delete(article_table).where(article_table.c.pk.in_(pks)))
    echo(f"Deleted {count}.")
