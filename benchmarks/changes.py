"""The changes that a soak makes to a database, one after another, and the responses that are right meanwhile.

The articles of every state of the database carry its number, and each state has its own number of published articles,
so that a response tells which state it shows. One more article is scheduled for `SCHEDULED_FOR`.
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
STATE = re.compile(rb'"(?:slug|url)":"state-(\d+)-')
PUBLISHER = re.compile(rb'"publisher":\{"@type":"Organization","name":"([^"]+)"')
MOVABLE_CLOCK = """\
import datetime, os, sys, time
def century():  # in seconds, while the clock is ahead by that much
    return os.path.exists(__file__ + ".ahead") * 100 * 365 * 86_400
class MovedDatetime(datetime.datetime):
    combine = datetime.datetime.combine  # The JSON library takes no subclass.
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=century())
datetime.datetime = MovedDatetime
clock = time.time
def moved_time():  # For the server, all connections would have been idle for a century.
    is_server = sys._getframe(1).f_globals["__name__"].startswith(("waitress", "serving.waitress_fixes"))
    return clock() + (0 if is_server else century())
time.time = moved_time
"""


class Expectation(NamedTuple):
    """What the service shows of one state of the database and of the clock."""

    state: int
    customer: str  # Structured data names it as the publisher.
    key: str  # No other key is valid.
    is_later: bool = False  # The clock of the service is past SCHEDULED_FOR.
    is_broken: bool = False  # The database may be unreadable.

    def allows(self, key: str, response: Response) -> bool:
        """Return whether the response to a request with the key is right."""
        if response.status != 200:
            return {401: key != self.key, 503: self.is_broken}.get(response.status, False)
        if key != self.key or set(map(int, STATE.findall(response.body))) != {self.state}:
            return False
        page = json.loads(response.body)
        total = page["meta"]["total"] if "meta" in page else len(page["data"])
        is_complete = total == count_published(self.state) + self.is_later
        return is_complete and set(PUBLISHER.findall(response.body)) <= {self.customer.encode()}


def count_published(state: int) -> int:
    """Return how many articles of a state are published, besides the scheduled one."""
    return 40 + state % 7


def state_lines(state: int) -> list[str]:
    """Return the articles of a state as lines of JSON Lines."""
    articles = [
        article_json(number)
        | {
            "slug": f"state-{state}-{number}",
            "status": "draft" if count_published(state) <= number < ARTICLES else "published",
            "publishedAt": SCHEDULED_FOR if number == ARTICLES else "2026-01-31T09:30:00Z",
            "views": number,
        }
        for number in range(ARTICLES + 1)
    ]
    return [json.dumps(article) + "\n" for article in articles]


class Changes:
    """A database, and changes to it that are possible on either engine; `history` is what responses may show."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.rng = random.Random(5)
        self.made: list[str] = []  # It holds the names of the changes.
        (folder / "sitecustomize.py").write_text(MOVABLE_CLOCK)
        self.clock_is_ahead = folder / "sitecustomize.py.ahead"
        key = run_flask(url, "keys", "create", "Soak")
        run_flask(url, "articles", "import", "-", stdin="".join(state_lines(0)))
        self.all_keys = {key}
        self.history = [Expectation(0, "Soak", key)]
        # The index of the expectation that holds, or held before the change that is being made.
        self.settled = 0
        self.numbers = count(1)
        self.planned: list[Callable[[], None]] = []

    @property
    def current(self) -> Expectation:
        """What responses show once the current change is made."""
        return self.history[-1]

    def kinds(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [self.change_by_sql, self.replace_key, self.rename_customer, self.move_clock]

    def apply_next(self) -> None:
        """Make the next change. Each one has its turn, in random order, before the first one comes again."""
        if not self.planned:
            kinds = [*self.kinds(), self.import_state, self.import_state, self.change_by_sql]
            self.planned = self.rng.sample(kinds, len(kinds))
        self.apply(self.planned.pop())

    def apply(self, change: Callable[[], None]) -> None:
        """Make a change, and count it."""
        change()
        self.made.append(change.__name__.replace("_", " "))

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        raise NotImplementedError

    def check_integrity(self) -> None:
        """Check that the database is whole. Raises click.ClickException."""
        raise NotImplementedError

    @contextmanager
    def transition(self, *expectations: Expectation) -> Iterator[None]:
        """Expect in the block what was expected before or one of the expectations, and afterwards the last of them."""
        self.history += expectations
        yield
        self.settled = len(self.history) - 1

    def import_state(self) -> None:
        """Import the next state, half of the time after another change while the import waits for standard input.

        Kill half of the imports: these have written all or nothing.
        """
        state = next(self.numbers)
        first, *others = state_lines(state)
        with start_flask(self.url, "articles", "import", "-") as process:
            assert process.stdin
            process.stdin.write(first)
            process.stdin.flush()
            if is_late := self.rng.random() < 0.5:
                sleep(self.rng.choice((0, 1)))
                self.apply(self.rng.choice(self.kinds()))
            before = self.current
            with self.transition(before._replace(state=state)):
                with suppress(subprocess.TimeoutExpired):
                    _, errors = process.communicate("".join(others), self.rng.choice((60, self.rng.uniform(0.1, 0.9))))
                process.kill()
                status = process.wait()
                # An import that began while there was no database to open is refused.
                if status > 0 and not is_late:
                    raise click.ClickException(errors)
                if status > 0 or (status < 0 and self.stored_state() != state):
                    self.history.append(before)

    def stored_state(self) -> int:
        """Return the number of the state that the database holds."""
        ((slug,),) = self.run_sql("SELECT slug FROM article WHERE views = 0")
        return int(slug.split("-")[1])

    def change_by_sql(self) -> None:
        """Change all articles, as another tool would, many times in a row: responses are rendered meanwhile."""
        for _ in range(50):
            state = next(self.numbers)
            with self.transition(self.current._replace(state=state)):
                self.run_sql(
                    f"UPDATE article SET slug = 'state-{state}-' || views, status = CASE WHEN views < "
                    f"{count_published(state)} OR views = {ARTICLES} THEN 'published' ELSE 'draft' END"
                )

    def replace_key(self) -> None:
        """Create a key, then revoke the old one."""
        (number,) = re.findall(r"^(\d+)\t.*\tactive$", run_flask(self.url, "keys", "list"), re.MULTILINE)
        new = run_flask(self.url, "keys", "create", self.current.customer)
        self.all_keys.add(new)
        with self.transition(self.current._replace(key=new)):
            run_flask(self.url, "keys", "revoke", number)

    def rename_customer(self) -> None:
        """Rename the customer, whom the structured data of all articles names."""
        old, new = self.current.customer, f"Soak {next(self.numbers)}"
        with self.transition(self.current._replace(customer=new)):
            run_flask(self.url, "customers", "rename", old, new)

    def move_clock(self) -> None:
        """Move the service's clock past the time of the scheduled article, or back."""
        is_later = not self.current.is_later
        with self.transition(self.current._replace(is_later=is_later)):
            if is_later:
                self.clock_is_ahead.touch()
            else:
                self.clock_is_ahead.unlink()


class SQLiteChanges(Changes):
    """Changes to a SQLite file behind a symbolic link: it is damaged, removed, replaced and restored."""

    def __init__(self, folder: Path) -> None:
        self.database, self.backup = folder / "articles.db", folder / "backup.db"
        self.database.symlink_to(folder / "file.db")
        super().__init__(folder, f"sqlite:///{self.database}")
        self.back_up()

    def kinds(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [*super().kinds(), self.back_up, self.damage_and_restore, self.damage_and_restore]

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        with closing(sqlite3.connect(self.database, timeout=60)) as connection, connection:
            return connection.execute(statement).fetchall()

    def check_integrity(self) -> None:
        """Check that SQLite finds nothing wrong with the database."""
        check(self.run_sql("PRAGMA integrity_check") == [("ok",)], "The integrity check failed.")

    def back_up(self) -> None:
        """Copy the database, and remember what responses may show once it is restored."""
        self.backup.unlink(missing_ok=True)
        run_flask(self.url, "database", "backup", str(self.backup))
        self.backed_up = self.current

    def damage_and_restore(self) -> None:
        """Damage the database for a moment, or leave it intact, and put the backup in its place."""
        self.run_sql("PRAGMA wal_checkpoint(TRUNCATE)")  # SQLite would apply recent changes to the backup.
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
        """Restore the backup by the command, or move a copy to the place of the file or of the symbolic link."""
        copy = shutil.copyfile(self.backup, self.folder / f"{next(self.numbers)}.db")
        ways: list[Callable[[], object]] = [
            lambda: run_flask(self.url, "database", "restore", str(copy), "--yes"),
            lambda: os.replace(copy, self.database.resolve()),
            lambda: self.switch_link(copy),
        ]
        self.rng.choice(ways)()

    def switch_link(self, file: Path) -> None:
        """Switch the symbolic link to another file."""
        link = self.folder / "link"
        link.symlink_to(file)
        os.replace(link, self.database)
