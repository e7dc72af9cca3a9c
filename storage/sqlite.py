"""SQLite files: connections, changes by other processes, creation, and WAL mode."""

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from flask import has_request_context
from sqlalchemy import Engine, event
from sqlalchemy.engine import URL

from storage import StorageError

BUSY_TIMEOUT_SECONDS = 1  # every request reads the version
WAL_MODE = "journal_mode = WAL"  # readers and writers do not block each other (https://www.sqlite.org/wal.html)
WAL_CHECKPOINT = "wal_checkpoint(TRUNCATE)"  # writes the WAL's content to the file, so that it can be overwritten


class SQLiteFile:
    """An application's SQLite file, and the detector of changes to it.

    The first file that is opened is the only one. SQLite finds a database's `-shm` file by its name, so a process that
    opened a new file at the same path beside the old one would lose its locks
    (https://www.sqlite.org/howtocorrupt.html#posix_close_bug). Nothing may open the file other than through SQLite.

    The version combines a reopen counter with SQLite's `data_version`, which changes with every commit, but is only
    meaningful within one connection (https://www.sqlite.org/pragma.html#pragma_data_version). If the file itself is
    modified, by a checkpoint or by `cp`, or gets another mode, all connections are reopened.
    """

    def __init__(self, path: str, engine: Engine) -> None:
        """Open the engine's connections here: read-only in requests, writable in commands."""
        self._path = path
        self._engine = engine
        self._lock = RLock()  # guards the attributes below
        self._inode: tuple[int, int] | None = None  # of the first file
        self._connection: sqlite3.Connection | None = None
        self._fingerprint: tuple[int, ...] = ()
        self._times_opened = 0
        event.listen(engine, "do_connect", self._connect_engine)

    def version(self) -> tuple[int, int]:
        """Return the database's version. Raises StorageError while it cannot be read."""
        with self._lock:
            try:
                fingerprint = self._read_fingerprint()
                if not self._connection or fingerprint != self._fingerprint:
                    self._disconnect()
                    # Read before opening: if the file is modified in between, the next call notices and reopens it.
                    self._fingerprint = fingerprint
                    self._connection = self._connect(read_only=True, timeout=BUSY_TIMEOUT_SECONDS)
                    self._times_opened += 1
                return self._times_opened, self._connection.execute("PRAGMA data_version").fetchone()[0]
            except (sqlite3.Error, StorageError) as error:
                self._disconnect()
                raise StorageError(str(error)) from error

    def close(self) -> None:
        """Close the detector's connection and the engine's idle ones, and forget the file.

        The next one to be opened may be another file, so no other connection may be in use.
        """
        with self._lock:
            self._disconnect()
            self._inode = None

    def _disconnect(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None
        self._engine.dispose()

    def _connect_engine(self, _dialect: Any, _record: Any, _arguments: Any, options: Any) -> sqlite3.Connection:
        return self._connect(read_only=has_request_context(), **options)

    def _connect(self, *, read_only: bool, **options: Any) -> sqlite3.Connection:
        """Connect to the file. `options` go to `sqlite3.connect`.

        Raises sqlite3.OperationalError if the file cannot be opened. Raises StorageError if it is no longer the first
        file, or if it is empty and `read_only` is true: SQLite would delete its WAL.
        """
        connection = connect_to_file(self._path, read_only=read_only, **options)
        try:
            _, _, size, *_ = self._read_fingerprint()  # before the first statement, which opens -wal and -shm
            if read_only and not size:
                raise StorageError(f"The file {self._path} is empty. Restore a backup.")
        except StorageError:
            connection.close()
            raise
        return connection

    def _read_fingerprint(self) -> tuple[int, ...]:
        """Return values that change when the file is modified.

        Raises StorageError if it is missing or no longer the first file.
        """
        try:
            file = os.stat(self._path)
        except OSError as error:
            raise StorageError(f"The file {self._path} cannot be read ({error.strerror}).") from error
        inode = file.st_dev, file.st_ino
        with self._lock:
            self._inode = self._inode or inode
            if inode != self._inode:
                raise StorageError(f"The file {self._path} has been replaced. Restart the service.")
        # ctime also changes with the permissions
        return *inode, file.st_size, file.st_mtime_ns, file.st_ctime_ns


def connect_to_file(path: str, *, read_only: bool, **options: Any) -> sqlite3.Connection:
    """Connect to an existing SQLite file. By default, SQLite would create a missing one.

    Raises sqlite3.OperationalError if the file cannot be opened.
    """
    uri = f"{Path(path).absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    options |= {"uri": True, "check_same_thread": False}
    connection: sqlite3.Connection = sqlite3.connect(uri, **options)
    return connection


def sqlite_path(url: URL) -> str | None:
    """Return the path of the SQLite file, or None if the URL is for another database."""
    return url.database if url.get_backend_name() == "sqlite" else None


def run_pragma(path: str, pragma: str) -> None:
    """Run a PRAGMA that may fail, because the file is busy or not writable."""
    with suppress(sqlite3.Error), closing(connect_to_file(path, read_only=False, timeout=1)) as connection:
        connection.execute(f"PRAGMA {pragma}")
