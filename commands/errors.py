"""How every program reports errors: in one line, with exit status 1."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import click
from sqlalchemy.exc import DBAPIError

from content.text import printable
from storage import StorageError

# Advice, by words of the database's message.
DATABASE_ERROR_HINTS = {
    "locked": "Another program writes to it: try again.",
    "cannot execute": "Nothing was written: DATABASE_URL must name the server that this standby follows.",
    "readonly": "Nothing was written: you must be allowed to write the file and its folder. DATABASE_URL says where.",
    "unable to open": "You must be allowed to read and write the file and its folder. DATABASE_URL says where.",
    "disk": "Nothing was written: check whether the disk is full or broken.",
    "malformed": "The file is damaged: restore a backup.",
    "not a database": "Set DATABASE_URL to the right file, or restore a backup.",
}


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn errors of the database, of an import and of the output into click's, which print one line.

    A message may quote what another tool wrote into the database. No character of it acts on the terminal.
    """
    try:
        yield
    except click.ClickException as error:
        error.message = printable(error.message)  # type: ignore[misc]  # click has no other way.
        raise
    except StorageError as error:
        raise click.ClickException(printable(str(error))) from error
    except (DBAPIError, sqlite3.Error) as error:
        reason = database_reason(error)
        hint = next((hint for words, hint in DATABASE_ERROR_HINTS.items() if words in reason), "Nothing was written.")
        raise click.ClickException(f"The database cannot be used ({reason}). {hint}") from error
    except BrokenPipeError:  # The reader, such as "head", has ended. click exits quietly.
        raise
    except OSError as error:
        silence_stdout()
        name = printable(str(error.filename or "The output"))
        raise click.ClickException(f"{name} cannot be read or written ({error.strerror}).") from error
    except Exception as error:
        from transfer.report import ImportFailedError  # The service imports no articles, and starts without it.

        if isinstance(error, ImportFailedError):  # It has a printable line for each bad article.
            raise click.ClickException(str(error)) from error
        raise


def database_reason(error: Exception) -> str:
    """Return the first line of the message of the database's driver, or of another error."""
    return printable(str(getattr(error, "orig", error)).partition("\n")[0])


def silence_stdout() -> None:
    """Redirect stdout to the null device, so that the interpreter's flush at exit cannot fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
