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
from threading import Lock
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import Connection, Engine, event

from storage.engine import postgresql_connect_args

AWAY_SECONDS = 1  # after the detector could not connect, in which the engine does not try either
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

    Several servers may be behind one URL: those that it lists, or a pooler's. If a transaction is on another one than
    the versions, `on_invalidated` is called so that the engine reconnects, and there are no versions for some seconds.
    """

    def __init__(self, connect: Callable[[], psycopg.Connection[Any]], on_invalidated: Callable[[], None]) -> None:
        self._connect, self._on_invalidated = connect, on_invalidated
        self._lock = Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._epoch = self._failures = 0
        self._suspended_until = self.away_until = 0.0
        self.server: str | None = None  # None while it is not known

    def version(self) -> Version | None:
        """Return the database's version, or None while it cannot be read."""
        failures = self._failures
        with self._lock:
            if self._failures != failures or time.monotonic() < self._suspended_until:
                return None  # those that have waited for a server that is away do not try again
            for is_last in (not self._connection, True):  # a server that was restarted has closed the connection
                try:
                    version = self._read_version()
                    self.away_until = 0.0
                    return version
                except psycopg.Error:
                    self._lose_connection()
                    if is_last:
                        self._failures += 1
                        self.away_until = time.monotonic() + AWAY_SECONDS
                        break
            return None

    def was_replaced(self, version: Version | None, *, certainly: bool) -> bool:
        """Return whether what was read since `version` may be of another server. Without a version it may be of any."""
        return version is not None and version.epoch != self._epoch

    def check_server(self, server: str) -> None:
        """Suspend the versions if a transaction is on another server than they are."""
        if self.server not in (None, server):
            with self._lock:
                self._suspended_until = time.monotonic() + SUSPENSION_SECONDS
                self._lose_connection()

    def _read_version(self) -> Version:
        if not self._connection:
            self._connection = self._connect()
        row = self._connection.execute(f"SELECT {SERVER}, {POSITION}").fetchone()
        assert row
        if self.server not in (None, row[0]):  # a pooler has chosen another one
            raise psycopg.OperationalError("The connection has moved to another server.")
        self.server = row[0]
        return Version(self._epoch, *row)

    def _lose_connection(self) -> None:
        """Begin a new epoch: nothing that was stored is used again."""
        if self._connection:
            self._connection.close()
        was_known, self._connection, self.server = self.server, None, None
        self._epoch += 1
        if was_known:
            self._on_invalidated()


def attach(engine: Engine) -> PostgreSQLChangeDetector:
    """Return a detector of changes to the engine's database.

    Each transaction of the engine is checked to be on the same server, since a pooler may choose one for each. A
    request to a server that is away waits for one attempt to connect, the detector's.
    """
    arguments, options = engine.dialect.create_connect_args(engine.url)
    options = {**options, **postgresql_connect_args(engine.url), "autocommit": True}
    detector = PostgreSQLChangeDetector(lambda: psycopg.connect(*arguments, **options), engine.dispose)

    def refuse_while_away(*_arguments: Any) -> None:
        if time.monotonic() < detector.away_until:
            raise psycopg.OperationalError("The server is away.")

    def check_server(connection: Connection) -> None:
        if detector.server:
            detector.check_server(connection.exec_driver_sql(f"SELECT {SERVER}").scalar_one())

    event.listen(engine, "do_connect", refuse_while_away)
    event.listen(engine, "begin", check_server)
    return detector
