"""`flask articles`: import, export, publish, unpublish, delete and list articles."""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from typing import Any

import click
from sqlalchemy import delete, select, update

from commands import DatabaseGroup, confirm, echo_notes, params, progress_bar
from commands.edit import edit
from commands.lookup import get_customer, require_slugs
from commands.params import customer_option
from commands.preview import preview
from commands.watch import watch
from field_types import format_timestamp, printable
from importing.article_files import write_folder
from importing.errors import ImportErrors, SourceOptions
from importing.export import export_articles, select_articles
from importing.instance import is_filtered
from importing.json_files import dump_line
from importing.sources import open_sources
from importing.writer import load_articles, save_articles
from models import article_table, db, publication_state
from settings import load_environment
from storage.engine import release_connection, write_transaction
from storage.search import search_columns
from storage.tables import open_database


@click.group(cls=DatabaseGroup)
def articles() -> None:
    """Import, export, edit, publish, unpublish, delete, list, preview and watch articles."""


articles.add_command(edit)
articles.add_command(preview)
articles.add_command(watch)


@articles.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=params.source)
@customer_option
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
    sources: tuple[str, ...],
    name: str | None,
    key: str | None,
    site: str,
    zone: tzinfo,
    dry_run: bool,
    unpublish_missing: bool,
) -> None:
    """Import articles: all of them or, if anything is wrong, none.

    SOURCE is a WordPress export (.xml), a Ghost export (.json), a folder or a file of Markdown or HTML with front
    matter (.md, .html), a table (.csv), a .json file (an array, or an object whose "data" is one), a .jsonl file (JSON
    Lines), - for JSON Lines on standard input, or the http(s) URL of another instance's articles endpoint.
    """
    _check_sources(sources, unpublish_missing)
    open_database()
    get_customer(name, changes=True)
    release_connection()
    errors = ImportErrors()
    with (
        open_sources(sources, SourceOptions(key, site, zone), errors) as records,
        progress_bar("Importing", records) as bar,
        write_transaction(),  # only now: other writers need not wait for a source
    ):
        customer = get_customer(name, changes=True)  # again: it may be gone or renamed meanwhile
        articles = load_articles(bar, errors)
        counts = save_articles(customer, articles, errors, unpublish_missing=unpublish_missing)
        errors.raise_if_any()
        if dry_run:
            db.session.rollback()
    echo_notes(errors)
    if dry_run:
        _echo_changes(errors, counts["new"] + counts["changed"])
    click.echo(_summary(counts, unpublish_missing) + (" (dry run: nothing was written)" if dry_run else ""))


def _check_sources(sources: tuple[str, ...], unpublish_missing: bool) -> None:
    if sources.count("-") > 1:
        raise click.UsageError("Standard input can be read only once.")
    if unpublish_missing and any(map(is_filtered, sources)):
        raise click.ClickException("With --unpublish-missing, a URL must ask for all articles. Remove q from the URL.")


def _echo_changes(errors: ImportErrors, total: int) -> None:
    """Print a line for each of the first new and changed articles: its slug, and the fields that change."""
    for slug, fields in errors.changes:
        click.echo(f"{printable(slug)}: {', '.join(fields) or 'new'}")
    if total > len(errors.changes):
        click.echo(f"… and {total - len(errors.changes)} more")


def _summary(counts: Counter[str], unpublish_missing: bool) -> str:
    summary = ", ".join(f"{counts[name]} {name}" for name in ("new", "changed", "unchanged"))
    if unpublish_missing:
        summary += f", {counts['unpublished']} unpublished"
    states = ", ".join(f"{counts[state]} {state}" for state in ("published", "scheduled", "draft") if counts[state])
    return summary + (f" (new: {states})" if states else "")


@contextmanager
def edit_article(slug: str, name: str | None) -> Iterator[dict[str, Any]]:
    """Yield an article of the customer, by column, and write it as it is afterwards, with its derived columns.

    Raises click.ClickException if there is no such article.
    """
    open_database()
    with write_transaction():
        customer = get_customer(name, changes=True)
        require_slugs(customer, (slug,))
        stored = db.session.execute(select_articles(customer, (slug,))).mappings().one()
        article = dict(stored)
        yield article
        article |= search_columns(article["title"], article["slug"])
        db.session.execute(update(article_table).where(article_table.c.pk == article["pk"]).values(article))


@articles.command()
@click.argument("slug", type=params.slug)
@click.option("--at", type=params.timestamp, help="When, as in 2026-01-31T09:30:00Z. In the future: it is scheduled.")
@customer_option
def publish(slug: str, at: datetime | None, name: str | None) -> None:
    """Publish the article SLUG: as of its earlier publication, else now, or as --at says."""
    now = datetime.now(UTC)
    with edit_article(slug, name) as article:
        earlier = article["published_at"]
        moment = at or (earlier if earlier and earlier <= now else now)
        article |= {"status": "published", "published_at": moment}
    state = "published since" if moment <= now else "scheduled for"
    click.echo(f"{printable(slug)}: {state} {format_timestamp(moment)}")


@articles.command()
@click.argument("slug", type=params.slug)
@customer_option
def unpublish(slug: str, name: str | None) -> None:
    """Turn the article SLUG into a draft. It keeps its date, for when it is published again."""
    with edit_article(slug, name) as article:
        article["status"] = "draft"
    click.echo(f"{printable(slug)}: draft")


@articles.command("list")
@customer_option
def list_articles(name: str | None) -> None:
    """Print a line for each article, drafts first, then the latest: state, publication in UTC, slug, title."""
    open_database()
    now = datetime.now(UTC)
    columns = article_table.c.status, article_table.c.published_at, article_table.c.slug, article_table.c.title
    latest_first = (article_table.c.status, article_table.c.published_at.desc().nulls_last(), article_table.c.id.desc())
    own = article_table.c.customer_id == get_customer(name, changes=False).id
    rows = select(*columns).where(own).order_by(*latest_first)
    for status, published_at, slug, title in db.session.execute(rows):
        state = publication_state(status, published_at, now)
        moment = format_timestamp(published_at) if published_at else "-"
        click.echo(f"{state}\t{moment}\t{printable(slug)}\t{printable(title)}")


@articles.command()
@click.argument("slugs", metavar="[SLUG...]", nargs=-1, type=params.slug)
@customer_option
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
        number = _write_folder(folder, records)
        click.echo(f"Wrote {number} {'article' if number == 1 else 'articles'} to {folder}.", err=True)
    else:
        sys.stdout.buffer.writelines(map(dump_line, records))
        sys.stdout.buffer.flush()


def _write_folder(folder: Path, records: Iterator[dict[str, Any]]) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return write_folder(folder, records)
    except OSError as error:
        message = f"{error.filename} cannot be written ({error.strerror}). The export is not complete."
        raise click.ClickException(message) from error


@articles.command("delete")
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.slug)
@customer_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_articles(slugs: tuple[str, ...], name: str | None, yes: bool) -> None:
    """Delete the articles for good: all of them or, if one does not exist, none."""
    open_database()
    require_slugs(get_customer(name, changes=True), slugs)
    count = f"{len(set(slugs))} {'article' if len(set(slugs)) == 1 else 'articles'}"
    confirm(f"This deletes {count} for good.", yes)
    with write_transaction():
        customer = get_customer(name, changes=True)
        require_slugs(customer, slugs)  # again: they may be gone meanwhile
        db.session.execute(
            delete(article_table).where(article_table.c.customer_id == customer.id, article_table.c.slug.in_(slugs))
        )
    click.echo(f"Deleted {count}.")
