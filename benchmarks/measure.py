"""Measure requests per second with wrk (https://github.com/wg/wrk), using one thread and 8 connections.

A Python client would be slower than the service, and would become the bottleneck. The servers take turns in rounds, so
that a slowdown of the machine affects all of them.
"""

import http.client
import os
import platform
import subprocess
from collections.abc import Mapping
from contextlib import closing
from importlib.metadata import version
from statistics import median
from typing import NamedTuple

import click

from benchmarks.servers import Server

API = "/api/public/v1"
PACKAGES = ("Flask", "Werkzeug", "SQLAlchemy", "marshmallow", "waitress")


class Response(NamedTuple):
    """A complete response."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Request(NamedTuple):
    """A GET request to a server."""

    server: Server
    path: str
    headers: Mapping[str, str]

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection to the server."""
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    def send(self, connection: http.client.HTTPConnection | None = None) -> Response:
        """Send the request, on a new connection by default, and return the response."""
        if connection is None:
            with closing(self.connect()) as connection:
                return self.send(connection)
        connection.request("GET", self.path, headers=self.headers)
        response = connection.getresponse()
        return Response(response.status, response.headers, response.read())

    def measure_rate(self, seconds: int) -> float:
        """Return wrk's requests per second. Raises click.ClickException if a request fails."""
        url = f"http://127.0.0.1:{self.server.port}{self.path}"
        headers = [argument for name, value in self.headers.items() for argument in ("-H", f"{name}: {value}")]
        output = run_wrk("-t1", "-c8", f"-d{seconds}s", "--timeout", "10s", *headers, url)
        rate = float(output.partition("Requests/sec:")[2].split()[0]) if "Requests/sec:" in output else 0
        check(rate > 0 and "Non-2xx" not in output and "Socket errors" not in output, f"wrk failed at {url}: {output}")
        return rate


class Table:
    """A printed table that compares the requests per second of several servers."""

    def __init__(self, rounds: int, seconds: int) -> None:
        """Print the table's header."""
        self.rounds, self.seconds = rounds, seconds
        click.echo(f"\n{'':43}{'requests/s':>10}  ratio of the first row to this one: median (min to max)")

    def compare(self, title: str, contestants: Mapping[str, Request]) -> None:
        """Measure the contestants in turn. Print their median rates, and the ratios of the first one to the others.

        Each ratio compares two rates from the same round.
        """
        rounds = [[request.measure_rate(self.seconds) for request in contestants.values()] for _ in range(self.rounds)]
        for name, rates in zip(contestants, zip(*rounds, strict=True), strict=True):
            ratios = [turns[0] / rate for turns, rate in zip(rounds, rates, strict=True)]
            spread = f"{median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            click.echo(f"{title:20}{name:23}{median(rates):10.0f}  {spread}")


def check(condition: bool, fault: str) -> None:
    """Raise click.ClickException unless the condition is true."""
    if not condition:
        raise click.ClickException(fault)


def run_wrk(*arguments: str) -> str:
    """Return the output of wrk, which must be installed."""
    return subprocess.run(["wrk", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout


def pin_client() -> int:
    """Pin this process, and thereby any clients, to the last core. Returns the first core, for the servers."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-1:])
    return cores[0]


def print_versions() -> None:
    """Print the versions of the programs and packages that affect the results."""
    click.echo(f"Python {platform.python_version()}, {run_wrk('-v').split(' [')[0]}")
    click.echo(", ".join(f"{name} {version(name)}" for name in PACKAGES))
