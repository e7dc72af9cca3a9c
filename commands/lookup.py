"""The customer, articles and transaction that a command works with."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from typing import Any

import click
from sqlalchemy import select

from commands import echo, is_interactive
from models import Customer, article_table, db
from storage import engine, tables
from storage.engine import release_connection

DEMO_CUSTOMER = "Demo"
MAX_NAMES = 20  # customers that an error lists


def open_database(*, create: bool = False) -> None:
    """Open the database as `storage.tables.open_database` does, and print what it created or upgraded."""
    for line in tables.open_database(create=create):
        echo(line, err=True)


@contextmanager
def write_transaction(*, create: bool = False) -> Iterator[None]:
    """Open the database and a transaction that writes, which is committed when the block ends."""
    open_database(create=create)
    with engine.write_transaction():
        yield


@contextmanager
def customer_transaction(customer: str | None, *, writes: bool) -> Iterator[Customer]:
    """Open the database and a transaction, and yield the customer that `get_customer` finds."""
    if not writes:
        open_database()
    with write_transaction() if writes else nullcontext():
        yield get_customer(customer, changes=writes)


def confirm(warning: str, yes: bool) -> None:
    """Ask on a terminal whether to go on, unless `yes`, with no connection to the database.

    Raises click.UsageError if nobody can be asked.
    """
    release_connection()
    if yes:
        return
    if not is_interactive():
        raise click.UsageError(f"{warning} Add --yes to confirm.")
    click.confirm(f"{warning} Continue?", abort=True, err=True)


def get_customer(name: str | None, *, changes: bool) -> Customer:
    """Return the customer of this name or, without a name, the only customer.

    A command that changes the demo must name it, so that nobody's own articles end up there. Raises
    click.ClickException.
    """
    customers = db.session.scalars(select(Customer).order_by(Customer.name)).all()
    names = ", ".join(shlex.quote(customer.name) for customer in customers[:MAX_NAMES])
    if name:
        if found := find_customer(name):
            return found
        existing = f" The existing ones: {names}." if names else ""
        command = f"flask keys create {shlex.quote(name)}"
        raise click.ClickException(f"There is no customer {name!r}.{existing} To create it, with a key: {command}")
    if not customers:
        raise click.ClickException("There is no customer yet. To create one, with a key: flask keys create CUSTOMER")
    if len(customers) > 1:
        raise click.ClickException(f"There are several customers. Choose one with --customer: {names}")
    if changes and customers[0].name == DEMO_CUSTOMER:
        raise click.ClickException(
            "The only customer is the demo. Make one for your own articles: flask keys create CUSTOMER. "
            f"To change the demo, add --customer {DEMO_CUSTOMER}."
        )
    return customers[0]


def find_customer(name: str) -> Customer | None:
    """Return the customer of this name, or None."""
    return db.session.scalar(select(Customer).filter_by(name=name))


def get_articles(customer: Customer, slugs: tuple[str, ...]) -> list[Any]:
    """Return the customer's articles with these slugs, in their order: pk, slug, title and published_at.

    Raises click.ClickException, with the closest slug that exists, if there is no such article.
    """
    columns = article_table.c
    rows = select(columns.pk, columns.slug, columns.title, columns.published_at)
    own = rows.where(columns.customer_id == customer.id)
    found = {row.slug: row for row in db.session.execute(own.where(columns.slug.in_(slugs)))}
    unknown = [slug for slug in dict.fromkeys(slugs) if slug not in found]
    if not unknown:
        return [found[slug] for slug in dict.fromkeys(slugs)]
    existing = db.session.scalars(select(columns.slug).where(columns.customer_id == customer.id)).all()
    names = ", ".join(_with_closest(slug, existing) for slug in unknown)
    raise click.ClickException(
        f"{customer.name} has no article with the slug {names}. "
        f"To see all: flask articles list --customer {shlex.quote(customer.name)}"
    )


def _with_closest(slug: str, existing: Sequence[str]) -> str:
    close = get_close_matches(slug, existing, n=1)
    return f"{slug!r} (did you mean {close[0]!r}?)" if close else repr(slug)


def find_or_create_customer(name: str) -> tuple[Customer, bool]:
    """Return the customer of this name, and whether it is new: created in the session's transaction.

    The caller announces a new one once it is committed. Raises click.ClickException if the new name is too similar to
    another customer's.
    """
    customer = find_customer(name)
    if customer:
        return customer, False
    check_customer_name(name)
    customer = Customer(name=name)
    db.session.add(customer)
    db.session.flush()
    return customer, True


def check_customer_name(name: str, renamed: Customer | None = None) -> None:
    """Raise click.ClickException if a customer, other than `renamed`, has this name but for case and spaces."""
    for customer in db.session.scalars(select(Customer)):
        if customer is not renamed and _without_case_and_spaces(customer.name) == _without_case_and_spaces(name):
            raise click.ClickException(
                f"There is already a customer {customer.name!r}. Use that name, rename that customer, or choose a name "
                "that differs in more than case and spaces."
            )


def _without_case_and_spaces(name: str) -> str:
    return "".join(name.split()).casefold()
