"""The application's SQLite file: its connections, and changes to it, which other processes may make.

SQLite finds a database's `-shm` file by its name. If a file is replaced while a process has it open, connections to the
old and to the new file may share one `-shm`. Once the last connection to one of the two is closed, the kernel drops the
locks that the process holds on `-shm` for the other one (https://www.sqlite.org/howtocorrupt.html#posix_close_bug), and
the next process that opens the database truncates `-shm` while this one is using it. A response then mixes two
revisions, or the process dies of SIGBUS.

Therefore, every connection is opened by `SQLiteFile.connect`, which refuses to open a file while connections to another
one at its path are in use. Nothing may open the file other than through SQLite.
"""

import os
import sqlite3
from operator import methodcaller
from pathlib import Path
from threading import Lock, RLock, get_ident
from typing import Any
from weakref import WeakSet, WeakValueDictionary

from flask import has_request_context
from sqlalchemy import Engine, event
from sqlalchemy.exc import DisconnectionError

from storage import StorageError

BUSY_TIMEOUT_SECONDS = 0.2  # every request reads the version


class FileReplacedError(StorageError):
    """The database file has been replaced, so a connection to the previous one must not be used any longer."""

    def __init__(self) -> None:
        super().__init__("The database file has just been replaced. Try again.")


class SQLiteConnection(sqlite3.Connection):
    """A connection to a `SQLiteFile`."""

    file: "SQLiteFile"
    inode: tuple[int, ...]
    is_read_only: bool
    is_outdated = False  # the file has changed or the connection is lost: closed as soon as it is idle
    user: int | None  # the thread that uses the connection, and may close it; while it is None, any thread may

    def close(self) -> None:
        """Close the connection."""
        with self.file.lock:
            super().close()
            self.is_outdated = True
            self.file.connections.discard(self)

    def require_current_file(self) -> None:
        """Raise FileReplacedError if another file, or none, is at the path by now."""
        if read_fingerprint(self.file.path)[:2] != self.inode:
            raise FileReplacedError


