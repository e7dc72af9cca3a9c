"""Online backup and restore of the SQLite database (https://www.sqlite.org/backup.html)."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import URL, create_engine
from sqlalchemy.pool import NullPool

from files import FILE_EXISTS, create_folder_beside, move_to_new_file
from models import db
from storage import StorageError
from storage.engine import (
    WAIT_REPORT_SECONDS,
    WRITE_LOCK_TIMEOUT_SECONDS,
    add_listeners,
    release_connection,
    write_options,
)
from storage.sqlite import checkpoint, copy_owner, require_database_file, set_wal_mode, sqlite_path
from storage.sqlite_file import sqlite_file
from storage.tables import has_tables, migrate, refuse_foreign_tables


def back_up(target: Path) -> list[str]:
    """Write a consistent copy of the database to the new file `target`, which appears only once it is complete.

    Returns messages about an upgrade of the copy. Raises StorageError if the file exists, if its folder is not
    writable, or if the database is corrupt and the backup could therefore not be restored. Raises OSError if the file
    cannot be written.
    """
    if os.path.lexists(target):
        raise StorageError(FILE_EXISTS.format(target))
    path = _database_path()
    require_database_file(path)
    with _checked_copy(path, target) as (copy, lines):
        with open(copy, "rb+") as file:
            os.fsync(file.fileno())  # VACUUM INTO does not sync
        try:
            move_to_new_file(copy, target)
        except FileExistsError as error:
            raise StorageError(FILE_EXISTS.format(target)) from error
    return lines


def restore(backup: Path, on_wait: Callable[[], None]) -> list[str]:
    """Restore a backup atomically while the service runs. The next request sees the restored data.

    The backup is copied, checked and upgraded next to the database, and the copy is then written into the database in
    one transaction. If the database is missing, empty or corrupt, the copy is moved to its path instead, and a corrupt
    file is renamed. If the process is killed, the database has either its old or its new content.

    Calls `on_wait` if another program keeps the database locked for two seconds. Returns messages about files that were
    created or renamed, and about an upgrade. Raises StorageError if the backup is not a complete, intact database of
    this service, comes from a newer version, or is the database itself; if the database belongs to another program; if
    another program keeps it locked for a minute; or if its folder is not writable.
    """
    path = _database_path()
    if os.path.exists(path) and os.path.samefile(backup, path):
        raise StorageError(f"{backup} is the database itself. Name a backup file.")
    is_intact = _is_intact(path)
    if is_intact:
        with db.engine.connect() as connection:
            refuse_foreign_tables(connection)
    release_connection()
    with _checked_copy(str(backup), Path(path)) as (copy, lines):
        if is_intact:
            _overwrite(copy, path, on_wait)
            set_wal_mode(path)
            checkpoint(path)
        else:
            lines += _replace(copy, os.path.realpath(path))
    return lines


def _database_path() -> str:
    path = sqlite_path(db.engine.url)
    if not path:
        raise StorageError("This command only works with SQLite. For PostgreSQL, use pg_dump and pg_restore.")
    return path


def _is_intact(path: str) -> bool:
    """Return whether a SQLite file exists, is not empty, and passes SQLite's integrity check."""
    if not os.path.exists(path) or not os.path.getsize(path):
        return False
    with closing(sqlite_file(path).connect(read_only=True)) as connection:
        return not _integrity_error(connection)


