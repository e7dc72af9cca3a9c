"""Messages that `python app.py` prints at startup."""

from datetime import UTC, datetime
from ipaddress import ip_address

import click
from sqlalchemy import select

from commands.support.terminal import echo
from models import ApiKey, Article, Customer, db
from serving.listener import WILDCARD_HOSTS, base_url
from settings import SERVICE_NAME, __version__
from storage.customer_rows import DEMO_CUSTOMER
from storage.queries import VALID_KEY


def print_start_message(host: str, port: int) -> None:
    """Print the URLs of the service and the database.

    Also print what to do if there are no keys or articles yet. The password and the query of the database's URL are not
    printed.
    """
    others = " and on this machine's other addresses" if host in WILDCARD_HOSTS else ""
    service = f"{SERVICE_NAME} {__version__}: serving on {base_url(host, port)}{others} (press Ctrl+C to stop)"
    database = db.engine.url.set(query={}).render_as_string(hide_password=True)
    lines = [service, f"Database: {database}"]
    if not db.session.scalar(select(ApiKey.id).limit(1)):
        lines.append("There is no API key yet. Create one: flask keys create CUSTOMER")
    if not db.session.scalar(select(Article.pk).limit(1)):
        lines.append("There are no articles yet. Import some: flask articles import SOURCE. For a demo: python seed.py")
    click.echo("\n".join(lines))


def warn_about_demo_key(address: str) -> None:
    """Warn on stderr if the demo has a valid key and `address` is reachable from other machines."""
    if ip_address(address).is_loopback:
        return
    keys = select(ApiKey.id).select_from(Customer).join(ApiKey).where(Customer.name == DEMO_CUSTOMER, *VALID_KEY)
    if db.session.scalar(keys.limit(1), {"today": datetime.now(UTC).date()}):
        echo(
            f"Warning: other machines may reach the service on {address}, and the customer {DEMO_CUSTOMER} has a valid "
            "key. Remove the demo: python seed.py --remove",
            err=True,
        )