class SQLiteFile:
    """A SQLite file, its connections, and the detector of changes to it. `sqlite_file` returns the one for a path.

    The version combines a reopen counter with SQLite's `data_version`, which changes with every commit, but is only
    meaningful within one connection (https://www.sqlite.org/pragma.html#pragma_data_version).

    Commits normally only touch the WAL. If the database file itself changes, it may have been replaced, and open
    connections would keep serving the old file and their cached pages. Therefore, all of them are closed: idle ones at
    once, others when they are returned. A checkpoint changes the file too, in which case this is harmless.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.lock = RLock()  # guards the attributes below
        self.connections: WeakSet[SQLiteConnection] = WeakSet()
        self._connection: SQLiteConnection | None = None
        self._fingerprint: tuple[int, ...] = ()
        self._times_opened = 0

    def listen_to(self, engine: Engine) -> None:
        """Open the engine's connections here: read-only in requests, writable in commands."""
        event.listen(engine, "do_connect", self._connect_engine)
        event.listen(engine, "checkout", self._check_out)
        event.listen(engine, "checkin", self._check_in)

    def connect(self, *, read_only: bool, **options: Any) -> SQLiteConnection:
        """Connect to the file. By default, SQLite would create a missing file; here it is an error.

        `options` go to `sqlite3.connect`. Raises sqlite3.OperationalError if the file cannot be opened,
        FileReplacedError while a connection to a previous file is in use, and StorageError if the file is empty and is
        to be opened read-only: SQLite would delete its WAL.
        """
        uri = f"{Path(self.path).as_uri()}?mode={'ro' if read_only else 'rw'}"
        options |= {"uri": True, "check_same_thread": False, "factory": SQLiteConnection}
        with self.lock:
            fingerprint = read_fingerprint(self.path)
            if read_only and fingerprint and not fingerprint[2]:
                raise StorageError(f"The database {self.path} is empty. Restore a backup.")
            if not self._has_only_current_connections():
                self.close()
            if not self._has_only_current_connections():
                raise FileReplacedError
            connection: SQLiteConnection = sqlite3.connect(uri, **options)
            connection.file = self
            connection.inode = fingerprint[:2]
            connection.is_read_only = read_only
            connection.user = get_ident()
            # Another tool may have stored text in another encoding.
            connection.text_factory = methodcaller("decode", "utf-8", "replace")
            self.connections.add(connection)
        try:
            connection.require_current_file()  # before the first statement, which opens -wal and -shm
        except FileReplacedError:
            connection.close()
            raise
        return connection

    def version(self) -> tuple[int, int] | None:
        """Return the database's version, or None while it cannot be read.

        A file that has been replaced cannot be read until all requests that are reading the previous one have ended.
        """
        with self.lock:
            try:
                connection = self._connection
                if not connection or connection.is_outdated or read_fingerprint(self.path) != self._fingerprint:
                    connection = self._reopen()
                return self._times_opened, connection.execute("PRAGMA data_version").fetchone()[0]
            except (sqlite3.Error, StorageError):
                self.close()
                return None

    def close(self) -> None:
        """Close all connections: idle ones now, others as soon as they are returned."""
        with self.lock:
            for connection in list(self.connections):
                connection.is_outdated = True
                if connection.user is None:
                    connection.close()

    def _reopen(self) -> SQLiteConnection:
        """Open the current file. Raises FileReplacedError while a request is reading a previous one."""
        for connection in list(self.connections):
            if connection.user == get_ident():  # left by this thread's last request, whose teardown an extension broke
                connection.user = None
        self.close()
        # Read before opening: if the file is replaced in between, the next call notices and reopens it.
        self._fingerprint = read_fingerprint(self.path)
        self._connection = self.connect(read_only=True, timeout=BUSY_TIMEOUT_SECONDS)
        self._connection.user = None
        self._times_opened += 1
        return self._connection

    def _has_only_current_connections(self) -> bool:
        """Return whether all connections are to the file that is at the path now."""
        inode = read_fingerprint(self.path)[:2]
        return all(connection.inode == inode for connection in list(self.connections))

    def _connect_engine(self, _dialect: Any, _record: Any, _arguments: Any, options: Any) -> SQLiteConnection:
        return self.connect(read_only=has_request_context(), **options)

    def _check_out(self, connection: SQLiteConnection, _record: Any, _proxy: Any) -> None:
        """Mark a pooled connection as in use. Has SQLAlchemy open another one if it is outdated or of the other mode.

        A connection that has just been opened is in use already, and may even be outdated: see `require_current_file`.
        """
        with self.lock:
            is_other_mode = connection.is_read_only != has_request_context()
            if connection.user is None and (connection.is_outdated or is_other_mode):
                raise DisconnectionError  # how SQLAlchemy's pool is told to connect again
            connection.user = get_ident()

    def _check_in(self, connection: SQLiteConnection | None, _record: Any) -> None:
        """Mark a connection as idle, and close it if it is outdated."""
        if connection:  # None if SQLAlchemy has closed it
            with self.lock:
                connection.user = None
                if connection.is_outdated:
                    connection.close()


_files: WeakValueDictionary[str, SQLiteFile] = WeakValueDictionary()
_files_lock = Lock()  # without it, two threads could create two objects for one path


def sqlite_file(path: str) -> SQLiteFile:
    """Return this process's only object for the file at `path`."""
    real_path = os.path.realpath(path)
    with _files_lock:
        file = _files.get(real_path) or SQLiteFile(os.path.abspath(path))
        _files[real_path] = file
    return file


def read_fingerprint(path: str) -> tuple[int, ...]:
    """Return values that change when the file is modified or replaced, of which the first two are its inode.

    Returns an empty tuple if the file is missing.
    """
    try:
        file = os.stat(path)
    except OSError:
        return ()
    # ctime also changes with the permissions
    return file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns, file.st_ctime_ns
