"""The changes that a soak makes to the database, and the responses that are right at any time."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

from benchmarks.data import run_flask


class Expectation(NamedTuple):
    """What responses may show for a while."""

    states: frozenset[int]  # of the database
    keys: frozenset[str]  # valid API keys
    pending_keys: frozenset[str] = frozenset()  # being created or revoked: valid or not
    broken: bool = False  # the database may be unreadable

    def allows(self, states: set[int], key: str) -> bool:
        """Return whether a request with the key may get articles of these states."""
        return states <= self.states and key in self.keys | self.pending_keys

    def allows_rejection(self, key: str) -> bool:
        """Return whether a request with the key may be rejected."""
        return key not in self.keys or key in self.pending_keys


def count_published(state: int) -> int:
    """Return how many published articles a state has."""
    return 40 + state % 7


def state_json(state: int) -> str:
    """Return the articles of a state as JSON Lines."""
    return "".join(
        json.dumps(
            {
                "id": f"article-{number}",
                "title": f"State {state}, article {number}",
                "slug": f"state-{state}-{number}",
                "contentHtml": f"<p>State {state}.</p>" * 400,
                "status": "published" if number < count_published(state) else "draft",
                "publishedAt": "2026-01-31T09:30:00Z",
                "views": number,
            }
        )
        + "\n"
        for number in range(50)
    )


class Changes:
    """A database, the changes that are made to it one after another, and what responses may show meanwhile."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.database, self.backup = folder / "articles.db", folder / "backup.db"
        self.url = url or f"sqlite:///{self.database}"
        self.rng = random.Random(5)
        self.counts: Counter[str] = Counter()
        key = self.run_flask("keys", "create", "Soak")
        self.run_flask("articles", "import", "-", stdin=state_json(0))
        self.history = [Expectation(frozenset({0}), frozenset({key}))]
        self.all_keys = {key}
        if not url:
            self.back_up()

    @property
    def current(self) -> Expectation:
        """What responses may show now."""
        return self.history[-1]

    @property
    def highest_state(self) -> int:
        """The highest state that there has been."""
        return max(state for expectation in self.history for state in expectation.states)

    def expect(self, **fields: Any) -> None:
        """Add an expectation to the history: the current one, with some fields replaced."""
        self.history.append(self.current._replace(**fields))

    def apply_random_change(self) -> None:
        """Make one of the changes."""
        self.rng.choice(self.changes())()

    def changes(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [self.import_state, self.update_by_sql, self.replace_key, self.back_up, self.damage_and_restore]

    def run_flask(self, *arguments: str, stdin: str = "", timeout: float = 60) -> str:
        """Run one of the service's commands, and return what it prints."""
        return run_flask(self.url, *arguments, stdin=stdin, timeout=timeout)

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        with closing(sqlite3.connect(self.database, timeout=60)) as connection, connection:
            return connection.execute(statement).fetchall()

    def check_integrity(self) -> str:
        """Return "ok", or what is wrong with the database."""
        ((finding,),) = self.run_sql("PRAGMA integrity_check")
        return str(finding)

    def import_state(self) -> None:
        """Import the next state; kill half of the imports."""
        state = self.highest_state + 1
        self.expect(states=self.current.states | {state})
        kill = self.rng.random() < 0.5
        try:
            timeout = self.rng.uniform(0.3, 0.9) if kill else 60
            self.run_flask("articles", "import", "-", stdin=state_json(state), timeout=timeout)
            self.counts["imports"] += 1
        except subprocess.TimeoutExpired:
            if not kill:
                raise
            self.counts["killed imports"] += 1
        (slug,) = self.run_sql("SELECT slug FROM article LIMIT 1")[0]
        self.expect(states=frozenset({int(slug.split("-")[1])}))

    def update_by_sql(self) -> None:
        """Change all articles, as another tool would."""
        (state,) = self.current.states
        new = self.highest_state + 7
        new += (state - new) % 7  # a state with the same number of published articles
        self.expect(states=frozenset({state, new}))
        self.run_sql(f"UPDATE article SET slug = replace(slug, 'state-{state}-', 'state-{new}-')")
        self.expect(states=frozenset({new}))
        self.counts["changes by SQL"] += 1

    def replace_key(self) -> None:
        """Create a key, then revoke an old one."""
        new = self.run_flask("keys", "create", "Soak")
        listed = [line.split("\t") for line in self.run_flask("keys", "list").splitlines()]
        number, prefix = next((line[0], line[2].rstrip("…")) for line in listed if line[5] == "active")
        revoked = {key for key in self.current.keys if key.startswith(prefix)}
        keys = self.current.keys | {new}
        self.expect(keys=keys, pending_keys=frozenset(revoked))
        self.all_keys.add(new)
        self.run_flask("keys", "revoke", number)
        self.expect(keys=keys - revoked, pending_keys=frozenset())
        self.counts["replaced keys"] += 1

    def back_up(self) -> None:
        """Copy the database, and remember what responses may show once it is restored."""
        self.backup.unlink(missing_ok=True)
        self.run_flask("database", "backup", str(self.backup))
        self.backed_up = self.current

    def damage_and_restore(self) -> None:
        """Damage the database for a moment, or leave it intact, and put the backup in its place."""
        sleep(1)  # a WAL with recent changes would be applied to the backup; within a second the service empties it
        damage = self.rng.choice((self.remove, self.truncate, self.overwrite, lambda: None))
        restore = self.rng.choice((self.copy_backup, self.move_backup, self.restore_backup))
        now, then = self.current, self.backed_up
        self.history.append(Expectation(now.states | then.states, now.keys | then.keys, now.keys ^ then.keys, True))
        damage()
        sleep(self.rng.choice((0, 0.1, 1)))
        restore()
        self.history.append(then)
        self.counts["times damaged and restored"] += 1

    def restore_backup(self) -> None:
        """Restore the backup by the service's command."""
        self.run_flask("database", "restore", str(self.backup), "--yes")

    def remove(self) -> None:
        """Remove the database file."""
        self.database.unlink()

    def truncate(self) -> None:
        """Truncate the database file to half of its size."""
        os.truncate(self.database, self.database.stat().st_size // 2)

    def overwrite(self) -> None:
        """Overwrite the database file with random bytes."""
        with self.database.open("r+b") as file:
            file.write(self.rng.randbytes(self.database.stat().st_size))

    def copy_backup(self) -> None:
        """Copy the backup over the database file."""
        shutil.copyfile(self.backup, self.database)

    def move_backup(self) -> None:
        """Replace the database file with a copy of the backup."""
        os.replace(shutil.copyfile(self.backup, self.backup.with_suffix(".moved")), self.database)
