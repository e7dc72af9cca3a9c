"""Finding the customers and articles that commands name."""

import shlex
from unicodedata import normalize

import click
from sqlalchemy import select

from field_types import printable
from models import Customer, article_table, db

DEMO_CUSTOMER = "Demo"


def get_customer(name: str | None, *, changes: bool) -> Customer:
    """Return the customer of this name or, without a name, the only customer.

    A command that changes the demo must name it, so that nobody's own articles end up there. Raises
    click.ClickException.
    """
    if name:
        return require_customer(name, f"To create it, with a key: flask keys create {shlex.quote(name)}")
    customers = db.session.scalars(select(Customer).order_by(Customer.name)).all()
    if not customers:
        raise click.ClickException("There is no customer yet. To create one, with a key: flask keys create CUSTOMER")
    if len(customers) > 1:
        names = ", ".join(shlex.quote(printable(customer.name)) for customer in customers[:20])
        raise click.ClickException(f"There are several customers. Choose one with --customer: {names}")
    if changes and customers[0].name == DEMO_CUSTOMER:
        raise click.ClickException(
            f"The only customer is the demo. Make one for your own articles: flask keys create CUSTOMER\n"
            f"To change the demo, add --customer {DEMO_CUSTOMER}."
        )
    return customers[0]


def require_customer(name: str, hint: str) -> Customer:
    """Return the customer of this name.

    Raises click.ClickException, which names a customer that differs in case or spaces alone, or gives the hint.
    """
    customer = find_customer(name)
    if customer:
        return customer
    similar = _find_similar(name)
    raise click.ClickException(
        f"There is no customer {name!r}. {f'Did you mean {similar.name!r}?' if similar else hint}"
    )


def find_customer(name: str) -> Customer | None:
    """Return the customer of this name, or None."""
    return db.session.scalar(select(Customer).filter_by(name=name))


def require_slugs(customer: Customer, slugs: tuple[str, ...]) -> None:
    """Raise click.ClickException unless the customer has an article with each of the slugs."""
    columns = article_table.c
    same = select(columns.slug).where(columns.customer_id == customer.id, columns.slug.in_(slugs))
    unknown = [repr(slug[:200]) for slug in sorted(set(slugs) - set(db.session.scalars(same)))]
    if unknown:
        names = ", ".join(unknown[:5]) + (f" and {len(unknown) - 5} more" if unknown[5:] else "")
        raise click.ClickException(
            f"{printable(customer.name)} has no article with the slug {names}. "
            f"To see all: flask articles list --customer {shlex.quote(printable(customer.name))}"
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
    similar = _find_similar(name, renamed)
    if similar:
        raise click.ClickException(
            f"There is already a customer {similar.name!r}. Use that name, rename that customer, or choose a name "
            "that differs in more than case and spaces."
        )


def _find_similar(name: str, renamed: Customer | None = None) -> Customer | None:
    """Return a customer, other than `renamed`, who has this name but for case and spaces."""
    customers = (customer for customer in db.session.scalars(select(Customer)) if customer is not renamed)
    wanted = _without_case_and_spaces(name)
    return next((customer for customer in customers if _without_case_and_spaces(customer.name) == wanted), None)


def _without_case_and_spaces(name: str) -> str:
    return normalize("NFC", "".join(name.split()).casefold())
