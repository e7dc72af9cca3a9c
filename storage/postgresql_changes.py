"""Change detection for a PostgreSQL database: commits by anyone, on a primary or replayed on a standby.

On a primary, two equal `pg_current_snapshot()` mean that no transaction with an id has ended between them
(https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT), and whatever changes a table has
an id. Its changes become visible when it is removed from the running transactions, under the lock that snapshots take
(https://github.com/postgres/postgres/blob/master/src/backend/access/transam/README). That either raises the snapshot's
`xmax`, which never goes back, or removes the id from the list of running ones, to which none below `xmax` is added.
So overlapping transactions may end in any order. Those that are rolled back make a new version too, which costs a
needless render. Subtransactions become visible with their transaction; a prepared one is running until COMMIT PREPARED;
one that waits for a synchronous standby becomes visible before its COMMIT returns.

On a standby the snapshot may stay the same although a transaction has been committed, since it does not list the
running ones. There `pg_last_wal_replay_lsn()` moves after each record has been applied, the commits included
(https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-RECOVERY-CONTROL).

Each part of a version only goes forward while its server runs, and is read before the data. So if a version is read
again later, nothing has been committed since the data was read, also while a standby is promoted.
"""

import time
from collections.abc import Callable
from itertools import count
from threading import Lock
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import Connection, Engine, event

from storage.engine import postgresql_connect_args
from storage.postgresql import SILENCE_SECONDS, connect

TIMEOUT_SECONDS = 2  # of the detector's connection, which every request waits for; libpq's minimum
RECOVERY_SECONDS = 0.5  # in which a server that responds again accepts a connection
SUSPENSION_SECONDS = 5  # without versions, after connections reached two servers, or one that lacks these functions
SERVER = (
    "concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), inet_server_addr(), inet_server_port(),"
    " current_database())"
)
POSITION = "concat_ws(' ', pg_is_in_recovery(), pg_current_snapshot(), pg_last_wal_replay_lsn())"


class Version(NamedTuple):
    """A state of a server's databases. It differs from another one if anything was committed between them."""

    epoch: int  # raised when the connection is lost: after a crash, which none survives, ids may be used again
    server: str  # which server it is, and since when it runs
    position: str


class PostgreSQLChangeDetector:
    """Detects commits to a PostgreSQL database, on a separate connection.

    Several servers may be behind one URL: those that it lists, or a pooler's. The engine connects to the one that the
    detector has found. If a transaction is on another one all the same, `on_invalidated` is called so that the engine
    reconnects, and there are no versions for some seconds.
    """

    def __init__(
        self, open_connection: Callable[[], psycopg.Connection[Any]], on_invalidated: Callable[[], None]
    ) -> None:
        self._open_connection, self._on_invalidated = open_connection, on_invalidated
        self._lock = Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._epochs = count(1)
        self._epoch = self._connection_epoch = self._failures = 0
        self._server: str | None = None  # None while it is not known
        self._suspended_until = 0.0
        self.address: dict[str, Any] = {}  # libpq's parameters of the server that it is connected to
        self.is_silent = False  # whether the server hangs, or cannot be reached

    def version(self) -> Version | None:
        """Return the database's version, or None while it cannot be read.

        One thread at a time finds out whether the server responds, and those that have waited for it do not try again.
        While the server is silent, they wait only `RECOVERY_SECONDS` for the lock. Its holder may release it and take
        it again for its next request, so they check `is_silent` themselves.
        """
        failures = self._failures
        while not self._lock.acquire(timeout=RECOVERY_SECONDS):
            if self.is_silent:
                return None
        try:
            if self._failures != failures or time.monotonic() < self._suspended_until:
                return None
            began = time.monotonic()
            try:
                version = self._read_version()
                self.is_silent = False
                return version
            except psycopg.Error:
                self._failures += 1
                self.is_silent = time.monotonic() - began > SILENCE_SECONDS
                if self._connection and not self._connection.closed:
                    self._suspend()  # it has responded, but does not know the statement
                else:
                    self._invalidate()
                return None
        finally:
            self._lock.release()

    def is_current(self, version: Version | None, *, allow_checkpoint: bool) -> bool:
        """Return whether what was read since `version` is of its server. Without a version it may be of any."""
        return version is None or version.epoch == self._epoch

    def responds(self) -> bool:
        """Return whether the server responds, or whether nobody has asked for a version yet, as in commands."""
        return not self._epoch or bool(self.version()) or not self.is_silent

    def knows_server(self) -> bool:
        """Return whether there has been a version whose server transactions have to be on."""
        return self._server is not None

    def check_server(self, server: str) -> None:
        """Suspend the versions if a transaction is on another server than they are."""
        if server != self._server:
            with self._lock:
                if self._server not in (None, server):
                    self._suspend()

    def _read_version(self) -> Version | None:
        if self._connection and self._connection_epoch == self._epoch:
            began = time.monotonic()
            try:
                return self._query(self._connection)
            except psycopg.Error:
                if time.monotonic() - began > SILENCE_SECONDS:
                    raise
                self._invalidate()
        if self._connection:
            self._connection.close()
        self._connection = None
        self._epoch = self._connection_epoch = next(self._epochs)
        self._connection = self._open_connection()
        info = self._connection.info
        version = self._query(self._connection)
        self.address = {"host": info.host, "port": info.port} | ({"hostaddr": info.hostaddr} if info.hostaddr else {})
        return version

    def _query(self, connection: psycopg.Connection[Any]) -> Version | None:
        row = connection.execute(f"SELECT {SERVER}, {POSITION}").fetchone()
        assert row
        server, position = row
        if self._server not in (None, server):  # a pooler has chosen another one
            self._suspend()
            return None
        self._server = server
        return Version(self._connection_epoch, server, position)

    def _invalidate(self) -> None:
        """Begin a new epoch: nothing that was stored is used again."""
        self._epoch = next(self._epochs)
        was_known, self._server, self.address = self.knows_server(), None, {}
        if was_known:
            self._on_invalidated()

    def _suspend(self) -> None:
        self._suspended_until = time.monotonic() + SUSPENSION_SECONDS
        self._invalidate()


def attach(engine: Engine) -> PostgreSQLChangeDetector:
    """Return a detector of changes to the engine's database.

    The engine then connects to the same server, and not at all while that is silent. Each of its transactions is
    checked to be on the same server, since a pooler may choose one for each.
    """
    arguments, url_options = engine.dialect.create_connect_args(engine.url)
    options = {**url_options, **postgresql_connect_args(engine.url), "autocommit": True}
    if "connect_timeout" not in engine.url.query:
        options["connect_timeout"] = TIMEOUT_SECONDS

    def open_connection() -> psycopg.Connection[Any]:
        return connect(*arguments, is_worth_waiting=lambda: False, silence_seconds=TIMEOUT_SECONDS, **options)

    detector = PostgreSQLChangeDetector(open_connection, engine.dispose)

    def connect_to_same_server(_dialect: Any, _record: Any, arguments: Any, options: dict[str, Any]) -> Any:
        if detector.is_silent:
            raise psycopg.OperationalError("The server does not respond.")
        return connect(*arguments, is_worth_waiting=detector.responds, **options | detector.address)

    def check_server(connection: Connection) -> None:
        if detector.knows_server():
            detector.check_server(connection.exec_driver_sql(f"SELECT {SERVER}").scalar_one())

    event.listen(engine, "do_connect", connect_to_same_server)
    event.listen(engine, "begin", check_server)
    return detector
