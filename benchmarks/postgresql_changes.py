"""The changes that a soak makes to a database on PostgreSQL, whose server is restarted and replaced by its standby."""

import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import sleep
from typing import Any

import psycopg

from benchmarks.changes import Changes
from benchmarks.measure import free_port
from benchmarks.postgresql import PostgreSQLServer

DATABASE = "articles"


class PostgreSQLChanges(Changes):
    """A primary and its standby, which take turns, and the changes that are made to them."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Run both servers until the stack is closed."""
        self.primary = PostgreSQLServer(port=free_port())
        stack.callback(lambda: self.primary.remove())
        self.primary.execute(f"CREATE DATABASE {DATABASE}")
        self.standby = PostgreSQLServer(self.primary)
        stack.callback(lambda: self.standby.remove())
        hosts = "&".join(f"host=127.0.0.1:{server.port}" for server in (self.primary, self.standby))
        super().__init__(folder, f"postgresql+psycopg://postgres@/{DATABASE}?{hosts}&target_session_attrs=read-write")

    def changes(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [*super().changes(), self.rng.choice((self.restart, self.terminate_connections, self.promote))]

    def changes_during_a_wait(self) -> list[Callable[[], None]]:
        """Return the changes that are made while a command waits."""
        return [*super().changes_during_a_wait(), self.restart]

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database once no other writer is at work, and return its rows."""
        with psycopg.connect(self.primary.url(DATABASE)) as connection:
            connection.execute("LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE")  # a killed import may go on
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def check_integrity(self) -> str:
        """Return "ok" if the database can be dumped."""
        self.primary.run("pg_dump", "-d", self.primary.url(DATABASE), "-f", "/dev/null")
        return "ok"

    def break_for_a_moment(self, fault: Callable[[], object]) -> None:
        """Allow responses that the database cannot be read during a fault."""
        before = self.current
        self.history.append(before._replace(broken=True))
        fault()
        self.history.append(before)

    def restart(self) -> None:
        """Restart the primary, in order or as after a crash."""

        def fault() -> None:
            self.primary.stop(self.rng.choice((signal.SIGINT, signal.SIGQUIT)))
            sleep(self.rng.choice((0, 1)))
            self.primary.start()

        self.break_for_a_moment(fault)

    def terminate_connections(self) -> None:
        """Terminate all connections to the database."""
        terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        self.break_for_a_moment(lambda: self.primary.execute(terminate, DATABASE))

    def promote(self) -> None:
        """Replace the primary by its standby, and make a new standby in its place."""
        lost = self.primary

        def fault() -> None:
            self.standby.wait_for_replay(lost)
            lost.stop(signal.SIGQUIT)
            self.standby.promote()

        self.break_for_a_moment(fault)
        lost.remove()
        self.primary, self.standby = self.standby, PostgreSQLServer(self.standby, lost.port)
