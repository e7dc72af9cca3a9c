"""The customer, articles and transaction that a command works with."""

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from difflib import get_close_matches
from typing import Any

import click
from sqlalchemy import select

from commands import echo
from models import Article, Customer, db
from storage.engine import release_connection, write_transaction
from storage.tables import open_database

DEMO_CUSTOMER = "Demo"


def open_and_report(*, create: bool = False) -> None:
    """Open the database, and print on standard error what was created or upgraded."""
    for line in open_database(create=create):
        echo(line, err=True)


@contextmanager
def command_transaction(*, create: bool = False) -> Iterator[None]:
    """Open the database and a transaction that writes, which is committed when the block ends."""
    open_and_report(create=create)
    with write_transaction():
        yield


@contextmanager
def customer_transaction(customer: str | None, *, writes: bool) -> Iterator[Customer]:
    """Open the database and a transaction, and yield the customer that `get_customer` finds.

    No connection is left open, so that the command may wait for a person or another program afterwards.
    """
    open_and_report()
    try:
        with write_transaction() if writes else nullcontext():
            yield get_customer(customer, writes=writes)
    finally:
        release_connection()


def can_ask() -> bool:
    """Return whether there is a person at a terminal."""
    return bool(sys.stdin and sys.stdin.isatty())


def confirm(warning: str, yes: bool) -> None:
    """Ask on a terminal whether to go on, unless `yes`. Raises click.UsageError if nobody can be asked."""
    if not yes:
        if not can_ask():
            raise click.UsageError(f"{warning} Add --yes to confirm.")
        click.confirm(f"{warning} Continue?", abort=True, err=True)


def get_customer(name: str | None, *, writes: bool) -> Customer:
    """Return the customer of this name or, without a name, the only customer.

    A command that writes to the demo must name it, so that nobody's own articles end up there. Raises
    click.ClickException.
    """
    customers = db.session.scalars(select(Customer).order_by(Customer.name)).all()
    chosen = [customer for customer in customers if name in (None, customer.name)]
    if len(chosen) == 1 and (name or not writes or chosen[0].name != DEMO_CUSTOMER):
        return chosen[0]
    problem = f"There is no customer {name!r}." if name else "Choose the customer with --customer."
    names = ", ".join(shlex.quote(customer.name) for customer in customers[:20])
    existing = f"The existing ones: {names}." if names else "There is none yet."
    command = f"flask keys create {shlex.quote(name or 'CUSTOMER')}"
    raise click.ClickException(f"{problem} {existing} To create one, with a key: {command}")


def find_customer(name: str) -> Customer | None:
    """Return the customer of this name, or None."""
    return db.session.scalar(select(Customer).filter_by(name=name))


def get_articles(customer: Customer, slugs: tuple[str, ...]) -> list[Any]:
    """Return the customer's articles with these slugs, in their order: pk, slug, title and published_at.

    Raises click.ClickException, with the closest slug that exists, if there is no such article.
    """
    rows = select(Article.pk, Article.slug, Article.title, Article.published_at)
    named = rows.where(Article.customer_id == customer.id, Article.slug.in_(slugs))
    found = {row.slug: row for row in db.session.execute(named)}
    if unknown := [slug for slug in slugs if slug not in found]:
        existing = db.session.scalars(select(Article.slug).where(Article.customer_id == customer.id)).all()
        closest = [repr(match) for slug in unknown for match in get_close_matches(slug, existing, n=1)]
        hint = f"Did you mean {', '.join(closest)}?" if closest else "To see all: flask articles list"
        names = ", ".join(map(repr, unknown))
        raise click.ClickException(f"{customer.name} has no article with the slug {names}. {hint}")
    return [found[slug] for slug in dict.fromkeys(slugs)]


def find_or_create_customer(name: str) -> tuple[Customer, bool]:
    """Return the customer of this name, and whether it is new: created in the session's transaction.

    The caller announces a new one once it is committed. Raises click.ClickException if the new name is too similar to
    another customer's.
    """
    if customer := find_customer(name):
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
            raise click.ClickException(f"There is already a customer {customer.name!r}. Use that name, or rename it.")


def _without_case_and_spaces(name: str) -> str:
    return "".join(name.split()).casefold()
