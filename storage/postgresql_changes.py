"""Change detection for PostgreSQL: commits by any client.

Every transaction that modifies a table has an id. A commit removes that id from the list of transactions in progress,
so `pg_current_snapshot()` changes and never returns to an earlier value
(https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SNAPSHOT).
"""

from threading import RLock
from typing import Any

import psycopg
from sqlalchemy import Engine

from storage import StorageError

MAX_WAIT_SECONDS = 3  # for another request that asks the server for its version
# On a standby, only the position of the last replayed commit is sure to change.
SNAPSHOT = "SELECT pg_current_snapshot(), pg_last_wal_replay_lsn()"


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

    def version(self) -> tuple[int, str]:
        """Return the database's version. Raises StorageError while the server is unavailable.

        Waits no longer than MAX_WAIT_SECONDS for another request that waits for the server.
        """
        if not self._lock.acquire(timeout=MAX_WAIT_SECONDS):
            raise StorageError("The PostgreSQL server does not respond.")
        try:
            if self._connection:
                try:
                    return self._read_version(self._connection)
                except psycopg.Error:
                    self.close()
            self._connection = self._connect()
            return self._read_version(self._connection)
        except psycopg.Error as error:
            raise StorageError(str(error)) from error
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

    def _read_version(self, connection: psycopg.Connection[Any]) -> tuple[int, str]:
        return self._epoch, str(connection.execute(SNAPSHOT).fetchone())

    def _connect(self) -> psycopg.Connection[Any]:
        arguments, options = self._engine.dialect.create_connect_args(self._engine.url)
        options.update(self._connect_args, autocommit=True)
        return psycopg.connect(*arguments, **options)
