"""`flask customers`: list, rename and delete customers."""

import click
from sqlalchemy import func, select

from commands.support import params
from commands.support.groups import customers
from commands.support.terminal import confirm, echo
from commands.support.transactions import customer_transaction, open_and_report
from models import ApiKey, Article, Customer, db
from storage.customers import check_customer_name, remove_customer


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
