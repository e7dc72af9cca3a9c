"""Time the service, as a user runs it, next to what else answers with the same bytes.

    python -m benchmarks.served [--articles 10000] [--large 100000] [--rounds 5] [--seconds 1]

Everything is a process of its own on this machine: the service (`python app.py`) with its defaults and with
`CACHE_MB=0`, and the references of `benchmarks.references`. Each is asked over 8 connections that are kept open, one
request at a time on each, in rounds: all contestants of a line take turns, so that a machine that slows down slows all.
Every answer is checked before it is timed. The figures are the medians of the rounds, in requests per second.

Then the same service serves many more articles: what the first page costs more, and what the slowest requests take.
"""

import gzip
import http.client
import json
import os
import re
import selectors
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any, NamedTuple

import click

from app import create_app
from benchmarks.data import fill

PROJECT = Path(__file__).parent.parent
API = "/api/public/v1"
CONNECTIONS = 8


class Request(NamedTuple):
    """A request to a server on this machine."""

    port: int
    path: str
    headers: dict[str, str]

    def send(self) -> tuple[int, http.client.HTTPMessage, bytes]:
        """Send it once; give the status, the headers and the body."""
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request("GET", self.path, headers=self.headers)
            response = connection.getresponse()
            return response.status, response.headers, response.read()

    def per_second(self, seconds: float) -> float:
        """Send it again and again on all connections; give how many answers there were in a second."""
        lines = [f"GET {self.path} HTTP/1.1", "Host: localhost", *(f"{k}: {v}" for k, v in self.headers.items())]
        packet = "\r\n".join([*lines, "", ""]).encode()
        length = self._length(packet)
        buffer = bytearray(1 << 20)
        answers = 0
        with selectors.DefaultSelector() as selector, ExitStack() as stack:
            missing = {}
            for _ in range(CONNECTIONS):
                each = stack.enter_context(socket.create_connection(("127.0.0.1", self.port)))
                each.sendall(packet)
                selector.register(each, selectors.EVENT_READ)
                missing[each] = length
            began = perf_counter()
            while perf_counter() - began < seconds:
                for ready, _ in selector.select(timeout=10):
                    connection: Any = ready.fileobj
                    missing[connection] -= connection.recv_into(buffer)
                    if not missing[connection]:
                        answers += 1
                        missing[connection] = length
                        connection.sendall(packet)
            return answers / (perf_counter() - began)

    def _length(self, packet: bytes) -> int:
        """Give how many bytes the answer has, its head included."""
        with closing(socket.create_connection(("127.0.0.1", self.port))) as connection:
            connection.sendall(packet)
            answer = connection.recv(1 << 20)
            while b"\r\n\r\n" not in answer:
                answer += connection.recv(1 << 20)
            head, _, _ = answer.partition(b"\r\n\r\n")
            body = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
            return len(head) + 4 + (int(body[1]) if body else 0)


def wait_for_listener(port: int) -> None:
    """Wait until something listens on a port of this machine, for ten seconds at most."""
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except OSError:
            sleep(0.05)


@contextmanager
def running(*command: str, **environment: str) -> Iterator[tuple[int, int]]:
    """Run a server of this project on a free port, given it as PORT; give port and process id."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, *(each.replace("PORT", str(port)) for each in command)],
        cwd=PROJECT,
        env=os.environ | environment | {"PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_listener(port)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait()


class Table:
    """Lines of contestants, the service first, each timed in turn."""

    def __init__(self, rounds: int, seconds: float) -> None:
        self.rounds, self.seconds = rounds, seconds

    def line(self, what: str, **requests: Request) -> None:
        """Time what `requests` ask; print each rate, and the first's ratio to each."""
        rates: dict[str, list[float]] = {name: [] for name in requests}
        for _ in range(self.rounds):
            for name, request in requests.items():
                rates[name].append(request.per_second(self.seconds))
        ours, *others = ((name, median(each)) for name, each in rates.items())
        ratios = "  ".join(f"{ours[1] / rate:6.2f} x {name} ({rate:.0f})" for name, rate in others)
        click.echo(f"{what:34} {ours[1]:7.0f}  {ratios}")


def check(condition: bool, what: str) -> None:
    """Refuse to time what does not answer as it should."""
    if not condition:
        raise click.ClickException(f"Not as it should be: {what}.")


