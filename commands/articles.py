"""`flask articles`: list, publish, unpublish and delete articles."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import click
import orjson
from flask import current_app
from sqlalchemy import Row, delete, select, update

from commands import count_articles, echo, params
from commands.local_time import format_local, timestamp
from commands.lookup import confirm, customer_transaction, get_articles
from content.search import search_columns
from fields import format_timestamp
from models import Article, db, publication_state
from storage.queries import filter_parameters, matching

STATES = "published", "scheduled", "draft"


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
        rows = select(Article.status, Article.published_at, Article.slug, Article.title)
        words = filter_parameters({"q": search})
        matches = rows.where(Article.customer_id == owner.id, *matching(words, db.engine.dialect.name))
        latest_first = Article.status, Article.published_at.desc().nulls_last(), Article.id.desc()
        for row in db.session.execute(matches.order_by(*latest_first), words):
            row_state = publication_state(row.status, row.published_at, now)
            if state in (None, row_state):
                counts[row_state] += 1
                moment = format_timestamp(row.published_at) if row.published_at else None
                record = {"state": row_state, "publishedAt": moment, "slug": row.slug, "title": row.title}
                if as_json:
                    click.echo(orjson.dumps(record))
                else:
                    echo(*(value or "-" for value in record.values()))
    echo(", ".join(f"{counts[name]} {name}" for name in STATES), err=True)


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.text)
@click.option("--at", type=timestamp, help='When, as in 2030-01-31 or "2030-01-31 09:30".')
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
    """Write these columns alone, and those of search again: another tool may have changed title or slug."""
    values |= search_columns(article.title, article.slug)
    db.session.execute(update(Article).where(Article.pk == article.pk).values(values))


@click.command("delete")
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True, type=params.text)
@params.customer_option
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_articles(slugs: tuple[str, ...], customer: str | None, yes: bool) -> None:
    """Delete articles for good: all of them or none."""
    count = count_articles(len(set(slugs)))
    confirm(f"This deletes {count} for good.", yes)
    with customer_transaction(customer, writes=True) as owner:
        pks = [article.pk for article in get_articles(owner, slugs)]
        db.session.execute(delete(Article).where(Article.pk.in_(pks)))
    echo(f"Deleted {count}.")
