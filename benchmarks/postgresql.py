"""A PostgreSQL server of its own, which may be restarted, stopped in its tracks, followed by a standby and promoted."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import click
import psycopg

from benchmarks.measure import free_port


class PostgreSQLServer:
    """A running server, or a hot standby of another one, in a folder of its own."""

    def __init__(self, primary: "PostgreSQLServer | None" = None, port: int = 0) -> None:
        """Create it, and start it on the port, or on a free one."""
        self.tools = Path(os.environ.get("POSTGRESQL_TOOLS") or max(Path("/usr/lib/postgresql").glob("*/bin")))
        self.folder, self.port = Path(mkdtemp()), port or free_port()
        self.as_postgres = []
        if os.geteuid() == 0:  # as whom it refuses to run
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
        command = [*self.as_postgres, str(self.tools / "postgres"), "-D", str(self.folder / "data")]
        with (self.folder / "log").open("a") as log:
            self.process = subprocess.Popen(command, cwd="/", stdout=log, stderr=log)
        self.wait_until_ready()

    def wait_until_ready(self) -> None:
        """Wait until it accepts connections. Raises click.ClickException after 30 seconds."""
        for _ in range(600):
            with suppress(psycopg.OperationalError):
                self.execute("SELECT 1")
                return
            time.sleep(0.05)
        raise click.ClickException(f"PostgreSQL does not start: {(self.folder / 'log').read_text()}")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: by default in order; at once if `how` is SIGQUIT."""
        self.process.send_signal(how)
        self.process.wait(30)

    def execute(self, statement: str, *parameters: Any, database: str = "postgres") -> list[Any]:
        """Run a statement in a transaction of its own, and return its rows."""
        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def promote(self) -> None:
        """Make a standby a primary."""
        self.execute("SELECT pg_promote()")

    def wait_for_replay(self, primary: "PostgreSQLServer") -> None:
        """Wait until it has replayed what the primary has committed. Raises click.ClickException after 20 seconds."""
        ((position,),) = primary.execute("SELECT pg_current_wal_flush_lsn()")
        with psycopg.connect(self.url(), autocommit=True) as connection:
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                if connection.execute("SELECT pg_last_wal_replay_lsn() >= %s", [position]).fetchone() == (True,):
                    return
                time.sleep(0.001)
        raise click.ClickException("The standby does not follow.")

    def remove(self) -> None:
        """Stop it, and remove its folder."""
        if self.process.poll() is None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder)


@contextmanager
def postgresql_server(primary: PostgreSQLServer | None = None) -> Iterator[PostgreSQLServer]:
    """Run a server, or a hot standby of `primary`, until the block ends."""
    server = PostgreSQLServer(primary)
    try:
        yield server
    finally:
        server.remove()
