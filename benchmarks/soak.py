"""Soak test: readers and hostile clients, while the database, its keys and the service's clock change at random.

    python -m benchmarks.soak [MINUTES] [--postgresql] [--seed N]

The database is a SQLite file behind a symbolic link, which is damaged, restored, replaced and switched. With
--postgresql it is on a PostgreSQL server, which is restarted and replaced by its standby; the URL names both.

Every response is checked against what the database held while the request was in flight (`benchmarks.changes`). An
error is allowed only while the database was broken. At the end the integrity of the database is checked, and the memory
of the service is compared with what it was after a fifth of the time.
"""

import http.client
import json
import random
import re
import socket
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock, Thread
from time import monotonic, sleep

import click

from benchmarks.changes import Changes, Expectation, SQLiteChanges, count_published
from benchmarks.measure import API, Request, Response, Server, run_server

READERS = 6
HOSTILE_CONNECTIONS = 200  # open at the same time
MAX_LATENCY_SECONDS = 5
MAX_GROWTH = 1.3
PATHS = (
    f"{API}/articles?take=100",
    f"{API}/articles/preview?take=100&orderBy=title&order=asc",
    f"{API}/articles?q=article&take=7&skip=3&orderBy=views",
    f"{API}/sitemap",
)
STATE = re.compile(rb'"(?:slug|url)":"state-(\d+)-')
PUBLISHER = re.compile(rb'"publisher":\{"@type":"Organization","name":"([^"]+)"')


class Soak:
    """Clients of a service, a thread for each, while its database changes; and what they found."""

    def __init__(self, changes: Changes, service: Server, minutes: float) -> None:
        self.changes, self.service = changes, service
        self.began = monotonic()
        self.deadline = self.began + minutes * 60
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self.max_latency = 0.0
        self.lock = Lock()

    def run_client(self, client: Callable[[random.Random], None], seed: int) -> None:
        """Run a client; an exception that it raises is a fault."""
        try:
            client(random.Random(seed))
        except (OSError, http.client.HTTPException, KeyError, ValueError) as error:
            self.faults.append(f"{client.__name__}: {error!r}")

    def is_running(self) -> bool:
        """Return whether to go on: until the deadline, or until faults are found."""
        return monotonic() < self.deadline and not self.faults

    def read_articles(self, rng: random.Random) -> None:
        """Send requests on one connection, some of them conditional, and check the responses."""
        bodies: dict[tuple[str, str], bytes] = {}
        with closing(http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=30)) as connection:
            etags: dict[str, str] = {}
            while self.is_running():
                path, first = rng.choice(PATHS), len(self.changes.history) - 1
                keys = self.changes.all_keys if rng.random() < 0.1 else self.changes.current.keys
                headers = {"x-api-key": rng.choice(sorted(keys))}
                if path in etags and rng.random() < 0.5:
                    headers["If-None-Match"] = etags[path]
                request = Request(self.service, path, headers)
                began = monotonic()
                response = request.send(connection)
                latency = monotonic() - began
                if response.status == 200:
                    etags[path] = response.headers["ETag"]
                    bodies[path, etags[path]] = response.body
                if response.status == 304:
                    response = response._replace(body=bodies[path, response.headers["ETag"]])
                self.check_response(request, response, self.changes.history[first:], latency)

    def check_response(
        self, request: Request, response: Response, expectations: list[Expectation], latency: float
    ) -> None:
        """Record the response, and whether it agrees with what was expected while the request was in flight."""
        broken = any(expectation.broken for expectation in expectations)
        key = request.headers["x-api-key"]
        is_right = any(is_expected(key, response, expectation) for expectation in expectations)
        with self.lock:
            self.counts[f"responses {response.status}"] += 1
            if not broken:
                self.max_latency = max(self.max_latency, latency)
            if not is_right and len(self.faults) < 10:
                self.faults.append(f"{request.path} {response.status} {response.body[:200]!r} with {expectations}")

    def send_hostile_traffic(self, rng: random.Random) -> None:
        """Send invalid, incomplete or many pipelined requests, and do not read the responses."""
        connections: list[socket.socket] = []
        while self.is_running():
            with suppress(OSError):
                connections.append(socket.create_connection(("127.0.0.1", self.service.port), timeout=1))
                key = rng.choice(sorted(self.changes.current.keys))
                valid = f"GET {PATHS[0]} HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode()
                connections[-1].sendall(rng.choice((rng.randbytes(500), valid[:40], valid * 20, b"\r\n\r\n")))
                self.counts["hostile connections"] += 1
            if len(connections) > HOSTILE_CONNECTIONS:
                connections.pop(0).close()
            sleep(0.02)
        for connection in connections:
            connection.close()

    def run(self) -> None:
        """Run the clients and change the database until the deadline; then stop the service and report."""
        clients = [(self.read_articles, seed) for seed in range(READERS)] + [(self.send_hostile_traffic, 0)]
        threads = [Thread(target=self.run_client, args=client) for client in clients]
        for thread in threads:
            thread.start()
        early_megabytes = self.change_database()
        for thread in threads:
            thread.join()
        megabytes = self.service.resident_megabytes()
        self.service.process.terminate()
        self.counts["exit status"] = self.service.process.wait(20)
        self.report(early_megabytes, megabytes)

    def change_database(self) -> float:
        """Change the database until the deadline; return the service's memory after a fifth of the time."""
        early_megabytes = 0.0
        while self.is_running() and self.service.process.poll() is None:
            try:
                self.changes.apply_random_change()
            except (click.ClickException, ValueError) as error:
                self.faults.append(f"{type(error).__name__}: {error}")
            if not early_megabytes and monotonic() - self.began > (self.deadline - self.began) / 5:
                early_megabytes = self.service.resident_megabytes()
        return early_megabytes

    def report(self, early_megabytes: float, megabytes: float) -> None:
        """Print what happened. Raises click.ClickException if anything was wrong."""
        for name, count in sorted([*self.counts.items(), *self.changes.counts.items()]):
            click.echo(f"{count:9,} {name}")
        click.echo(f"{monotonic() - self.began:9.0f} seconds")
        click.echo(f"{self.max_latency * 1000:9.0f} ms for the slowest response while the database was intact")
        click.echo(f"{early_megabytes:9.0f} MB after a fifth of the time, {megabytes:.0f} MB at the end")
        integrity = self.changes.check_integrity()
        click.echo(f"{integrity:>9} is the result of the integrity check")
        if megabytes > early_megabytes * MAX_GROWTH:
            self.faults.append("The service's memory grew.")
        if self.max_latency > MAX_LATENCY_SECONDS:
            self.faults.append("A response took too long.")
        if self.faults or integrity != "ok" or self.counts["exit status"] or not self.counts["responses 200"]:
            raise click.ClickException("\n".join(["Wrong:", *self.faults]))
        click.echo("No response was wrong, and none was an error while the database was intact.")


