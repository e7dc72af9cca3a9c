"""Look up the customer and the articles that a user names."""

import shlex
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any

import click
from flask import current_app
from sqlalchemy import select

from content.text import printable
from models import Article, Customer, db
from storage.customer_rows import DEMO_CUSTOMER
from storage.queries import ARTICLE_SUMMARIES

MAX_NAMES = 20


def get_customer(name: str | None, *, for_changes: bool = False) -> Customer:
    """Return the customer with this name, by default the one in the setting CUSTOMER, or the only one besides the demo.

    The demo itself is a default only for reading, so that your own articles do not end up in it. Raises
    click.ClickException, with suggestions, if the name is unknown or missing.
    """
    customers = {customer.name: customer for customer in db.session.scalars(select(Customer).order_by(Customer.name))}
    chosen = name or current_app.config["CUSTOMER"]
    if chosen in customers:
        return customers[chosen]
    if chosen:
        problem = f"There is no customer {chosen!r}{'' if name else ' (the setting CUSTOMER)'}."
    else:
        besides_demo = [customer for customer in customers.values() if customer.name != DEMO_CUSTOMER]
        defaults = besides_demo or ([] if for_changes else list(customers.values()))
        if len(defaults) == 1:
            return defaults[0]
        problem = "Name the customer with --customer, or in the setting CUSTOMER."
    suggested = [name for name in customers if name != DEMO_CUSTOMER]
    raise click.ClickException(printable(f"{problem} {_suggest(chosen, suggested)}"))


def get_customer_again(earlier: Customer) -> Customer:
    """Return a customer that a command found in an earlier transaction.

    After a restore, both the id and the name may belong to somebody else, so both must be the same. Raises
    click.ClickException if they are not.
    """
    customer = db.session.get(Customer, earlier.id)
    if not customer or customer.name != earlier.name:
        reason = f"The customer {earlier.name!r} has been renamed, deleted or replaced in the meantime."
        raise click.ClickException(printable(f"{reason} Nothing was written. Run the command again."))
    return customer


def _suggest(name: str, existing: list[str]) -> str:
    """Return advice about an unknown name or, if it is empty, a missing one."""
    more = f" and {len(existing) - MAX_NAMES} more" if len(existing) > MAX_NAMES else ""
    names = f"Existing customers: {', '.join(existing[:MAX_NAMES])}{more}." if existing else ""
    if closest := get_close_matches(name, existing, n=1):
        return f"Did you mean '{closest[0]}'? {names}"
    return f"{names} To create a customer, with a key: flask keys create {shlex.quote(name or 'CUSTOMER')}".strip()


def get_articles(customer: Customer, slugs: tuple[str, ...]) -> list[Any]:
    """Return summaries of the customer's articles with these slugs, in the same order.

    Raises click.ClickException if one does not exist.
    """
    found = {row.slug: row for row in find_articles(customer, slugs)}
    if unknown := [slug for slug in slugs if slug not in found]:
        names = " or ".join(f"'{slug}'" for slug in unknown)
        advice = f"To see all: flask articles list --customer {shlex.quote(customer.name)}"
        raise click.ClickException(printable(f"{customer.name} has no article with the slug {names}. {advice}"))
    return [found[slug] for slug in dict.fromkeys(slugs)]


def find_articles(customer: Customer, slugs: tuple[str, ...]) -> list[Any]:
    """Return summaries of the customer's articles that have one of these slugs."""
    return list(
        db.session.execute(ARTICLE_SUMMARIES.where(Article.customer_id == customer.id, Article.slug.in_(slugs)))
    )


def get_articles_again(customer: Customer, earlier: Collection[Any]) -> list[Any]:
    """Return current summaries of articles that a command found in an earlier transaction, in the same order.

    They are found by their primary keys, which SQLite may give to a new article after a deletion, so the ids must be
    the same too. Raises click.ClickException if one no longer exists.
    """
    again = ARTICLE_SUMMARIES.where(Article.customer_id == customer.id, Article.pk.in_([row.pk for row in earlier]))
    found = {(row.pk, row.id): row for row in db.session.execute(again)}
    if gone := [row.slug for row in earlier if (row.pk, row.id) not in found]:
        reason = f"The article {gone[0]!r} has been deleted or replaced in the meantime."
        raise click.ClickException(printable(f"{reason} Nothing was written. Run the command again."))
    return [found[row.pk, row.id] for row in earlier]
