"""Change detection for PostgreSQL: commits by any client of a primary, or replayed on a standby.

On a primary, each transaction that changes a table has an id. When it commits, the id leaves the list of running
transactions, so `pg_current_snapshot()` changes, and never returns to an earlier value
(https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT).

On a standby, the snapshot may stay the same after a transaction has been replayed, but `pg_last_wal_replay_lsn()`
advances with every replayed record, commits included
(https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-RECOVERY-CONTROL).
"""

import time
from threading import RLock
from typing import Any

import psycopg
from sqlalchemy import Engine, event

from storage.engine import postgresql_connect_args

STATE = "SELECT pg_postmaster_start_time(), pg_is_in_recovery(), pg_current_snapshot(), pg_last_wal_replay_lsn()"


class PostgreSQLChangeDetector:
    """Detects commits to a database of one PostgreSQL server, on a separate connection.

    A version is an epoch together with the server's state. A new epoch begins when the connection is lost, because
    after a crash, which no connection survives, transaction ids may be used again.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._epoch = 0
        self._failed_at = 0.0  # 0 unless the last attempt to connect failed
        event.listen(engine, "do_connect", self._refuse_while_unavailable)

    def version(self) -> tuple[int, str] | None:
        """Return the database's version, or None while the server is unavailable."""
        called_at = time.monotonic()
        with self._lock:
            if called_at < self._failed_at:
                return None  # another request's attempt has just failed
            try:
                self._connection = self._connection or self._connect()
                return self._epoch, str(self._connection.execute(STATE).fetchone())
            except psycopg.Error:
                self.close()
                return None

    def close(self) -> None:
        """Close the detector's connection and the engine's idle ones. The next version reconnects in a new epoch."""
        with self._lock:
            if self._connection:
                self._connection.close()
                self._engine.dispose()
            self._connection = None
            self._epoch += 1

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

    def _refuse_while_unavailable(self, *_arguments: Any) -> None:
        """Raise OperationalError instead of connecting, so that a request waits only for the detector's attempt."""
        if self._failed_at:
            raise psycopg.OperationalError("The server is unavailable.")
