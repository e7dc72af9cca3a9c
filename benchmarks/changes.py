"""Changes that the soak test makes to a database, and the responses that are correct during each of them.

Every article carries the number of the revision that it belongs to, and consecutive revisions differ in how many
articles are published, so a response shows which revision it was made from. One more article is scheduled for
`SCHEDULED_FOR`.
"""

import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import click

from benchmarks.data import article_json
from benchmarks.measure import Response, check
from benchmarks.servers import run_flask, start_flask

SCHEDULED_FOR = "2090-01-01T00:00:00Z"
ARTICLES = 50
REVISION = re.compile(rb'"(?:slug|url)":"revision-(\d+)-')
PUBLISHER = re.compile(rb'"publisher":\{"@type":"Organization","name":"([^"]+)"')
MOVABLE_CLOCK = """\
import datetime, os, sys, time
def century():  # in seconds; 0 while the clock is not ahead
    return os.path.exists(__file__ + ".ahead") * 100 * 365 * 86_400
class MovedDatetime(datetime.datetime):
    combine = datetime.datetime.combine  # orjson does not accept subclasses
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=century())
datetime.datetime = MovedDatetime
clock = time.time
def moved_time():  # not for the server, which would time out all connections
    is_server = sys._getframe(1).f_globals["__name__"].startswith(("waitress", "serving.waitress_fixes"))
    return clock() + (0 if is_server else century())
time.time = moved_time
"""


class Expectation(NamedTuple):
    """What the service returns for one revision of the database, given its clock."""

    revision: int
    customer: str  # the publisher in structured data
    key: str  # the only valid key
    is_later: bool = False  # the service's clock is past SCHEDULED_FOR
    is_broken: bool = False  # the database may be unreadable

    def allows(self, key: str, response: Response) -> bool:
        """Return whether `response` is correct for a request with this key."""
        if response.status != 200:
            return {401: key != self.key, 503: self.is_broken}.get(response.status, False)
        if key != self.key or set(map(int, REVISION.findall(response.body))) != {self.revision}:
            return False
        page = json.loads(response.body)
        total = page["meta"]["total"] if "meta" in page else len(page["data"])
        is_complete = total == count_published(self.revision) + self.is_later
        return is_complete and set(PUBLISHER.findall(response.body)) <= {self.customer.encode()}


def count_published(revision: int) -> int:
    """Return the number of published articles in a revision, not counting the scheduled one."""
    return 40 + revision % 7


def revision_lines(revision: int) -> list[str]:
    """Return the articles of a revision as JSON Lines."""
    articles = [
        article_json(number)
        | {
            "slug": f"revision-{revision}-{number}",
            "status": "draft" if count_published(revision) <= number < ARTICLES else "published",
            "publishedAt": SCHEDULED_FOR if number == ARTICLES else "2026-01-31T09:30:00Z",
            "views": number,
        }
        for number in range(ARTICLES + 1)
    ]
    return [json.dumps(article) + "\n" for article in articles]


