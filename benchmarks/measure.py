"""What the benchmarks run and time: servers of this project, each a process of its own, and requests to them.

Requests go over 8 connections that are kept open, one at a time on each, in rounds: all contestants of a line take
turns, so that a machine that slows down slows all. The figures are the medians of the rounds.
"""

import http.client
import os
import re
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any, NamedTuple

import click

PROJECT = Path(__file__).parent.parent
API = "/api/public/v1"
PATHS = {"full": f"{API}/articles", "preview": f"{API}/articles/preview", "sitemap": f"{API}/sitemap"}
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
    """Wait until something listens on a port of this machine, for ten seconds at most. Raises OSError."""
    for _ in range(200):
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port)).close()
            return
        sleep(0.05)
    raise OSError(f"Nothing listens on port {port}.")


def free_port() -> int:
    """Give a port of this machine that nothing listens on."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port: int = free.getsockname()[1]
        return port


@contextmanager
def running(*command: str, **environment: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run a server of this project on a free port, given it as PORT; give the port and the process."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, *(each.replace("PORT", str(port)) for each in command)],
        cwd=PROJECT,
        env=os.environ | environment | {"PORT": str(port)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for_listener(port)
        yield port, process
    finally:
        process.terminate()
        process.wait()


def megabytes_of(process: subprocess.Popen[bytes]) -> float:
    """Give the memory that a process holds."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


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