def _integrity_error(connection: sqlite3.Connection) -> str:
    """Return the first error found by SQLite's integrity check, or "". Raises OperationalError if it cannot run."""
    try:
        (finding,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.OperationalError:
        raise  # locked or not readable, but not necessarily corrupt
    except sqlite3.DatabaseError as error:
        finding = str(error)
    return "" if finding == "ok" else finding.splitlines()[-1]


@contextmanager
def _checked_copy(original: str, target: Path) -> Iterator[tuple[str, list[str]]]:
    """Copy a database to a temporary folder next to `target`, check its integrity, and upgrade it.

    Yields the copy's path, and messages about the upgrade. Raises StorageError if the original is corrupt or not a
    database of this service, or if the folder is not writable.
    """
    folder = target.resolve().parent
    try:
        temporary_folder = create_folder_beside(target)
    except OSError as error:
        reason = f"Cannot write to the folder {folder} ({error.strerror})."
        raise StorageError(f"{reason} It must exist and be writable.") from error
    with temporary_folder as temporary:
        copy = Path(temporary, "copy.db")
        copy.touch(0o600)  # SQLite would create a world-readable file
        try:
            _copy(original, copy)
        except sqlite3.Error as error:
            reason = f"{original} cannot be copied to the folder {folder} ({error})."
            raise StorageError(f"{reason} Check that the file is readable and that the disk has room.") from error
        yield str(copy), _upgrade(str(copy), original)


def _copy(original: str, copy: Path) -> None:
    """Copy a database to the empty file `copy`.

    Raises StorageError if the database is corrupt, and sqlite3.Error if it cannot be copied.
    """
    with closing(sqlite_file(original).connect(read_only=True, isolation_level=None)) as connection:
        if finding := _integrity_error(connection):
            reason = f"{original} is corrupt or not a SQLite database ({finding})."
            raise StorageError(f"{reason} Restore an earlier backup.")
        connection.execute("VACUUM INTO ?", [copy.as_uri()])  # a URI works even if the path is not valid UTF-8


def _upgrade(copy: str, original: str) -> list[str]:
    """Upgrade the copy's tables if necessary. Returns messages about it.

    Raises StorageError if the copy is not a complete database of this service.
    """
    engine = create_engine(URL.create("sqlite", database=copy), poolclass=NullPool)
    add_listeners(engine)
    with engine.execution_options(**write_options("upgrade")).begin() as connection:
        if not has_tables(connection):
            raise StorageError(f"{original} is not a database of this service. Check the path.")
        return migrate(connection, f"the copy of {original}")


class _LockWait:
    """Progress handler of `sqlite3.Connection.backup` that waits for other writers, but not forever."""

    def __init__(self, on_wait: Callable[[], None]) -> None:
        self._on_wait = on_wait
        self._began = time.monotonic()
        self._is_reported = False

    def __call__(self, status: int, _remaining: int, _total: int) -> None:
        """Report a long wait, and raise StorageError after a minute."""
        if status not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return
        seconds = time.monotonic() - self._began
        if seconds > WRITE_LOCK_TIMEOUT_SECONDS:
            raise StorageError("The database has been locked by another program for a minute. Try again later.")
        if seconds > WAIT_REPORT_SECONDS and not self._is_reported:
            self._is_reported = True
            self._on_wait()


def _overwrite(copy: str, path: str, on_wait: Callable[[], None]) -> None:
    """Replace the database's content in one transaction."""
    writer = sqlite_file(path).connect(read_only=False, timeout=0.1)
    with closing(sqlite3.connect(copy, isolation_level=None)) as reader, closing(writer):
        if _page_size(reader) != _page_size(writer):
            # SQLite cannot change the page size of a database in WAL mode.
            reader.execute(f"PRAGMA page_size = {_page_size(writer)}")
            reader.execute("VACUUM")
        reader.backup(writer, pages=1000, progress=_LockWait(on_wait))


def _page_size(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA page_size").fetchone()[0])


def _replace(copy: str, path: str) -> list[str]:
    """Move the copy to the path of a missing, empty or corrupt database. Returns messages about it.

    The old file is renamed first: as long as it is at its path, requests that open it create a new `-wal` and `-shm`,
    which SQLite would apply to the copy.
    """
    set_wal_mode(copy)  # also syncs the copy to disk
    exists = os.path.exists(path)
    copy_owner(path if exists else os.path.dirname(path), copy)
    if exists:
        shutil.copymode(path, copy)
    moved_to = f"{path}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    kept = []
    for suffix in ("", "-wal", "-journal"):
        if _set_aside(path + suffix, moved_to + suffix):
            kept.append(moved_to + suffix)
    Path(f"{path}-shm").unlink(missing_ok=True)  # index of the WAL; SQLite rebuilds it
    os.replace(copy, path)
    return [f"Kept the corrupt database as {', '.join(kept)}." if kept else f"Created the database {path}."]


def _set_aside(path: str, moved_to: str) -> bool:
    """Rename a file, or remove it if it is empty. Returns whether it was renamed."""
    if not os.path.exists(path):
        return False
    if not os.path.getsize(path):
        os.remove(path)
        return False
    os.rename(path, moved_to)
    return True
