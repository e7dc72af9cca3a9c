"""Change detection for a SQLite file: commits by any process, and other files in its place."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, NamedTuple

from flask import has_request_context
from sqlalchemy import Engine, event

from storage.sqlite import checkpoint, companion_paths, connect_existing

BUSY_TIMEOUT_SECONDS = 0.2  # of the detector's connection, which every request waits for
CHECKPOINT_IDLE_SECONDS = 0.25  # without a commit, after which the WAL is moved into the file


class Version(NamedTuple):
    """A state of a database file. It differs from another one if anything was committed between them."""

    times_opened: int  # after each change to the file, checkpoints included: data_version counts for one connection
    times_replaced: int  # by another file, or a shorter one, which no checkpoint makes
    data_version: int  # https://www.sqlite.org/pragma.html#pragma_data_version


class FileState(NamedTuple):
    """The state of a file, from `os.stat`."""

    inode: int
    device: int
    size: int
    modified: int
    changed: int

    @classmethod
    def read(cls, path: str) -> "FileState":
        """Return the state of the file at `path`. Raises OSError if there is none."""
        file = os.stat(path)
        return cls(file.st_ino, file.st_dev, file.st_size, file.st_mtime_ns, file.st_ctime_ns)


class SQLiteChangeDetector:
    """Detects commits to a SQLite file by any process, and the file's replacement.

    Reopens its connection when the file changes, and calls `on_reopened` so that the engine reconnects too. SQLite
    connections cache pages and would otherwise serve those of the file that was there before.
    """

    def __init__(self, path: str, on_reopened: Callable[[], None]) -> None:
        self._path, self._on_reopened = path, on_reopened
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: FileState | None = None  # when it was opened
        self._real_path = path  # which a symbolic link led to when the file was opened
        self._wal: FileState | None = None
        self._is_invalid, self._in_wal_mode = True, False
        self._thread: Thread | None = None
        self._is_closing = Event()
        self.times_opened = self._times_replaced = 0

    def version(self) -> Version | None:
        """Return the database's version, or None while it cannot be read.

        The first call starts the thread that empties the WAL: no earlier, since a server may fork once the application
        is created.
        """
        with self._lock:
            if not self._thread:
                self._thread = Thread(target=self._checkpoint_when_idle, daemon=True)
                self._thread.start()
            try:
                wal_appeared = not self._wal and self._stat("-wal")
                if self._is_invalid or FileState.read(self._path) != self._file or wal_appeared:
                    self._reopen()
                assert self._connection
                data_version = self._connection.execute("PRAGMA data_version").fetchone()[0]
                return Version(self.times_opened, self._times_replaced, data_version)
            except (OSError, sqlite3.Error):
                self.invalidate()
                self._discard_connections(replaced=True)
                return None

    def was_replaced(self, version: Version | None, *, certainly: bool) -> bool:
        """Return whether another file may have taken the database's place since `version`.

        A file that is copied over the database changes it as a checkpoint does, which may go on for seconds. With
        `certainly`, only what cannot be a checkpoint counts.
        """
        current = self.version()
        if not current or not version:
            return True
        if certainly:
            return current.times_replaced != version.times_replaced
        return current.times_opened != version.times_opened

    def invalidate(self) -> None:
        """Reopen the file before the next version is read."""
        self._is_invalid = True

    def close(self) -> None:
        """Close the connection, for good, and end the thread."""
        self._is_closing.set()
        if self._thread:
            self._thread.join()
        with self._lock:
            if self._connection:
                self._connection.close()

    def _stat(self, suffix: str) -> FileState | None:
        """Return the state of a file beside the one that was opened, or None if there is none."""
        try:
            return FileState.read(self._real_path + suffix)
        except OSError:
            return None

    def _reopen(self) -> None:
        """Open the file that is there now. Raises OSError or sqlite3.Error if it cannot be read."""
        self._remove_stale_wal()
        if self._connection:
            self._connection.close()
        self._connection, self._is_invalid = None, False
        # The state is read before the engine may connect again. If yet another file is moved here, the next version
        # differs, and no connection of the engine outlives it.
        before, self._real_path = self._file, os.path.realpath(self._path)
        self._file = file = FileState.read(self._real_path)
        self._discard_connections(replaced=not before or file[:2] != before[:2] or file.size < before.size)
        # The last connection that closes, and the first one that opens, lock the file for a moment.
        self._connection = connect_existing(self._real_path, read_only=True, timeout=BUSY_TIMEOUT_SECONDS)
        self._connection.execute("PRAGMA data_version")  # opens the WAL, or creates it
        self._in_wal_mode = self._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        self._wal = self._stat("-wal")

    def _discard_connections(self, *, replaced: bool) -> None:
        """Have the engine reconnect: each of its connections is of the opening that it was made in."""
        self.times_opened += 1
        self._times_replaced += replaced
        self._on_reopened()

    def _remove_stale_wal(self) -> None:
        """Remove the WAL of the file that was opened if another file has been moved over it.

        SQLite pairs them by name and would replay it into the new file. It is the old file's if its inode is the one
        that this connection still has open, and if nobody has written it since the new file was moved here. A journal
        would be that of a writer to the new file. A symbolic link that was switched moves nothing: both files are where
        they were, each with its own WAL.
        """
        file, wal = self._stat(""), self._stat("-wal")
        if not (file and self._file and wal and self._wal):
            return
        if file.inode != self._file.inode and wal.inode == self._wal.inode and wal.modified <= file.changed:
            for name in companion_paths(self._real_path)[:2]:
                with suppress(OSError):
                    os.remove(name)

    def _checkpoint_when_idle(self) -> None:
        """Move what others commit into the file, whenever they pause. Several processes may do so side by side.

        A plain copy of the file then has all of it, and a file that is copied over it meets an empty WAL.
        """
        before = None
        while not self._is_closing.wait(CHECKPOINT_IDLE_SECONDS):
            pending = self._pending_checkpoint()
            if pending and before and pending[:4] == before[:4]:  # opening a journal may change its owner
                checkpoint(self._path, timeout=0)
            before = pending

    def _pending_checkpoint(self) -> FileState | None:
        """Return the state of what a checkpoint puts in order, or None if there is nothing to do.

        That is a WAL that is not empty; a file in rollback mode, such as a backup by another tool; or the journal of a
        writer that was killed, without whose rollback the file cannot be read.
        """
        if not self.version():  # also notices a replaced file soon
            return self._stat("-journal")
        wal = self._stat("-wal")
        if self._wal and (not wal or wal.inode != self._wal.inode):
            self.invalidate()  # somebody has removed the WAL
        pending = wal if wal and self._in_wal_mode else self._file
        return pending if pending and pending.size else None


def attach(engine: Engine, path: str) -> SQLiteChangeDetector:
    """Return a detector of changes to the engine's file at `path`.

    The engine then connects to a file that exists alone, and no connection outlives the detector's. For requests it
    connects read-only: the last writing connection that closes would move the WAL into the file, and by then another
    file may have taken its place.
    """
    detector = SQLiteChangeDetector(path, engine.dispose)

    def connect(_dialect: Any, record: Any, _arguments: Any, options: dict[str, Any]) -> sqlite3.Connection:
        record.info["times_opened"] = detector.times_opened
        return connect_existing(path, read_only=has_request_context(), **options)

    def discard_outdated(connection: Any, record: Any) -> None:
        if connection and record.info["times_opened"] != detector.times_opened:
            record.invalidate()

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkin", discard_outdated)  # dispose() does not close those in use
    event.listen(engine, "handle_error", lambda _context: detector.invalidate())
    return detector
