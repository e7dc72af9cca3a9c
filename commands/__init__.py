"""The `flask` commands. This module holds what their groups share."""

import os
import signal
import sqlite3
import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from errno import EPIPE
from io import TextIOWrapper
from typing import Any, TypeVar

import click
from flask.cli import with_appcontext
from sqlalchemy.exc import DBAPIError

from field_types import printable
from importing.errors import ImportErrors, ImportFailedError
from storage import StorageError
from storage.engine import release_connection

T = TypeVar("T")
DATABASE_ERROR_HINTS = {  # what to do, by words of the database's message
    "locked": "Another program writes to it: try again.",
    "exceeds btree": "Nothing was written: a title is too long for PostgreSQL; 500 characters always fit.",
    "read-only transaction": "Nothing was written: DATABASE_URL must name the server that this standby follows.",
    "onnection refused": "Start the database server, or correct DATABASE_URL.",
    "during recovery": "Nothing was written: DATABASE_URL must name the server that this standby follows.",
    "lock timeout": "Another program writes to it: try again.",
    "readonly": "Nothing was written: you must be allowed to write the file and its folder. DATABASE_URL says where.",
    "unable to open": "You must be allowed to read and write the file and its folder. DATABASE_URL says where.",
    "is full": "Nothing was written: make room on the disk, and try again.",
    "disk I/O": "Nothing was written: check whether the disk is full or broken.",
    "malformed": "The file is damaged: restore a backup.",
    "not a database": "Set DATABASE_URL to the right file, or restore a backup.",
}


@contextmanager
def translate_database_errors() -> Iterator[None]:
    """Turn errors of the database and of an import into click's, which print one line (exit status 1).

    A message may hold what another tool wrote into the database: no character of it acts on the terminal.
    """
    try:
        yield
    except click.ClickException as error:
        error.message = _printable_lines(error.message)  # type: ignore[misc]  # click has no other way
        raise
    except (StorageError, ImportFailedError) as error:
        raise click.ClickException(_printable_lines(str(error))) from error
    except (DBAPIError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", error)).partition("\n")[0]
        hint = next((hint for words, hint in DATABASE_ERROR_HINTS.items() if words in reason), "Nothing was written.")
        raise click.ClickException(f"The database cannot be used ({printable(reason)}). {hint}") from error


def _printable_lines(text: str) -> str:
    return "\n".join(map(printable, text.split("\n")))


@contextmanager
def translate_errors() -> Iterator[None]:
    """Turn errors into click's as `translate_database_errors` does, also of output that cannot be written."""
    try:
        with translate_database_errors():
            yield
    except OSError as error:
        if error.errno == EPIPE:  # as of "| head", which click ends quietly
            raise
        silence_stdout()
        name = printable(str(error.filename or "The output"))
        raise click.ClickException(f"{name} cannot be written ({error.strerror}).") from error


def silence_stdout() -> None:
    """Redirect stdout to the null device, so that the interpreter's flush at exit cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def progress_bar(label: str, items: Iterable[T], length: int | None = None) -> AbstractContextManager[Iterable[T]]:
    """Return a context in which iterating over the items shows progress on a terminal."""
    hidden = not (sys.stderr and sys.stderr.isatty())
    return click.progressbar(items, length, label, show_pos=True, file=sys.stderr, hidden=hidden, update_min_steps=100)


def announce_file(lines: Iterable[str]) -> None:
    """Print what opening or restoring the database did, such as a file that was created, on standard error."""
    for line in lines:
        with suppress(OSError):  # a full disk under the log is no reason not to go on
            click.echo(printable(line), err=True)


class DatabaseGroup(click.Group):
    """A group of commands that report errors of the database, and of their output, in one line.

    Lists of commands show the whole first paragraph of their help. click would cut it at the end of a line.
    """

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the help of the group, for the list of groups."""
        return self.help or ""

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a command to the group. It runs in the application's context."""
        cmd.short_help = (cmd.help or "").partition("\n\n")[0]
        cmd.callback = with_appcontext(cmd.callback) if cmd.callback else None
        super().add_command(cmd, name)

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke a command of the group."""
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # not every terminal can show every title
        with suppress(ValueError):  # in a thread
            for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
                if signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
                    signal.signal(number, lambda number, _: sys.exit(128 + number))  # removes temporary files
        with translate_errors():
            return super().invoke(ctx)


def count_articles(number: int) -> str:
    """Return a number of articles in words: 1 article, 2 articles."""
    return f"{number} {'article' if number == 1 else 'articles'}"


def echo_notes(errors: ImportErrors) -> None:
    """Print an import's warnings, and what was lost, each with the number of articles and the first slugs."""
    for note, slugs in errors.notes.items():
        names = ", ".join([*map(printable, slugs[:3]), *(["…"] if len(slugs) > 3 else [])])
        click.echo(f"{printable(note)} ({count_articles(len(slugs))}: {names})", err=True)


def confirm(warning: str, yes: bool) -> None:
    """Ask on a terminal whether to go on, unless `yes`, with no connection to the database.

    Raises click.UsageError if nobody can be asked.
    """
    release_connection()
    if yes:
        return
    if not sys.stdin or not sys.stdin.isatty():
        raise click.UsageError(f"{warning} Add --yes to confirm.")
    click.confirm(f"{warning} Continue?", abort=True, err=True)
