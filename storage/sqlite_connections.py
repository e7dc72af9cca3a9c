"""Connections to SQLite files. A process never has connections to two files at one path at a time.

SQLite finds a database's `-shm` file by its name. If a file is replaced while a process has it open, connections to the
old and to the new file may share one `-shm`. Once the last connection to one of the two is closed, the kernel drops the
locks that the process holds on `-shm` for the other one (https://www.sqlite.org/howtocorrupt.html#posix_close_bug), and
the next process that opens the database truncates `-shm` while this one is using it. A response then mixes two
revisions, or the process dies of SIGBUS.

Therefore, all connections to the application's database are opened here. When a file is replaced, the next request
notices it (`sqlite_changes`), retires all connections to the previous file, which closes the idle ones, and waits until
other requests have returned theirs, which closes them too. After five seconds, it interrupts them. While a connection
to the previous file is in use, none is opened to the new one. For the same reason, nothing may open the database file
other than through SQLite.
"""

import os
import sqlite3
from collections import defaultdict
from enum import Enum
from operator import methodcaller
from pathlib import Path
from threading import RLock, get_ident
from typing import Any
from weakref import WeakSet

from sqlalchemy.exc import DisconnectionError

from storage import StorageError

Inode = tuple[int, int]  # device and number

_lock = RLock()  # held while a connection is opened, closed, or moved between a pool and its user


class ConnectionState(Enum):
    """Who may close a connection, and when.

    A new connection is in use. When it is checked in to its pool, it becomes idle until it is checked out again. If its
    file is replaced, it is closed at once if it is idle, otherwise retired until it is checked in.
    """

    IN_USE = "in use"  # only its user may close it
    RETIRED = "retired"  # still in use, but its file has been replaced
    IDLE = "idle"  # anybody may close it
    CLOSED = "closed"


class SQLiteConnection(sqlite3.Connection):
    """A connection that is listed in `_open_connections` until it is closed."""

    path: str
    inode: Inode | None
    is_read_only: bool
    state = ConnectionState.IN_USE
    thread_id: int | None = None  # of the thread that has checked it out from a pool

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._cursors: WeakSet[sqlite3.Cursor] = WeakSet()

    def cursor(self, *arguments: Any, **options: Any) -> Any:
        """Return a new cursor."""
        cursor = super().cursor(*arguments, **options)
        self._cursors.add(cursor)
        return cursor

    def close(self) -> None:
        """Close the connection and its cursors.

        SQLAlchemy leaves the cursor of a statement open if it considers the connection lost, and SQLite keeps the file
        open as long as there is an open cursor.
        """
        with _lock:
            for cursor in list(self._cursors):
                cursor.close()
            super().close()
            self.state = ConnectionState.CLOSED
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
    FileReplacedError if a connection of this process to the previous file at this path is in use.
    """
    path = os.path.abspath(path)
    uri = f"{Path(path).as_uri()}?mode={'ro' if read_only else 'rw'}"
    options |= {"uri": True, "check_same_thread": False, "factory": SQLiteConnection}
    with _lock:
        inode = _find_inode(path)
        retire_connections(path, keep_inode=inode)
        if any(other.inode != inode for other in _open_connections[path]):
            raise FileReplacedError
        connection: SQLiteConnection = sqlite3.connect(uri, **options)
        connection.path = path
        connection.inode = inode
        connection.is_read_only = read_only
        # Another tool may have stored text in another encoding.
        connection.text_factory = methodcaller("decode", "utf-8", "replace")
        _open_connections[path].add(connection)
    try:
        require_current_file(connection)
    except FileReplacedError:
        connection.close()
        raise
    return connection


def connect_read_only(path: str, **options: Any) -> SQLiteConnection:
    """Connect without permission to write. Closing the connection then leaves the WAL alone.

    Raises the errors of `connect`, and StorageError if the file is empty: SQLite would delete its WAL.
    """
    file = _stat(path)
    if file and not file.st_size:
        raise StorageError(f"The file {path} is empty.")
    return connect(path, read_only=True, **options)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except OSError:
        return None


def _find_inode(path: str) -> Inode | None:
    file = _stat(path)
    return (file.st_dev, file.st_ino) if file else None


def require_current_file(connection: SQLiteConnection) -> None:
    """Raise FileReplacedError if the connection's file is not the one at its path, or if that is missing."""
    if _find_inode(connection.path) != connection.inode:
        raise FileReplacedError


def retire_connections(path: str, keep_inode: Inode | None = None) -> None:
    """Close the connections to `path`: now or, if they are in use, later. Those to the inode `keep_inode` stay open."""
    with _lock:
        for connection in list(_open_connections[os.path.abspath(path)]):
            if keep_inode is None or connection.inode != keep_inode:
                if connection.state is ConnectionState.IDLE:
                    connection.close()
                else:
                    connection.state = ConnectionState.RETIRED


def interrupt_retired(path: str) -> None:
    """Abort the statements that are running on retired connections to `path`."""
    with _lock:
        for connection in list(_open_connections[os.path.abspath(path)]):
            if connection.state is ConnectionState.RETIRED:
                connection.interrupt()


def close_abandoned(path: str) -> None:
    """Close the pooled connections to `path` that this thread still uses. Called at the start of each request.

    The previous request has left them if the teardown function of an extension failed, so that ours was not called.
    """
    with _lock:
        for connection in list(_open_connections[os.path.abspath(path)]):
            if connection.thread_id == get_ident():
                connection.close()


def check_out(connection: SQLiteConnection, *, read_only: bool) -> None:
    """Mark a pooled connection as in use, and record its thread.

    A new connection is in use already. It may even have been retired since, which `require_current_file` notices when
    the transaction begins.

    Raises DisconnectionError if it has been closed or has the other mode: SQLAlchemy then opens another one.
    """
    with _lock:
        is_wrong_mode = connection.state is ConnectionState.IDLE and connection.is_read_only != read_only
        if connection.state is ConnectionState.CLOSED or is_wrong_mode:
            raise DisconnectionError
        if connection.state is ConnectionState.IDLE:
            connection.state = ConnectionState.IN_USE
        connection.thread_id = get_ident()


def check_in(connection: SQLiteConnection) -> None:
    """Mark a connection as idle, or close it if it is retired."""
    with _lock:
        connection.thread_id = None
        if connection.state is ConnectionState.RETIRED:
            connection.close()
        elif connection.state is ConnectionState.IN_USE:
            connection.state = ConnectionState.IDLE
