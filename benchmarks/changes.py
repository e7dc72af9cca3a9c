"""What happens to the database in a soak, and what may therefore be seen of it, moment by moment."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from time import sleep
from typing import Any, NamedTuple

import click

from benchmarks.measure import PROJECT


class Known(NamedTuple):
    """What may be seen for a while: states of the database, good keys; whether it may be out of order."""

    states: frozenset[int]
    keys: frozenset[str]
    changing: frozenset[str] = frozenset()  # keys that are just being made or revoked: good or not
    broken: bool = False

    def shows(self, states: set[int], key: str) -> bool:
        """Tell whether these states may be shown to whoever has the key."""
        return states <= self.states and key in self.keys | self.changing

    def refuses(self, key: str) -> bool:
        """Tell whether the key may be refused."""
        return key not in self.keys or key in self.changing


def count_of(state: int) -> int:
    """Give how many articles a state has."""
    return 40 + state % 7


def articles_of(state: int) -> str:
    """Give the articles of a state, as JSON Lines."""
    return "".join(
        json.dumps(
            {
                "id": f"article-{number}",
                "title": f"State {state}, article {number}",
                "slug": f"state-{state}-{number}",
                "contentHtml": f"<p>State {state}.</p>" * 400,
                "status": "published" if number < count_of(state) else "draft",
                "publishedAt": "2026-01-31T09:30:00Z",
                "views": number,
            }
        )
        + "\n"
        for number in range(50)
    )


class Changes:
    """A database, the changes that are made to it, one after the other, and what is known of it."""

    def __init__(self, folder: Path) -> None:
        self.database, self.backup = folder / "articles.db", folder / "backup.db"
        self.url = f"sqlite:///{self.database}"
        self.chance = random.Random(5)
        self.counts: Counter[str] = Counter()
        key = self.flask("keys", "create", "Soak")
        self.flask("articles", "import", "-", given=articles_of(0))
        self.history = [Known(frozenset({0}), frozenset({key}))]
        self.everything = {key}
        self.back_up()

    @property
    def now(self) -> Known:
        """What is known now."""
        return self.history[-1]

    @property
    def newest(self) -> int:
        """The highest state that there was."""
        return max(state for known in self.history for state in known.states)

    def make_one(self) -> None:
        """Make one of the changes."""
        changes = [self.import_state, self.write_by_another_tool, self.change_the_key, self.back_up, self.break_it]
        self.chance.choice(changes)()

    def flask(self, *arguments: str, given: str = "", kill_after: float | None = None) -> str:
        """Run one of the service's commands, or kill it while it runs; return what it prints."""
        command = [sys.executable, "-m", "flask", *arguments]
        with subprocess.Popen(
            command,
            cwd=PROJECT,
            env=os.environ | {"DATABASE_URL": self.url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            try:
                printed, _ = process.communicate(given, timeout=kill_after or 60)
            except subprocess.TimeoutExpired:
                process.kill()
                return ""
        if process.returncode:
            raise click.ClickException(f"{command} failed.")
        return printed.strip()

    def sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would."""
        with closing(sqlite3.connect(self.database, timeout=60)) as connection, connection:
            return connection.execute(statement).fetchall()

    def import_state(self) -> None:
        """Import the next state; now and then kill the import."""
        state = self.newest + 1
        self.history.append(self.now._replace(states=self.now.states | {state}))
        kill = self.chance.uniform(0.3, 0.9) if self.chance.random() < 0.5 else None
        killed = not self.flask("articles", "import", "-", given=articles_of(state), kill_after=kill)
        (slug,) = self.sql("SELECT slug FROM article LIMIT 1")[0]
        self.history.append(self.now._replace(states=frozenset({int(slug.split("-")[1])})))
        self.counts["imports that were killed" if killed else "imports"] += 1

    def write_by_another_tool(self) -> None:
        """Change every article by plain SQL."""
        (state,) = self.now.states
        other = self.newest + 7  # with as many articles
        other += (state - other) % 7
        self.history.append(self.now._replace(states=frozenset({state, other})))
        self.sql(f"UPDATE article SET slug = replace(slug, 'state-{state}-', 'state-{other}-')")
        self.history.append(self.now._replace(states=frozenset({other})))
        self.counts["changes by SQL"] += 1

    def change_the_key(self) -> None:
        """Make a key, then revoke an old one."""
        new = self.flask("keys", "create", "Soak")
        listed = [line.split("\t") for line in self.flask("keys", "list").splitlines()]
        number, first = next((line[0], line[2].rstrip("…")) for line in listed if line[5] == "active")
        old = {key for key in self.now.keys if key.startswith(first)}
        keys = self.now.keys | {new}
        self.history.append(self.now._replace(keys=keys, changing=frozenset(old)))
        self.everything.add(new)
        self.flask("keys", "revoke", number)
        self.history.append(self.now._replace(keys=keys - old, changing=frozenset()))
        self.counts["keys changed"] += 1

    def back_up(self) -> None:
        """Copy the database, with what is known of it."""
        self.backup.unlink(missing_ok=True)
        self.sql(f"VACUUM INTO '{self.backup}'")
        self.kept = self.now

    def break_it(self) -> None:
        """Break the database for a moment, or put the backup in its place as it is."""
        sleep(1)  # another tool's last change is then in the file, and not in the log: see the README's Operations
        damage = self.chance.choice((self.remove, self.truncate, self.overwrite, lambda: None))
        mend = self.chance.choice((self.copy_over, self.move_over))
        now, kept = self.now, self.kept
        self.history.append(Known(now.states | kept.states, now.keys | kept.keys, now.keys ^ kept.keys, broken=True))
        damage()
        sleep(self.chance.choice((0, 0.1, 1)))
        mend()
        self.history.append(kept)
        self.counts["times broken and mended"] += 1

    def remove(self) -> None:
        """Remove the database."""
        self.database.unlink()

    def truncate(self) -> None:
        """Cut the database off in the middle."""
        os.truncate(self.database, self.database.stat().st_size // 2)

    def overwrite(self) -> None:
        """Write random bytes over the database."""
        with self.database.open("r+b") as file:
            file.write(self.chance.randbytes(self.database.stat().st_size))

    def copy_over(self) -> None:
        """Copy the backup over the database."""
        shutil.copyfile(self.backup, self.database)

    def move_over(self) -> None:
        """Move a copy of the backup to where the database is."""
        os.replace(shutil.copyfile(self.backup, self.backup.with_suffix(".moved")), self.database)
