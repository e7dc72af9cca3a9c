"""Change detection for PostgreSQL: commits by any client of a primary, or commits replayed on a standby.

On a primary, every transaction that modifies a table has an id. A commit removes that id from the list of transactions
in progress, so `pg_current_snapshot()` changes and never returns to an earlier value
(https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT).

On a standby, replaying a transaction may leave the snapshot unchanged, but `pg_last_wal_replay_lsn()` advances with
every replayed WAL record, including commits
(https://www.postgresql.org/docs/current/functions-admin.html#FUNCTIONS-RECOVERY-CONTROL).
"""

import time
from threading import RLock
from typing import Any

import psycopg
from sqlalchemy import Engine, event

from storage import StorageError

MAX_WAIT_SECONDS = 3  # for another request that asks the server for its version
SNAPSHOT = "SELECT pg_postmaster_start_time(), pg_is_in_recovery(), pg_current_snapshot(), pg_last_wal_replay_lsn()"


class PostgreSQLChangeDetector:
    """Detects commits to a database on one PostgreSQL server, over a dedicated connection.

    A version consists of an epoch and the server's snapshot. A lost connection starts a new epoch, since the server may
    have crashed, and transaction ids can be reused after a crash.
    """

    def __init__(self, engine: Engine, connect_args: dict[str, Any]) -> None:
        """`connect_args` are the connection parameters that are not in the engine's URL."""
        self._engine = engine
        self._connect_args = connect_args
        self._lock = RLock()
        self._connection: psycopg.Connection[Any] | None = None
        self._epoch = 0
        self._failed_at = 0.0  # 0 unless the last attempt to connect failed
        event.listen(engine, "do_connect", self._refuse_while_unavailable)

    def version(self) -> tuple[int, str] | None:
        """Return the database's version, or None while the server is unavailable.

        Raises StorageError if another request has been waiting for the server's response for MAX_WAIT_SECONDS.
        """
        called_at = time.monotonic()
        if not self._lock.acquire(timeout=MAX_WAIT_SECONDS):
            raise StorageError("The PostgreSQL server does not respond.")
        try:
            if called_at < self._failed_at:
                return None  # while we waited for the lock, another request failed to connect
            self._connection = self._connection or self._connect()
            return self._epoch, str(self._connection.execute(SNAPSHOT).fetchone())
        except psycopg.Error:
            self.close()
            return None
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the detector's connection and the engine's idle ones, and start a new epoch."""
        with self._lock:
            if self._connection:
                self._connection.close()
                self._engine.dispose()
            self._connection = None
            self._epoch += 1

    def _connect(self) -> psycopg.Connection[Any]:
        arguments, options = self._engine.dialect.create_connect_args(self._engine.url)
        options.update(self._connect_args, autocommit=True)
        try:
            connection = psycopg.connect(*arguments, **options)
        except psycopg.Error:
            self._failed_at = time.monotonic()
            raise
        self._failed_at = 0.0
        return connection

    def _refuse_while_unavailable(self, *_arguments: Any) -> None:
        """Fail fast, so that a request does not time out twice: once here, and once in the detector."""
        if self._failed_at:
            raise psycopg.OperationalError("The server is unavailable.")
