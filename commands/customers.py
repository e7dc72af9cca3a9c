"""`flask customers`: list, rename and delete customers."""

import click
from sqlalchemy import delete, func, select

from commands import params
from commands.groups import customers
from commands.terminal import confirm, echo
from commands.transactions import customer_transaction, open_and_report
from models import ApiKey, Article, Customer, db


@customers.command("list")
def list_customers() -> None:
    """List customers with their numbers of articles and keys."""
    open_and_report()
    columns = Article.customer_id, ApiKey.customer_id
    counts = (select(func.count()).where(column == Customer.id).scalar_subquery() for column in columns)
    for row in db.session.execute(select(Customer.name, *counts).order_by(Customer.name)):
        echo(*row)


@customers.command()
@click.argument("old", type=params.customer_name)
@click.argument("new", type=params.customer_name)
def rename(old: str, new: str) -> None:
    """Rename the customer OLD to NEW.

    The derived structured data of its articles changes too.
    """
    with customer_transaction(old, writes=True) as customer:
        check_customer_name(new, renamed=customer)
        customer.name = new
    echo(f"Renamed {old} to {new}.")


@customers.command("delete")
@click.argument("name", type=params.customer_name)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete_customer(name: str, yes: bool) -> None:
    """Delete the customer NAME with its articles and keys."""
    confirm(f"This permanently deletes {name}, its articles and its keys.", yes)
    with customer_transaction(name, writes=True) as customer:
        removed = remove_customer(customer)
    echo(removed)


def remove_customer(customer: Customer) -> str:
    """Delete the customer with its articles and keys in the session's transaction. Return a summary to print."""
    connection = db.session.connection()
    articles = connection.execute(delete(Article).where(Article.customer_id == customer.id)).rowcount
    keys = connection.execute(delete(ApiKey).where(ApiKey.customer_id == customer.id)).rowcount
    db.session.delete(customer)
    return f"Deleted {customer.name} (articles: {articles}, keys: {keys})."


def find_customer(name: str) -> Customer | None:
    """Return the customer with this name, or None."""
    return db.session.scalar(select(Customer).filter_by(name=name))


def find_or_create_customer(name: str) -> tuple[Customer, bool]:
    """Return the customer with this name, created if necessary in the session's transaction, and whether it is new.

    The caller reports a new customer after the commit. Raises click.ClickException if the name differs from another
    customer's only in case or whitespace.
    """
    if customer := find_customer(name):
        return customer, False
    check_customer_name(name)
    customer = Customer(name=name)
    db.session.add(customer)
    db.session.flush()
    return customer, True


def check_customer_name(name: str, renamed: Customer | None = None) -> None:
    """Raise click.ClickException if a customer other than `renamed` has this name, ignoring case and whitespace."""
    for customer in db.session.scalars(select(Customer)):
        if customer is not renamed and _without_case_and_spaces(customer.name) == _without_case_and_spaces(name):
            reason = f"There is already a customer {customer.name!r}; names must differ in more than case or spaces"
            raise click.ClickException(f"{reason}. Use that customer, or choose another name.")


def _without_case_and_spaces(name: str) -> str:
    return "".join(name.split()).casefold()