def compare(folder: Path, key: str, table: Table) -> None:
    """Compare the service with the references on the articles of `folder`."""
    database = f"sqlite:///{folder}/articles.db"
    headers = {"x-api-key": key}
    paths = {"full": f"{API}/articles", "preview": f"{API}/articles/preview", "sitemap": f"{API}/sitemap"}
    (folder / "small.json").write_bytes(b"x" * 2000)
    with ExitStack() as stack:
        service, _ = stack.enter_context(running("app.py", DATABASE_URL=database))
        uncached, _ = stack.enter_context(running("app.py", DATABASE_URL=database, CACHE_MB="0"))
        ours = {name: Request(service, path, headers) for name, path in paths.items()}
        tags = {}
        for name, request in ours.items():
            _, sent, body = request.send()
            (folder / f"{name}.json").write_bytes(body)
            tags[name] = sent["ETag"]

        def reference(kind: str) -> int:
            return stack.enter_context(running("-m", "benchmarks.references", kind, "PORT", str(folder)))[0]

        ports = {kind: reference(kind) for kind in ("wsgi", "flask", "straightforward")}

        def least(kind: str, name: str) -> Request:
            request = Request(ports[kind], f"/{name}", {})
            check(request.send()[2] == (folder / f"{name}.json").read_bytes(), f"{kind} {name}")
            return request

        def straightforward(name: str) -> Request:
            request = Request(ports["straightforward"], paths[name], headers)
            check(json.loads(request.send()[2]) == json.loads(ours[name].send()[2]), f"straightforward {name}")
            return request

        click.echo("Requests per second of the service, and how many times those of the references (in brackets)")
        for name in ("full", "preview"):
            table.line(
                f"cached, {name}",
                service=ours[name],
                W=least("wsgi", name),
                F=least("flask", name),
                N=straightforward(name),
            )
        table.line("cached, sitemap", service=ours["sitemap"], W=least("wsgi", "sitemap"), F=least("flask", "sitemap"))
        for name, request in ours.items():
            packed = request._replace(headers=headers | {"Accept-Encoding": "gzip"})
            check(gzip.decompress(packed.send()[2]) == request.send()[2], f"gzip {name}")
            table.line(f"gzip, {name}", service=packed, plain=request)
        for name, request in ours.items():
            known = request._replace(headers=headers | {"If-None-Match": tags[name]})
            check(known.send()[0] == 304, f"304 {name}")
            table.line(f"304, {name}", service=known, F_2KB=least("flask", "small"))
        for name in ("full", "preview"):
            request = ours[name]._replace(port=uncached)
            check(request.send()[2] == ours[name].send()[2], f"uncached {name}")
            table.line(f"uncached, {name}", service=request, N=straightforward(name))


def milliseconds(request: Request, rounds: int) -> float:
    """Give the median time of one request after another on one connection."""
    times = []
    with closing(http.client.HTTPConnection("127.0.0.1", request.port, timeout=60)) as connection:
        for _ in range(rounds):
            began = perf_counter()
            connection.request("GET", request.path, headers=request.headers)
            response = connection.getresponse()
            response.read()
            times.append((perf_counter() - began) * 1000)
            check(response.status == 200, request.path)
    return median(times)


def grow(folder: Path, count: int, rounds: int) -> None:
    """Print what the first page, and the slowest requests, of 1,000 and `count` articles take, uncached."""
    with ExitStack() as stack:
        first = []
        for size in (min(1000, count), count):
            part = folder / str(size)
            part.mkdir(exist_ok=True)
            database = f"sqlite:///{part}/articles.db"
            with create_app({"DATABASE_URL": database}).app_context():
                headers = {"x-api-key": fill(size)}
            port, _ = stack.enter_context(running("app.py", DATABASE_URL=database, CACHE_MB="0"))
            first.append(milliseconds(Request(port, f"{API}/articles", headers), rounds * 20))
        click.echo(f"Uncached, {count} articles: milliseconds of one request after another")
        click.echo(f"{'first page':34} {first[1]:7.1f}  {first[1] / first[0]:6.2f} x that of 1,000")
        for what, path in (
            ("last page", f"/articles?skip={count - 50}"),
            ("last page by title", f"/articles?orderBy=title&skip={count - 50}"),
            ("middle page", f"/articles?skip={count // 2}"),
            ("search that matches nothing", "/articles?q=no+such+word"),
            ("search that matches all", "/articles?q=article"),
            ("sitemap", "/sitemap"),
        ):
            click.echo(f"{what:34} {milliseconds(Request(port, API + path, headers), rounds * 2):7.1f}")

        small, pid = stack.enter_context(running("app.py", DATABASE_URL=database, CACHE_MB="16"))
        for number in range(count // 10):
            request = Request(small, f"{API}/articles?take={number % 100 + 1}&skip={number}", headers)
            check(request.send()[0] == 200, request.path)
        status = Path(f"/proc/{pid}/status").read_text()
        resident = int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024
        click.echo(f"Megabytes after {count // 10} different queries, CACHE_MB=16: {resident:.0f}")


@click.command()
@click.option("--articles", "count", default=10_000, show_default=True)
@click.option("--large", default=100_000, show_default=True)
@click.option("--rounds", default=5, show_default=True)
@click.option("--seconds", default=1.0, show_default=True)
def main(count: int, large: int, rounds: int, seconds: float) -> None:
    """Compare the service, on so many articles of 8 KB, with the references; then see how it grows."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with create_app({"DATABASE_URL": f"sqlite:///{folder}/articles.db"}).app_context():
            key = fill(count)
        compare(folder, key, Table(rounds, seconds))
        grow(folder, large, rounds)


if __name__ == "__main__":
    main()
