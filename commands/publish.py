"""`flask articles publish` and `unpublish`."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click
from sqlalchemy import Row, update

from commands import params
from commands.lookup import get_customer, require_slugs
from field_types import format_timestamp, printable
from importing.export import select_articles
from models import article_table, db
from storage.engine import write_transaction
from storage.search import search_columns
from storage.tables import open_database


@click.command()
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
            if moment > now and earlier not in (None, moment):
                line += f" (replaces {format_timestamp(earlier)})"
            lines.append(line)
    click.echo("\n".join(lines))


@click.command()
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
