"""`flask customers`: list, rename and delete customers."""

import click
from sqlalchemy import delete, func, select

from commands import echo, params
from commands.lookup import check_customer_name, confirm, customer_transaction, open_and_report
from models import ApiKey, Article, Customer, db


@click.command("list")
def list_customers() -> None:
    """Print a line for each customer.

    A line has the name, the number of articles and the number of keys.
    """
    open_and_report()
    columns = Article.customer_id, ApiKey.customer_id
    counts = (select(func.count()).where(column == Customer.id).scalar_subquery() for column in columns)
    for row in db.session.execute(select(Customer.name, *counts).order_by(Customer.name)):
        echo(*row)


@click.command()
@click.argument("old", type=params.customer_name)
@click.argument("new", type=params.customer_name)
def rename(old: str, new: str) -> None:
    """Rename the customer OLD to NEW.

    The structured data that is generated for its articles follows.
    """
    with customer_transaction(old, writes=True) as customer:
        check_customer_name(new, renamed=customer)
        customer.name = new
    echo(f"Renamed {old} to {new}.")


@click.command("delete")
@click.argument("name", type=params.customer_name)
@click.option("--yes", is_flag=True, help="Do not ask.")
def delete_customer(name: str, yes: bool) -> None:
    """Delete the customer NAME with its articles and keys."""
    confirm(f"This deletes {name}, its articles and its keys for good.", yes)
    with customer_transaction(name, writes=True) as customer:
        removed = remove_customer(customer)
    echo(removed)


def remove_customer(customer: Customer) -> str:
    """Delete the customer, its articles and its keys in the session's transaction; return a line that says how many."""
    connection = db.session.connection()
    articles = connection.execute(delete(Article).where(Article.customer_id == customer.id)).rowcount
    keys = connection.execute(delete(ApiKey).where(ApiKey.customer_id == customer.id)).rowcount
    db.session.delete(customer)
    return f"Deleted {customer.name} (articles: {articles}, keys: {keys})."
