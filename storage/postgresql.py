"""Connections to a PostgreSQL server that may stop responding, and that a pooler may hide."""

import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.abc import PQGen

SILENCE_SECONDS = 1.0  # without a byte from the server, after which it is asked whether it still responds


class Connection(psycopg.Connection[Any]):
    """A connection that does not wait forever for a server that hangs.

    Neither `statement_timeout` nor TCP notices a server whose processes are stopped: the first needs the server, and
    the second is content with its kernel. Whenever the server has been silent for `silence_seconds`, `is_worth_waiting`
    decides, which lets a slow statement finish.
    """

    silence_seconds = SILENCE_SECONDS
    is_worth_waiting: Callable[[], bool] | None = None

    def wait(self, gen: PQGen[Any], *args: Any, **options: Any) -> Any:
        """Wait for the server, as psycopg does. Raises OperationalError if it is not worth waiting any longer."""
        return super().wait(self._check_silence(gen), *args, **options)

    def _check_silence(self, gen: PQGen[Any]) -> PQGen[Any]:
        """Run psycopg's generator, which gets a false value about every 0.1 seconds without a byte."""
        try:
            awaited = next(gen)
            deadline = time.monotonic() + self.silence_seconds
            while True:
                ready = yield awaited
                if ready:
                    deadline = time.monotonic() + self.silence_seconds
                elif time.monotonic() > deadline:
                    if self.is_worth_waiting and not self.is_worth_waiting():
                        self.close()  # so that SQLAlchemy reconnects
                        raise psycopg.OperationalError("The server does not respond.")
                    deadline = time.monotonic() + self.silence_seconds
                awaited = gen.send(ready)
        except StopIteration as result:
            return result.value


def connect(
    *arguments: Any, is_worth_waiting: Callable[[], bool], silence_seconds: float = SILENCE_SECONDS, **options: Any
) -> Connection:
    """Return a connection, which prepares no statements if it goes through a pooler.

    A pooler in transaction mode may run each transaction in another process of the server, which does not have what was
    prepared earlier (https://www.psycopg.org/psycopg3/docs/advanced/prepare.html).
    """
    connection = Connection.connect(*arguments, **options)
    connection.is_worth_waiting, connection.silence_seconds = is_worth_waiting, silence_seconds
    autocommit = connection.autocommit
    connection.autocommit = True
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    connection.autocommit = autocommit
    if row != (connection.info.backend_pid,):
        connection.prepare_threshold = None
    return connection
