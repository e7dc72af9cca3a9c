"""Change detection for a SQLite file, which other processes may write to or replace."""

import os
import sqlite3
import time
from contextlib import suppress
from threading import RLock

from sqlalchemy import Engine, ExceptionContext, event
from sqlalchemy.exc import DisconnectionError

from storage import StorageError
from storage.sqlite_connections import (
    FileReplacedError,
    SQLiteConnection,
    check_in,
    check_out,
    close_abandoned,
    connect_read_only,
    interrupt_retired,
    retire_connections,
)

BUSY_TIMEOUT_SECONDS = 0.2  # every request goes through this connection
MAX_WAIT_SECONDS = 5  # for requests that are reading a file that has been replaced
# These errors make a connection unusable (https://www.sqlite.org/rescode.html). Others, such as SQLITE_BUSY, do not.
LOST_CONNECTION_CODES = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN}


class SQLiteChangeDetector:
    """Detects commits to a SQLite file by any process, and replacement of the file.

    The version combines a reopen counter with SQLite's `data_version`, which changes with every commit, but is only
    meaningful within one connection (https://www.sqlite.org/pragma.html#pragma_data_version).

    Commits normally only touch the WAL. If the database file itself changes, it may have been replaced, and open
    connections would keep serving the old file and their cached pages. We therefore retire all of them, and open new
    ones. A checkpoint changes the file too, in which case reopening is unnecessary but harmless.
    """

    def __init__(self, engine: Engine, path: str) -> None:
        self._path = path
        self._lock = RLock()
        self._connection: SQLiteConnection | None = None
        self._identity: tuple[int, ...] = ()
        self._times_opened = 0
        self._is_lost = False  # an error has made connections unusable
        # when requests that still read the replaced file are interrupted; kept until the new file is open
        self._deadline: float | None = None
        event.listen(engine, "handle_error", self._note_lost_connection)

    def version(self) -> tuple[int, int] | None:
        """Return the database's version, or None while it cannot be read.

        If the file has been replaced, waits up to MAX_WAIT_SECONDS for requests that are reading the previous one.
        """
        close_abandoned(self._path)
        with self._lock:
            try:
                connection = self._check_out_connection()
                try:
                    return self._times_opened, connection.execute("PRAGMA data_version").fetchone()[0]
                finally:
                    check_in(connection)
            except (OSError, sqlite3.Error, StorageError):
                self.close()
                return None

    def close(self) -> None:
        """Close the detector's connection and the engine's idle ones. The next call to `version` reopens the file."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None
            retire_connections(self._path)

    def _check_out_connection(self) -> SQLiteConnection:
        """Return the connection, which other applications in this process may have closed, or open the current file."""
        if self._connection and not self._is_lost and _read_identity(self._path) == self._identity:
            with suppress(DisconnectionError):
                check_out(self._connection, read_only=True)
                return self._connection
        return self._reopen()

    def _reopen(self) -> SQLiteConnection:
        """Open the current file. Raises OSError, sqlite3.Error or StorageError if it cannot be read."""
        self._is_lost = False
        # Read before opening: if the file is replaced in between, the next call notices and reopens it.
        self._identity = _read_identity(self._path)
        self.close()
        self._times_opened += 1
        self._connection = self._connect()
        return self._connection

    def _connect(self) -> SQLiteConnection:
        """Connect to the current file as soon as no request is reading the previous one.

        After MAX_WAIT_SECONDS, every call interrupts such requests and raises FileReplacedError, as long as one is
        running.
        """
        while True:
            try:
                connection = connect_read_only(self._path, timeout=BUSY_TIMEOUT_SECONDS)
            except FileReplacedError:
                self._deadline = self._deadline or time.monotonic() + MAX_WAIT_SECONDS
                if time.monotonic() > self._deadline:
                    interrupt_retired(self._path)
                    raise
                time.sleep(0.001)
            except (sqlite3.Error, StorageError):
                self._deadline = None
                raise
            else:
                self._deadline = None
                return connection

    def _note_lost_connection(self, context: ExceptionContext) -> None:
        """Have all connections reopened after an error that makes them unusable."""
        # Python provides the extended result code, whose low byte is the primary one.
        if getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF in LOST_CONNECTION_CODES:
            context.is_disconnect = True  # makes SQLAlchemy discard the failed connection
            self._is_lost = True


def _read_identity(path: str) -> tuple[int, ...]:
    """Return values that change when the file is modified or replaced. Raises OSError if the file is missing."""
    file = os.stat(path)
    # ctime also changes with the permissions
    return file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns
