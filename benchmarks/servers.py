"""Run servers in separate processes: the service and its commands, reference servers, and nginx."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from time import sleep
from typing import NamedTuple

import click

PROJECT = Path(__file__).parent.parent


class Server(NamedTuple):
    """A running server and its port."""

    port: int
    process: subprocess.Popen[bytes]

    def resident_megabytes(self) -> float:
        """Return the resident set size of the process in megabytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


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
def listening(process: subprocess.Popen[bytes], port: int) -> Iterator[Server]:
    """Wait until the process listens on the port. On exit, terminate it. Raises click.ClickException if it fails."""
    try:
        while process.poll() is None:
            with suppress(OSError):
                socket.create_connection(("127.0.0.1", port)).close()
                break
            sleep(0.05)
        else:
            raise click.ClickException(f"The server did not start: {process.args!r}")
        yield Server(port, process)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def run_server(
    *arguments: str, project: Path = PROJECT, core: int | None = None, **environment: str
) -> Iterator[Server]:
    """Run a Python server from a checkout of this project, on a free port that is passed to it as PORT."""
    port = free_port()
    pin = [] if core is None else ["taskset", "-c", str(core)]
    process = subprocess.Popen(
        [*pin, sys.executable, *arguments],
        cwd=project,
        env=os.environ | environment | {"PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with listening(process, port) as server:
        yield server


@contextmanager
def nginx(folder: Path, *instances: int) -> Iterator[Server]:
    """Run nginx, configured as in docs/operate.md, in front of the instances on these ports.

    Its cache and other files are written to `folder`.
    """
    port = free_port()
    site = (PROJECT / "docs/operate.md").read_text().partition("```nginx\n")[2].partition("```")[0]
    site = site.replace("server 127.0.0.1:8000;", "".join(f"server 127.0.0.1:{instance};" for instance in instances))
    site = site.replace("listen 80;", f"listen 127.0.0.1:{port};")
    site = site.replace("/var/cache/nginx-articles", f"{folder}/cache")
    main = f"daemon off; pid {folder}/pid; error_log {folder}/error; user root; worker_processes auto;\n"
    (folder / "nginx.conf").write_text(f"{main}events {{}} http {{ access_log off; {site} }}")
    process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])
    with listening(process, port) as server:
        yield server
