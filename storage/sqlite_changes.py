"""Change detection for a SQLite file: commits by any process, and another file in its place."""

import os
import sqlite3
from contextlib import suppress
from threading import RLock
from typing import Any, NamedTuple

from flask import has_request_context
from sqlalchemy import Engine, ExceptionContext, event

from storage.sqlite import connect_existing

BUSY_TIMEOUT_SECONDS = 0.2  # Every request waits for this connection.


class FileState(NamedTuple):
    """What differs between two files, and after any change to one. The last time also changes with the permissions."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


def read_state(path: str) -> FileState:
    """Return the state of a file. Raises OSError if there is none."""
    file = os.stat(path)
    return FileState(file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns)


class SQLiteChangeDetector:
    """A detector of commits to a SQLite file by any process, and of another file in its place.

    A version is the number of times that the file was opened, and SQLite's `data_version`, which differs after each
    commit that is seen by one connection (https://www.sqlite.org/pragma.html#pragma_data_version). A commit goes to the
    WAL. If the file itself changes, or anything fails, this connection and the engine's are opened again: SQLite
    connections cache pages, and would otherwise serve those of another file.

    A checkpoint changes the file too. It follows its commit at once, so that both make one version for later requests.
    """

    def __init__(self, engine: Engine, path: str) -> None:
        """Detect changes to the engine's file at `path`. The engine then connects only to a file that exists."""
        self._engine, self._path = engine, path
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._state: FileState | None = None
        self._real_path = path
        self._wal_inode = 0
        self._times_opened = 0
        event.listen(engine, "do_connect", self._connect_engine)
        event.listen(engine, "handle_error", self._close_after_error)

    def version(self) -> tuple[int, int] | None:
        """Return the database's version, or None while it cannot be read."""
        with self._lock:
            try:
                connection = self._connection
                if not connection or read_state(self._path) != self._state:
                    connection = self._reopen()
                return self._times_opened, connection.execute("PRAGMA data_version").fetchone()[0]
            except (OSError, sqlite3.Error):
                self.close()
                return None

    def close(self) -> None:
        """Close all connections to the file. The next version opens it again."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection = None
            self._engine.dispose()

    def _reopen(self) -> sqlite3.Connection:
        """Open the file that is there now. Raises OSError or sqlite3.Error if it cannot be read.

        The state is read first: if yet another file comes before this one is opened, the next version opens that.
        """
        self._remove_old_wal()
        self._state, self._real_path = read_state(self._path), os.path.realpath(self._path)
        self.close()
        self._times_opened += 1
        self._connection = connect_existing(self._real_path, read_only=True, timeout=BUSY_TIMEOUT_SECONDS)
        self._connection.execute("PRAGMA data_version")  # This opens the WAL, or creates it.
        self._wal_inode = 0
        with suppress(FileNotFoundError):
            self._wal_inode = os.stat(f"{self._real_path}-wal").st_ino
        return self._connection

    def _remove_old_wal(self) -> None:
        """Remove the WAL of the file that was opened if another file has been moved over that file.

        SQLite finds a WAL by its name and would apply it to the new file. A WAL that was written after the move belongs
        to the new file.
        """
        with suppress(OSError):
            file, wal = os.stat(self._real_path), os.stat(f"{self._real_path}-wal")
            is_replaced = self._state is not None and file.st_ino != self._state.inode
            # It must be the very WAL that was opened, and nobody may have written it since the new file came.
            if is_replaced and wal.st_ino == self._wal_inode and wal.st_mtime_ns <= file.st_ctime_ns:
                os.remove(f"{self._real_path}-wal")
                os.remove(f"{self._real_path}-shm")

    def _connect_engine(self, _dialect: Any, _record: Any, _arguments: Any, options: dict[str, Any]) -> Any:
        """Connect for SQLAlchemy, read-only in a request.

        The last connection that may write removes the WAL when it is closed. By then the WAL may be another file's.
        """
        return connect_existing(self._path, read_only=has_request_context(), **options)

    def _close_after_error(self, context: ExceptionContext) -> None:
        """Close the idle connections after any error.

        In a request, the connection that failed is closed too, as a lost one, whatever the error. A command keeps its
        connection, to wait for another writer or to roll back.
        """
        context.is_disconnect = has_request_context()
        self.close()
