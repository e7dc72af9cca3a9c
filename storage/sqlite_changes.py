"""Change detection for a SQLite file: commits by any process, and other files in its place."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread
from typing import Any, NamedTuple

from sqlalchemy import Engine, event

from storage.sqlite import checkpoint, companion_paths, connect_existing, wal_path

BUSY_TIMEOUT_SECONDS = 0.2  # of the detector's connection, which every request waits for
CHECKPOINT_IDLE_SECONDS = 0.25  # without a commit, after which the WAL is moved into the file


class Version(NamedTuple):
    """A state of a database file. It differs from another one if anything was committed between them."""

    generation: int  # how often the file was reopened: after each change to it, checkpoints included
    replacements: int  # how often it had become another file, or shorter, which no checkpoint does
    data_version: int  # https://www.sqlite.org/pragma.html#pragma_data_version


class FileState(NamedTuple):
    """The state of a database file, from `os.stat`."""

    inode: int
    device: int
    size: int
    modified: int
    changed: int


class SQLiteChangeDetector:
    """Detects commits to a SQLite file by any process, and the file's replacement.

    Reopens its connection when the file changes, and calls `on_reopened` so that the engine reconnects too. SQLite
    connections cache pages and would otherwise serve those of the file that was there before.
    """

    def __init__(self, path: str, on_reopened: Callable[[], None]) -> None:
        self._path, self._wal, self._on_reopened = path, wal_path(path), on_reopened
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: FileState | None = None  # when it was opened
        self._invalid, self._in_wal_mode, self._wal_inode = True, False, 0
        self.read_only = False  # whether this process only reads
        self.generation = self._replacements = 0

    def version(self) -> Version | None:
        """Return the database's version, or None while it cannot be read."""
        with self._lock:
            try:
                file = self._stat()
                wal_appeared = not self._wal_inode and self._stat_wal()
                if self._invalid or file != self._file or wal_appeared:
                    self._reopen(file)
                assert self._connection
                data_version = self._connection.execute("PRAGMA data_version").fetchone()[0]
                return Version(self.generation, self._replacements, data_version)
            except (OSError, sqlite3.Error):
                self.invalidate()
                self._bump_generation(replaced=True)
                return None

    def is_current(self, version: Version | None, *, allow_checkpoint: bool) -> bool:
        """Return whether what was read since `version` is of one database, and not partly of one that replaced it.

        A file that is copied over the database changes it as a checkpoint does. With `allow_checkpoint`, only what
        cannot be a checkpoint counts: the checkpoint of a large WAL goes on for seconds.
        """
        current = self.version()
        if not current or not version:
            return False
        if allow_checkpoint:
            return current.replacements == version.replacements
        return current.generation == version.generation

    def invalidate(self) -> None:
        """Reopen the file before the next version is read."""
        self._invalid = True

    def close(self) -> None:
        """Close the connection. The next version opens another one."""
        with self._lock:
            if self._connection:
                self._connection.close()
            self._connection, self._invalid = None, True

    def _stat(self) -> FileState:
        """Return the file's state. Raises OSError if there is no file."""
        file = os.stat(self._path)
        return FileState(file.st_ino, file.st_dev, file.st_size, file.st_mtime_ns, file.st_ctime_ns)

    def _stat_wal(self) -> os.stat_result | None:
        try:
            return os.stat(self._wal)
        except OSError:
            return None

    def _reopen(self, file: FileState) -> None:
        before = self._file
        if before and self._has_stale_wal(before, file):
            for name in companion_paths(self._path)[:2]:  # a journal would be that of a writer to the new file
                with suppress(OSError):
                    os.remove(name)
        self._bump_generation(replaced=not before or file.inode != before.inode or file.size < before.size)
        if self._connection:
            self._connection.close()
        self._connection, self._file, self._invalid = None, None, True
        self._wal = wal_path(self._path)
        file = self._stat()  # closing the last connection may have changed it
        # The last connection that closes, and the first one that opens, lock the file for a moment.
        self._connection = connect_existing(self._path, read_only=True, timeout=BUSY_TIMEOUT_SECONDS)
        self._connection.execute("PRAGMA data_version")  # opens the WAL, or creates it
        self._in_wal_mode = self._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        self._file, self._invalid = file, False
        wal = self._stat_wal()
        self._wal_inode = wal.st_ino if wal else 0

    def _bump_generation(self, *, replaced: bool) -> None:
        self.generation += 1
        self._replacements += replaced
        self._on_reopened()

    def _has_stale_wal(self, before: FileState, file: FileState) -> bool:
        """Return whether the WAL belongs to the file that another one has replaced.

        SQLite pairs them by name and would replay it into the new file. It is the old file's if its inode is the one
        that this connection still has open, and if nobody has written it since the new file was moved here.
        """
        wal = self._stat_wal()
        is_old = wal and wal.st_ino == self._wal_inode and wal.st_mtime_ns <= file.changed
        return bool(is_old and file.inode != before.inode)

    def start_checkpoints(self) -> None:
        """Only read from now on, and move what others commit into the file, in a thread, whenever they pause.

        A plain copy of the file then has all of it, and a file that is copied over it meets an empty WAL. A file in
        rollback mode, such as a backup by another tool, is set to WAL mode.
        """
        self.read_only = True
        self._on_reopened()
        Thread(target=self._checkpoint_when_idle, daemon=True).start()

    def _checkpoint_when_idle(self) -> None:
        before = None
        while True:
            time.sleep(CHECKPOINT_IDLE_SECONDS)
            if not self.version() or not (file := self._file):  # also notices a replaced file soon
                continue
            wal = self._stat_wal()
            if self._wal_inode and (wal.st_ino if wal else 0) != self._wal_inode:
                self.invalidate()  # somebody has removed the WAL
            current = (wal.st_ino, wal.st_size, wal.st_mtime_ns) if wal else file
            pending = wal.st_size if wal and self._in_wal_mode else file.size
            if current == before and pending:
                checkpoint(self._path, timeout=0)
            before = current


def attach(engine: Engine, path: str) -> SQLiteChangeDetector:
    """Return a detector of changes to the engine's file at `path`.

    The engine then connects to a file that exists alone, and no connection outlives the detector's generation.
    """
    detector = SQLiteChangeDetector(path, engine.dispose)

    def connect(_dialect: Any, record: Any, _arguments: Any, options: dict[str, Any]) -> sqlite3.Connection:
        record.info["generation"] = detector.generation
        return connect_existing(path, read_only=detector.read_only, **options)

    def discard_outdated(connection: Any, record: Any) -> None:
        if connection and record.info["generation"] != detector.generation:
            record.invalidate()

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkin", discard_outdated)  # dispose() does not close those in use
    event.listen(engine, "handle_error", lambda _context: detector.invalidate())
    return detector
