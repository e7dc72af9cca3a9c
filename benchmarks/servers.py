"""Run the service and its commands in separate processes."""

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from time import sleep
from typing import IO, Any, NamedTuple

import click

PROJECT = Path(__file__).parent.parent
PYTHON = ".venv/bin/python"
API = "/api/public/v1"


class Server(NamedTuple):
    """A server's process, the port it listens on, and a file with its standard error."""

    port: int
    process: subprocess.Popen[bytes]
    errors: IO[bytes]

    def cpu_seconds(self) -> float:
        """Return the CPU time that the server has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def read_errors(self) -> str:
        """Return the end of the server's standard error."""
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-4000:]


def check(condition: bool, fault: str) -> None:
    """Raise click.ClickException unless the condition is true."""
    if not condition:
        raise click.ClickException(fault)


def start_flask(url: str, *arguments: str, project: Path = PROJECT) -> subprocess.Popen[str]:
    """Start one of the service's commands on the database `url`, using the checkout `project` and its .venv."""
    return subprocess.Popen(
        [project / PYTHON, "-m", "flask", *arguments],
        cwd=project,
        env=os.environ | {"DATABASE_URL": url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run_flask(url: str, *arguments: str, project: Path = PROJECT, stdin: str = "") -> str:
    """Run one of the service's commands and return its output. Raises click.ClickException if it fails."""
    with start_flask(url, *arguments, project=project) as process:
        output, errors = process.communicate(stdin)
    check(process.returncode == 0, f"flask {' '.join(arguments)} failed: {errors.strip()}")
    return output.strip()


def free_port() -> int:
    """Return a free port on this machine."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        return int(listener.getsockname()[1])


@contextmanager
def listening(command: list[str], port: int, **options: Any) -> Iterator[Server]:
    """Run a server, and wait until it listens on the port. On exit, terminate it.

    `options` are those of Popen. Raises click.ClickException if the server ends before it listens.
    """
    with (
        TemporaryFile("a+b") as errors,  # a pipe could fill up and block the server
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, **options) as process,
    ):
        server = Server(port, process, errors)
        try:
            while process.poll() is None:
                with suppress(OSError):
                    socket.create_connection(("127.0.0.1", port)).close()
                    break
                sleep(0.05)
            else:
                raise click.ClickException(f"{command} did not start: {server.read_errors()}")
            yield server
        finally:
            process.terminate()


@contextmanager
def run_service(url: str, *prefix: str, project: Path = PROJECT, **environment: str) -> Iterator[Server]:
    """Run the service from the checkout `project`, on a free port. `prefix` is a command to run it with."""
    port = free_port()
    variables = os.environ | environment | {"DATABASE_URL": url, "PORT": str(port)}
    with listening([*prefix, str(project / PYTHON), "app.py"], port, cwd=project, env=variables) as server:
        yield server
