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
from threading import Lock
from typing import Any, NamedTuple

import psycopg
from sqlalchemy import Connection, Engine, event

from storage.engine import postgresql_connect_args

SERVER = (
    "concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), inet_server_addr(), inet_server_port(),"
    " current_database())"
)
PAUSE_SECONDS = 5
POSITION = "concat_ws(' ', pg_is_in_recovery(), pg_current_snapshot(), pg_last_wal_replay_lsn())"


class Version(NamedTuple):
    """A state of a server's databases. It differs from another one if anything was committed between them."""

    epoch: int  # raised when the connection is lost: after a crash, which none survives, ids may be used again
    position: str


class PostgreSQLChangeDetector:
    """Detects commits to a PostgreSQL database, on a separate connection.

    Several servers may be behind one URL: those that it lists, a load balancer's or a pooler's. The version is that of
    the data only if the detector and all transactions since the epoch began have reached the same one. If not, a new
    epoch begins, so that nothing that was stored is used.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._connection: psycopg.Connection[Any] | None = None
        self._epoch = 0
        self._failed_at = 0.0  # when it could not connect; 0 since it has connected
        self._servers: set[str] = set()  # that were reached in this epoch
        self._paused_until = 0.0  # so that several servers do not cost each request new connections

    def version(self) -> Version | None:
        """Return the database's version, or None while it is not known."""
        called_at = time.monotonic()
        with self._lock:
            if called_at < max(self._failed_at, self._paused_until):
                return None  # those that have waited for an attempt to connect do not try again
            try:
                self._connection = self._connection or self._connect()
                row = self._connection.execute(f"SELECT {SERVER}, {POSITION}").fetchone()
            except psycopg.Error:
                self._begin_epoch()
                return None
            assert row
            server, position = row
            self._servers.add(server)
            if len(self._servers) > 1:
                self._begin_epoch()
                self._paused_until = called_at + PAUSE_SECONDS
                return None
            return Version(self._epoch, position)

    def was_replaced(self, version: Version | None, *, certainly: bool) -> bool:
        """Return False: a request reads key and articles in one transaction, so they are of one server."""
        return False

    def refuse_while_away(self, *_arguments: Any) -> None:
        """Raise OperationalError instead of connecting: a request waits for one attempt to connect, the detector's."""
        if self._failed_at:
            raise psycopg.OperationalError("The server is away.")

    def note_server(self, connection: Connection) -> None:
        """Note which server a transaction is on. A pooler may choose one for each."""
        servers = self._servers  # of this epoch, whatever happens meanwhile
        if self._connection:
            servers.add(connection.exec_driver_sql(f"SELECT {SERVER}").scalar_one())

    def _connect(self) -> psycopg.Connection[Any]:
        arguments, options = self._engine.dialect.create_connect_args(self._engine.url)
        options.update(postgresql_connect_args(self._engine.url), autocommit=True)
        try:
            connection = psycopg.connect(*arguments, **options)
        except psycopg.Error:
            self._failed_at = time.monotonic()
            raise
        self._failed_at = 0.0
        return connection

    def _begin_epoch(self) -> None:
        """Close all connections, so that both reconnect. Nothing that was stored is used again."""
        if self._connection:
            self._connection.close()
            self._engine.dispose()
        self._connection, self._servers = None, set()
        self._epoch += 1


def attach(engine: Engine) -> PostgreSQLChangeDetector:
    """Return a detector of changes to the engine's database."""
    detector = PostgreSQLChangeDetector(engine)
    event.listen(engine, "do_connect", detector.refuse_while_away)
    event.listen(engine, "begin", detector.note_server)
    return detector
