"""A SQLite file that other programs may write, move or replace while it is open."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from sqlalchemy.engine import URL

from storage import StorageError


def sqlite_path(url: URL) -> str | None:
    """Return the path of the SQLite file that a database's URL names, or None for another database."""
    return url.database if url.get_backend_name() == "sqlite" else None


def create_file(path: str) -> None:
    """Create an empty database file, its owner's alone. Raises StorageError if its folder cannot be written."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        Path(path).touch(0o600)
    except OSError as error:
        raise StorageError(
            f"The database {os.path.basename(path)} cannot be created in the folder {folder} ({error.strerror}). "
            "Set DATABASE_URL to a file in a folder that exists and that you may write."
        ) from error
    copy_owner(folder, path)


def copy_owner(source: str, target: str) -> None:
    """Change the owner of `target` to that of `source`, if the system has owners and lets this process do so."""
    owner = os.stat(source)
    with suppress(AttributeError, OSError):
        os.chown(target, owner.st_uid, owner.st_gid)


def require_file(path: str) -> None:
    """Raise StorageError if the database is a file that does not exist."""
    if not os.path.exists(path):
        raise StorageError(
            f"DATABASE_URL names {path}, which does not exist. "
            "Correct it, or create a database, with a customer and a key: flask keys create CUSTOMER"
        )


def connect_existing(path: str, *, read_only: bool, **options: Any) -> sqlite3.Connection:
    """Return a connection to a SQLite file, which must exist: a missing one is an error, not an empty database."""
    uri = f"{Path(path).absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    options |= {"uri": True, "check_same_thread": False}
    connection: sqlite3.Connection = sqlite3.connect(uri, **options)
    return connection


def set_wal_mode(path: str) -> None:
    """Set WAL mode, in which readers and a writer do not block each other (https://www.sqlite.org/wal.html)."""
    _run_pragma(path, "journal_mode = WAL")


def checkpoint(path: str) -> None:
    """Move what the WAL holds into the file, so that a plain copy of the file has all of it."""
    _run_pragma(path, "wal_checkpoint(TRUNCATE)")


def _run_pragma(path: str, pragma: str) -> None:
    """Run a pragma that changes the file. If the file is busy or not writable, it stays as it is."""
    with suppress(sqlite3.Error), closing(connect_existing(path, read_only=False, timeout=1)) as connection:
        connection.execute(f"PRAGMA {pragma}")
