"""Terminal output, progress and prompts."""

import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, tzinfo
from typing import Any, TypeVar

import click

from content.text import printable
from schema_fields import format_timestamp

T = TypeVar("T")


def echo(*cells: Any, err: bool = False) -> None:
    """Print a line of tab-separated cells. Control characters in them become spaces."""
    click.echo("\t".join(printable(str(cell)) for cell in cells), err=err)


def format_article_count(number: int) -> str:
    """Return "1 article", "2 articles" and so on."""
    return f"{number} {'article' if number == 1 else 'articles'}"


def format_local(moment: datetime, zone: tzinfo) -> str:
    """Return a datetime in UTC as a local time, to the minute; with `zone` UTC, as the API's timestamp.

    A local time in the year 0 or 10000, which Python does not support, becomes the nearest one that it supports.
    """
    if zone is UTC:
        return format_timestamp(moment)
    try:
        local = moment.astimezone(zone).replace(tzinfo=None)
    except OverflowError:
        local = datetime.min if moment.year == 1 else datetime.max
    return local.isoformat(" ", "minutes")


def format_local_and_utc(moment: datetime, zone: tzinfo) -> str:
    """Return a datetime in UTC as a local time with the zone's name, followed by the API's timestamp."""
    timestamp = format_timestamp(moment)
    return timestamp if zone is UTC else f"{format_local(moment, zone)} {zone}, {timestamp}"


def show_progress(items: Iterable[T], label: str) -> AbstractContextManager[Iterable[T]]:
    """Return a context manager that yields `items`, and counts them on stderr if that is a terminal."""
    hidden = not stderr_is_terminal()
    return click.progressbar(items, label=label, hidden=hidden, show_pos=True, update_min_steps=20, file=sys.stderr)


def stderr_is_terminal() -> bool:
    """Return whether stderr is a terminal, where somebody may be waiting."""
    return bool(sys.stderr and sys.stderr.isatty())


def can_ask() -> bool:
    """Return whether there is a person at a terminal."""
    return bool(sys.stdin and sys.stdin.isatty())


class UnconfirmedError(click.ClickException):
    """A command that needs confirmation runs without a terminal."""

    exit_code = 2  # as for a missing option


def confirm(warning: str, yes: bool) -> None:
    """Ask for confirmation, unless `yes`.

    Raises Abort if the user declines, and UnconfirmedError if standard input is not a terminal.
    """
    if not yes:
        if not can_ask():
            raise UnconfirmedError(f"{warning} Add --yes to confirm.")
        click.confirm(f"{warning} Continue?", abort=True, err=True)
