"""Temporary PostgreSQL servers, which tests may stop and start."""

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import psycopg

from benchmarks.servers import free_port


class PostgreSQLServer:
    """A temporary server."""

    def __init__(self) -> None:
        """Create the server and start it."""
        self.tools = Path(os.environ.get("POSTGRESQL_TOOLS") or max(Path("/usr/lib/postgresql").glob("*/bin")))
        self.folder, self.port = Path(mkdtemp()), free_port()
        self.as_postgres = []
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            self.as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            shutil.chown(self.folder, "postgres", "postgres")
        data = self.folder / "data"
        self.run("initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        with (data / "postgresql.conf").open("a") as file:
            file.write(f"unix_socket_directories = '{self.folder}'\nport = {self.port}\nfsync = off\n")
        self.start()

    def url(self, database: str = "postgres") -> str:
        """Return the URL of one of the server's databases."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def run(self, tool: str, *arguments: Any) -> None:
        """Run one of PostgreSQL's tools. Raises AssertionError if it fails."""
        command = [*self.as_postgres, str(self.tools / tool), *map(str, arguments)]
        result = subprocess.run(command, cwd="/", capture_output=True, text=True)
        if result.returncode:
            raise AssertionError(f"{tool} failed: {result.stderr}")

    def start(self) -> None:
        """Start the server and wait until it is ready."""
        self.run("pg_ctl", "start", "-D", self.folder / "data", "-l", self.folder / "log")

    def stop(self, mode: str = "immediate") -> None:
        """Stop the server, by default as in a crash. With the mode "fast", shut it down cleanly."""
        self.run("pg_ctl", "stop", "-D", self.folder / "data", "-m", mode)

    def execute(self, statement: str, *parameters: Any, database: str = "postgres") -> list[Any]:
        """Run a statement in autocommit mode, and return its rows."""
        with psycopg.connect(self.url(database), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Stop the server if it is running, and delete its files."""
        if (self.folder / "data/postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)
