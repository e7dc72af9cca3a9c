"""API keys: the check before each request, and the commands that make, list and revoke them."""

import secrets
from datetime import UTC, date, datetime
from hashlib import sha256

import click
from flask import g, request
from sqlalchemy import select
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import Unauthorized

from cache import Cache, current_cache
from database import begin_write, commit_write, create_tables, missing_file, update_tables
from errors import DatabaseCommands
from models import ApiKey, Customer, customer_of_key, db
from watch import Version

NO_KEY = "Send your API key in the x-api-key header."
CHALLENGE = WWWAuthenticate("ApiKey", {"header": "x-api-key"})
SHOWN_CHARACTERS = 6  # of a key, to tell it from others; the rest stays far beyond guessing


def hash_key(key: str) -> str:
    """Give what the database keeps of a key. A made key is 256 random bits: a plain SHA-256 cannot be tried through.

    Keys are found by this alone, so that no time tells how much of one was right.
    """
    return sha256(key.encode()).hexdigest()


def check_key() -> None:
    """Find the request's customer by its key (`g.customer_id`, `g.customer`), or refuse with a 401.

    The same words for an unknown, a revoked and an expired key, so that none of them tells a stranger anything.
    OPTIONS is free: a browser's preflight cannot send a key.
    """
    environ = request.environ
    if environ["REQUEST_METHOD"] == "OPTIONS":
        return
    key = environ.get("HTTP_X_API_KEY")
    if not key:
        raise Unauthorized(NO_KEY, www_authenticate=CHALLENGE)

    def find(at_last: bool) -> tuple[int, str]:
        g.version = environ.pop("cache.version", None) or cache.version()
        customer = _customer_of(hash_key(key), cache, g.version)
        if not customer:
            cache.check_undisturbed(g.version, at_last=at_last)
            raise Unauthorized("The API key in the x-api-key header is not valid.", www_authenticate=CHALLENGE)
        return customer

    cache = current_cache()
    g.customer_id, g.customer = cache.undisturbed(find)


def _customer_of(hashed: str, cache: Cache, version: Version | None) -> tuple[int, str] | None:
    """Find the id and name of the customer to whom a good key belongs; None for another key."""
    today = datetime.now(UTC).date()
    known_at, customer = cache.customers.get(hashed, (None, None))
    if known_at == (version, today) and cache.keeps(version):
        return customer
    found = db.session.connection().execute(customer_of_key(), {"hash": hashed, "today": today}).first()
    if not found:
        return None
    cache.customers[hashed] = (version, today), (found.id, found.name)
    return found.id, found.name


def find_or_add_customer(name: str) -> Customer:
    """Give the customer of this name, made in the session's transaction where there is none."""
    customer = db.session.scalar(select(Customer).filter_by(name=name))
    if not customer:
        customer = Customer(name=name)
        db.session.add(customer)
        db.session.flush()
    return customer


def add_key(customer: Customer, key: str | None = None, expires_on: date | None = None) -> tuple[str, ApiKey]:
    """Give the customer `key`, or a new random one, in the session's transaction; return it and its record."""
    key = key or secrets.token_urlsafe(32)
    record = ApiKey(
        customer_id=customer.id,
        hash=hash_key(key),
        first_characters=key[: min(SHOWN_CHARACTERS, len(key) // 4)],  # a key of the user's own may be short
        created_at=datetime.now(UTC),
        expires_on=expires_on,
    )
    db.session.add(record)
    db.session.flush()
    return key, record


@click.group(cls=DatabaseCommands)
def keys() -> None:
    """Make, list and revoke API keys."""


class CustomerName(click.ParamType[str]):
    """A customer's name, on one line, without white space around it."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        value = value.strip()
        if not 1 <= len(value) <= 100 or not value.isprintable():
            self.fail("A customer's name has 1 to 100 printable characters.", param, ctx)
        return value


class KeyText(click.ParamType[str]):
    """A key, as an HTTP header can carry it."""

    name = "key"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not (1 <= len(value) <= 200 and value.isascii() and value.isprintable() and " " not in value):
            self.fail("a key has 1 to 200 ASCII characters, no spaces.", param, ctx)
        return value


@keys.command()
@click.argument("customer", type=CustomerName())
@click.option("--expires", type=click.DateTime(["%Y-%m-%d"]), help="The last day, in UTC, on which the key is good.")
def create(customer: str, expires: datetime | None) -> None:
    """Make a key for CUSTOMER, who is made too where the name is new.

    The key stands alone on standard output. It is shown this once and cannot be read again.
    """
    expires_on = expires.date() if expires else None
    if expires_on and expires_on < datetime.now(UTC).date():
        raise click.BadParameter(f"{expires_on} is past.", param_hint="--expires")
    create_tables()
    begin_write()
    key, record = add_key(find_or_add_customer(customer), expires_on=expires_on)
    commit_write()
    click.echo(f"Key {record.id} of {customer}. Keep it safe: it is not shown again.", err=True)
    click.echo(key)


@keys.command("list")
def list_keys() -> None:
    """Print a line for each key: id, customer, first characters, created, expires, state."""
    missing = missing_file()
    if missing:
        click.echo(missing, err=True)
        return
    create_tables()
    today = datetime.now(UTC).date()
    for key, customer in db.session.execute(select(ApiKey, Customer.name).join(Customer).order_by(ApiKey.id)):
        expired = key.expires_on and key.expires_on < today
        state = "revoked" if key.revoked_at else "expired" if expired else "active"
        created = key.created_at.strftime("%Y-%m-%d")
        click.echo(f"{key.id}\t{customer}\t{key.first_characters}…\t{created}\t{key.expires_on or 'never'}\t{state}")


@keys.command()
@click.argument("key_id", metavar="ID", type=int)
def revoke(key_id: int) -> None:
    """Refuse the key with this ID (see "flask keys list") from the next request on."""
    update_tables()
    begin_write()
    key = db.session.get(ApiKey, key_id) if abs(key_id) < 2**31 else None
    if not key:
        raise click.ClickException(f'There is no key {key_id}. "flask keys list" shows the ones there are.')
    key.revoked_at = key.revoked_at or datetime.now(UTC)
    commit_write()
    click.echo(f"Key {key_id} is revoked.", err=True)
