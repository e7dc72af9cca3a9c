"""What `python app.py` prints when it starts."""

from datetime import UTC, datetime
from ipaddress import ip_address

import click
from sqlalchemy import select

from commands.errors import silence_stdout
from commands.lookup import DEMO_CUSTOMER
from commands.terminal import echo
from models import ApiKey, Article, Customer, db
from settings import NAME, __version__
from storage.queries import VALID_KEY


def print_start_message(url: str) -> None:
    """Print the URLs of the service and of its database, and how to create a key and articles if there are none.

    The database's URL is printed without its password and its query, which may hold a password too.
    """
    database = db.engine.url.set(query={}).render_as_string(hide_password=True)
    lines = [f"{NAME} {__version__}: serving on {url} (Ctrl+C stops)", f"Database: {database}"]
    if not db.session.scalar(select(ApiKey.id).limit(1)):
        lines.append("There is no API key yet. To create one: flask keys create CUSTOMER")
    if not db.session.scalar(select(Article.pk).limit(1)):
        lines.append("There is no article yet. To write demo articles: python seed.py")
    try:
        click.echo("\n".join(lines))
    except OSError:  # a full disk must not stop the service
        silence_stdout()


def warn_of_demo_key(address: str) -> None:
    """Warn on stderr if the demo's customer has a valid key and other machines may reach the service's IP address."""
    if ip_address(address).is_loopback:
        return
    keys = select(ApiKey.id).join(Customer).where(Customer.name == DEMO_CUSTOMER, *VALID_KEY)
    if db.session.scalar(keys.limit(1), {"today": datetime.now(UTC).date()}):
        echo(
            f"Warning: {DEMO_CUSTOMER} has a valid key, and other machines may reach the service on {address}. "
            "To remove the demo: python seed.py --remove",
            err=True,
        )
