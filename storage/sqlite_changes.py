"""Change detection for a SQLite file, which other processes may write to or replace."""

import os
import sqlite3
from threading import RLock

from sqlalchemy import Engine, ExceptionContext, event

from storage.sqlite import connect_existing

BUSY_TIMEOUT_SECONDS = 0.2  # every request goes through this connection
# These errors make a connection unusable (https://www.sqlite.org/rescode.html). Others, such as SQLITE_BUSY, do not.
LOST_CONNECTION_CODES = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN}


class SQLiteChangeDetector:
    """Detects commits to a SQLite file by any process, and replacement of the file.

    The version combines a reopen counter with SQLite's `data_version`, which changes with every commit, but is only
    meaningful within one connection (https://www.sqlite.org/pragma.html#pragma_data_version).

    Commits normally only touch the WAL. If the database file itself changes, it may have been replaced, and open
    connections would keep serving the old file and their cached pages. We therefore reopen our own connection and the
    engine's pool. A checkpoint changes the file too, in which case reopening is unnecessary but harmless.
    """

    def __init__(self, engine: Engine, path: str) -> None:
        self._engine, self._path = engine, path
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, ...] = ()
        self._times_opened = 0
        event.listen(engine, "handle_error", self._close_if_lost)

    def version(self) -> tuple[int, int] | None:
        """Return the database's version, or None while it cannot be read."""
        with self._lock:
            try:
                connection = self._connection
                if not connection or _read_identity(self._path) != self._identity:
                    connection = self._reopen()
                return self._times_opened, connection.execute("PRAGMA data_version").fetchone()[0]
            except (OSError, sqlite3.Error):
                self.close()
                return None

    def close(self) -> None:
        """Close the detector's connection and the engine's idle ones. The next call to `version` reopens the file."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None
            self._engine.dispose()

    def _reopen(self) -> sqlite3.Connection:
        """Open the current file. Raises OSError or sqlite3.Error if it cannot be read."""
        # Read before opening: if the file is replaced in between, the next call notices and reopens it.
        self._identity = _read_identity(self._path)
        self.close()
        self._times_opened += 1
        self._connection = connect_existing(self._path, read_only=True, timeout=BUSY_TIMEOUT_SECONDS)
        return self._connection

    def _close_if_lost(self, context: ExceptionContext) -> None:
        """Close all connections after an error that makes them unusable."""
        # Python provides the extended result code, whose low byte is the primary one.
        if getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF in LOST_CONNECTION_CODES:
            context.is_disconnect = True  # makes SQLAlchemy discard the failed connection
            self.close()


def _read_identity(path: str) -> tuple[int, ...]:
    """Return values that change when the file is modified or replaced. Raises OSError if the file is missing."""
    file = os.stat(path)
    # ctime also changes with the permissions
    return file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns
