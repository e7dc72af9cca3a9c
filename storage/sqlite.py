"""Create, check and checkpoint SQLite files."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy.engine import URL

from storage import StorageError
from storage.sqlite_file import FileReplacedError, sqlite_file


def sqlite_path(url: URL) -> str | None:
    """Return the path of the SQLite file, or None if the URL is for another database."""
    return url.database if url.get_backend_name() == "sqlite" else None


def create_database_file(path: str) -> None:
    """Create an empty database file with mode 0600. Raises StorageError if the folder is missing or not writable."""
    folder = os.path.dirname(os.path.realpath(path))
    try:
        Path(path).touch(0o600)
    except OSError as error:
        raise StorageError(
            f"Cannot create the database {os.path.basename(path)} in the folder {folder} ({error.strerror}). "
            "Set DATABASE_URL to a file in an existing, writable folder."
        ) from error
    copy_owner(folder, path)


def copy_owner(source: str, target: str) -> None:
    """Copy the owner of `source` to `target`, if the platform and the process's privileges allow it."""
    owner = os.stat(source)
    with suppress(AttributeError, OSError):
        os.chown(target, owner.st_uid, owner.st_gid)


def require_database_file(path: str) -> None:
    """Raise StorageError if the database file does not exist."""
    if not os.path.exists(path):
        advice = "restore a backup (flask database restore FILE), or create it: flask keys create CUSTOMER"
        raise StorageError(f"The database {path} does not exist. Check DATABASE_URL, {advice}")


def refuse_truncated_file(path: str) -> None:
    """Raise StorageError if the database file is empty, but its WAL is not: SQLite would delete the WAL."""
    wal = f"{path}-wal"
    if not os.path.getsize(path) and os.path.exists(wal) and os.path.getsize(wal):
        raise StorageError(f"The database {path} is empty, but {wal} is not: it was truncated. Restore a backup.")


def set_wal_mode(path: str) -> None:
    """Switch to WAL mode, in which readers and writers do not block each other (https://www.sqlite.org/wal.html).

    Leaves the file as it is if it is busy or not writable, or if its file system has no shared memory. There, SQLite
    would switch the file, and then fail to open it.
    """
    with suppress(sqlite3.Error, FileReplacedError), closing(_connect(path)) as connection:
        (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
        if mode != "wal" and _supports_wal(os.path.dirname(os.path.realpath(path))):
            connection.execute("PRAGMA journal_mode = WAL")


def _connect(path: str) -> sqlite3.Connection:
    return sqlite_file(path).connect(read_only=False, timeout=1)


def _supports_wal(folder: str) -> bool:
    """Return whether a new database in a folder works in WAL mode."""
    try:
        with (
            TemporaryDirectory(".tmp", ".wal-", folder, ignore_cleanup_errors=True) as temporary,
            closing(sqlite3.connect(Path(temporary, "test.db"))) as connection,
        ):
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE test (id INTEGER)")
    except (OSError, sqlite3.Error):
        return False
    return True


def checkpoint(path: str) -> None:
    """Write the WAL's content to the database file, so that a plain copy of that file is complete.

    Does nothing if the file is busy or not writable.
    """
    with suppress(sqlite3.Error, FileReplacedError), closing(_connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
