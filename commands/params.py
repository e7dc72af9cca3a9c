"""Parameter types of the commands, and the option that several share."""

import os
from datetime import UTC, date, datetime, tzinfo
from pathlib import Path

import click
from marshmallow import ValidationError

from field_types import parse_time_zone, parse_timestamp, validate_http_url
from importing.instance import is_url
from importing.sources import READERS, find_reader


def customer_name(value: str) -> str:
    """Parse a customer's name: one line, without white space around it."""
    value = value.strip()
    if not 1 <= len(value) <= 100 or not value.isprintable():
        raise click.BadParameter("A customer's name has 1 to 100 printable characters.")
    return value


def slug(value: str) -> str:
    """Parse a slug. Bytes that are not UTF-8 become "?", which no slug has."""
    return value.encode(errors="replace").decode()


def words(value: str) -> str:
    """Parse words to search for. Bytes that are not UTF-8 become U+FFFD, as they do in the API's `q`."""
    return os.fsencode(value).decode(errors="replace")


def api_key(value: str) -> str:
    """Parse an API key, as an HTTP header can carry it."""
    if not (1 <= len(value) <= 200 and value.isascii() and value.isprintable() and " " not in value):
        raise click.BadParameter("a key has 1 to 200 ASCII characters, no spaces.")
    return value


def source(value: str) -> str:
    """Parse what an import reads: a file or folder that exists, "-" for standard input, an http(s) URL."""
    if not find_reader(value):
        raise click.BadParameter(f"{value!r} is not a folder, an http(s) URL, - or a file {', '.join(READERS)}.")
    return value if value == "-" or is_url(value) else str(click.Path(exists=True)(value))


def new_folder(value: str) -> Path:
    """Parse the path of a folder that does not exist, or is empty but for a history in git."""
    path = Path(value)
    if (path.is_dir() and all(name == ".git" for name in os.listdir(path))) or not path.exists():
        return path
    raise click.BadParameter(f"{value!r} must be a new or an empty folder.")


def site(value: str) -> str:
    """Parse the URL of a site."""
    try:
        validate_http_url(value)
        value.encode()
    except (UnicodeError, ValidationError) as error:
        raise click.BadParameter(f"{value!r} must be an http or https URL, as in https://www.example.com.") from error
    return value


def timezone(value: str) -> tzinfo:
    """Parse the IANA name of a time zone."""
    try:
        return parse_time_zone(value)
    except ValidationError as error:
        raise click.BadParameter(f"{value!r}: {error.messages[0]}") from error


def day(value: str) -> date:
    """Parse a day."""
    try:
        return datetime.strptime(value, "%Y-%m-%d").replace(tzinfo=UTC).date()
    except ValueError as error:
        raise click.BadParameter(f"{value!r} is not a day. Write it as in 2030-12-31.") from error


def timestamp(value: str) -> datetime:
    """Parse a timestamp with its zone, as one in UTC."""
    try:
        return parse_timestamp(value)
    except ValidationError as error:
        raise click.BadParameter(error.messages[0]) from error


customer_option = click.option(
    "--customer", "name", type=customer_name, help="Whose articles. Not needed while there is one customer."
)