class Changes:
    """A database and the changes to it that work on either engine. `history` lists what responses may show."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.rng = random.Random(5)
        self.made: list[str] = []  # names of the changes
        (folder / "sitecustomize.py").write_text(MOVABLE_CLOCK)
        self.clock_is_ahead = folder / "sitecustomize.py.ahead"
        key = run_flask(url, "keys", "create", "Soak")
        run_flask(url, "articles", "import", "-", stdin="".join(revision_lines(0)))
        self.all_keys = {key}
        self.history = [Expectation(0, "Soak", key)]
        self.settled = 0  # index in history of the last expectation before any change in progress
        self.numbers = count(1)
        self.planned: list[Callable[[], None]] = []

    @property
    def current(self) -> Expectation:
        """What responses show once the change in progress is complete."""
        return self.history[-1]

    def kinds(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [self.change_by_sql, self.replace_key, self.rename_customer, self.move_clock]

    def apply_next(self) -> None:
        """Make the next change. All kinds take turns, in an order that is shuffled for each round."""
        if not self.planned:
            kinds = [*self.kinds(), self.import_revision, self.import_revision, self.change_by_sql]
            self.planned = self.rng.sample(kinds, len(kinds))
        self.apply(self.planned.pop())

    def apply(self, change: Callable[[], None]) -> None:
        """Make a change and record its name."""
        change()
        self.made.append(change.__name__.replace("_", " "))

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        raise NotImplementedError

    def check_integrity(self) -> None:
        """Check that the database is intact. Raises click.ClickException."""
        raise NotImplementedError

    @contextmanager
    def transition(self, *expectations: Expectation) -> Iterator[None]:
        """Within the block, allow the previous expectation or any of these; afterwards, only the last one."""
        self.history += expectations
        yield
        self.settled = len(self.history) - 1

    def import_revision(self) -> None:
        """Import the next revision, which is sometimes preceded by another change while the import waits for stdin.

        Half of the imports are killed, and must have written everything or nothing.
        """
        revision = next(self.numbers)
        first, *others = revision_lines(revision)
        with start_flask(self.url, "articles", "import", "-") as process:
            assert process.stdin
            process.stdin.write(first)
            process.stdin.flush()
            if is_late := self.rng.random() < 0.5:
                sleep(self.rng.choice((0, 1)))
                self.apply(self.rng.choice(self.kinds()))
            before = self.current
            with self.transition(before._replace(revision=revision)):
                with suppress(subprocess.TimeoutExpired):
                    _, errors = process.communicate("".join(others), self.rng.choice((60, self.rng.uniform(0.1, 0.9))))
                process.kill()
                status = process.wait()
                # An import fails if the other change replaced its database.
                if status > 0 and not is_late:
                    raise click.ClickException(errors)
                if status > 0 or (status < 0 and self.stored_revision() != revision):
                    self.history.append(before)

    def stored_revision(self) -> int:
        """Return the number of the revision in the database."""
        ((slug,),) = self.run_sql("SELECT slug FROM article WHERE views = 0")
        return int(slug.split("-")[1])

    def change_by_sql(self) -> None:
        """Change all articles, as another tool would, many times in a row while responses are being rendered."""
        for _ in range(50):
            revision = next(self.numbers)
            with self.transition(self.current._replace(revision=revision)):
                self.run_sql(
                    f"UPDATE article SET slug = 'revision-{revision}-' || views, status = CASE WHEN views < "
                    f"{count_published(revision)} OR views = {ARTICLES} THEN 'published' ELSE 'draft' END"
                )

    def replace_key(self) -> None:
        """Create a new key, then revoke the old one."""
        (number,) = re.findall(r"^(\d+)\t.*\tactive$", run_flask(self.url, "keys", "list"), re.MULTILINE)
        new = run_flask(self.url, "keys", "create", self.current.customer)
        self.all_keys.add(new)
        with self.transition(self.current._replace(key=new)):
            run_flask(self.url, "keys", "revoke", number)

    def rename_customer(self) -> None:
        """Rename the customer, which changes the structured data of all articles."""
        old, new = self.current.customer, f"Soak {next(self.numbers)}"
        with self.transition(self.current._replace(customer=new)):
            run_flask(self.url, "customers", "rename", old, new)

    def move_clock(self) -> None:
        """Move the service's clock past the scheduled publication, or back."""
        is_later = not self.current.is_later
        with self.transition(self.current._replace(is_later=is_later)):
            if is_later:
                self.clock_is_ahead.touch()
            else:
                self.clock_is_ahead.unlink()


class SQLiteChanges(Changes):
    """Changes to a SQLite file behind a symbolic link, which is also corrupted, removed, replaced and restored."""

    def __init__(self, folder: Path) -> None:
        self.database, self.backup = folder / "articles.db", folder / "backup.db"
        self.database.symlink_to(folder / "file.db")
        super().__init__(folder, f"sqlite:///{self.database}")
        self.back_up()

    def kinds(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [*super().kinds(), self.back_up, self.corrupt_and_restore, self.corrupt_and_restore]

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        with closing(sqlite3.connect(self.database, timeout=60)) as connection, connection:
            return connection.execute(statement).fetchall()

    def check_integrity(self) -> None:
        """Run SQLite's integrity check."""
        check(self.run_sql("PRAGMA integrity_check") == [("ok",)], "The integrity check failed.")

    def back_up(self) -> None:
        """Back up the database, and record what responses show once the backup is restored."""
        self.backup.unlink(missing_ok=True)
        run_flask(self.url, "database", "backup", str(self.backup))
        self.backed_up = self.current

    def corrupt_and_restore(self) -> None:
        """Corrupt the database, or leave it intact, then restore the backup."""
        self.run_sql("PRAGMA wal_checkpoint(TRUNCATE)")  # SQLite would apply a leftover WAL to the backup
        restored = self.backed_up._replace(is_later=self.current.is_later)
        with self.transition(self.current._replace(is_broken=True), restored):
            self.damage()
            sleep(self.rng.choice((0, 0.1, 1)))
            self.restore()

    def damage(self) -> None:
        """Remove, truncate or overwrite the database file, or leave it intact."""
        file = self.database.resolve()
        size = file.stat().st_size
        damages: list[Callable[[], object]] = [
            file.unlink,
            lambda: os.truncate(file, size // 2),
            lambda: file.write_bytes(self.rng.randbytes(size)),
            lambda: None,
        ]
        self.rng.choice(damages)()

    def restore(self) -> None:
        """Restore the backup with the command, or by replacing the file or the symbolic link."""
        copy = shutil.copyfile(self.backup, self.folder / f"{next(self.numbers)}.db")
        ways: list[Callable[[], object]] = [
            lambda: run_flask(self.url, "database", "restore", str(copy), "--yes"),
            lambda: os.replace(copy, self.database.resolve()),
            lambda: self.switch_link(copy),
        ]
        self.rng.choice(ways)()

    def switch_link(self, file: Path) -> None:
        """Point the symbolic link to another file."""
        link = self.folder / "link"
        link.symlink_to(file)
        os.replace(link, self.database)
