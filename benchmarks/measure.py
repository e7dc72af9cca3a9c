"""Servers of this project, and how many requests per second wrk gets through them.

wrk (https://github.com/wg/wrk) sends requests over 8 connections and uses one thread. A client in Python is slower than
the service and would hide what the service does. The servers that are compared take turns, in rounds, so that a machine
that slows down slows down all of them.
"""

import http.client
import os
import platform
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from statistics import median
from time import sleep
from typing import NamedTuple

import click

PROJECT = Path(__file__).parent.parent
API = "/api/public/v1"
PATHS = {"full": f"{API}/articles", "preview": f"{API}/articles/preview", "sitemap": f"{API}/sitemap"}
PACKAGES = ("Flask", "Werkzeug", "SQLAlchemy", "marshmallow", "waitress")


class Response(NamedTuple):
    """A response, read to its end."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Server(NamedTuple):
    """A running server, and the port that it listens on."""

    port: int
    process: subprocess.Popen[bytes]

    def resident_megabytes(self) -> float:
        """Return the memory that the process holds; 0 if it has ended."""
        if self.process.poll() is not None:
            return 0
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024


class Request(NamedTuple):
    """A GET request to a server."""

    server: Server
    path: str
    headers: Mapping[str, str]

    def send(self, connection: http.client.HTTPConnection | None = None) -> Response:
        """Send the request once, with the headers that wrk sends, and return the response."""
        if connection is None:
            with closing(self.connect()) as connection:
                return self.send(connection)
        connection.putrequest("GET", self.path, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        return Response(response.status, response.headers, response.read())

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to the server."""
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    def measure_rate(self, seconds: int) -> float:
        """Return the requests per second of wrk. Raises click.ClickException if a request fails."""
        url = f"http://127.0.0.1:{self.server.port}{self.path}"
        headers = [argument for name, value in self.headers.items() for argument in ("-H", f"{name}: {value}")]
        output = run_wrk("-t1", "-c8", f"-d{seconds}s", "--timeout", "10s", *headers, url)
        errors = re.findall("Socket errors: .+|Non-2xx or 3xx responses: .+", output)
        rate = re.search(r"^Requests/sec: +([\d.]+)$", output, re.MULTILINE)
        if errors or not rate or not float(rate[1]):
            raise click.ClickException(f"wrk failed at {url}: {', '.join(errors) or output.strip()}")
        return float(rate[1])


class Table:
    """A printed table that compares servers: how many requests per second they respond to, and the ratios."""

    def __init__(self, rounds: int, seconds: int) -> None:
        """Print the heads of the columns."""
        self.rounds, self.seconds = rounds, seconds
        click.echo(f"\n{'':43}{'requests/s':>10}  ratio of the first to it: median (min to max)")

    def compare(self, title: str, contestants: Mapping[str, Request]) -> None:
        """Time the contestants in turns; print their median rates, and the ratios of the first one to the others.

        The ratios are those of two rates of the same round.
        """
        rounds = [[request.measure_rate(self.seconds) for request in contestants.values()] for _ in range(self.rounds)]
        first, *others = zip(*rounds, strict=True)
        names = iter(contestants)
        click.echo(f"{title:23}{next(names):20}{median(first):10.0f}")
        for name, rates in zip(names, others, strict=True):
            ratios = [first_rate / rate for first_rate, rate in zip(first, rates, strict=True)]
            spread = f"({min(ratios):.2f} to {max(ratios):.2f})"
            click.echo(f"{'':23}{name:20}{median(rates):10.0f}  {median(ratios):.2f} {spread}")


def check(condition: bool, what: str) -> None:
    """Raise click.ClickException unless the condition is true: wrong responses must not be timed."""
    if not condition:
        raise click.ClickException(f"Wrong response: {what}.")


def run_wrk(*arguments: str) -> str:
    """Return the output of wrk. Raises click.ClickException if wrk is not installed."""
    wrk = shutil.which("wrk")
    if not wrk:
        raise click.ClickException("Install wrk, for example: apt-get install wrk")
    return subprocess.run([wrk, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def print_environment() -> None:
    """Print what the figures depend on: date, CPU, Python and the versions of packages and wrk."""
    wrk = run_wrk("-v").split()[1]
    model = re.search(r"^model name\s*: (.+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    click.echo(f"Date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC")
    click.echo(f"CPU: {model[1] if model else platform.machine()}, {os.cpu_count()} cores")
    click.echo(f"Python: {platform.python_version()}")
    click.echo("Packages: " + ", ".join(f"{name} {version(name)}" for name in PACKAGES))
    click.echo(f"wrk: {wrk}")


def pin_client() -> int:
    """Pin this process, and the wrk that it runs, to one core; return another core for the servers."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise click.ClickException("Servers and wrk need a core each, but there is only one. Choose --unpinned.")
    os.sched_setaffinity(0, {cores[1]})
    return cores[0]


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_for_listener(port: int, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process listens on the port, for ten seconds at most. Raises click.ClickException."""
    for _ in range(200):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        if process.poll() is not None:
            break
        sleep(0.05)
    raise click.ClickException(f"The server does not start: {process.args!r}")


@contextmanager
def listening(process: subprocess.Popen[bytes], port: int) -> Iterator[Server]:
    """Wait until the process listens on the port, and end it when the block ends. Raises click.ClickException."""
    try:
        wait_for_listener(port, process)
        yield Server(port, process)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def run_server(
    *arguments: str, folder: Path = PROJECT, core: int | None = None, **environment: str
) -> Iterator[Server]:
    """Run a Python program of a checkout of this project, on the port that PORT names, until the block ends."""
    port = free_port()
    pin = [] if core is None else ["taskset", "-c", str(core)]
    process = subprocess.Popen(
        [*pin, sys.executable, *arguments],
        cwd=folder,
        env=os.environ | environment | {"PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with listening(process, port) as server:
        yield server
