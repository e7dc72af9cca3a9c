"""Parameter types of the commands, and their shared option."""

import os
import re
from datetime import datetime, tzinfo
from pathlib import Path

import click
from flask import current_app
from marshmallow import ValidationError

from content.urls import article_url
from converters.dates import is_nonexistent, parse_written_date, possible_instants
from schema_fields import parse_time_zone, truncate_to_milliseconds, validate_site
from storage.new_files import FILE_EXISTS

# https://www.example.com/{slug}.html
ARTICLE_URL_PATTERN = re.compile(r"""(?i:https?)://[^/?#{}@\\\s"<>]+/[^{}\\\s"<>]*\{slug\}[^{}\\\s"<>]*""")


def customer_name(value: str) -> str:
    """Parse a customer's name: one line, without surrounding whitespace."""
    value = value.strip()
    if not 1 <= len(value) <= 100 or not value.isprintable():
        raise click.BadParameter("Must be 1 to 100 printable characters.")
    return value


def api_key(value: str) -> str:
    """Parse an API key that an HTTP header can carry."""
    if not (1 <= len(value) <= 200 and value.isascii() and value.isprintable() and " " not in value):
        raise click.BadParameter("Must be 1 to 200 printable ASCII characters without spaces.")
    return value


def source(value: str) -> str:
    """Parse a source of an import: an existing file or folder, "-" for standard input, or an http(s) URL."""
    # imports all converters, which other commands do not need
    from transfer.remote import has_credentials, is_url
    from transfer.sources import KNOWN_SUFFIXES, is_source

    if has_credentials(value):
        # The value is not shown, because it contains a password.
        raise click.BadParameter("Remove the user name and password from the URL, and write any other @ as %40.")
    if value != "-" and not is_url(value):
        value = str(click.Path(exists=True)(value))
    if not is_source(value):
        kinds = f"a folder, an http(s) URL, - for standard input, or a file ({', '.join(KNOWN_SUFFIXES)})"
        advice = "Save spreadsheets as CSV, and unzip archives."
        raise click.BadParameter(f"Cannot import {value!r}. Name {kinds}. {advice}")
    return value


def source_name(value: str) -> str:
    """Parse the name of a source: any text without spaces, or "" for none."""
    if not re.fullmatch(r"\S{0,100}", value) or not value.isprintable():
        raise click.BadParameter("Must be at most 100 printable characters without spaces.")
    return value


def local_time(value: str) -> datetime:
    """Parse a time into a datetime in UTC, rounded down to milliseconds.

    Accepts the same formats as imports. A time without a UTC offset is in TIMEZONE. Raises click.BadParameter if the
    text is anything else, or a nonexistent or ambiguous local time.
    """
    zone = current_app.config["TIMEZONE"]
    try:
        written = parse_written_date(value)
        instants = possible_instants(written, zone)
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: {error}") from error
    if len(instants) > 1:
        readings = " or ".join(instant.astimezone(zone).isoformat() for instant in instants)
        does_not_exist = is_nonexistent(instants[0], written.moment, zone)
        reason = f"{'Does not exist' if does_not_exist else 'Is ambiguous'} in {zone} (daylight saving)."
        raise click.BadParameter(f"{value!r}: {reason} Write {readings}.")
    return truncate_to_milliseconds(instants[0])


def new_file(value: str) -> Path:
    """Parse the path of a file that does not exist yet."""
    if os.path.lexists(value):
        raise click.BadParameter(FILE_EXISTS.format(repr(value)))
    return Path(value)


def url(value: str) -> str:
    """Parse the URL of a site, or "" for none."""
    try:
        validate_site(value)
    except ValidationError as error:
        raise click.BadParameter(f"{value!r}: {error}") from error
    return value


def article_url_pattern(value: str) -> str:
    """Parse the URL of a customer's articles. Returns it with `{slug}` where their slugs go, or "" if it is empty."""
    pattern = value.strip()
    if pattern and "{slug}" not in pattern:
        pattern += "{slug}" if pattern.endswith(("/", "=")) else "/{slug}"
    if pattern and not ARTICLE_URL_PATTERN.fullmatch(pattern):
        examples = "https://www.example.com/articles/{slug}/ or https://www.example.com/{slug}.html"
        raise click.BadParameter(f"Must be an http(s) URL such as {examples}, without a user name or password.")
    url(article_url(pattern, "slug"))  # raises if the URL is not valid
    return pattern


def url_pattern(value: str) -> str:
    """Parse the path of articles with placeholders, such as /{year}/{month}/{slug}/, or "" for none."""
    unknown = re.sub(r"\{(?:year|month|day|categories|slug)\}", "", value)
    if value and (not value.startswith("/") or "{slug}" not in value or re.search(r"[{}\s]", unknown)):
        reason = "Write a path with {slug} and, if needed, {year}, {month}, {day} and {categories}."
        raise click.BadParameter(f"{value!r} is not a pattern of URLs. {reason}")
    return value


def timezone(value: str) -> tzinfo:
    """Parse the IANA name of a time zone."""
    try:
        return parse_time_zone(value)
    except ValidationError as error:
        raise click.BadParameter(f"{value!r}: {error}") from error


customer_option = click.option(
    "--customer",
    type=customer_name,
    help="The customer whose articles to use. Default: the setting CUSTOMER, or the only customer besides Demo.",
)
