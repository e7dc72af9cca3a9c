"""Error reporting for all programs: short messages instead of tracebacks."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
from flask import current_app
from sqlalchemy.exc import DBAPIError

from content.text import printable
from models import db
from storage import StorageError
from transfer import ImportFailedError

# by words in the driver's message
DATABASE_ERROR_HINTS = {
    "lock": "Another program is writing to it. Try again in a moment.",
    "readonly": "Nothing was written. You need permission to write to the file and its folder.",
    "malformed": "The file is corrupt: restore a backup.",
    "disk": "Nothing was written: check whether the disk is full or broken.",
}
FILE_HINT = "Check the path, its permissions, and whether the disk is full."


class Interrupted(click.ClickException):
    """Ctrl+C was pressed. The message says whether anything was written."""

    def show(self, file: Any = None) -> None:
        """Print the message on a new line, below the terminal's ^C."""
        click.echo(f"\nInterrupted: {self.message}", err=True)


@contextmanager
def report_errors() -> Iterator[None]:
    """Convert errors to click exceptions, which print a short message instead of a traceback.

    With LOG_LEVEL=debug, unexpected errors still have one. Control characters in messages become spaces, because a
    message may quote what another tool stored.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):  # click handles these
        raise
    except click.Abort as error:  # the user declined
        raise Interrupted("nothing was written.") from error
    except ImportFailedError as error:  # already printable, one line per error
        raise click.ClickException(str(error)) from error
    except StorageError as error:
        raise click.ClickException(printable(str(error))) from error
    except (DBAPIError, sqlite3.Error) as error:
        raise click.ClickException(_explain_database_error(error)) from error
    except UnicodeEncodeError as error:  # the terminal or a script passed other bytes
        raise click.ClickException("An argument is not UTF-8. Write it as the lists show it.") from error
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # so that flushing stdout at exit does not fail again
        name = printable(str(error.filename)) if error.filename else "the output"
        raise click.ClickException(f"Cannot read or write {name} ({error.strerror}). {FILE_HINT}") from error
    except Exception as error:
        if current_app.config["LOG_LEVEL"] == "debug":
            raise
        reason = printable(f"{type(error).__name__}: {error}")
        advice = "Please report it with the traceback, which LOG_LEVEL=debug shows."
        raise click.ClickException(f"Unexpected error ({reason:.200}). {advice}") from error


def _explain_database_error(error: DBAPIError | sqlite3.Error) -> str:
    reason = database_reason(error)
    hints = (hint for words, hint in DATABASE_ERROR_HINTS.items() if words in reason)
    hint = next(hints, "Check DATABASE_URL and that the database is available.")
    return f"The database {db.engine.url.database} cannot be used ({reason}). {hint}"


def database_reason(error: Exception) -> str:
    """Return the first line of an error's message, or of its driver's."""
    return printable(str(getattr(error, "orig", error)).partition("\n")[0])
