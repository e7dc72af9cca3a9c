"""Requests, their rates as measured by wrk (https://github.com/wg/wrk), and the CPU time and memory of imports."""

import http.client
import os
import subprocess
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import click

from benchmarks.servers import PROJECT, Server, run_flask, start_flask

API = "/api/public/v1"
PAGES = {"full": f"{API}/articles", "previews": f"{API}/articles/preview", "sitemap": f"{API}/sitemap"}


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
        """Return the requests per second on 8 connections. Raises click.ClickException if a request fails.

        A client in Python would be slower than the service.
        """
        url = f"http://127.0.0.1:{self.server.port}{self.path}"
        headers = [argument for name, value in self.headers.items() for argument in ("-H", f"{name}: {value}")]
        command = ["wrk", "-t1", "-c8", f"-d{seconds}s", "--timeout", "10s", *headers, url]
        output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
        rate = float(output.partition("Requests/sec:")[2].split()[0]) if "Requests/sec:" in output else 0
        check(rate > 0 and "Non-2xx" not in output and "Socket errors" not in output, f"wrk failed at {url}: {output}")
        return rate


class Import(NamedTuple):
    """A new customer's key, and what importing their articles cost."""

    key: str
    seconds: float  # CPU time
    megabytes: float  # peak memory


def import_articles(url: str, source: Path, project: Path = PROJECT) -> Import:
    """Create a customer and import their articles into the database `url`, with the commands of a checkout."""
    key = run_flask(url, "keys", "create", "Benchmark", project=project)
    with start_flask(url, "articles", "import", str(source), project=project) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.stderr
        check(process.returncode == 0, f"The import of {source} failed: {process.stderr.read()}")
    return Import(key, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def check(condition: bool, fault: str) -> None:
    """Raise click.ClickException unless the condition is true."""
    if not condition:
        raise click.ClickException(fault)


def pin_client() -> int:
    """Pin this process, and thereby any clients, to the last core. Returns the first core, for the servers."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[-1:])
    return cores[0]
