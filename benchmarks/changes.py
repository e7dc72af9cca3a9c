"""The changes that a soak makes to a database, one after another, and the responses that are right meanwhile.

The articles of every state of the database carry its number, and each state has its own number of published articles,
so that a response tells which state it shows. One more article is scheduled for `SCHEDULED_FOR`.
"""

import json
import os
import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

from benchmarks.data import run_flask
from benchmarks.measure import PROJECT

SCHEDULED_FOR = "2090-01-01T00:00:00Z"
CENTURY_SECONDS = 100 * 365 * 86_400
ARTICLES = 50
MOVABLE_CLOCK = """\
import datetime, mmap, os, struct, time
with open(os.environ["CLOCK"], "r+b") as file:
    moved = mmap.mmap(file.fileno(), 8)
def seconds():
    return struct.unpack("d", moved)[0]
class MovedDatetime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return super().now(tz) + datetime.timedelta(seconds=seconds())
datetime.datetime = MovedDatetime
clock = time.time
time.time = lambda: clock() + seconds()
import types, waitress.channel, waitress.server  # whose connections would have been idle for a century
waitress.channel.time = waitress.server.time = types.SimpleNamespace(time=clock)
"""


class Expectation(NamedTuple):
    """What responses may show for a while."""

    states: frozenset[int]  # of the database
    keys: frozenset[str]  # valid API keys
    names: frozenset[str]  # of the customer, whom structured data names as the publisher
    futures: frozenset[bool]  # whether the service's clock is past SCHEDULED_FOR
    pending_keys: frozenset[str] = frozenset()  # being created or revoked: valid or not
    broken: bool = False  # the database may be unreadable

    def union(self, other: "Expectation") -> "Expectation":
        """Return what may be shown while the database changes from one to the other."""
        return Expectation(
            self.states | other.states,
            self.keys | other.keys,
            self.names | other.names,
            self.futures | other.futures,
            pending_keys=self.keys ^ other.keys,
        )


def count_published(state: int) -> int:
    """Return how many articles of a state are published, besides the scheduled one."""
    return 40 + state % 7


def state_json(state: int) -> list[str]:
    """Return the articles of a state as lines of JSON Lines."""
    return [
        json.dumps(
            {
                "id": f"article-{number}",
                "title": f"State {state}, article {number}",
                "slug": f"state-{state}-{number}",
                "contentHtml": f"<p>State {state}.</p>" * 400,
                "status": "draft" if count_published(state) <= number < ARTICLES else "published",
                "publishedAt": SCHEDULED_FOR if number == ARTICLES else "2026-01-31T09:30:00Z",
                "views": number,
            }
        )
        + "\n"
        for number in range(ARTICLES + 1)
    ]


