"""`flask articles`: list, publish, unpublish and delete articles."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, tzinfo
from typing import Any

import click
import orjson
from flask import current_app
from sqlalchemy import Row, delete, update

from commands.support import params
from commands.support.groups import articles_group
from commands.support.lookup import (
    ARTICLE_SUMMARIES,
    MAX_NAMES,
    get_articles,
    get_articles_again,
    get_customer,
    get_customer_again,
)
from commands.support.session import command_session
from commands.support.terminal import confirm, echo, format_article_count
from content.search import search_columns
from fields import format_timestamp
from models import PUBLICATION_STATES, Article, Customer, db, publication_state
from schemas import ArticleImportSchema
from storage.queries import build_conditions

# with --json, besides the state
JSON_COLUMNS = "published_at", "slug", "title", "source", "source_key", "text_edited", "publication_edited"
JSON_SCHEMA = ArticleImportSchema(only=JSON_COLUMNS)
LEFT_ALONE = "Imports will now leave alone whether and when these are public"
GIVE_BACK = "To give them back: publicationEdited: false in flask articles edit SLUG."


@articles_group.command("list")
@click.option("--state", type=click.Choice(PUBLICATION_STATES), help="Only articles in this state.")
@click.option("--search", metavar="WORDS", type=params.text, default="", help="Only articles with all these words.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@params.customer_option
def list_articles(state: str | None, search: str, as_json: bool, customer: str | None) -> None:
    """List articles, one per line.

    Drafts come first, then pending articles, then all others, newest first. Each line has the state, the time of
    publication in TIMEZONE (with --json in UTC), the slug and the title. Articles from a source also show its name, and
    what is yours: imports leave that alone. --search looks for words in titles and slugs. The last line, on standard
    error, counts the articles in each state, even with --state.
    """
    now = datetime.now(UTC)
    zone = current_app.config["TIMEZONE"]
    counts = Counter[str]()
    with command_session(writes=False):
        owner = get_customer(customer)
        matches = ARTICLE_SUMMARIES.where(Article.customer_id == owner.id, *build_conditions({"q": search}))
        order = Article.status, Article.published_at.desc().nulls_last(), Article.id.desc()
        for row in db.session.execute(matches.order_by(*order)):
            row_state = publication_state(row.status, row.published_at, now)
            counts[row_state] += 1
            if state in (None, row_state):
                if as_json:
                    click.echo(orjson.dumps({"state": row_state} | JSON_SCHEMA.dump(row._mapping)))
                else:
                    date = _format_local(row.published_at, zone) if row.published_at else "-"
                    echo(row_state, date, row.slug, row.title, *_format_source(row))
    times = "" if as_json or zone is UTC else f" (times in {zone})"
    echo(", ".join(f"{counts[name]} {name}" for name in PUBLICATION_STATES) + times, err=True)


def _format_source(row: Any) -> list[str]:
    """Return the source of an article that has one, and what is yours, as a cell of a line."""
    flags = {"text": row.text_edited, "publication": row.publication_edited}
    yours = ", ".join(name for name, is_set in flags.items() if is_set)
    return [f"{row.source} (yours: {yours})" if yours else row.source] if row.source else []


@articles_group.command()
@click.argument("slugs", metavar="[SLUG...]", nargs=-1, type=params.text)
@click.option(
    "--at",
    metavar="TIMESTAMP",
    type=params.local_time,
    help='Time of publication, such as 2030-01-31 or "2030-01-31 09:30".',
)
@click.option("--pending", is_flag=True, help="Publish all pending articles that have a date.")
@params.customer_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation (with --pending).")
def publish(slugs: tuple[str, ...], at: datetime | None, pending: bool, customer: str | None, yes: bool) -> None:
    """Publish articles, now or at a given time.

    Without --at, an article that was published before keeps its date, and a pending one with a date in the future is
    scheduled. Times without a UTC offset are in TIMEZONE. If an article does not exist, nothing changes.
    """
    if pending and (slugs or at is not None):
        raise click.UsageError("--pending publishes all pending articles, so it takes neither SLUG nor --at.")
    if not pending and not slugs:
        raise click.UsageError("Name the articles to publish, or add --pending.")
    if pending:
        _publish_pending(customer, yes=yes)
    else:
        _publish_slugs(slugs, at, customer)


def _publish_slugs(slugs: tuple[str, ...], at: datetime | None, customer: str | None) -> None:
    """Publish the named articles, and print a line for each."""
    now = datetime.now(UTC)
    zone = current_app.config["TIMEZONE"]
    rows = []
    lines = []
    with _articles_to_change(slugs, customer) as articles:
        for article in articles:
            earlier = article.published_at
            moment = at or _publication_time(article, now)
            state = publication_state(article.status, earlier, now)
            # A pending article is published by its source too, unless it gets another date.
            is_yours = article.publication_edited or at is not None or state in ("draft", "scheduled")
            rows.append(_values_to_update(article, "published", moment, is_yours=is_yours))
            shown = "published since" if moment <= now else "scheduled for"
            replaced = f" (was {_format_local_and_utc(earlier, zone)})" if earlier not in (None, moment) else ""
            lines.append(f"{article.slug}: {shown} {_format_local_and_utc(moment, zone)}{replaced}")
        db.session.execute(update(Article), rows)
    for line in lines:
        echo(line)
    _report_yours(articles, rows)


def _publication_time(article: Row[Any], now: datetime) -> datetime:
    """Return when an article is published unless a time is given.

    A date in the future is kept only if the article is pending: the system that it came from had scheduled it.
    """
    date: datetime | None = article.published_at
    return date if date and (date <= now or article.status == "pending") else now


def _report_yours(articles: list[Row[Any]], rows: list[dict[str, Any]]) -> None:
    """Name the articles from a source that imports will leave alone from now on."""
    marked = {row["pk"] for row in rows if row["publication_edited"]}
    new = [row.slug for row in articles if row.pk in marked and row.source and not row.publication_edited]
    if new:
        echo(f"{LEFT_ALONE}: {_shorten(new)}. {GIVE_BACK}", err=True)


def _shorten(slugs: list[str]) -> str:
    """Return the first slugs, separated by commas."""
    return ", ".join([*slugs[:MAX_NAMES], "…"] if len(slugs) > MAX_NAMES else slugs)


def _publish_pending(customer: str | None, *, yes: bool) -> None:
    """After confirmation, publish or schedule the pending articles that have a date, and print how many."""
    now = datetime.now(UTC)
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        pending = _pending_articles(owner)
    if undated := [article.slug for article in pending if not article.published_at]:
        advice = "To publish one now: flask articles publish SLUG."
        echo(f"Without a date, so they stay pending: {_shorten(undated)}. {advice}", err=True)
    publishable = [article for article in pending if article.published_at]
    if not publishable:
        echo("There are no pending articles with a date." if pending else "There are no pending articles.")
        return
    published, scheduled = _count_published_and_scheduled(publishable, now)
    confirm(f"This publishes {format_article_count(published)} and schedules {scheduled}.", yes)
    confirmed = {(article.pk, article.id) for article in publishable}
    with command_session(writes=True):
        pending = _pending_articles(get_customer_again(owner))
        articles = [row for row in pending if row.published_at and (row.pk, row.id) in confirmed]
        rows = [
            _values_to_update(row, "published", row.published_at, is_yours=row.publication_edited) for row in articles
        ]
        if rows:
            db.session.execute(update(Article), rows)
    published, scheduled = _count_published_and_scheduled(articles, now)
    echo(f"{published} published, {scheduled} scheduled")


def _pending_articles(owner: Customer) -> list[Any]:
    """Return summaries of a customer's pending articles."""
    pending = Article.customer_id == owner.id, Article.status == "pending"
    return list(db.session.execute(ARTICLE_SUMMARIES.where(*pending)))


