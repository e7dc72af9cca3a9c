"""How every program reports errors: in one line, with exit status 1."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from flask import has_app_context
from sqlalchemy.exc import DBAPIError

from content.text import printable
from models import db
from storage import StorageError

# advice, by words in the driver's message
DATABASE_ERROR_HINTS = {
    "locked": "Another program is writing to it. Try again in a moment.",
    "cannot execute": "Nothing was written: set DATABASE_URL to the server that this standby follows.",
    "readonly": "Nothing was written: you need permission to write to the file and its folder.",
    "unable to open": "You need permission to read and write the file and its folder.",
    "disk": "Nothing was written: check whether the disk is full or broken.",
    "malformed": "The file is corrupt: restore a backup.",
    "not a database": "Set DATABASE_URL to the right file, or restore a backup.",
}


class Interrupted(click.ClickException):
    """Ctrl+C. The message says what was written."""

    def show(self, file: Any = None) -> None:
        """Print the message below the line on which the terminal shows ^C."""
        click.echo(f"\nInterrupted: {self.message}", err=True)


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn errors of the database, of an import and of the output, and Ctrl+C, into click's, which print one line.

    A message may quote what another tool wrote into the database, so control characters become spaces.
    """
    try:
        yield
    except (KeyboardInterrupt, click.Abort) as error:
        raise Interrupted("the database was not changed.") from error
    except StorageError as error:
        raise click.ClickException(printable(str(error))) from error
    except (DBAPIError, sqlite3.Error) as error:
        reason = database_reason(error)
        hint = next((hint for words, hint in DATABASE_ERROR_HINTS.items() if words in reason), "Nothing was written.")
        raise click.ClickException(f"{_database_name()} cannot be used ({reason}). {hint}") from error
    except BrokenPipeError:  # the reader, such as "head", has ended; click exits quietly
        raise
    except OSError as error:
        silence_stdout()
        name = printable(str(error.filename or "The output"))
        raise click.ClickException(f"{name} cannot be read or written ({error.strerror}).") from error
    except Exception as error:
        from transfer.report import ImportFailedError  # only imports raise it, and most commands start without them

        if isinstance(error, ImportFailedError):  # has a printable line for each mistake
            raise click.ClickException(str(error)) from error
        raise


def database_reason(error: Exception) -> str:
    """Return the first line of the message of the database's driver, or of another error."""
    return printable(str(getattr(error, "orig", error)).partition("\n")[0])


def _database_name() -> str:
    """Return how to call the database in a message: with its path, or its name on PostgreSQL."""
    return f"The database {db.engine.url.database}" if has_app_context() else "The database"


def silence_stdout() -> None:
    """Redirect stdout to the null device, so that the interpreter's flush at exit cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
