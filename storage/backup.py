"""Backup and restore of a SQLite database while the service runs (https://www.sqlite.org/backup.html)."""

import os
import secrets
import shutil
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sqlalchemy import URL, create_engine, select
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import NullPool

from models import Base, db
from storage import StorageError
from storage.engine import (
    INTERRUPTIBLE_SECONDS,
    WRITE_LOCK_TIMEOUT_SECONDS,
    add_listeners,
    announced_wait,
    release_connection,
)
from storage.migration import begin_migration
from storage.sqlite import (
    checkpoint,
    companion_paths,
    connect_existing,
    copy_owner,
    primary_code,
    require_file,
    sqlite_path,
)
from storage.tables import has_own_tables, migrate, refuse_foreign_tables

DEFAULT_PAGE_SIZE = 4096  # of SQLite
DAMAGED = sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB


def back_up(target: Path) -> None:
    """Write a consistent copy of the database to `target`, a new file, which appears only when it is whole.

    Raises StorageError if the file exists or cannot be written, and for a damaged database: a backup can be restored.
    """
    exists_already = f"{target} exists already. Choose another name, or move it away."
    if target.exists():
        raise StorageError(exists_already)
    path = _database_path()
    require_file(path)
    hint = "Restore an earlier backup, or set DATABASE_URL to this service's database."
    with _checked_copy(path, target, DEFAULT_PAGE_SIZE, hint) as copy:
        _sync(copy)
        try:
            os.link(copy, target)  # unlike a rename, never over another file
        except FileExistsError as error:
            raise StorageError(exists_already) from error
        except OSError:  # a file system without links
            os.rename(copy, target)


def restore(backup: Path) -> str | None:
    """Put a backup in the database's place: the next request sees it, and none sees a mixture.

    The backup is first copied, checked and migrated beside the database. Killed at any moment, this leaves the old
    database or the new one. Returns the database's path if there was no file. Raises StorageError if the backup is not
    a whole database of this service, or is of a newer version, and if another program writes the database for a minute.
    """
    path = _database_path()
    is_new = not os.path.exists(path)
    hint = "Choose a file that flask database backup wrote."
    with _checked_copy(str(backup), Path(path), _page_size(path), hint) as copy:
        if not _overwrite(copy, path):
            _replace(copy, os.path.realpath(path))
    checkpoint(path, timeout=1)
    return path if is_new else None


def _database_path() -> str:
    path = sqlite_path(db.engine.url)
    if not path:
        raise StorageError("This command is for SQLite files. On PostgreSQL use pg_dump and pg_restore.")
    return path


def _page_size(path: str) -> int:
    """Return the page size of the database to replace: in WAL mode it cannot change.

    Returns SQLite's default if there is no such database, or a damaged one. Raises StorageError for another program's.
    """
    try:
        with db.engine.connect() as connection:
            refuse_foreign_tables(connection)
            size: int = connection.exec_driver_sql("PRAGMA page_size").scalar_one()
            return size
    except DatabaseError as error:
        if os.path.exists(path) and primary_code(error.orig) not in DAMAGED:
            raise
        return DEFAULT_PAGE_SIZE
    finally:
        release_connection()


