"""`flask keys`: create, list and revoke API keys."""

from datetime import UTC, datetime

import click
from sqlalchemy import select

from auth import add_key
from commands.support import params
from commands.support.groups import keys_group
from commands.support.session import command_session
from commands.support.terminal import echo
from models import ApiKey, Customer, db
from storage.customer_rows import check_new_name, create_customer, find_customer


@keys_group.command()
@click.argument("customer", type=params.customer_name)
@click.option(
    "--expires", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), help="Last valid day (UTC), as in 2030-12-31."
)
def create(customer: str, expires: datetime | None) -> None:
    """Create a key for CUSTOMER, creating the customer if necessary.

    Only the key goes to standard output. It cannot be shown again.
    """
    expires_on = expires.date() if expires else None
    if expires_on and expires_on < datetime.now(UTC).date():
        raise click.BadParameter(f"{expires_on} is in the past.", param_hint="'--expires'")
    with command_session(writes=True, create=True):
        owner = find_customer(customer)
        is_new = owner is None
        if not owner:
            check_new_name(customer)
            owner = create_customer(customer)
        key, row = add_key(owner, expires_on=expires_on)
        key_id = row.id
    click.echo(key)
    if is_new:
        echo(f"New customer: {customer}", err=True)
    echo(f"Created key {key_id} for {customer}. Keep it safe: it will not be shown again.", err=True)


@keys_group.command("list")
def list_keys() -> None:
    """List the keys.

    Each line has the id, customer, first characters, creation, expiry and state.
    """
    today = datetime.now(UTC).date()
    rows = select(ApiKey, Customer.name).select_from(Customer).join(ApiKey).order_by(ApiKey.id)
    with command_session(writes=False):
        for key, customer in db.session.execute(rows):
            expired = key.expires_on and key.expires_on < today
            state = "revoked" if key.revoked_at else "expired" if expired else "active"
            echo(key.id, customer, f"{key.prefix}…", key.created_at.date(), key.expires_on or "never", state)


@keys_group.command()
@click.argument("key_id", metavar="ID", type=int)
def revoke(key_id: int) -> None:
    """Revoke the key with this ID immediately. "flask keys list" shows the ids."""
    with command_session(writes=True):
        key = db.session.get(ApiKey, key_id) if 0 < key_id < 2**31 else None  # PostgreSQL's integer
        if not key:
            raise click.ClickException(f'There is no key {key_id}. "flask keys list" shows the existing ones.')
        customer = db.session.get_one(Customer, key.customer_id)
        name = f"{key_id} ({key.prefix}…) of {customer.name}"
        line = f"Revoked key {name}."
        if key.revoked_at:
            line = f"Key {name} was already revoked on {key.revoked_at:%Y-%m-%d}."
        key.revoked_at = key.revoked_at or datetime.now(UTC)
    echo(line, err=True)
