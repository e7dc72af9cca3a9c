"""`flask keys`: create, list and revoke API keys."""

import secrets
import sys
from datetime import UTC, date, datetime

import click
from sqlalchemy import select

from auth import hash_key
from commands import DatabaseGroup, announce_file, params
from commands.lookup import DEMO_CUSTOMER, find_or_create_customer
from field_types import printable
from models import ApiKey, Customer, db
from storage.engine import write_transaction
from storage.tables import open_database

PREFIX_LENGTH = 6  # characters of a key that are shown to tell it from others; the rest cannot be guessed


@click.group(cls=DatabaseGroup)
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command()
@click.argument("customer", type=params.customer_name)
@click.option(
    "--expires", type=params.day, metavar="YYYY-MM-DD", help="The last day, in UTC, on which the key is valid."
)
def create(customer: str, expires: date | None) -> None:
    """Create a key for CUSTOMER, who is created too if the name is new.

    Only the key goes to standard output. It is shown this once and cannot be read again.
    """
    if expires and expires < datetime.now(UTC).date():
        raise click.BadParameter(f"{expires} is past.", param_hint="--expires")
    if not sys.stdout:
        raise click.ClickException("Standard output is closed: nobody would see the key.")
    announce_file(open_database(create=True))
    with write_transaction():
        owner, is_new = find_or_create_customer(customer)
        key, record = add_key(owner, expires_on=expires)
        key_id = record.id
        click.echo(key)  # before the commit: a key that cannot be printed is not to be valid
    if is_new:
        click.echo(f"New customer: {customer}", err=True)
    if customer == DEMO_CUSTOMER:
        click.echo("This customer is the demo: python seed.py --remove would delete it, and this key.", err=True)
    click.echo(f"Key {key_id} of {customer}. Keep it safe: it is not shown again.", err=True)


@keys.command("list")
def list_keys() -> None:
    """Print a line for each key: id, customer, first characters, created, expires, state."""
    open_database()
    today = datetime.now(UTC).date()
    for key, customer in db.session.execute(select(ApiKey, Customer.name).join(Customer).order_by(ApiKey.id)):
        expired = key.expires_on and key.expires_on < today
        state = "revoked" if key.revoked_at else "expired" if expired else "active"
        created = key.created_at.strftime("%Y-%m-%d")
        texts = printable(customer), f"{printable(key.prefix)}…"
        click.echo("\t".join([str(key.id), *texts, created, str(key.expires_on or "never"), state]))


@keys.command()
@click.argument("key_id", metavar="ID", type=int)
def revoke(key_id: int) -> None:
    """Refuse the key with this ID (see "flask keys list") from the next request on."""
    open_database()
    with write_transaction():
        key = db.session.get(ApiKey, key_id) if abs(key_id) < 2**31 else None
        if not key:
            raise click.ClickException(f'There is no key {key_id}. "flask keys list" shows the existing ones.')
        key.revoked_at = key.revoked_at or datetime.now(UTC)
    click.echo(f"Key {key_id} is revoked.", err=True)


def add_key(customer: Customer, key: str | None = None, expires_on: date | None = None) -> tuple[str, ApiKey]:
    """Add `key`, or a new random one, to the customer in the session's transaction; return it and its record."""
    key = key or secrets.token_urlsafe(32)
    record = ApiKey(
        customer_id=customer.id,
        hash=hash_key(key),
        prefix=key[: min(PREFIX_LENGTH, len(key) // 4)],  # a key of the user's own may be short
        created_at=datetime.now(UTC),
        expires_on=expires_on,
    )
    db.session.add(record)
    db.session.flush()
    return key, record