@contextmanager
def _checked_copy(source: str, target: Path, page_size: int, hint: str) -> Iterator[str]:
    """Yield a copy of one state of a database, whole and migrated, in a temporary folder beside `target`.

    Raises StorageError, with the hint, if the source is damaged or not a database of this service, and if the
    folder cannot be created.
    """
    folder = os.path.dirname(os.path.realpath(target))
    temporary = Path(folder, f".{target.name}-{secrets.token_hex(4)}.tmp")
    try:  # not TemporaryDirectory: Ctrl+C just after it has made its folder would leave that behind
        try:
            temporary.mkdir(0o700)
        except OSError as error:
            reason = f"{folder} cannot be written ({error.strerror})."
            raise StorageError(f"{reason} Choose a folder that exists and that you may write.") from error
        copy = temporary / "copy.db"
        copy.touch(0o600)  # SQLite would let everybody read it
        _copy(source, str(copy), page_size, hint)
        _migrate(str(copy), source, hint)
        yield str(copy)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _copy(source: str, copy: str, page_size: int, hint: str) -> None:
    """Copy one state of a database, its WAL included, into a single file. Raises StorageError if it is damaged."""
    try:
        with closing(connect_existing(source, read_only=True, isolation_level=None)) as connection:
            (finding,) = _run_interruptibly(connection, "PRAGMA integrity_check(1)").fetchone()
            if finding == "ok":
                connection.execute(f"PRAGMA page_size = {page_size}")
                _run_interruptibly(connection, "VACUUM INTO ?", Path(copy).as_uri())  # also of bytes that are not UTF-8
    except sqlite3.DatabaseError as error:
        if primary_code(error) not in DAMAGED:
            raise
        finding = str(error)
    if finding != "ok":
        raise StorageError(f"{source} is not a whole SQLite database ({finding.splitlines()[-1]}). {hint}")


def _run_interruptibly(connection: sqlite3.Connection, statement: str, *parameters: str) -> sqlite3.Cursor:
    """Run a long statement in a thread, so that Ctrl+C ends it at once."""
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(connection.execute, statement, parameters).result()
        except BaseException:
            connection.interrupt()
            raise


def _migrate(copy: str, name: str, hint: str) -> None:
    """Migrate the copy to this version.

    Raises StorageError if it is not a database of this service, and DatabaseError if one of its columns is missing.
    """
    engine = create_engine(URL.create("sqlite", database=copy), poolclass=NullPool)
    add_listeners(engine)
    with begin_migration(engine) as connection:
        if not has_own_tables(connection):
            raise StorageError(f"{name} is not a database of this service. {hint}")
        migrate(connection)
        for table in Base.metadata.sorted_tables:
            connection.execute(select(table).limit(1))


def _overwrite(copy: str, path: str) -> bool:
    """Replace all that the database holds in one transaction, which readers and a crash see as a whole.

    Returns False for a database that is missing, empty or damaged, which nobody can be writing.
    """
    if not os.path.exists(path) or not os.path.getsize(path):
        return False
    deadline = time.monotonic() + WRITE_LOCK_TIMEOUT_SECONDS
    try:
        with (
            closing(sqlite3.connect(copy, isolation_level=None)) as reader,
            closing(connect_existing(path, read_only=False, timeout=INTERRUPTIBLE_SECONDS)) as writer,
            announced_wait() as end_wait,
        ):

            def watch(status: int, _remaining: int, _total: int) -> None:
                if status not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                    end_wait()
                elif time.monotonic() > deadline:
                    raise StorageError("Another program has been writing to the database for a minute. Try again.")

            reader.backup(writer, pages=1000, progress=watch)
    except sqlite3.DatabaseError as error:
        if primary_code(error) not in DAMAGED:
            raise
        return False
    return True


def _replace(copy: str, path: str) -> None:
    """Move the copy, in WAL mode and on the disk, to the database's place, with the mode and owner of the old file.

    Files that SQLite has left beside the old one must not be applied to it.
    """
    checkpoint(copy, timeout=0)
    _sync(copy)
    folder = os.path.dirname(path)
    try:
        copy_owner(path if os.path.exists(path) else folder, copy)
        if os.path.exists(path):
            shutil.copymode(path, copy)
        for companion in companion_paths(path):
            with suppress(FileNotFoundError):
                os.remove(companion)
        os.replace(copy, path)
    except OSError as error:
        raise StorageError(f"{path} cannot be replaced ({error.strerror}). Stop the service, and try again.") from error


def _sync(path: str) -> None:
    """Wait until a file is on the disk."""
    with open(path, "r+b") as file:
        os.fsync(file.fileno())
