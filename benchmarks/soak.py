"""Soak test: readers check each response while the articles and the keys change at random.

    python -m benchmarks.soak [MINUTES]

The database is a SQLite file, which is also backed up and restored. With TEST_POSTGRESQL, it is that empty PostgreSQL
database, whose connections are terminated: `.ci/on-postgresql .venv/bin/python -m benchmarks.soak`. Imports and
restores are killed at random moments.

Each article carries the number of its revision, and consecutive revisions differ in how many articles are published, so
a response shows what it was made from. It must match what the database contained while the request was in flight.
Errors are only allowed while connections are terminated. The first failure ends the run.
"""

import json
import os
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from subprocess import TimeoutExpired
from tempfile import TemporaryDirectory
from threading import Event
from time import monotonic, sleep
from typing import Any, NamedTuple

import click

from benchmarks.data import article_json
from benchmarks.servers import API, Server, check, run_flask, run_service, start_flask

READERS = 4
ARTICLES = 50
MAX_PUBLISHED = 46  # not counting the scheduled article
FAR_FUTURE = datetime(2090, 1, 1)
REVISION = re.compile(rb'"(?:slug|url)":"revision-(\d+)-')
PATHS = (
    f"{API}/articles?take=100",
    f"{API}/articles/preview?take=100&orderBy=title&order=asc",
    f"{API}/articles?q=article&take=7&skip=3&orderBy=views",
    f"{API}/sitemap",
)


class Expectation(NamedTuple):
    """What the service returns for one revision of the database."""

    revision: int
    key: str  # the only valid one
    is_due: bool = False  # the scheduled article is published
    may_fail: bool = False

    def allows(self, key: str, status: int, body: bytes) -> bool:
        """Return whether a response is correct for a request with this key."""
        if status != 200:
            return {401: key != self.key, 503: self.may_fail}.get(status, False)
        if key != self.key or set(map(int, REVISION.findall(body))) != {self.revision}:
            return False
        page = json.loads(body)
        total: int = page["meta"]["total"] if "meta" in page else len(page["data"])
        return total == count_published(self.revision) + self.is_due


def count_published(revision: int) -> int:
    """Return the number of published articles in a revision, not counting the scheduled one."""
    return MAX_PUBLISHED - revision % 7


def revision_lines(revision: int) -> str:
    """Return the articles of a revision as JSON Lines."""
    articles = [
        article_json(number)
        | {
            "slug": f"revision-{revision}-{number}",
            "status": "draft" if count_published(revision) <= number < ARTICLES else "published",
            "publishedAt": f"{FAR_FUTURE.isoformat()}Z" if number == ARTICLES else "2026-01-31T09:30:00Z",
            "views": number,
        }
        for number in range(ARTICLES + 1)
    ]
    return "".join(json.dumps(article) + "\n" for article in articles)


class Changes:
    """Random changes to the database. `history` lists what responses may show."""

    def __init__(self, url: str, folder: Path) -> None:
        """Create the database."""
        self.url = url
        self.folder = folder
        self.run = partial(run_flask, url)
        self.numbers = count(1)
        key = self.run("keys", "create", "Soak")
        self.run("articles", "import", "-", stdin=revision_lines(0))
        self.keys = [key]  # all of them, most of which have been revoked
        self.history = [Expectation(0, key)]
        self.settled = 0  # index in history of the last expectation before any change in progress
        self.kinds = [self.import_revision, self.change_by_sql, self.replace_key, self.schedule_article]
        self.kinds.append(self.terminate_connections if url.startswith("postgresql") else self.back_up_and_restore)

    @property
    def current(self) -> Expectation:
        """What responses show once the change in progress is complete."""
        return self.history[-1]

    @contextmanager
    def transition(self, *expectations: Expectation) -> Iterator[None]:
        """Within the block, allow the previous expectation or any of these; afterwards, only the last one."""
        self.history += expectations
        yield
        self.settled = len(self.history) - 1

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        if self.url.startswith("sqlite"):
            with closing(sqlite3.connect(self.url.removeprefix("sqlite:///"), timeout=60)) as connection, connection:
                return connection.execute(statement).fetchall()
        import psycopg  # only required for PostgreSQL

        with psycopg.connect(self.url, options="-c timezone=UTC") as server:
            # The server may still be running a statement of a killed import.
            server.execute("LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE")
            cursor = server.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def stored_revision(self) -> int:
        """Return the number of the revision in the database."""
        ((slug,),) = self.run_sql("SELECT slug FROM article WHERE views = 0")
        return int(slug.split("-")[1])

    def run_and_kill(self, expected: Expectation, *arguments: str, stdin: str = "") -> None:
        """Run a command, and kill it half of the time. It must have written everything or nothing."""
        before = self.current
        with self.transition(expected), start_flask(self.url, *arguments) as process:
            try:
                _, errors = process.communicate(stdin, random.choice((60, random.uniform(0.3, 1.2))))
                check(process.returncode == 0, f"flask {' '.join(arguments)} failed: {errors}")
            except TimeoutExpired:
                process.kill()
                process.wait()
            if self.stored_revision() != expected.revision:
                self.history.append(before)

    def import_revision(self) -> None:
        """Import the next revision."""
        revision = next(self.numbers)
        expected = self.current._replace(revision=revision, is_due=False)
        self.run_and_kill(expected, "articles", "import", "-", stdin=revision_lines(revision))

    def change_by_sql(self) -> None:
        """Change all articles many times in a row, as another tool would, while responses are being rendered."""
        for _ in range(50):
            revision = next(self.numbers)
            with self.transition(self.current._replace(revision=revision)):
                self.run_sql(
                    f"UPDATE article SET slug = 'revision-{revision}-' || views, status = CASE WHEN views < "
                    f"{count_published(revision)} OR views = {ARTICLES} THEN 'published' ELSE 'draft' END"
                )

    def replace_key(self) -> None:
        """Create a new key, then revoke the old one."""
        (number,) = re.findall(r"^(\d+)\t.*\tactive$", self.run("keys", "list"), re.MULTILINE)
        self.keys.append(self.run("keys", "create", "Soak"))
        with self.transition(self.current._replace(key=self.keys[-1])):
            self.run("keys", "revoke", number)

    def schedule_article(self) -> None:
        """Schedule one article for the next second and wait for it, or schedule it for the far future."""
        is_due = not self.current.is_due
        moment = datetime.now(UTC) + timedelta(seconds=1) if is_due else FAR_FUTURE
        with self.transition(self.current._replace(is_due=is_due)):
            self.run_sql(f"UPDATE article SET published_at = '{moment:%F %T}.000000' WHERE views = {ARTICLES}")
            sleep(1.2)
        sleep(0.5)  # before the next change, which empties the cache

    def terminate_connections(self) -> None:
        """Terminate all connections to the PostgreSQL database."""
        with self.transition(self.current._replace(may_fail=True), self.current):
            self.run_sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    def back_up_and_restore(self) -> None:
        """Back up the database, change its articles and its key, and restore the backup."""
        expected = self.current
        backup = self.folder / f"backup-{next(self.numbers)}.db"
        self.run("database", "backup", str(backup))
        self.replace_key()
        self.change_by_sql()
        self.run_and_kill(expected, "database", "restore", str(backup), "--yes")


