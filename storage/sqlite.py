"""A SQLite file that other programs may write, move or replace while it is open."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy.engine import URL

from storage import StorageError


def sqlite_path(url: URL) -> str | None:
    """Return the path of the SQLite file that a database's URL names, or None for another database."""
    return url.database if url.get_backend_name() == "sqlite" else None


def companion_paths(path: str) -> list[str]:
    """Return the paths of what SQLite may keep beside a database file and apply to it: WAL, its index, journal."""
    return [f"{os.path.realpath(path)}{suffix}" for suffix in ("-wal", "-shm", "-journal")]


def is_writable(path: str) -> bool:
    """Return whether this process may write the file and its folder."""
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.realpath(path)), os.W_OK)


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
    """Change the owner of `target` to that of `source`, if the system has owners, and lets this process do so."""
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


def require_writable(path: str) -> None:
    """Raise StorageError, which names the file or the folder, if this process may not write the database."""
    if os.path.exists(path) and not is_writable(path):
        folder = os.path.dirname(os.path.realpath(path))
        name = f"folder {folder}" if os.access(path, os.W_OK) else f"database file {path}"
        raise StorageError(
            f"Nothing was written: you may not write the {name}. "
            "Run the command as a user who may write the file and its folder."
        )


@contextmanager
def kept_file(path: str) -> Iterator[None]:
    """Check that the file at `path` may be written and, at the end, that no other one has taken its place.

    Raises StorageError.
    """
    require_writable(path)
    before = _identity(path)
    yield
    if _identity(path) != before:
        raise StorageError(f"Another file took the place of {path} meanwhile, without this change. Try again.")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        file = os.stat(path)
    except OSError:
        return None
    return file.st_dev, file.st_ino


def primary_code(error: Any) -> int:
    """Return the kind of an error of sqlite3 (https://www.sqlite.org/rescode.html), 0 for another error."""
    return getattr(error, "sqlite_errorcode", 0) & 255


def connect_existing(path: str, *, read_only: bool, **options: Any) -> sqlite3.Connection:
    """Return a connection to a SQLite file, which must exist: a missing one is an error, not an empty database.

    In a folder that this process may not write, SQLite cannot create what readers share in WAL mode. If no writer has
    created it either, the file alone holds everything, and is opened as immutable (https://www.sqlite.org/uri.html).
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
        is_access_error = primary_code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not is_access_error or any(map(os.path.exists, companion_paths(path))):
            raise
        connection = sqlite3.connect(uri + "ro&immutable=1", **options)
    return connection


def checkpoint(path: str, timeout: float) -> None:
    """Set WAL mode, and move what the WAL holds into the file. Another program's file is not written.

    In WAL mode, readers and a writer do not block each other (https://www.sqlite.org/wal.html). A file that
    others keep busy for `timeout` seconds, or that is not writable, stays as it is.
    """
    with suppress(sqlite3.Error), closing(connect_existing(path, read_only=False, timeout=timeout)) as connection:
        connection.execute("SELECT number FROM tables_version")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # blocks no writer, and leaves the next one little
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
