"""Online backup and restore of the SQLite database (https://www.sqlite.org/backup.html)."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, select
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from models import ApiKey, Article, db
from storage import StorageError
from storage.engine import WRITE_LOCK_TIMEOUT_SECONDS, add_listener, close_connections, write_options
from storage.new_files import FILE_EXISTS, create_folder_beside, move_to_new_file
from storage.queries import IS_PUBLISHED, VALID_KEY
from storage.sqlite import WAL_CHECKPOINT, WAL_MODE, connect_to_file, run_pragma, sqlite_path
from storage.tables import has_tables, migrate, refuse_foreign_tables


def back_up(target: Path) -> None:
    """Write a consistent copy of the database to the new file `target`, which appears only once it is complete.

    Raises StorageError if the file exists, or if the database is corrupt and the backup could therefore not be
    restored. Raises OSError if the file cannot be written.
    """
    if os.path.lexists(target):
        raise StorageError(FILE_EXISTS.format(target))
    with _checked_copy(_database_path(), target) as engine:
        copy = str(engine.url.database)
        with open(copy, "rb+") as file:
            os.fsync(file.fileno())  # VACUUM INTO does not sync
        move_to_new_file(copy, target)


def restore(backup: Path) -> list[str]:
    """Write a backup into the database in one transaction while the service runs. The next request sees its content.

    The backup is copied, checked and upgraded beside the database first. If the process is killed, the database has
    either its old or its new content. A missing database is created.

    Returns messages for the operator. Raises StorageError if the backup is not a complete, intact database of this
    service, or comes from a newer version; if the database is corrupt or belongs to another program; or if another
    program keeps it locked for a minute. Raises OSError if its folder is not writable.
    """
    path = _database_path()
    is_missing = not os.path.exists(path)
    if not is_missing:
        _check_target(path)
    with _checked_copy(str(backup), Path(path)) as engine:
        with engine.execution_options(**write_options("upgrade")).begin() as connection:
            lines = migrate(connection, f"the copy of {backup}")
        keys, articles = _read_exposure(engine)
        current_keys, current_articles = _read_exposure(db.engine)
        close_connections()
        if is_missing:
            move_to_new_file(str(engine.url.database), Path(path))
            lines.append(f"Created the database {path}. Restart the service, and a replication such as Litestream.")
        else:
            _overwrite(str(engine.url.database), path)
    run_pragma(path, WAL_MODE)
    run_pragma(path, WAL_CHECKPOINT)
    if again := len(keys - current_keys):
        lines.append(f"Keys that are valid again: {again}. To revoke one: flask keys list, flask keys revoke ID")
    if exposed := len(articles - current_articles):
        lines.append(f"Articles that are public again: {exposed}. To hide one: flask articles unpublish SLUG")
    return lines


def _read_exposure(engine: Engine) -> tuple[set[str], set[Any]]:
    """Return the hashes of all valid keys, and the customers and ids of all published articles."""
    now = datetime.now(UTC)
    keys = select(ApiKey.hash).where(*VALID_KEY)
    articles = select(Article.customer_id, Article.id).where(IS_PUBLISHED)
    try:
        with engine.connect() as connection:
            valid = connection.scalars(keys, {"today": now.date()})
            return set(valid), set(connection.execute(articles, {"now": now}))
    except OperationalError:  # the database or its tables are missing
        return set(), set()


def _database_path() -> str:
    path = sqlite_path(db.engine.url)
    if not path:
        raise StorageError("This command only works with SQLite. For PostgreSQL, use pg_dump and pg_restore.")
    return path


def _check_target(path: str) -> None:
    """Raise StorageError if the database is corrupt or belongs to another program."""
    with closing(connect_to_file(path, read_only=True)) as connection:
        if finding := _integrity_error(connection):
            advice = f"Stop the service, move the file and any {path}-wal and {path}-shm away, and try again."
            raise StorageError(f"The database {path} is corrupt ({finding}). {advice}")
    with db.engine.connect() as engine_connection:
        refuse_foreign_tables(engine_connection)


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
def _checked_copy(original: str, target: Path) -> Iterator[Engine]:
    """Copy a database to a temporary folder beside `target`, and check the copy. Yields an engine for it.

    Raises StorageError if the original is corrupt or not a database of this service, and OSError if the folder is not
    writable.
    """
    with create_folder_beside(target) as temporary:
        copy = Path(temporary, "copy.db")
        copy.touch(0o600)  # SQLite would create a world-readable file
        try:
            _copy(original, copy)
        except sqlite3.Error as error:
            reason = f"{original} cannot be copied to the folder {target.resolve().parent} ({error})."
            raise StorageError(f"{reason} Check that the file is readable and that the disk has room.") from error
        engine = create_engine(URL.create("sqlite", database=str(copy)), poolclass=NullPool)
        add_listener(engine)
        with engine.connect() as connection:
            if not has_tables(connection):
                raise StorageError(f"{original} is not a database of this service. Check the path.")
        yield engine


def _copy(original: str, copy: Path) -> None:
    """Copy a database to the empty file `copy`.

    Raises StorageError if the database is not a file or corrupt, and sqlite3.Error if it cannot be copied.
    """
    if not os.path.isfile(original):  # SQLite would wait for a named pipe
        raise StorageError(f"{original} does not exist or is not a file. Check the path.")
    with closing(connect_to_file(original, read_only=True, isolation_level=None)) as connection:
        if finding := _integrity_error(connection):
            reason = f"{original} is corrupt or not a SQLite database ({finding})."
            raise StorageError(f"{reason} Restore an earlier backup.")
        connection.execute("VACUUM INTO ?", [copy.as_uri()])  # a URI works even if the path is not valid UTF-8


def _overwrite(copy: str, path: str) -> None:
    """Replace the database's content in one transaction. Raises StorageError if it stays locked for a minute."""
    deadline = time.monotonic() + WRITE_LOCK_TIMEOUT_SECONDS

    def check_deadline(status: int, _remaining: int, _total: int) -> None:
        # Without this handler, Python would wait for other writers forever, and ignore Ctrl+C.
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED) and time.monotonic() > deadline:
            raise StorageError("The database has been locked by another program for a minute. Try again later.")

    writer = connect_to_file(path, read_only=False, timeout=0.1)
    with closing(sqlite3.connect(copy)) as reader, closing(writer):
        reader.backup(writer, progress=check_deadline)