class Soak:
    """Readers, in one thread each, while the database of their service changes."""

    def __init__(self, changes: Changes, service: Server) -> None:
        self.changes = changes
        self.service = service
        self.events: list[str] = []
        self.is_over = Event()

    def read_articles(self) -> None:
        """Send requests on one connection, some of them conditional, and check each response."""
        cached: dict[str, tuple[str, bytes]] = {}  # ETags and bodies by path
        with closing(HTTPConnection("127.0.0.1", self.service.port, timeout=60)) as connection:
            while not self.is_over.is_set():
                first = self.changes.settled
                page = f"take={random.randint(1, 100)}&skip={random.randint(0, 30)}"
                path = random.choice((*PATHS, f"{API}/articles?{page}"))
                key = random.choice((*[self.changes.current.key] * 9, random.choice(self.changes.keys)))
                etag, body = cached.get(path, ("", b""))
                connection.request("GET", path, headers={"x-api-key": key, "If-None-Match": etag})
                response = connection.getresponse()
                received = response.read()
                self.events.append(f"responses {response.status}")
                if response.status == 200 and path in PATHS:
                    cached[path] = response.headers["ETag"], received
                status, body = (200, body) if response.status == 304 else (response.status, received)
                expectations = self.changes.history[first:]
                if not any(expectation.allows(key, status, body) for expectation in expectations):
                    revisions = set(map(int, REVISION.findall(body)))
                    shown = f"{response.status}, revisions {revisions}, {body[-200:]!r}"
                    raise click.ClickException(f"Wrong response to {path} with {key}: {shown}. Allowed: {expectations}")

    def change_database(self, seconds: float) -> None:
        """Change the database until the end of the run."""
        began = monotonic()
        while not self.is_over.is_set() and monotonic() < began + seconds:
            change: Callable[[], None] = random.choice(self.changes.kinds)
            change()
            self.events.append(change.__name__.replace("_", " "))
        self.is_over.set()

    def run(self, minutes: float) -> None:
        """Run the readers and change the database for this many minutes, or until the first failure, then report."""
        with ThreadPoolExecutor(READERS + 1) as pool:
            tasks = [pool.submit(self.read_articles) for _ in range(READERS)]
            tasks.append(pool.submit(self.change_database, minutes * 60))
            try:
                finished, _ = wait(tasks, return_when=FIRST_EXCEPTION)
            finally:
                self.is_over.set()
        for name, number in sorted(Counter(self.events).items()):
            click.echo(f"{number:9,} {name}")
        for error in filter(None, map(Future.exception, finished)):
            click.echo(self.service.read_errors(), err=True)
            raise error
        self.service.process.terminate()
        status = self.service.process.wait(20)
        check(status == 0, f"The service ended with status {status}: {self.service.read_errors()}")
        click.echo("All responses were correct.")


@click.command()
@click.argument("minutes", type=float, default=10)
def main(minutes: float) -> None:
    """Soak-test the service for MINUTES."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        url = os.environ.get("TEST_POSTGRESQL", f"sqlite:///{folder}/articles.db")
        changes = Changes(url, Path(folder))
        # a small cache, which fills up
        service = stack.enter_context(run_service(url, CACHE_MB="4", LOG_LEVEL="warning", PYTHONFAULTHANDLER="1"))
        Soak(changes, service).run(minutes)


if __name__ == "__main__":
    main()
