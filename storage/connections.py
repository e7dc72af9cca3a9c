"""Connections to SQLite files. A process never has connections to two files at one path at a time.

SQLite finds a database's `-shm` file by its name. If a file is replaced while a process has it open, connections to the
old and to the new file may share one `-shm`. Once the last connection to one of the two is closed, the kernel drops the
locks that the process holds on `-shm` for the other one (https://www.sqlite.org/howtocorrupt.html#posix_close_bug), and
the next process that opens the database truncates `-shm` while this one is using it. A response then mixes two
revisions, or the process dies of SIGBUS.

Therefore, all connections are opened here. While connections to the previous file are open, none is opened to the new
one.
"""

import os
import sqlite3
from collections import defaultdict
from operator import methodcaller
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import WeakSet

from sqlalchemy.exc import DisconnectionError

from storage import StorageError

Inode = tuple[int, int]  # device and number

_lock = RLock()  # held while a connection is opened, closed, or moved between a pool and its user


class SQLiteConnection(sqlite3.Connection):
    """A connection that is listed in `_open_connections` until it is closed."""

    path: str
    inode: Inode | None
    is_read_only: bool
    is_in_use = True  # not idle in a pool
    is_outdated = False  # to be closed once it is idle

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, *arguments: Any, **options: Any) -> Any:
        """Return a new cursor."""
        cursor = super().cursor(*arguments, **options)
        self._cursors.add(cursor)
        return cursor

    def close(self) -> None:
        """Close the connection and its cursors, one of which would otherwise keep the file open."""
        with _lock:
            for cursor in list(self._cursors):
                cursor.close()
            super().close()
            _open_connections[self.path].discard(self)


# by absolute path
_open_connections: defaultdict[str, WeakSet[SQLiteConnection]] = defaultdict(WeakSet)


class FileReplacedError(StorageError):
    """The database file has been replaced, so the connection must not be used any longer."""

    def __init__(self) -> None:
        super().__init__("The database file has just been replaced. Try again.")


def connect(path: str, *, read_only: bool, **options: Any) -> SQLiteConnection:
    """Connect to a SQLite file. By default, SQLite would create a missing file; here it is an error.

    `options` go to `sqlite3.connect`. Raises sqlite3.OperationalError if the file cannot be opened, and
    FileReplacedError if this process still has connections to the previous file at this path.
    """
    path = os.path.abspath(path)
    uri = f"{Path(path).as_uri()}?mode={'ro' if read_only else 'rw'}"
    options |= {"uri": True, "check_same_thread": False, "factory": SQLiteConnection}
    with _lock:
        inode = _find_inode(path)
        connection: SQLiteConnection = sqlite3.connect(uri, **options)
        connection.path, connection.inode, connection.is_read_only = path, inode, read_only
        # Another tool may have stored text in another encoding.
        connection.text_factory = methodcaller("decode", "utf-8", "replace")
        _open_connections[path].add(connection)
        try:
            require_current_file(connection)
            if {other.inode for other in _open_connections[path]} != {inode}:
                raise FileReplacedError
        except FileReplacedError:
            connection.close()
            raise
    return connection


def connect_for_request(path: str, **options: Any) -> SQLiteConnection:
    """Connect read-only, so that views cannot write and closing the connection leaves the WAL alone.

    Raises the errors of `connect`, and StorageError if the file is empty: SQLite would delete its WAL.
    """
    if os.path.exists(path) and not os.path.getsize(path):
        raise StorageError(f"The file {path} is empty.")
    return connect(path, read_only=True, **options)


def _find_inode(path: str) -> Inode | None:
    try:
        file = os.stat(path)
    except OSError:
        return None
    return file.st_dev, file.st_ino


def require_current_file(connection: SQLiteConnection) -> None:
    """Raise FileReplacedError if the connection's file is no longer the one at its path."""
    if _find_inode(connection.path) != connection.inode:
        raise FileReplacedError


def retire_connections(path: str) -> None:
    """Close the idle connections to the file at `path`. Those in use will be closed when they become idle."""
    with _lock:
        for connection in list(_open_connections[os.path.abspath(path)]):
            connection.is_outdated = True
            if not connection.is_in_use:
                connection.close()


def interrupt_statements(path: str) -> None:
    """Abort the statements that are running on outdated connections to the file at `path`."""
    with _lock:
        for connection in list(_open_connections[os.path.abspath(path)]):
            if connection.is_outdated:
                connection.interrupt()


def take(connection: SQLiteConnection, *, read_only: bool) -> None:
    """Mark a pooled connection as in use. Raises DisconnectionError if it is outdated or has the other mode.

    A connection that has just been opened is in use already, and always accepted.
    """
    with _lock:
        if connection.is_in_use:
            return
        if connection.is_outdated or connection.is_read_only != read_only:
            raise DisconnectionError  # makes SQLAlchemy close it and open another one
        connection.is_in_use = True


def give_back(connection: SQLiteConnection) -> None:
    """Mark a connection as idle, or close it if it is outdated."""
    with _lock:
        connection.is_in_use = False
        if connection.is_outdated:
            connection.close()
