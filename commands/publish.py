"""`flask articles publish` and `unpublish`: decide here whether and when articles are public."""

from datetime import UTC, datetime
from typing import Any

import click
from flask import current_app
from sqlalchemy import Row, update

from commands.support import params
from commands.support.groups import articles_group
from commands.support.lookup import MAX_NAMES, get_articles, get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import confirm, echo, format_article_count, format_local_and_utc
from models import Article, Customer, db, publication_state
from storage.queries import ARTICLE_SUMMARIES
from transfer.report import shorten


@articles_group.command()
@click.argument("slugs", metavar="[SLUG...]", nargs=-1)
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

    Without --at, dates in the past stay, and a pending article with a date in the future is scheduled. Times without a
    UTC offset are in TIMEZONE. If an article does not exist, nothing changes.
    """
    if pending and (slugs or at is not None):
        raise click.UsageError("--pending publishes all pending articles, so it takes neither SLUG nor --at.")
    if not pending and not slugs:
        raise click.UsageError("Name the articles to publish, or add --pending.")
    if pending:
        _publish_pending(customer, yes=yes)
    else:
        _publish_slugs(slugs, at, customer)


@articles_group.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@params.customer_option
def unpublish(slugs: tuple[str, ...], customer: str | None) -> None:
    """Turn articles into drafts.

    They keep their dates for when they are published again. If an article does not exist, nothing changes.
    """
    with command_session(writes=True):
        articles = get_articles(get_customer(customer, for_changes=True), slugs)
        rows = [{"pk": article.pk, "status": "draft", "publication_edited": True} for article in articles]
        db.session.execute(update(Article), rows)
    for article in articles:
        echo(f"{article.slug}: draft")
    _report_yours(articles, rows)


def _publish_slugs(slugs: tuple[str, ...], at: datetime | None, customer: str | None) -> None:
    """Publish the named articles, and print a line for each."""
    now = datetime.now(UTC)
    with command_session(writes=True):
        articles = get_articles(get_customer(customer, for_changes=True), slugs)
        rows = [_published(article, at, now) for article in articles]
        db.session.execute(update(Article), rows)
    for article, row in zip(articles, rows, strict=True):
        echo(f"{article.slug}: {_describe_publication(article.published_at, row['published_at'], now)}")
    _report_yours(articles, rows)


def _published(article: Row[Any], at: datetime | None, now: datetime) -> dict[str, Any]:
    """Return the new values of an article that is published now, or `at` a given time.

    Without that, a past date stays. So does a future date of a pending article, which its source has scheduled.
    Publishing a pending article agrees with its source. Anything else is a decision made here.
    """
    date: datetime | None = article.published_at
    keeps_date = date and (date <= now or article.status == "pending")
    differs = at is not None or publication_state(article.status, date, now) in ("draft", "scheduled")
    return {
        "pk": article.pk,
        "status": "published",
        "published_at": at or (date if keeps_date else now),
        "publication_edited": article.publication_edited or differs,
    }


def _describe_publication(before: datetime | None, moment: datetime, now: datetime) -> str:
    """Return since or for when an article is published, and its earlier date if that was another one."""
    zone = current_app.config["TIMEZONE"]
    shown = "published since" if moment <= now else "scheduled for"
    replaced = f" (was {format_local_and_utc(before, zone)})" if before not in (None, moment) else ""
    return f"{shown} {format_local_and_utc(moment, zone)}{replaced}"


def _report_yours(articles: list[Row[Any]], rows: list[dict[str, Any]]) -> None:
    """Name the articles from a source that imports will leave alone from now on."""
    pairs = zip(articles, rows, strict=True)
    new = [old.slug for old, row in pairs if old.source and row["publication_edited"] and not old.publication_edited]
    if new:
        advice = "To let them, set publicationEdited to false: flask articles edit SLUG"
        echo(
            f"Imports will no longer change whether and when these are public: {shorten(new, MAX_NAMES)}. {advice}",
            err=True,
        )


def _publish_pending(customer: str | None, *, yes: bool) -> None:
    """After confirmation, publish or schedule the pending articles that have a date, and print how many."""
    now = datetime.now(UTC)
    with command_session(writes=False):
        owner = get_customer(customer, for_changes=True)
        dated, undated = _read_pending(owner)
    if undated:
        names = shorten([article.slug for article in undated], MAX_NAMES)
        advice = "To publish one now: flask articles publish SLUG."
        echo(f"Without a date, so they stay pending: {names}. {advice}", err=True)
    if not dated:
        echo("There are no pending articles with a date." if undated else "There are no pending articles.")
        return
    scheduled = sum(article.published_at > now for article in dated)
    confirm(f"This publishes {format_article_count(len(dated) - scheduled)} and schedules {scheduled}.", yes)
    confirmed = {(article.pk, article.id) for article in dated}
    with command_session(writes=True):
        again, _ = _read_pending(get_customer_again(owner))
        articles = [article for article in again if (article.pk, article.id) in confirmed]
        if articles:
            db.session.execute(update(Article), [{"pk": article.pk, "status": "published"} for article in articles])
    scheduled = sum(article.published_at > now for article in articles)
    echo(f"{len(articles) - scheduled} published, {scheduled} scheduled")


def _read_pending(owner: Customer) -> tuple[list[Any], list[Any]]:
    """Return summaries of a customer's pending articles: those with a date, and those without."""
    pending = Article.customer_id == owner.id, Article.status == "pending"
    rows = list(db.session.execute(ARTICLE_SUMMARIES.where(*pending)))
    return [row for row in rows if row.published_at], [row for row in rows if not row.published_at]
