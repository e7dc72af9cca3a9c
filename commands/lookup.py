"""Finding the customers and articles that commands name."""

import shlex
from unicodedata import normalize

import click
from sqlalchemy import select

from models import Customer, article_table, db
from storage.sqlite import NO_CUSTOMER_MESSAGE

DEMO_CUSTOMER = "Demo"


def find_customer(name: str) -> Customer | None:
    """Return the customer of this name, or None."""
    return db.session.scalar(select(Customer).filter_by(name=name))


def get_customer(name: str | None, *, changes: bool) -> Customer:
    """Return the customer of this name or, without a name, the only customer.

    A command that changes the demo must name it, so that nobody's own articles end up there. Raises
    click.ClickException.
    """
    if name:
        customer = find_customer(name)
        if not customer:
            raise click.ClickException(
                f"There is no customer {name!r}. To create it, with a key: flask keys create {shlex.quote(name)}"
            )
        return customer
    customers = db.session.scalars(select(Customer).order_by(Customer.name)).all()
    if not customers:
        raise click.ClickException(NO_CUSTOMER_MESSAGE)
    if len(customers) > 1:
        names = ", ".join(shlex.quote(customer.name) for customer in customers[:20])
        raise click.ClickException(f"There are several customers. Choose one with --customer: {names}")
    if changes and customers[0].name == DEMO_CUSTOMER:
        raise click.ClickException(
            f"The only customer is the demo. Make one for your own articles: flask keys create CUSTOMER\n"
            f"To change the demo, add --customer {DEMO_CUSTOMER}."
        )
    return customers[0]


def require_slugs(customer: Customer, slugs: tuple[str, ...]) -> None:
    """Raise click.ClickException unless the customer has an article with each of the slugs."""
    columns = article_table.c
    same = select(columns.slug).where(columns.customer_id == customer.id, columns.slug.in_(slugs))
    unknown = [repr(slug[:200]) for slug in sorted(set(slugs) - set(db.session.scalars(same)))]
    if unknown:
        names = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if unknown[5:] else "")
        raise click.ClickException(
            f"{customer.name} has no article with the slug {names}. "
            f"To see all: flask articles list --customer {shlex.quote(customer.name)}"
        )


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
    return normalize("NFC", "".join(name.split()).casefold())
