"""Run servers and the service's commands in separate processes."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from signal import Signals
from tempfile import TemporaryFile
from time import sleep
from typing import IO, Any, NamedTuple

import click

PROJECT = Path(__file__).parent.parent
TAIL_LENGTH = 4000  # characters of standard error in messages


class Server(NamedTuple):
    """A server's process, the port it listens on, and a file with its standard error."""

    port: int
    process: subprocess.Popen[bytes]
    errors: IO[bytes]

    def resident_megabytes(self) -> float:
        """Return the resident set size of the process in megabytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def condition(self) -> str:
        """Return whether the process is running or how it ended, and the end of its standard error."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(1)  # its connections are closed shortly before it ends
        state, status = "is running", self.process.returncode
        if status is not None:
            state = f"was killed by {Signals(-status).name}" if status < 0 else f"ended with status {status}"
        self.errors.seek(0)
        text = self.errors.read().decode(errors="replace")
        return f"The server {state}. Its standard error ends with:\n{text[-TAIL_LENGTH:]}"


def start_flask(url: str, *arguments: str, project: Path = PROJECT) -> subprocess.Popen[str]:
    """Start one of the service's commands on the database `url`, using the checkout `project`."""
    return subprocess.Popen(
        [sys.executable, "-m", "flask", *arguments],
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
    if process.returncode:
        raise click.ClickException(f"flask {' '.join(arguments)} failed: {errors.strip()}")
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
                raise click.ClickException(f"{command} did not start. {server.condition()}")
            yield server
        finally:
            process.terminate()


@contextmanager
def run_server(
    *arguments: str, project: Path = PROJECT, core: int | None = None, **environment: str
) -> Iterator[Server]:
    """Run a Python server from a checkout of this project, on a free port that is passed to it as PORT."""
    port = free_port()
    pin = [] if core is None else ["taskset", "-c", str(core)]
    variables = os.environ | environment | {"PORT": str(port)}
    with listening([*pin, sys.executable, *arguments], port, cwd=project, env=variables) as server:
        yield server
