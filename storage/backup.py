"""Backup and restore of a SQLite database while the service runs (https://www.sqlite.org/backup.html)."""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import URL, create_engine
from sqlalchemy.pool import NullPool

from models import db
from storage import StorageError
from storage.engine import WRITE_LOCK_TIMEOUT_SECONDS, add_listeners, write_options
from storage.sqlite import checkpoint, connect_existing, copy_owner, require_file, set_wal_mode, sqlite_path
from storage.tables import has_tables, migrate, refuse_foreign_tables

LOG_SUFFIXES = "-wal", "-shm", "-journal"  # The files that SQLite keeps beside a database.


def back_up(target: Path) -> list[str]:
    """Write a consistent copy of the database to `target`, a new file, which appears only when it is whole.

    Returns lines for standard error that say whether the copy was upgraded. Raises StorageError if the file exists, and
    for a damaged database: a backup can be restored. Raises OSError if the file cannot be written.
    """
    if os.path.lexists(target):
        raise StorageError(f"{target} exists already. Choose another name, or move it away.")
    path = _database_path()
    require_file(path)
    with _checked_copy(path, target) as (copy, lines):
        with open(copy, "rb+") as file:
            os.fsync(file.fileno())  # VACUUM INTO does not wait for the disk.
        os.rename(copy, target)
    return lines


def restore(backup: Path) -> list[str]:
    """Put a backup in the database's place: the next request sees it, and none sees a mixture.

    The backup is copied, checked and upgraded beside the database. Then the copy is written into the database in one
    transaction. If the database is missing or damaged, the copy takes its place, and the damaged file is kept. If this
    is killed at any moment, it leaves the old database, the new one, or the kept one.

    Returns lines for standard error that say what was created, kept or upgraded. Raises StorageError if the backup is
    not a whole database of this service, or is of a newer version; if the database is another program's; and if another
    program goes on writing it for a minute. Raises OSError if the folder cannot be written.
    """
    path = os.path.realpath(_database_path())
    is_whole = _is_whole(path)
    if is_whole:
        with db.engine.connect() as connection:
            refuse_foreign_tables(connection)
    with _checked_copy(str(backup), Path(path)) as (copy, lines):
        if is_whole:
            _overwrite(copy, path)
        else:
            lines += _replace(copy, path)
    set_wal_mode(path)
    checkpoint(path)
    return lines


def _database_path() -> str:
    path = sqlite_path(db.engine.url)
    if not path:
        raise StorageError("This command is for SQLite files. On PostgreSQL use pg_dump and pg_restore.")
    return path


def _is_whole(path: str) -> bool:
    """Return whether the database to replace is neither missing nor damaged."""
    if not os.path.exists(path):
        return False
    with closing(connect_existing(path, read_only=True)) as connection:
        return not _find_damage(connection)


def _find_damage(connection: sqlite3.Connection) -> str:
    """Return what SQLite finds wrong with a database, or nothing. Raises OperationalError if that is unknown."""
    try:
        (finding,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.OperationalError:
        raise  # The file may be whole: it is busy, or cannot be opened.
    except sqlite3.DatabaseError as error:
        finding = str(error)
    return "" if finding == "ok" else finding.splitlines()[-1]


@contextmanager
def _checked_copy(source: str, target: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the path of a copy of one state of a database, in a temporary folder beside `target`.

    It is whole and upgraded, and yielded with a line that says so if its tables were of an earlier version. Raises
    StorageError if the source is damaged or not a database of this service, and if the folder cannot be written.
    """
    folder = target.resolve().parent
    try:
        temporary_folder = TemporaryDirectory(".tmp", f".{target.name}-", folder, ignore_cleanup_errors=True)
    except OSError as error:
        reason = f"{folder} cannot be written ({error.strerror})."
        raise StorageError(f"{reason} Choose a folder that exists and that you may write.") from error
    with temporary_folder as temporary:
        copy = Path(temporary, "copy.db")
        copy.touch(0o600)  # SQLite would let everybody read it.
        with closing(connect_existing(source, read_only=True, isolation_level=None)) as connection:
            if finding := _find_damage(connection):
                raise StorageError(f"{source} is not a whole SQLite database ({finding}). Restore an earlier backup.")
            connection.execute("VACUUM INTO ?", [copy.as_uri()])  # A URI can name bytes that are not UTF-8.
        yield str(copy), _upgrade(str(copy), source)


def _upgrade(copy: str, source: str) -> list[str]:
    """Upgrade the copy's tables to this version; return a line that says so if they were of an earlier one.

    Raises StorageError if it is not a database of this service.
    """
    engine = create_engine(URL.create("sqlite", database=copy), poolclass=NullPool)
    add_listeners(engine)
    with engine.execution_options(**write_options("tables")).begin() as connection:
        if not has_tables(connection):
            raise StorageError(f"{source} is not a database of this service. Check its path.")
        return migrate(connection, f"the copy of {source}")


def _overwrite(copy: str, path: str) -> None:
    """Replace all that the database holds in one transaction, which readers and a crash see as a whole."""
    deadline = time.monotonic() + WRITE_LOCK_TIMEOUT_SECONDS

    def give_up(status: int, _remaining: int, _total: int) -> None:
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and time.monotonic() > deadline:
            raise StorageError("Another program has been writing to the database for a minute. Try again.")

    writer = connect_existing(path, read_only=False, timeout=0.1)
    with closing(sqlite3.connect(copy)) as reader, closing(writer):
        reader.backup(writer, pages=1000, progress=give_up)


def _replace(copy: str, path: str) -> list[str]:
    """Move the copy to the place of a missing or damaged database; return a line that says so.

    The damaged file is kept, with its WAL or journal, which SQLite would otherwise apply to the new file.
    """
    set_wal_mode(copy)  # This also waits until the copy is on the disk.
    if not os.path.exists(path):
        copy_owner(os.path.dirname(path), copy)
        for suffix in LOG_SUFFIXES:
            Path(path + suffix).unlink(missing_ok=True)
        os.replace(copy, path)
        return [f"Created the database {path}."]
    copy_owner(path, copy)
    shutil.copymode(path, copy)
    kept = f"{path}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"
    for suffix in (*LOG_SUFFIXES, ""):
        with suppress(FileNotFoundError):
            os.rename(path + suffix, kept + suffix)
    os.replace(copy, path)
    return [f"Kept the damaged database as {kept}."]
