"""The `flask articles` commands: import, publish, unpublish, list."""

import shlex
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import click
from marshmallow import ValidationError
from sqlalchemy import RowMapping, select, update

from auth import CustomerName, KeyText
from content import save_articles, schema_markup
from errors import DatabaseCommands, Faults, Place
from models import Customer, article_table, begin_write, create_tables, db, searchable
from schemas import ArticleImportSchema, read_timestamp, timestamp
from sources import Source, read_sources


def load_articles(articles: Iterable[tuple[Place, Any]], faults: Faults) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Give those of the articles, as their JSON says, that are valid, by `Article` column. Others go to `faults`."""
    schema = ArticleImportSchema()
    for place, article in articles:
        try:
            yield place, schema.load(article)
        except ValidationError as error:
            for field, reasons in error.messages_dict.items():
                for reason in reasons:
                    faults.add(place, reason if field == "_schema" else f"{field[:80]}: {reason}")


def the_customer(name: str | None) -> Customer:
    """Find the customer of this name, or, without one, the only customer there is. Raises click.ClickException."""
    if name:
        customer = db.session.scalar(select(Customer).filter_by(name=name))
        if not customer:
            raise click.ClickException(
                f"There is no customer {name!r}. To make it, with a key: flask keys create {shlex.quote(name)}"
            )
        return customer
    customers = db.session.scalars(select(Customer).order_by(Customer.name)).all()
    if not customers:
        raise click.ClickException("There is no customer yet. To make one, with a key: flask keys create CUSTOMER")
    if len(customers) > 1:
        names = ", ".join(shlex.quote(customer.name) for customer in customers[:20])
        raise click.ClickException(f"There are several customers. Name one by --customer: {names}")
    return customers[0]


customer_option = click.option(
    "--customer", "name", type=CustomerName(), help="Whose articles. Not needed while there is one customer."
)


@click.group(cls=DatabaseCommands)
def articles() -> None:
    """Import, publish, unpublish and list articles."""


@articles.command("import")
@click.argument("sources", metavar="SOURCE...", nargs=-1, required=True, type=Source())
@customer_option
@click.option("--key", type=KeyText(), envvar="SOURCE_API_KEY", help="The other instance's key (or SOURCE_API_KEY).")
@click.option("--dry-run", is_flag=True, help="Say what would change, and write nothing.")
def import_articles(sources: tuple[str, ...], name: str | None, key: str | None, dry_run: bool) -> None:
    """Import articles: all of them, or, where anything is wrong, none.

    SOURCE is a .json file (an array, or an object whose "data" is one), a .jsonl file (JSON Lines), - for JSON Lines on
    standard input, or the http(s) address of another instance's articles endpoint.
    """
    if sources.count("-") > 1:
        raise click.UsageError("Standard input can be read only once.")
    create_tables()
    begin_write()
    faults = Faults()
    counts = save_articles(the_customer(name), load_articles(read_sources(sources, key, faults), faults), faults)
    faults.raise_any()
    if dry_run:
        db.session.rollback()
    else:
        db.session.commit()
    summary = ", ".join(f"{counts[state]} {state}" for state in ("new", "changed", "unchanged"))
    click.echo(summary + (" (dry run: nothing was written)" if dry_run else ""))


class Moment(click.ParamType[datetime]):
    """A timestamp with its zone."""

    name = "timestamp"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        try:
            return read_timestamp(value)
        except ValidationError as error:
            self.fail(error.messages[0], param, ctx)


@articles.command()
@click.argument("slug")
@click.option("--at", type=Moment(), help="When, with its zone: 2026-01-31T09:30:00Z. In the future: it is scheduled.")
@customer_option
def publish(slug: str, at: datetime | None, name: str | None) -> None:
    """Publish the article SLUG: as of its earlier publication, else now, or as --at says."""
    create_tables()
    begin_write()
    customer = the_customer(name)
    article = find_article(customer, slug)
    now = datetime.now(UTC)
    earlier = article["published_at"]
    published_at = at or (earlier if earlier and earlier <= now else now)
    change = {"status": "published", "published_at": published_at, **searchable(article["title"], slug)}
    if article["markup_is_made"]:
        try:
            change["schema_markup"] = schema_markup({**article, **change}, customer.name)
        except ValidationError as error:
            raise click.ClickException(f"schemaMarkup, as made from the article: {error.messages[0]}") from error
    db.session.execute(update(article_table).where(article_table.c.pk == article["pk"]).values(change))
    db.session.commit()
    click.echo(f"{slug}: {'published since' if published_at <= now else 'scheduled for'} {timestamp(published_at)}")


@articles.command()
@click.argument("slug")
@customer_option
def unpublish(slug: str, name: str | None) -> None:
    """Make the article SLUG a draft. It keeps its date, for when it is published again."""
    create_tables()
    begin_write()
    article = find_article(the_customer(name), slug)
    change = {"status": "draft", **searchable(article["title"], slug)}
    db.session.execute(update(article_table).where(article_table.c.pk == article["pk"]).values(change))
    db.session.commit()
    click.echo(f"{slug}: draft")


def find_article(customer: Customer, slug: str) -> RowMapping:
    """Find a customer's article. Raises click.ClickException where there is none."""
    text = slug.encode(errors="replace").decode()  # bytes that are no text make what no slug has: "?"
    same = select(article_table).where(article_table.c.customer_id == customer.id, article_table.c.slug == text)
    article = db.session.execute(same).mappings().first()
    if not article:
        raise click.ClickException(
            f"{customer.name} has no article with the slug {slug!r}. "
            f"To see all: flask articles list --customer {shlex.quote(customer.name)}"
        )
    return article


@articles.command("list")
@customer_option
def list_articles(name: str | None) -> None:
    """Print a line for each article, drafts first, then the latest: state, publication in UTC, slug, title."""
    create_tables()
    now = datetime.now(UTC)
    columns = article_table.c.status, article_table.c.published_at, article_table.c.slug, article_table.c.title
    latest_first = (article_table.c.status, article_table.c.published_at.desc(), article_table.c.id.desc())
    rows = select(*columns).where(article_table.c.customer_id == the_customer(name).id).order_by(*latest_first)
    for status, published_at, slug, title in db.session.execute(rows):
        state = "scheduled" if status == "published" and published_at > now else status
        text = "".join(character if character.isprintable() else " " for character in title)
        click.echo(f"{state}\t{timestamp(published_at) if published_at else '-'}\t{slug}\t{text}")