class Changes:
    """A database, and changes to it that are possible on either engine; `history` is what responses may show."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.rng = random.Random(5)
        self.counts: Counter[str] = Counter()
        self.clock = folder / "clock"
        self.clock.write_bytes(struct.pack("d", 0))
        (folder / "sitecustomize.py").write_text(MOVABLE_CLOCK)
        self.state = 0
        key = self.run_flask("keys", "create", "Soak 0")
        self.run_flask("articles", "import", "-", stdin="".join(state_json(0)))
        self.all_keys = {key}
        self.history = [Expectation(frozenset({0}), frozenset({key}), frozenset({"Soak 0"}), frozenset({False}))]

    @property
    def current(self) -> Expectation:
        """What responses may show now."""
        return self.history[-1]

    def changes(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [
            self.import_state,
            self.import_after_waiting,
            self.change_by_sql,
            self.replace_key,
            self.rename_customer,
            self.move_clock,
        ]

    def apply_random_change(self) -> None:
        """Make one of the changes, and count it."""
        change = self.rng.choice(self.changes())
        change()
        self.counts[change.__name__.replace("_", " ")] += 1

    def run_flask(self, *arguments: str, stdin: str = "", timeout: float = 60) -> str:
        """Run one of the service's commands, and return what it prints."""
        return run_flask(self.url, *arguments, stdin=stdin, timeout=timeout)

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        raise NotImplementedError

    def check_integrity(self) -> str:
        """Return "ok", or what is wrong with the database."""
        raise NotImplementedError

    def become(self, change: Callable[[], object], **fields: Any) -> None:
        """Expect the current state or one with other fields while `change` is made, and the other one afterwards."""
        after = self.current._replace(**fields)
        self.history.append(self.current.union(after))
        change()
        self.history.append(after)

    def next_state(self) -> int:
        """Return the number of a state that there has not been."""
        self.state += 1
        return self.state

    def import_state(self) -> None:
        """Import the next state; kill half of the imports, which then have written all or nothing."""
        state, before = self.next_state(), self.current
        self.history.append(before.union(before._replace(states=frozenset({state}))))
        timeout = self.rng.choice((60, self.rng.uniform(0.3, 0.9)))
        with suppress(subprocess.TimeoutExpired):
            self.run_flask("articles", "import", "-", stdin="".join(state_json(state)), timeout=timeout)
        ((slug,),) = self.run_sql("SELECT slug FROM article WHERE id = 'article-0'")
        self.history.append(before._replace(states=frozenset({int(slug.split("-")[1])})))

    def import_after_waiting(self) -> None:
        """Let an import wait for standard input while the database is changed: it writes to what is there then."""
        state = self.next_state()
        first, *others = state_json(state)
        with subprocess.Popen(
            [sys.executable, "-m", "flask", "articles", "import", "-"],
            cwd=PROJECT,
            env=os.environ | {"DATABASE_URL": self.url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdin
            process.stdin.write(first)
            process.stdin.flush()
            sleep(self.rng.choice((0, 1)))
            self.rng.choice(self.changes_during_a_wait())()
            before = self.current
            after = before._replace(states=frozenset({state}))
            self.history.append(before.union(after))
            process.communicate("".join(others))
        # It may have begun while there was no database to open. Then it has written nothing.
        self.history.append(before if process.returncode else after)

    def changes_during_a_wait(self) -> list[Callable[[], None]]:
        """Return the changes that are made while a command waits."""
        return [self.change_by_sql, self.rename_customer]

    def change_by_sql(self) -> None:
        """Change all articles, as another tool would, many times in a row: responses are rendered meanwhile."""
        for _ in range(self.rng.choice((1, 50))):
            state = self.next_state()
            statement = (
                f"UPDATE article SET slug = 'state-{state}-' || views, status = CASE WHEN views < "
                f"{count_published(state)} OR views = {ARTICLES} THEN 'published' ELSE 'draft' END"
            )
            self.become(lambda: self.run_sql(statement), states=frozenset({state}))  # noqa: B023

    def replace_key(self) -> None:
        """Create a key, then revoke an old one."""
        new = self.run_flask("keys", "create", *self.current.names)
        listed = [line.split("\t") for line in self.run_flask("keys", "list").splitlines()]
        number, prefix = next((line[0], line[2].rstrip("…")) for line in listed if line[5] == "active")
        revoked = {key for key in self.current.keys if key.startswith(prefix)}
        self.all_keys.add(new)
        self.history.append(self.current._replace(keys=self.current.keys | {new}))
        self.become(lambda: self.run_flask("keys", "revoke", number), keys=self.current.keys - revoked)

    def rename_customer(self) -> None:
        """Rename the customer, whom the structured data of all articles names."""
        (old,), new = self.current.names, f"Soak {self.next_state()}"
        self.become(lambda: self.run_flask("customers", "rename", old, new), names=frozenset({new}))

    def move_clock(self) -> None:
        """Move the service's clock past the time of the scheduled article, or back."""
        (is_later,) = self.current.futures
        seconds = 0 if is_later else CENTURY_SECONDS
        move = struct.pack("d", seconds)

        def write() -> None:
            with self.clock.open("r+b") as file:
                file.write(move)

        self.become(write, futures=frozenset({not is_later}))


class SQLiteChanges(Changes):
    """Changes to a SQLite file behind a symbolic link: it is damaged, removed, replaced and restored."""

    def __init__(self, folder: Path) -> None:
        self.database, self.backup, self.files = folder / "articles.db", folder / "backup.db", 0
        self.database.symlink_to(folder / "file-0.db")
        super().__init__(folder, f"sqlite:///{self.database}")
        self.back_up()

    def changes(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [*super().changes(), self.back_up, self.damage_and_restore, self.damage_and_restore]

    def changes_during_a_wait(self) -> list[Callable[[], None]]:
        """Return the changes that are made while a command waits."""
        return [*super().changes_during_a_wait(), self.damage_and_restore]

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        with closing(sqlite3.connect(self.database, timeout=60)) as connection, connection:
            return connection.execute(statement).fetchall()

    def check_integrity(self) -> str:
        """Return "ok", or what is wrong with the database."""
        ((finding,),) = self.run_sql("PRAGMA integrity_check")
        return str(finding)

    def back_up(self) -> None:
        """Copy the database, and remember what responses may show once it is restored."""
        self.backup.unlink(missing_ok=True)
        self.run_flask("database", "backup", str(self.backup))
        self.backed_up = self.current

    def damage_and_restore(self) -> None:
        """Damage the database for a moment, or leave it intact, and put the backup in its place."""
        sleep(1)  # a WAL with recent changes would be applied to the backup; within a second the service empties it
        before, after = self.current, self.backed_up._replace(futures=self.current.futures)
        self.history.append(before.union(after)._replace(broken=True))
        self.rng.choice((self.database.resolve().unlink, self.truncate, self.overwrite, lambda: None))()
        sleep(self.rng.choice((0, 0.1, 1)))
        self.rng.choice((self.copy_backup, self.move_backup, self.restore_backup, self.switch_link))()
        self.history.append(after)

    def truncate(self) -> None:
        """Truncate the database file to half of its size."""
        os.truncate(self.database, self.database.stat().st_size // 2)

    def overwrite(self) -> None:
        """Overwrite the database file with random bytes."""
        with self.database.open("r+b") as file:
            file.write(self.rng.randbytes(self.database.stat().st_size))

    def restore_backup(self) -> None:
        """Restore the backup by the service's command."""
        self.run_flask("database", "restore", str(self.backup), "--yes")

    def copy_backup(self) -> None:
        """Copy the backup over the database file."""
        shutil.copyfile(self.backup, self.database)

    def move_backup(self) -> None:
        """Replace the database file with a copy of the backup."""
        os.replace(shutil.copyfile(self.backup, self.folder / "moved.db"), self.database.resolve())

    def switch_link(self) -> None:
        """Switch the symbolic link to a copy of the backup."""
        self.files += 1
        link = self.folder / "link"
        link.symlink_to(shutil.copyfile(self.backup, self.folder / f"file-{self.files}.db"))
        os.replace(link, self.database)
