"""The database: how it is opened and written to, what its tables' version is, and whether its file has changed."""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple

import click
from sqlalchemy import Connection, Engine, delete, event, insert, inspect, select
from sqlalchemy.engine import URL

from models import Article, Base, TablesVersion, db

VERSION = 1  # of the tables: one more whenever they change, with what brings the older ones forward
WRITERS_WAIT = 60  # seconds: an import of 100,000 articles takes half of it
MOMENT = 0.2  # seconds that a request can wait for in the loop that reads them all
LOG_IS_QUIET = 0.25  # seconds without a commit, after which a file's log is emptied


def sqlite_file(url: URL) -> str | None:
    """Give the path of the SQLite file that a database's address names, None where it is another database."""
    if url.get_backend_name() != "sqlite" or not url.database or url.database.startswith((":memory:", "file:")):
        return None
    return url.database


def _may_write(path: str) -> bool:
    return os.access(path, os.W_OK) and os.access(os.path.dirname(os.path.realpath(path)), os.W_OK)


def _open_file(path: str, *, to_write: bool, **options: Any) -> sqlite3.Connection:
    """Open a SQLite file, which must be there: one that is missing is a fault, not an empty database.

    Who only reads must not be able to write: as the last one to close a file, SQLite would move what the log holds
    into it, and by then another file may have been copied there. Who may not even write beside the file cannot make
    what readers in WAL mode share; where no writer has made it, the file itself is all there is
    (https://www.sqlite.org/uri.html).
    """
    uri = f"{Path(path).absolute().as_uri()}?mode="
    options |= {"uri": True, "check_same_thread": False}
    if _may_write(path):
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


@event.listens_for(Engine, "connect")
def _set_up_sqlite(connection: Any, _record: object) -> None:
    """Make SQLite mind the references between tables, and keep what was committed when the power fails.

    NORMAL would keep the file whole too, but in WAL mode it may lose the last commits
    (https://www.sqlite.org/pragma.html#pragma_synchronous). The few commits of this service can wait for the disk.
    """
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")


@event.listens_for(Engine, "begin")
def _begin_in_sqlite(connection: Connection) -> None:
    """Begin each transaction: the driver begins none for reads, which would each see another state."""
    if connection.dialect.name == "sqlite":
        if connection.get_execution_options().get("write"):
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {WRITERS_WAIT * 1000}")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("BEGIN")


def begin_write() -> None:
    """Begin the session's transaction as a writer, so that a second one waits at once instead of failing half-way."""
    db.session.connection(execution_options={"write": True})


def commit_write() -> None:
    """Commit the session's transaction, and leave a SQLite file whole, without a log beside it to be forgotten."""
    db.session.commit()
    path = sqlite_file(db.engine.url)
    if path:
        _tend(path, timeout=1)


def _tend(path: str, timeout: float) -> None:
    """Leave a SQLite file in WAL mode, and what its log holds in the file.

    Where somebody else keeps it busy for `timeout` seconds, or it is not ours to write, it stays as it is.
    """
    with suppress(sqlite3.Error), closing(_open_file(path, to_write=True, timeout=timeout)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")  # keeps no writer waiting, and leaves the next little
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def create_tables() -> None:
    """Make the tables where there are none, and bring those of an earlier version forward.

    In SQLite, readers and a writer then no longer block each other (WAL). Where all is well nothing is written, so
    that a database that can only be read will do. Raises click.ClickException for the tables of a newer version.
    """
    path = sqlite_file(db.engine.url)
    if path and not os.path.exists(path):
        try:
            Path(path).touch(0o644)
        except OSError as error:
            raise click.ClickException(
                f"The database {path} cannot be made ({error.strerror}). DATABASE_URL says where it is to be."
            ) from error
    if db.engine.dialect.name == "sqlite" and (not path or _may_write(path)):
        with db.engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")  # the mode cannot change inside a transaction
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
    with db.engine.connect() as connection:
        if _version_of(connection) == VERSION:
            return
    with db.engine.execution_options(write=True).begin() as connection:
        version = _version_of(connection)
        if version != VERSION:  # or another process was faster
            _bring_forward(connection, version)


def _version_of(connection: Connection) -> int | None:
    """Give the version of the tables, None where there are none. Raises click.ClickException for a newer one."""
    there = inspect(connection)
    if not there.has_table(TablesVersion.__tablename__):
        return 0 if there.has_table(Article.__tablename__) else None
    version = connection.scalar(select(TablesVersion.number))
    if version and version > VERSION:
        raise click.ClickException(
            f"A newer version of this service made the database (its tables are of version {version}, this one knows "
            f"{VERSION}). Install the newer one, or restore a backup from before."
        )
    return version


def _bring_forward(connection: Connection, version: int | None) -> None:
    """Make the tables, or change those of an earlier version, within the connection's transaction."""
    if version == 0:  # from before versions were written down; the first of them lacked a column
        columns = {column["name"] for column in inspect(connection).get_columns(Article.__tablename__)}
        if "markup_is_made" not in columns:
            connection.exec_driver_sql("ALTER TABLE article ADD COLUMN markup_is_made BOOLEAN DEFAULT false NOT NULL")
    Base.metadata.create_all(connection)
    connection.execute(delete(TablesVersion))
    connection.execute(insert(TablesVersion).values(number=VERSION))


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
        self._connection = _open_file(self._path, to_write=False, timeout=MOMENT)
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
                    _tend(self._path, timeout=0)
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
        return _open_file(path, to_write=not watch.serving, **options)

    def check(connection: Any, record: Any) -> None:
        if connection and record.info["opened"] != watch.opened:
            record.invalidate()

    event.listen(engine, "do_connect", connect)
    event.listen(engine, "checkin", check)  # those in use are not closed by dispose()
    event.listen(engine, "handle_error", lambda _context: watch.doubt())
    return watch
