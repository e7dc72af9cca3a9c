"""Soak test: readers and hostile clients while the database, the keys and the service's clock change at random.

    python -m benchmarks.soak [MINUTES] [--postgresql]

The database is a SQLite file behind a symbolic link, which is corrupted, restored, replaced and switched. With
--postgresql, it is on a PostgreSQL server, which is restarted and fails over to its standby; the URL names both.

Every response is checked against what the database contained while the request was in flight (`benchmarks.changes`).
Errors are only allowed while the database was broken. At the end, the integrity of the database is checked, and the
memory of the service is compared with that one fifth of the way through the run.
"""

import random
import socket
from collections import Counter, deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic, sleep

import click

from benchmarks.changes import REVISION, Changes, SQLiteChanges
from benchmarks.measure import API, Request, Response, check
from benchmarks.servers import Server, run_server

READERS = 6
HOSTILE_CONNECTIONS = 200  # open at the same time
MAX_LATENCY_SECONDS = 5
MAX_GROWTH = 1.3  # ratio of the memory at the end to that one fifth of the way through the run
PATHS = (
    f"{API}/articles?take=100",
    f"{API}/articles/preview?take=100&orderBy=title&order=asc",
    f"{API}/articles?q=article&take=7&skip=3&orderBy=views",
    f"{API}/sitemap",
)


class Soak:
    """Clients of the service, in one thread each, while its database changes."""

    def __init__(self, changes: Changes, service: Server) -> None:
        self.changes, self.service = changes, service
        self.events: list[str] = []
        self.latencies: list[float] = []  # seconds, of requests while the database was intact
        self.is_over = Event()

    def read_articles(self, rng: random.Random) -> None:
        """Send requests on one connection, some of them conditional, and check each response."""
        cached: dict[str, Response] = {}
        with closing(Request(self.service, "", {}).connect()) as connection:
            while not self.is_over.is_set():
                path, first = rng.choice(PATHS), self.changes.settled
                key = rng.choice(sorted(self.changes.all_keys)) if rng.random() < 0.1 else self.changes.current.key
                is_conditional = path in cached and rng.random() < 0.5
                headers = {"If-None-Match": cached[path].headers["ETag"]} if is_conditional else {}
                request = Request(self.service, path, {"x-api-key": key, **headers})
                began = monotonic()
                response = self.send(request, connection)
                latency = monotonic() - began
                self.events.append(f"responses {response.status}")
                if response.status == 200:
                    cached[path] = response
                elif response.status == 304:
                    response = cached[path]
                self.check_response(request, response, latency, first)

    def send(self, request: Request, connection: HTTPConnection) -> Response:
        """Send a request, again if the service had closed the idle connection, as it may (RFC 9112, 9.5)."""
        try:
            return request.send(connection)
        except RemoteDisconnected:
            self.events.append("reconnections")
            return request.send(connection)

    def check_response(self, request: Request, response: Response, latency: float, first: int) -> None:
        """Check a response against all expectations since `first`, which applied while the request was in flight."""
        expectations = self.changes.history[first:]
        # The clock may have been moved after the service read the database, and before it read the clock.
        clocks = {expectation.is_later for expectation in expectations}
        moments = [expectation._replace(is_later=is_later) for expectation in expectations for is_later in clocks]
        is_right = any(moment.allows(request.headers["x-api-key"], response) for moment in moments)
        shown = f"{sorted(set(REVISION.findall(response.body)))} {response.body[-100:]!r}"
        check(is_right, f"{request} {response.status} {shown} with {expectations}")
        if not any(expectation.is_broken for expectation in expectations):
            self.latencies.append(latency)

    def send_hostile_traffic(self, rng: random.Random) -> None:
        """Send malformed or incomplete requests, or many pipelined ones, without reading the responses."""
        # sockets that drop out of the deque are closed by garbage collection
        connections: deque[socket.socket] = deque(maxlen=HOSTILE_CONNECTIONS)
        while not self.is_over.is_set():
            with suppress(OSError):
                connections.append(socket.create_connection(("127.0.0.1", self.service.port), timeout=1))
                key = self.changes.current.key
                valid = f"GET {PATHS[0]} HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode()
                connections[-1].sendall(rng.choice((rng.randbytes(500), valid[:40], valid * 20, b"\r\n\r\n")))
                self.events.append("hostile connections")
            sleep(0.02)

    def run(self, minutes: float) -> None:
        """Run the clients and change the database for this many minutes, then report."""
        began = monotonic()
        with ThreadPoolExecutor(READERS + 1) as pool:
            clients = [pool.submit(self.read_articles, random.Random(seed)) for seed in range(READERS)]
            clients.append(pool.submit(self.send_hostile_traffic, random.Random(READERS)))
            try:
                self.change_database(clients, began + minutes * 12)
                early_megabytes = self.service.resident_megabytes()
                self.change_database(clients, began + minutes * 60)
            finally:
                self.is_over.set()
        for client in clients:
            client.result()
        click.echo(f"{monotonic() - began:9.0f} seconds")
        self.report(early_megabytes)

    def report(self, early_megabytes: float) -> None:
        """Stop the service, print statistics, and run the final checks."""
        megabytes = self.service.resident_megabytes()
        self.service.process.terminate()
        status = self.service.process.wait(20)
        for name, count in sorted(Counter(self.events + self.changes.made).items()):
            click.echo(f"{count:9,} {name}")
        click.echo(f"{max(self.latencies) * 1000:9.0f} ms slowest response while the database was intact")
        click.echo(f"{early_megabytes:9.0f} MB after a fifth of the time, {megabytes:.0f} MB at the end")
        check(status == 0, f"The service ended with status {status}.")
        check(megabytes <= early_megabytes * MAX_GROWTH, "The service's memory grew.")
        check(max(self.latencies) <= MAX_LATENCY_SECONDS, "A response took too long.")
        self.changes.check_integrity()
        click.echo("All responses were correct, without errors while the database was intact.")

    def change_database(self, clients: list[Future[None]], deadline: float) -> None:
        """Change the database until the deadline. Reraises exceptions of the clients."""
        while monotonic() < deadline:
            self.changes.apply_next()
            for client in filter(Future.done, clients):
                client.result()


@click.command()
@click.argument("minutes", type=float, default=10)
@click.option("--postgresql", is_flag=True, help="Use PostgreSQL servers. PostgreSQL must be installed.")
def main(minutes: float, postgresql: bool) -> None:
    """Soak-test the service for MINUTES."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        if postgresql:
            from benchmarks.postgresql import PostgreSQLChanges  # requires psycopg

            changes: Changes = PostgreSQLChanges(Path(folder), stack)
        else:
            changes = SQLiteChanges(Path(folder))
        # A small cache fills up early. A larger one would keep growing, and memory with it.
        with run_server("app.py", DATABASE_URL=changes.url, PYTHONPATH=folder, CACHE_MB="4") as service:
            Request(service, "/healthz", {}).send()  # waits for the database: the service listens before opening it
            Soak(changes, service).run(minutes)


if __name__ == "__main__":
    main()
