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


def wal_path(path: str) -> str:
    """Return the path of a SQLite file's write-ahead log (https://www.sqlite.org/wal.html)."""
    return f"{os.path.realpath(path)}-wal"


def companion_paths(path: str) -> list[str]:
    """Return the paths of what SQLite may keep beside a database file and apply to it: WAL, its index, journal."""
    return [f"{os.path.realpath(path)}{suffix}" for suffix in ("-wal", "-shm", "-journal")]


def is_writable(path: str) -> bool:
    """Return whether this process may write the file and its folder."""
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.realpath(path)), os.W_OK)


def create_file(path: str) -> None:
    """Create an empty database file. Raises StorageError if its folder cannot be written."""
    try:
        Path(path).touch(0o644)
    except OSError as error:
        folder = os.path.dirname(os.path.realpath(path))
        raise StorageError(
            f"The database {os.path.basename(path)} cannot be created in the folder {folder} ({error.strerror}). "
            "Set DATABASE_URL to a file in a folder that exists and that you may write."
        ) from error


def connect_existing(path: str, *, read_only: bool, **options: Any) -> sqlite3.Connection:
    """Return a connection to a SQLite file, which must exist: a missing one is an error, not an empty database.

    The service connects read-only. The last writing connection that closes would move the WAL into the file, and by
    then another file may have taken its place. In a folder that it may not write, SQLite cannot create what readers
    share in WAL mode. If no writer has created it either, the file alone holds everything, and is opened as immutable
    (https://www.sqlite.org/uri.html).
    """
    uri = f"{Path(path).absolute().as_uri()}?mode="
    options |= {"uri": True, "check_same_thread": False}
    if is_writable(path):
        connection: sqlite3.Connection = sqlite3.connect(uri + ("ro" if read_only else "rw"), **options)
        return connection
    connection = sqlite3.connect(uri + "ro", **options)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        connection.close()
        is_access_error = error.sqlite_errorcode & 255 in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not is_access_error or os.path.exists(wal_path(path)) or os.path.exists(f"{os.path.realpath(path)}-journal"):
            raise
        connection = sqlite3.connect(uri + "ro&immutable=1", **options)
    return connection


def checkpoint(path: str, timeout: float) -> None:
    """Set WAL mode, and move what the WAL holds into the file.

    A file that others keep busy for `timeout` seconds, or that is not writable, stays as it is.
    """
    with suppress(sqlite3.Error), closing(connect_existing(path, read_only=False, timeout=timeout)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # blocks no writer, and leaves the next one little
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
