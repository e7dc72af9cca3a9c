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
from commands.support.lookup import ARTICLE_SUMMARIES, MAX_NAMES, get_articles, get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import confirm, echo, format_article_count
from content.search import search_columns
from fields import format_timestamp
from models import PUBLICATION_STATES, UNKNOWN_ORIGIN, Article, Customer, db, publication_state
from schemas import ArticleImportSchema
from storage.queries import build_conditions
from transfer.origins import source_of

# with --json, besides the state
JSON_SCHEMA = ArticleImportSchema(only=["published_at", "slug", "title", "origin", "claim", "claimed_at", "edited"])


@articles_group.command("list")
@click.option("--state", type=click.Choice(PUBLICATION_STATES), help="Only articles in this state.")
@click.option("--search", metavar="WORDS", type=params.text, default="", help="Only articles with all these words.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines.")
@params.customer_option
def list_articles(state: str | None, search: str, as_json: bool, customer: str | None) -> None:
    """List articles, one per line.

    Drafts come first, then pending articles, then all others, newest first. Each line has the state, the time of
    publication in TIMEZONE (with --json in UTC), the slug and the title. Articles from a source also show its name, and
    "(edited here)" if imports leave them alone. --search looks for words in titles and slugs. The last line, on
    standard error, counts the articles in each state, including those that --state leaves out.
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
    """Return the source of an article that has one, and whether it was edited here, as a cell of a line."""
    source = "unknown source" if row.origin == UNKNOWN_ORIGIN else source_of(row.origin)
    mark = " (edited here)" if row.edited else ""
    return [f"{source}{mark}"] if source else []


@articles_group.command()
@click.argument("slugs", metavar="[SLUG...]", nargs=-1, type=params.text)
@click.option(
    "--at",
    metavar="TIMESTAMP",
    type=params.local_time,
    help='Time of publication, such as 2030-01-31 or "2030-01-31 09:30".',
)
@click.option("--pending", is_flag=True, help="Publish all pending articles that their source publishes.")
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
            rows.append(_values_to_update(article, status="published", published_at=moment))
            state = "published since" if moment <= now else "scheduled for"
            replaced = f" (was {_format_local_and_utc(earlier, zone)})" if earlier not in (None, moment) else ""
            lines.append(f"{article.slug}: {state} {_format_local_and_utc(moment, zone)}{replaced}")
        db.session.execute(update(Article), rows)
    for line in lines:
        echo(line)


def _publication_time(article: Row[Any], now: datetime) -> datetime:
    """Return when an article is published unless a time is given.

    A date in the future is kept only if the article is pending: the system that it came from had scheduled it.
    """
    date: datetime | None = article.published_at
    return date if date and (date <= now or article.status == "pending") else now


def _publish_pending(customer: str | None, *, yes: bool) -> None:
    """After confirmation, publish or schedule the pending articles that their source publishes, and print how many."""
    now = datetime.now(UTC)
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        pending = _pending_articles(owner)
    publishable = [article for article in pending if article.claim == "published"]
    if others := len(pending) - len(publishable):
        reason = "will stay pending, because their source does not publish them"
        echo(f"{format_article_count(others)} {reason}. To see them: flask articles list --state pending", err=True)
    if not publishable:
        echo("No pending articles are published by their source." if pending else "There are no pending articles.")
        return
    published, scheduled = _count_published_and_scheduled(publishable, now)
    confirm(f"This publishes {format_article_count(published)} and schedules {scheduled}.", yes)
    confirmed = {article.pk for article in publishable}
    with command_session(writes=True):
        pending = _pending_articles(get_customer_again(owner))
        articles = [article for article in pending if article.claim == "published" and article.pk in confirmed]
        if rows := [_pending_values(article, now) for article in articles]:
            db.session.execute(update(Article), rows)
    published, scheduled = _count_published_and_scheduled(articles, now)
    echo(f"{published} published, {scheduled} scheduled")


def _pending_articles(owner: Customer) -> list[Any]:
    """Return summaries of a customer's pending articles."""
    pending = Article.customer_id == owner.id, Article.status == "pending"
    return list(db.session.execute(ARTICLE_SUMMARIES.where(*pending)))


def _pending_values(article: Row[Any], now: datetime) -> dict[str, Any]:
    """Return the new values of a pending article that is published or scheduled.

    An article without a date is dated now. That counts as the source's date, so the source can still change it.
    """
    moment = _publication_time(article, now)
    claimed_at = article.claimed_at if article.published_at else moment
    return _values_to_update(article, status="published", published_at=moment, claimed_at=claimed_at)


def _count_published_and_scheduled(articles: list[Row[Any]], now: datetime) -> tuple[int, int]:
    """Return how many of the articles become visible now when they are published, and how many are scheduled."""
    scheduled = sum(_publication_time(article, now) > now for article in articles)
    return len(articles) - scheduled, scheduled


@articles_group.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.text)
@params.customer_option
def unpublish(slugs: tuple[str, ...], customer: str | None) -> None:
    """Turn articles into drafts.

    They keep their dates for when they are published again. If an article does not exist, nothing changes.
    """
    with _articles_to_change(slugs, customer) as articles:
        db.session.execute(update(Article), [_values_to_update(article, status="draft") for article in articles])
    for article in articles:
        echo(f"{article.slug}: draft")


@contextmanager
def _articles_to_change(slugs: tuple[str, ...], customer: str | None) -> Iterator[list[Row[Any]]]:
    """Yield summaries of the named articles, in a transaction that may change them.

    Raises click.ClickException if one does not exist. The closest slug is found before the database is locked, because
    that takes seconds with many articles.
    """
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        get_articles(owner, slugs)
    with command_session(writes=True):
        yield get_articles(get_customer_again(owner), slugs)


def _values_to_update(article: Row[Any], **values: Any) -> dict[str, Any]:
    """Return new values for an article, and its search columns in case another tool changed the title or slug."""
    return {"pk": article.pk, **values, **search_columns(article.title, article.slug)}


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
    imported = [article.slug for article in articles if article.origin]  # "?" too, since a source may have it
    if imported:
        names = ", ".join(imported[:MAX_NAMES])
        advice = "To hide them instead: flask articles unpublish."
        echo(f"The next import from their source may bring these back: {names}. {advice}", err=True)
    confirm(f"This permanently deletes {count}.", yes)
    with command_session(writes=True):
        owner = get_customer_again(owner)
        pks = [article.pk for article in get_articles(owner, slugs)]
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
