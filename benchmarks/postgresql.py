"""PostgreSQL servers that can be restarted and promoted, and the changes that the soak test makes on them."""

import os
import random
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

DATABASE = "articles"


class PostgreSQLServer:
    """A temporary server, or a hot standby of another one."""

    def __init__(self, primary: "PostgreSQLServer | None" = None, port: int = 0) -> None:
        """Create the server and start it. `port` 0 means any free port."""
        self.tools = Path(os.environ.get("POSTGRESQL_TOOLS") or max(Path("/usr/lib/postgresql").glob("*/bin")))
        self.folder, self.port = Path(mkdtemp()), port or free_port()
        self.as_postgres = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
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
        """Return the URL of one of the server's databases."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, tool: str, *arguments: Any) -> None:
        """Run one of PostgreSQL's tools. Raises click.ClickException if it fails."""
        command = [*self.as_postgres, str(self.tools / tool), *map(str, arguments)]
        result = subprocess.run(command, cwd="/", capture_output=True, text=True)
        if result.returncode:
            raise click.ClickException(f"{tool} failed: {result.stderr}")

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        self.run("pg_ctl", "start", "-D", self.folder / "data", "-l", self.folder / "log")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server, by default as in a crash. With the mode "fast", shut it down cleanly."""
        self.run("pg_ctl", "stop", "-D", self.folder / "data", "-m", mode)

    def promote(self) -> None:
        """Promote a standby to primary."""
        self.run("pg_ctl", "promote", "-D", self.folder / "data")

    def execute(self, statement: str, *parameters: Any, database: str = "postgres") -> list[Any]:
        """Run a statement in autocommit mode, and return its rows."""
        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def wait_for_replay(self, primary: "PostgreSQLServer") -> None:
        """Wait until the standby has replayed all commits. Raises click.ClickException after about 20 seconds."""
        ((position,),) = primary.execute("SELECT pg_current_wal_flush_lsn()")
        with psycopg.connect(self.url(), autocommit=True) as connection:
            for _ in range(20_000):
                if connection.execute("SELECT pg_last_wal_replay_lsn() >= %s", [position]).fetchone() == (True,):
                    return
                sleep(0.001)
        raise click.ClickException("The standby has not caught up with the primary.")

    def close(self) -> None:
        """Stop the server if it is running, and delete its files."""
        if (self.folder / "data/postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)


class PostgreSQLChanges(Changes):
    """Changes to a database on a primary with a standby, including failover."""

    def __init__(self, stack: ExitStack, rng: random.Random) -> None:
        """Start both servers. They run until the stack is closed."""
        self.primary = PostgreSQLServer()
        stack.callback(lambda: self.primary.close())
        self.primary.execute(f"CREATE DATABASE {DATABASE}")
        self.standby = PostgreSQLServer(self.primary)
        stack.callback(lambda: self.standby.close())
        hosts = "&".join(f"host=127.0.0.1:{server.port}" for server in (self.primary, self.standby))
        url = f"postgresql+psycopg://postgres@/{DATABASE}?{hosts}&target_session_attrs=read-write"
        super().__init__(stack, url, rng)

    def kinds(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [*super().kinds(), self.restart, self.terminate_connections, self.promote]

    def run_sql(self, statement: str) -> list[Any]:
        """Lock out other writers, run a statement, and return its rows."""
        with psycopg.connect(self.primary.url(DATABASE), options="-c timezone=UTC") as connection:
            # The server may still be running a statement of a killed import.
            connection.execute("LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE")
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def check_integrity(self) -> None:
        """Check that the database can be dumped."""
        self.primary.run("pg_dump", "-d", self.primary.url(DATABASE), "-f", "/dev/null")

    def restart(self) -> None:
        """Restart the primary, after a clean shutdown or a crash."""
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
        """Fail over to the standby, and replace the old primary with a new standby."""
        lost = self.primary
        with self.transition(self.current._replace(is_broken=True), self.current):
            self.standby.wait_for_replay(lost)
            lost.stop()
            self.standby.promote()
        lost.close()
        self.primary, self.standby = self.standby, PostgreSQLServer(self.standby, lost.port)
