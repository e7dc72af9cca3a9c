"""The `flask articles` commands: import, publish, unpublish, list."""

import shlex
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click
from marshmallow import ValidationError
from sqlalchemy import select, update

from auth import CustomerName, KeyText
from content import save_articles, schema_markup
from database import NO_CUSTOMER, begin_write, commit_write, update_tables
from errors import DatabaseCommands, Faults, Place, printable
from models import Customer, article_table, db
from schemas import ArticleImportSchema, read_timestamp, timestamp
from search import searchable
from sources import Source, open_sources, read_lines


def load_articles(articles: Iterable[tuple[Place, Any]], faults: Faults) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Give those of the articles, as their JSON says, that are valid, by `Article` column. Others go to `faults`."""
    schema = ArticleImportSchema()
    for place, article in articles:
        try:
            yield place, schema.load(article)
        except ValidationError as error:
            wrong = sorted(error.messages_dict.items())
            if isinstance(article, dict):
                faults.add(place, " ".join(f"{name}: {reasons[0]}" for name, reasons in wrong))
                faults.refused.add(str(article.get("id")))
            else:
                faults.add(place, wrong[0][1][0])


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
        raise click.ClickException(NO_CUSTOMER)
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
    update_tables()
    customer = the_customer(name)
    db.session.rollback()
    faults = Faults()
    with open_sources(sources, key, faults) as opened:  # before other writers have to wait
        begin_write()
        counts = save_articles(customer, load_articles(read_lines(opened, faults), faults), faults)
    faults.raise_any()
    if dry_run:
        db.session.rollback()
    else:
        commit_write()
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


@contextmanager
def change_article(slug: str, name: str | None) -> Iterator[dict[str, Any]]:
    """Give an article of the customer, by column, and write it as it then is, with what follows from it.

    Raises click.ClickException where there is no such article.
    """
    update_tables()
    begin_write()
    customer = the_customer(name)
    text = slug.encode(errors="replace").decode()  # bytes that are no text make what no slug has: "?"
    same = select(article_table).where(article_table.c.customer_id == customer.id, article_table.c.slug == text)
    stored = db.session.execute(same).mappings().first()
    if not stored:
        raise click.ClickException(
            f"{customer.name} has no article with the slug {slug[:200]!r}. "
            f"To see all: flask articles list --customer {shlex.quote(customer.name)}"
        )
    article = dict(stored)
    yield article
    article |= searchable(article["title"], article["slug"])
    if article["markup_is_made"]:
        article["schema_markup"] = schema_markup(article, customer.name)
    db.session.execute(update(article_table).where(article_table.c.pk == article["pk"]).values(article))
    commit_write()


@articles.command()
@click.argument("slug")
@click.option("--at", type=Moment(), help="When, with its zone: 2026-01-31T09:30:00Z. In the future: it is scheduled.")
@customer_option
def publish(slug: str, at: datetime | None, name: str | None) -> None:
    """Publish the article SLUG: as of its earlier publication, else now, or as --at says."""
    now = datetime.now(UTC)
    with change_article(slug, name) as article:
        earlier = article["published_at"]
        moment = at or (earlier if earlier and earlier <= now else now)
        article |= {"status": "published", "published_at": moment}
    click.echo(f"{printable(slug)}: {'published since' if moment <= now else 'scheduled for'} {timestamp(moment)}")


@articles.command()
@click.argument("slug")
@customer_option
def unpublish(slug: str, name: str | None) -> None:
    """Make the article SLUG a draft. It keeps its date, for when it is published again."""
    with change_article(slug, name) as article:
        article["status"] = "draft"
    click.echo(f"{printable(slug)}: draft")


@articles.command("list")
@customer_option
def list_articles(name: str | None) -> None:
    """Print a line for each article, drafts first, then the latest: state, publication in UTC, slug, title."""
    update_tables()
    now = datetime.now(UTC)
    columns = article_table.c.status, article_table.c.published_at, article_table.c.slug, article_table.c.title
    latest_first = (article_table.c.status, article_table.c.published_at.desc().nulls_last(), article_table.c.id.desc())
    rows = select(*columns).where(article_table.c.customer_id == the_customer(name).id).order_by(*latest_first)
    for status, published_at, slug, title in db.session.execute(rows):
        state = "scheduled" if status == "published" and published_at > now else status
        moment = timestamp(published_at) if published_at else "-"
        click.echo(f"{state}\t{moment}\t{printable(slug)}\t{printable(title)}")
