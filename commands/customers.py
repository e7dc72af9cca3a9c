"""`flask customers`: list, rename and delete customers."""

import click
from sqlalchemy import delete, func, select

from commands import DatabaseGroup, confirm, params
from commands.lookup import DEMO_CUSTOMER, check_customer_name, require_customer
from field_types import printable
from models import ApiKey, Customer, article_table, db
from storage.engine import write_transaction
from storage.tables import open_database

HINT = '"flask customers list" shows the existing ones.'


@click.group(cls=DatabaseGroup)
def customers() -> None:
    """List, rename and delete customers."""


@customers.command("list")
def list_customers() -> None:
    """Print a line for each customer: name, number of articles, number of keys."""
    open_database()
    for customer in db.session.scalars(select(Customer).order_by(Customer.name)):
        click.echo("\t".join([printable(customer.name), *map(str, _count(customer))]))


@customers.command()
@click.argument("old", type=params.customer_name)
@click.argument("new", type=params.customer_name)
def rename(old: str, new: str) -> None:
    """Rename the customer OLD to NEW, also in the structured data that is generated for its articles."""
    open_database()
    if new == DEMO_CUSTOMER:
        raise click.ClickException(f"{DEMO_CUSTOMER} is the demo, which seed.py --remove deletes. Choose another name.")
    with write_transaction():
        customer = require_customer(old, HINT)
        check_customer_name(new, renamed=customer)
        customer.name = new
    click.echo(f"Renamed {old} to {new}.")


@customers.command("delete")
@click.argument("name", type=params.customer_name)
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_customer(name: str, yes: bool) -> None:
    """Delete the customer NAME, its articles and its keys, for good."""
    open_database()
    articles, keys = _count(require_customer(name, HINT))
    confirm(f"This deletes {name} for good (articles: {articles}, keys: {keys}).", yes)
    with write_transaction():
        removed = remove_customer(require_customer(name, HINT))
    click.echo(removed)


def _count(customer: Customer) -> tuple[int, int]:
    """Return the customer's number of articles and of keys, revoked ones included."""
    articles, keys = (
        db.session.scalar(select(func.count()).where(column == customer.id)) or 0
        for column in (article_table.c.customer_id, ApiKey.customer_id)
    )
    return articles, keys


def remove_customer(customer: Customer) -> str:
    """Delete the customer, its articles and its keys in the session's transaction; return a line that says how many."""
    articles, keys = _count(customer)
    db.session.execute(delete(article_table).where(article_table.c.customer_id == customer.id))
    db.session.execute(delete(ApiKey).where(ApiKey.customer_id == customer.id))
    db.session.execute(delete(Customer).where(Customer.id == customer.id))
    return f"Deleted {printable(customer.name)} (articles: {articles}, keys: {keys})."