def _count_published_and_scheduled(articles: list[Row[Any]], now: datetime) -> tuple[int, int]:
    """Return how many of the articles become visible now when they are published, and how many are scheduled."""
    scheduled = sum(article.published_at > now for article in articles)
    return len(articles) - scheduled, scheduled


@articles_group.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.text)
@params.customer_option
def unpublish(slugs: tuple[str, ...], customer: str | None) -> None:
    """Turn articles into drafts.

    They keep their dates for when they are published again. If an article does not exist, nothing changes.
    """
    with _articles_to_change(slugs, customer) as articles:
        rows = [_values_to_update(article, "draft", article.published_at, is_yours=True) for article in articles]
        db.session.execute(update(Article), rows)
    for article in articles:
        echo(f"{article.slug}: draft")
    _report_yours(articles, rows)


@contextmanager
def _articles_to_change(slugs: tuple[str, ...], customer: str | None) -> Iterator[list[Row[Any]]]:
    """Yield summaries of the named articles, in a transaction that may change them.

    Raises click.ClickException if one does not exist. The closest slug is found before the database is locked, because
    that takes seconds with many articles.
    """
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        articles = get_articles(owner, slugs)
    with command_session(writes=True):
        yield get_articles_again(get_customer_again(owner), articles)


def _values_to_update(
    article: Row[Any], status: str, published_at: datetime | None, *, is_yours: bool
) -> dict[str, Any]:
    """Return new values for an article, and its search columns in case another tool changed the title or slug."""
    decided = {"status": status, "published_at": published_at, "publication_edited": is_yours}
    return {"pk": article.pk, **decided, **search_columns(article.title, article.slug)}


@articles_group.command("delete")
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.text)
@params.customer_option
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete_articles(slugs: tuple[str, ...], customer: str | None, yes: bool) -> None:
    """Delete articles permanently. If one does not exist, none is deleted."""
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        articles = get_articles(owner, slugs)  # raises if one does not exist
    count = format_article_count(len(articles))
    if imported := [article.slug for article in articles if article.source]:
        advice = "To hide them instead: flask articles unpublish."
        echo(f"The next import from their source brings these back: {_shorten(imported)}. {advice}", err=True)
    confirm(f"This permanently deletes {count}.", yes)
    with command_session(writes=True):
        pks = [article.pk for article in get_articles_again(get_customer_again(owner), articles)]
        db.session.execute(delete(Article).where(Article.pk.in_(pks)))
    echo(f"Deleted {count}.")


def _format_local(moment: datetime, zone: tzinfo) -> str:
    """Return a datetime in UTC as a local time, to the minute; with `zone` UTC, as the API's timestamp.

    A local time in the year 0 or 10000, which Python does not have, becomes the nearest one that it has.
    """
    if zone is UTC:
        return format_timestamp(moment)
    try:
        local = moment.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        local = datetime.min if moment.year == 1 else datetime.max
    return local.isoformat(" ", "minutes")


def _format_local_and_utc(moment: datetime, zone: tzinfo) -> str:
    """Return a datetime in UTC as a local time with the zone's name, followed by the API's timestamp."""
    timestamp = format_timestamp(moment)
    return timestamp if zone is UTC else f"{_format_local(moment, zone)} {zone}, {timestamp}"
