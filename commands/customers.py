"""`flask customers`: list, rename and delete customers, and set their sites."""

from datetime import UTC, datetime

import click
from sqlalchemy import func, select

from commands.support import params
from commands.support.groups import customers_group
from commands.support.lookup import get_customer, get_customer_again
from commands.support.session import command_session
from commands.support.terminal import confirm, echo
from models import ApiKey, Article, Customer, db
from storage.customer_rows import check_new_name, delete_customer
from storage.queries import VALID_KEY


@customers_group.command("list")
def list_customers() -> None:
    """List the customers.

    Each line has the name, the numbers of articles and valid keys, and the site.
    """
    articles = select(func.count()).where(Article.customer_id == Customer.id)
    keys = select(func.count()).where(ApiKey.customer_id == Customer.id, *VALID_KEY)
    columns = Customer.name, articles.scalar_subquery(), keys.scalar_subquery(), Customer.site
    today = {"today": datetime.now(UTC).date()}
    with command_session(writes=False):
        for row in db.session.execute(select(*columns).order_by(Customer.name), today):
            echo(*row)


@customers_group.command()
@click.argument("old", type=params.customer_name)
@click.argument("new", type=params.customer_name)
def rename(old: str, new: str) -> None:
    """Rename the customer OLD to NEW.

    The derived structured data of its articles changes too.
    """
    with command_session(writes=True):
        customer = get_customer(old)
        check_new_name(new, renamed=customer)
        customer.name = new
    echo(f"Renamed {old} to {new}.")


@customers_group.command()
@click.argument("name", type=params.customer_name)
@click.argument("url", type=params.article_url_pattern)
def site(name: str, url: str) -> None:
    """Set where the customer's own site shows articles.

    The slug is appended to URL, or replaces {slug} in it. Derived structured data, and links between imported articles,
    use the result. An empty URL removes the site.
    """
    with command_session(writes=True):
        get_customer(name).site = url
    echo(f"The articles of {name} are at {url}" if url else f"{name} no longer has a site.")


@customers_group.command()
@click.argument("name", type=params.customer_name)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(name: str, yes: bool) -> None:
    """Delete the customer NAME with its articles and keys."""
    with command_session(writes=False):
        customer = get_customer(name)
    confirm(f"This permanently deletes {name}, its articles and its keys.", yes)
    with command_session(writes=True):
        delete_customer(get_customer_again(customer))
    echo(f"Deleted {name}.")
