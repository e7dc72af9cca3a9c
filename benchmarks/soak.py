"""Soak test: readers and hostile clients while the database and the keys change at random.

    python -m benchmarks.soak [MINUTES] [--postgresql] [--seed NUMBER]

The database is a SQLite file behind a symbolic link, which is damaged, restored, replaced and switched. With
--postgresql, it is on a PostgreSQL server, which is restarted and fails over to its standby; the URL names both.

Every response is checked against what the database contained while the request was in flight (`benchmarks.changes`).
Errors are only allowed while the database was broken. At the end, the integrity of the database is checked, and the
memory of the service is compared with that one fifth of the way through the run. The first failure ends the run, and is
reported with the state of the service and the end of its standard error.

--seed repeats the random choices of another run, but not the timing of its threads.
"""

import random
import socket
from collections import Counter, deque
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection, HTTPException, RemoteDisconnected
from threading import Event
from time import monotonic, sleep

import click

from benchmarks.changes import Changes, SQLiteChanges
from benchmarks.measure import API, Request, Response, check
from benchmarks.revisions import REVISION

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


def choose_path(rng: random.Random) -> str:
    """Return one of PATHS, whose responses are usually cached, or a page that is read from the database."""
    page = f"?take={rng.randint(1, 100)}&skip={rng.randint(0, 30)}"
    return rng.choice((*PATHS, f"{API}/articles{page}", f"{API}/articles/preview{page}&orderBy=views"))


class Soak:
    """Clients of the service, in one thread each, while its database changes."""

    def __init__(self, changes: Changes) -> None:
        self.changes, self.service = changes, changes.service
        self.events: list[str] = []
        self.latencies: list[float] = []  # seconds, of requests while the database was intact
        self.early_megabytes = 0.0
        self.is_over = Event()

    def read_articles(self, rng: random.Random) -> None:
        """Send requests on one connection, some of them conditional, and check each response."""
        cached: dict[str, Response] = {}
        with closing(Request(self.service, "", {}).connect()) as connection:
            while not self.is_over.is_set():
                path, first = choose_path(rng), self.changes.settled
                key = rng.choice(sorted(self.changes.all_keys)) if rng.random() < 0.1 else self.changes.current.key
                is_conditional = path in cached and rng.random() < 0.5
                headers = {"If-None-Match": cached[path].headers["ETag"]} if is_conditional else {}
                request = Request(self.service, path, {"x-api-key": key, **headers})
                began = monotonic()
                response = self.send(request, connection)
                latency = monotonic() - began
                self.events.append(f"responses {response.status}")
                if response.status == 200 and path in PATHS:
                    cached[path] = response
                elif response.status == 304:
                    response = cached[path]
                self.check_response(request, response, latency, first)

    def send(self, request: Request, connection: HTTPConnection) -> Response:
        """Send a request, again if the service had closed the idle connection, as it may (RFC 9112, 9.5)."""
        was_idle = connection.sock is not None
        try:
            return request.send(connection)
        except (OSError, HTTPException) as error:
            if was_idle and isinstance(error, RemoteDisconnected):
                self.events.append("reconnections")
                return self.send(request, connection)
            raise click.ClickException(f"No complete response to {request.path}: {error!r}") from error

    def check_response(self, request: Request, response: Response, latency: float, first: int) -> None:
        """Check a response against all expectations since `first`, which applied while the request was in flight."""
        expectations = self.changes.history[first:]
        if not any(expectation.allows(request.headers["x-api-key"], response) for expectation in expectations):
            revisions = sorted(set(map(int, REVISION.findall(response.body))))
            shown = f"{response.status}, revisions {revisions}, {response.body[-200:]!r}"
            allowed = "\n    ".join(map(str, expectations))
            raise click.ClickException(f"Wrong response to {request.path} {request.headers}: {shown}\n    {allowed}")
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
        """Run the clients and change the database for this many minutes, or until the first failure, then report."""
        began = monotonic()
        rngs = [random.Random(self.changes.rng.random()) for _ in range(READERS + 1)]
        with ThreadPoolExecutor(READERS + 2) as pool:
            tasks = [pool.submit(self.read_articles, rng) for rng in rngs[1:]]
            tasks.append(pool.submit(self.send_hostile_traffic, rngs[0]))
            tasks.append(pool.submit(self.change_database, began, minutes * 60))
            try:
                finished, _ = wait(tasks, return_when=FIRST_EXCEPTION)
            finally:
                self.is_over.set()
        click.echo(f"{monotonic() - began:9.0f} seconds")
        for name, count in sorted(Counter(self.events + self.changes.made).items()):
            click.echo(f"{count:9,} {name}")
        for error in filter(None, map(Future.exception, finished)):
            self.fail(error)
        self.report()

    def fail(self, error: BaseException) -> None:
        """Raise the error, or click.ClickException if the service has ended, which causes other errors."""
        click.echo(f"Last changes: {', '.join(self.changes.made[-3:])}")
        condition = self.service.condition()
        check(self.service.process.returncode is None, condition)
        click.echo(condition, err=True)
        raise error

    def change_database(self, began: float, seconds: float) -> None:
        """Change the database until the end of the run."""
        self.apply_changes(began + seconds / 5)
        self.early_megabytes = self.service.resident_megabytes()
        self.apply_changes(began + seconds)
        self.is_over.set()

    def apply_changes(self, deadline: float) -> None:
        """Change the database until the deadline, or until a client has failed."""
        while monotonic() < deadline and not self.is_over.is_set():
            self.changes.apply_next()

    def report(self) -> None:
        """Stop the service, print statistics, and run the final checks."""
        megabytes = self.service.resident_megabytes()
        self.service.process.terminate()
        status = self.service.process.wait(20)
        slowest = max(self.latencies)
        click.echo(f"{slowest * 1000:9.0f} ms slowest response while the database was intact")
        click.echo(f"{self.early_megabytes:9.0f} MB after a fifth of the time, {megabytes:.0f} MB at the end")
        check(status == 0, self.service.condition())
        check(megabytes <= self.early_megabytes * MAX_GROWTH, "The service's memory grew.")
        check(slowest <= MAX_LATENCY_SECONDS, "A response took too long.")
        self.changes.check_integrity()
        click.echo("All responses were correct, without errors while the database was intact.")


@click.command()
@click.argument("minutes", type=float, default=10)
@click.option("--postgresql", is_flag=True, help="Use PostgreSQL servers. PostgreSQL must be installed.")
@click.option("--seed", type=int, help="Repeat the choices of another run.")
def main(minutes: float, postgresql: bool, seed: int | None) -> None:
    """Soak-test the service for MINUTES."""
    if seed is None:
        seed = random.randrange(1_000_000)
    click.echo(f"{seed:9} seed")
    if postgresql:
        from benchmarks.postgresql import PostgreSQLChanges  # requires psycopg

        database: type[SQLiteChanges | PostgreSQLChanges] = PostgreSQLChanges
    else:
        database = SQLiteChanges
    with ExitStack() as stack:
        Soak(database(stack, random.Random(seed))).run(minutes)


if __name__ == "__main__":
    main()