def is_expected(key: str, response: Response, expectation: Expectation) -> bool:
    """Return whether the expectation allows the response to a request with the key."""
    if response.status == 401:
        return key not in expectation.keys or key in expectation.pending_keys
    if response.status == 503:
        return expectation.broken
    if response.status not in (200, 304) or key not in expectation.keys | expectation.pending_keys:
        return False
    page, states = json.loads(response.body), set(map(int, STATE.findall(response.body)))
    total = page["meta"]["total"] if "meta" in page else len(page["data"])
    names = {name.decode() for name in PUBLISHER.findall(response.body)}
    return (
        len(states) == 1
        and states <= expectation.states
        and total in {count_published(*states) + future for future in expectation.futures}
        and len(names) <= 1
        and names <= expectation.names
    )


@click.command()
@click.argument("minutes", type=float, default=10)
@click.option("--postgresql", is_flag=True, help="Use servers of PostgreSQL, which has to be installed.")
@click.option("--seed", default=5, show_default=True, help="Of the random changes.")
def main(minutes: float, postgresql: bool, seed: int) -> None:
    """Soak the service for some minutes."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        if postgresql:
            from benchmarks.postgresql_changes import PostgreSQLChanges  # needs psycopg

            changes: Changes = PostgreSQLChanges(Path(folder), stack)
        else:
            changes = SQLiteChanges(Path(folder))
        changes.rng.seed(seed)
        with run_server("app.py", DATABASE_URL=changes.url, PYTHONPATH=folder, CLOCK=str(changes.clock)) as service:
            Request(service, "/healthz", {}).send()  # it listens before it has opened the database
            Soak(changes, service, minutes).run()


if __name__ == "__main__":
    main()
