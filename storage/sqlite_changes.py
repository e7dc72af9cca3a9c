"""Change detection for a SQLite file that other processes may write or replace."""

import os
import sqlite3
from threading import RLock

from sqlalchemy import Engine, ExceptionContext, event

from storage.sqlite import connect_existing

BUSY_TIMEOUT_SECONDS = 0.2  # every request waits for this connection
# Errors of a broken connection or file (https://www.sqlite.org/rescode.html). Others, such as SQLITE_BUSY, leave the
# connection usable.
LOST_CONNECTION_CODES = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CANTOPEN}


class SQLiteChangeDetector:
    """Detects commits to a SQLite file by any process, and another file in its place.

    A version is the number of times the file has been opened, which never repeats, together with SQLite's
    `data_version`, which changes with every commit but starts again with each connection
    (https://www.sqlite.org/pragma.html#pragma_data_version).

    Commits go to the WAL. If the file itself has changed, it may have been replaced, and SQLite connections would go on
    reading the old file or their cached pages. So the detector reopens its own connection and the engine's. That also
    happens after a checkpoint, which is harmless.
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
        """Close the detector's connection and the engine's idle ones. The next version reopens the file."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None
            self._engine.dispose()

    def _reopen(self) -> sqlite3.Connection:
        """Open the current file. Raises OSError or sqlite3.Error if it cannot be read."""
        # Read before opening: if the file is replaced in between, the next call sees another identity and reopens.
        self._identity = _read_identity(self._path)
        self.close()
        self._times_opened += 1
        self._connection = connect_existing(self._path, read_only=True, timeout=BUSY_TIMEOUT_SECONDS)
        return self._connection

    def _close_if_lost(self, context: ExceptionContext) -> None:
        """Reopen the file after an error that means a broken connection or file."""
        # Python has the extended result code. Its low byte is the primary one.
        if getattr(context.original_exception, "sqlite_errorcode", 0) & 0xFF in LOST_CONNECTION_CODES:
            context.is_disconnect = True  # SQLAlchemy then discards the failed connection
            self.close()


def _read_identity(path: str) -> tuple[int, ...]:
    """Return values that differ between two files, and before and after a change. Raises OSError without a file."""
    file = os.stat(path)
    # The ctime changes with the permissions too.
    return file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns
