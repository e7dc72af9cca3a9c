"""A SQLite file under a running service: opening it, its log, and whether it has changed."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple

from sqlalchemy import Engine, event
from sqlalchemy.engine import URL

MOMENT = 0.2  # seconds that a request can wait for in the loop that reads them all
LOG_IS_QUIET = 0.25  # seconds without a commit, after which a file's log is emptied


def sqlite_file(url: URL) -> str | None:
    """Give the path of the SQLite file that a database's address names, None where it is another database."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database.startswith((":memory:", "file:")):
        return None
    return url.database


def may_write(path: str) -> bool:
    """Tell whether this process may write the file at `path`, and beside it."""
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.realpath(path)), os.W_OK)


def open_file(path: str, *, to_write: bool, **options: Any) -> sqlite3.Connection:
    """Open a SQLite file, which must be there: one that is missing is a fault, not an empty database.

    Who only reads must not be able to write: as the last one to close a file, SQLite would move what the log holds
    into it, and by then another file may have been copied there. Who may not even write beside the file cannot make
    what readers in WAL mode share; where no writer has made it, the file itself is all there is
    (https://www.sqlite.org/uri.html).
    """
    uri = f"{Path(path).absolute().as_uri()}?mode="
    options |= {"uri": True, "check_same_thread": False}
    if may_write(path):
        connection: sqlite3.Connection = sqlite3.connect(uri + ("rw" if to_write else "ro"), **options)
        return connection
    connection = sqlite3.connect(uri + "ro", **options)
    try:
        connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        connection.close()
        refused = error.sqlite_errorcode & 255 in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not refused or os.path.exists(log_of(path)) or os.path.exists(f"{os.path.realpath(path)}-journal"):
            raise
        connection = sqlite3.connect(uri + "ro&immutable=1", **options)
    return connection


def log_of(path: str) -> str:
    """Give the path of the log of a SQLite file in WAL mode."""
    return f"{os.path.realpath(path)}-wal"


def tend(path: str, timeout: float) -> None:
    """Leave a SQLite file in WAL mode, and what its log holds in the file.

    Where somebody else keeps it busy for `timeout` seconds, or it is not ours to write, it stays as it is.
    """
    with suppress(sqlite3.Error), closing(open_file(path, to_write=True, timeout=timeout)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # keeps no writer waiting, and leaves the next little
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class DisturbedError(Exception):
    """The database's file was changed while it was read, and what was read may be of two."""


class Version(NamedTuple):
    """What differs after each change of a SQLite file."""

    opened: int  # how often it was opened, as after each change of the file other than by its log
    replaced: int  # how often it was another file or a shorter one then, which no checkpoint makes of it
    commits: int  # counted from a number that each connection has for itself


class Watch:
    """Tells whether anyone has committed to a SQLite file: any connection, of any process.

    Where the file itself or its log is another than it was, by a checkpoint, or by hand, it is opened anew, and
    `replaced` is called to do so too: what a connection remembers of a file's pages, it would not look up again.
    """

    def __init__(self, path: str, replaced: Callable[[], None]) -> None:
        self._path, self._log, self._replaced = path, log_of(path), replaced
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, ...] | None = None  # as it was when it was opened
        self._doubted = True
        self.serving = False  # whether this process only reads
        self.opened = self._replacements = 0  # see Version

    def version(self) -> Version | None:
        """Give what differs after each commit, or None while that cannot be known."""
        with self._lock:
            try:
                file = self._look()
                if self._doubted or file != self._file:
                    self._open(file)
                assert self._connection
                commits = self._connection.execute("PRAGMA data_version").fetchone()[0]
                return Version(self.opened, self._replacements, commits)
            except (OSError, sqlite3.Error):
                self.doubt()
                self._forget(replaced=True)
                return None

    def doubt(self) -> None:
        """Open the file anew when it is asked about next: something about it was wrong."""
        self._doubted = True

    def close(self) -> None:
        """Close the file, until it is asked about again."""
        if self._connection:
            self._connection.close()
        self._connection, self._file, self._doubted = None, None, True

    def _look(self) -> tuple[int, ...]:
        """Give what tells a file, and the log that belongs to it (0 for none), from others. Raises OSError."""
        status = os.stat(self._path)
        try:
            log = os.stat(self._log).st_ino
        except OSError:
            log = 0
        return log, status.st_ino, status.st_dev, status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def _open(self, file: tuple[int, ...]) -> None:
        if self._file and self._is_left_over(file):
            for name in (self._log, self._log.removesuffix("-wal") + "-shm"):
                with suppress(OSError):
                    os.remove(name)
        self._forget(replaced=not self._file or file[1] != self._file[1] or file[3] < self._file[3])
        self.close()
        self._log = log_of(self._path)
        file = self._look()  # to close its last connection may have changed it
        # For a moment the last one who closes a file, or the first who opens it, keeps others out.
        self._connection = open_file(self._path, to_write=False, timeout=MOMENT)
        self._connection.execute("PRAGMA data_version")  # opens the log, or makes it
        self._file = (self._look()[0], *file[1:])
        self._doubted = False

    def _forget(self, *, replaced: bool) -> None:
        self.opened += 1
        self._replacements += replaced
        self._replaced()

    def _is_left_over(self, file: tuple[int, ...]) -> bool:
        """Tell whether the log is that of the file that was open, of which another one has taken the place.

        SQLite goes by the name, and would take it for the new one's. Its number tells, as no other log has that while
        this one is open; its age, that nobody has used it with the new file, which was moved here (`st_ctime`) later.
        """
        assert self._file
        same_log, other_file = file[0] and file[0] == self._file[0], file[1] != self._file[1]
        return bool(same_log and other_file and os.stat(self._log).st_mtime_ns <= file[-1])

    def serve(self) -> None:
        """Let this process only read from now on, and, in a thread of its own, keep the file's log empty."""
        self.serving = True
        self._replaced()
        Thread(target=self._keep_log_empty, daemon=True).start()

    def _keep_log_empty(self) -> None:
        """For ever, move what others commit from the log into the file, once they pause.

        A file that is one piece can be replaced by a backup, and a plain copy of it is one. A file that has no log, as
        such a backup, gets one, so that readers and writers do not keep each other waiting.
        """
        before = None
        while True:
            time.sleep(LOG_IS_QUIET)
            if not self.version() or not self._file:  # also notices another file soon
                continue
            log, size = self._file[0], self._file[3]
            with suppress(OSError):
                status = os.stat(self._log if log else self._path)
                now = status.st_ino, status.st_size, status.st_mtime_ns
                if now == before and size and (status.st_size or not log):
                    tend(self._path, timeout=0)
                before = now


def watch_over(engine: Engine) -> Watch | None:
    """Watch over an engine's SQLite file, None for another database.

    The engine's connections are to that file alone, and none of them outlives what the watch has open.
    """
    path = sqlite_file(engine.url)
    if not path:
        return None
    watch = Watch(path, engine.dispose)

    def connect(_dialect: Any, record: Any, _arguments: Any, options: dict[str, Any]) -> sqlite3.Connection:
        record.info["opened"] = watch.opened
        return open_file(path, to_write=not watch.serving, **options)

    def check(connection: Any, record: Any) -> None:
        if connection and record.info["opened"] != watch.opened:
            record.invalidate()

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkin", check)  # those in use are not closed by dispose()
    event.listen(engine, "handle_error", lambda _context: watch.doubt())
    return watch
