"""PostgreSQL servers that may be restarted and promoted, and the changes that a soak makes to a database on them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import mkdtemp
from time import sleep
from typing import Any

import click
import psycopg

from benchmarks.changes import Changes
from benchmarks.servers import free_port

DATABASE = "articles"  # It belongs to the soak.


class PostgreSQLServer:
    """A running server, or a hot standby of another one, in a folder of its own."""

    def __init__(self, primary: "PostgreSQLServer | None" = None, port: int = 0) -> None:
        """Create it, and start it on the port, or on a free one."""
        self.tools = Path(os.environ.get("POSTGRESQL_TOOLS") or max(Path("/usr/lib/postgresql").glob("*/bin")))
        self.folder, self.port = Path(mkdtemp()), port or free_port()
        self.as_postgres = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as the superuser.
            self.as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(self.folder, "postgres", "postgres")
        data = self.folder / "data"
        if primary:
            self.run("pg_basebackup", "-d", primary.url(), "-D", data, "-R", "-X", "stream", "-c", "fast")
        else:
            self.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        with (data / "postgresql.conf").open("a") as file:
            file.write(f"unix_socket_directories = '{self.folder}'\nport = {self.port}\nfsync = off\n")
            file.write("max_prepared_transactions = 10\nwal_retrieve_retry_interval = 100ms\n")
        self.start()

    def url(self, database: str = "postgres") -> str:
        """Return a URL of one of its databases."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, tool: str, *arguments: Any) -> None:
        """Run one of PostgreSQL's tools. Raises click.ClickException if it fails."""
        command = [*self.as_postgres, str(self.tools / tool), *map(str, arguments)]
        result = subprocess.run(command, cwd="/", capture_output=True, text=True)
        if result.returncode:
            raise click.ClickException(f"{tool} failed: {result.stderr}")

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.run("pg_ctl", "start", "-D", self.folder / "data", "-l", self.folder / "log")

    def stop(self, mode: str = "immediate") -> None:
        """Stop it: at once, as in a crash, or in order if `mode` is "fast"."""
        self.run("pg_ctl", "stop", "-D", self.folder / "data", "-m", mode)

    def promote(self) -> None:
        """Make a standby a primary."""
        self.run("pg_ctl", "promote", "-D", self.folder / "data")

    def execute(self, statement: str, *parameters: Any, database: str = "postgres") -> list[Any]:
        """Run a statement in a transaction of its own, and return its rows."""
        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def wait_for_replay(self, primary: "PostgreSQLServer") -> None:
        """Wait until it has replayed what the primary has committed. Raises click.ClickException after 20 seconds."""
        ((position,),) = primary.execute("SELECT pg_current_wal_flush_lsn()")
        with psycopg.connect(self.url(), autocommit=True) as connection:
            for _ in range(20_000):
                if connection.execute("SELECT pg_last_wal_replay_lsn() >= %s", [position]).fetchone() == (True,):
                    return
                sleep(0.001)
        raise click.ClickException("The standby does not follow.")

    def close(self) -> None:
        """Stop it if it runs, and remove its folder."""
        if (self.folder / "data/postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)


class PostgreSQLChanges(Changes):
    """A primary and its standby, which take turns, and the changes that are made to them."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        """Run both servers until the stack is closed."""
        self.primary = PostgreSQLServer()
        stack.callback(lambda: self.primary.close())
        self.primary.execute(f"CREATE DATABASE {DATABASE}")
        self.standby = PostgreSQLServer(self.primary)
        stack.callback(lambda: self.standby.close())
        hosts = "&".join(f"host=127.0.0.1:{server.port}" for server in (self.primary, self.standby))
        super().__init__(folder, f"postgresql+psycopg://postgres@/{DATABASE}?{hosts}&target_session_attrs=read-write")

    def kinds(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [*super().kinds(), self.restart, self.terminate_connections, self.promote]

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database once no other writer is at work, and return its rows."""
        with psycopg.connect(self.primary.url(DATABASE)) as connection:
            # A killed import may go on.
            connection.execute("LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE")
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def check_integrity(self) -> None:
        """Check that the database can be dumped."""
        self.primary.run("pg_dump", "-d", self.primary.url(DATABASE), "-f", "/dev/null")

    def restart(self) -> None:
        """Restart the primary, in order or as after a crash."""
        with self.transition(self.current._replace(is_broken=True), self.current):
            self.primary.stop(self.rng.choice(("fast", "immediate")))
            sleep(self.rng.choice((0, 1)))
            self.primary.start()

    def terminate_connections(self) -> None:
        """Terminate all connections to the database."""
        with self.transition(self.current._replace(is_broken=True), self.current):
            terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
            self.primary.execute(terminate, DATABASE)

    def promote(self) -> None:
        """Replace the primary by its standby, and make a new standby in its place."""
        lost = self.primary
        with self.transition(self.current._replace(is_broken=True), self.current):
            self.standby.wait_for_replay(lost)
            lost.stop()
            self.standby.promote()
        lost.close()
        self.primary, self.standby = self.standby, PostgreSQLServer(self.standby, lost.port)
