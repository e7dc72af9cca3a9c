"""Soak the service: readers, writers, changing keys, hostile clients and a broken database, all at once.

    python -m benchmarks.soak [MINUTES]

The articles of every state of the database carry its number, so that an answer tells which state it shows. Each is
checked against the states that there were while it was asked for; an error is allowed only while the database was
broken. At the end the database is checked too, and the memory compared with what it was after a fifth of the time.
"""

import http.client
import json
import os
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep
from typing import Any, NamedTuple

import click

PROJECT = Path(__file__).parent.parent
API = "/api/public/v1"
READERS = 6
PATHS = (
    f"{API}/articles?take=100",
    f"{API}/articles/preview?take=100&orderBy=title&order=asc",
    f"{API}/articles?q=article&take=7&skip=3&orderBy=views",
    f"{API}/sitemap",
)
STATE = re.compile(r'"(?:slug|url)":"state-(\d+)-')


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


class Soak:
    """A service, what is known of its database, and what was found."""

    def __init__(self, folder: Path, minutes: float) -> None:
        self.database, self.backup = folder / "articles.db", folder / "backup.db"
        self.environment = os.environ | {"DATABASE_URL": f"sqlite:///{self.database}", "PORT": "0"}
        self.until = monotonic() + minutes * 60
        self.chance = random.Random(5)
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.slowest = 0.0
        self.lock = Lock()
        key = self.flask("keys", "create", "Soak")
        self.flask("articles", "import", "-", given=articles_of(0))
        self.history = [Known(frozenset({0}), frozenset({key}))]
        self.everything = {key}
        self.back_up()
        self.log = (folder / "log").open("wb")
        self.service = subprocess.Popen(
            [sys.executable, "app.py"], cwd=PROJECT, env=self.environment, stdout=subprocess.PIPE, stderr=self.log
        )
        assert self.service.stdout
        found = re.search(rb":(\d+) ", self.service.stdout.readline())
        assert found
        self.port = int(found[1])

    @property
    def now(self) -> Known:
        """What is known now."""
        return self.history[-1]

    def flask(self, *arguments: str, given: str = "", kill_after: float | None = None) -> str:
        """Run one of the service's commands, or kill it while it runs; return what it prints."""
        command = [sys.executable, "-m", "flask", *arguments]
        with subprocess.Popen(
            command,
            cwd=PROJECT,
            env=self.environment,
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

    # The changes, one after the other, in one thread.

    def import_state(self) -> None:
        """Import the next state; now and then kill the import."""
        state = max(each for known in self.history for each in known.states) + 1
        self.history.append(self.now._replace(states=self.now.states | {state}))
        kill = self.chance.uniform(0.3, 0.9) if self.chance.random() < 0.5 else None
        self.flask("articles", "import", "-", given=articles_of(state), kill_after=kill)
        (slug,) = self.sql("SELECT slug FROM article LIMIT 1")[0]
        self.history.append(self.now._replace(states=frozenset({int(slug.split("-")[1])})))
        self.counts["imports that were killed" if kill else "imports"] += 1

    def write_by_another_tool(self) -> None:
        """Change every article by plain SQL."""
        (state,) = self.now.states
        other = max(each for known in self.history for each in known.states) + 7  # with as many articles
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

    # The clients, each in a thread of its own.

    def guard(self, act: Callable[[random.Random], None], number: int) -> None:
        """Let a client act; what it stumbles over is wrong."""
        try:
            act(random.Random(number))
        except (OSError, http.client.HTTPException, KeyError, ValueError) as error:
            self.wrong.append(f"{act.__name__}: {error!r}")

    def read(self, chance: random.Random) -> None:
        """Ask, and check the answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        etags: dict[str, tuple[str, bytes]] = {}
        while monotonic() < self.until:
            path = chance.choice(PATHS)
            first = len(self.history) - 1
            key = chance.choice(sorted(self.everything if chance.random() < 0.1 else self.now.keys))
            headers = {"x-api-key": key}
            if path in etags and chance.random() < 0.5:
                headers["If-None-Match"] = etags[path][0]
            began = monotonic()
            connection.request("GET", path, headers=headers)
            response = connection.getresponse()
            body = response.read()
            seconds = monotonic() - began
            if response.status == 200:
                etags[path] = response.headers["ETag"], body
            if response.status == 304:
                body = etags[path][1]
            self.check(path, key, response.status, body, self.history[first:], seconds)
        connection.close()

    def check(self, path: str, key: str, status: int, body: bytes, known: list[Known], seconds: float) -> None:
        """Note whether an answer agrees with what was known while it was asked for."""
        broken = any(each.broken for each in known)
        if status in (200, 304):
            page = json.loads(body)
            states = set(map(int, STATE.findall(body.decode())))
            right = (
                len(states) == 1
                and any(each.shows(states, key) for each in known)
                and page.get("meta", {"total": len(page["data"])})["total"] == count_of(*states)
            )
        else:
            right = (status == 401 and any(each.refuses(key) for each in known)) or (status == 503 and broken)
        with self.lock:
            self.counts[f"answers {status}"] += 1
            if not broken:
                self.slowest = max(self.slowest, seconds)
            if not right and len(self.wrong) < 10:
                self.wrong.append(f"{path} {status} {body[:200]!r} with {known}")

    def annoy(self, chance: random.Random) -> None:
        """Send what is no request, half of one, or many at once, and do not wait for the answers."""
        held: list[socket.socket] = []
        while monotonic() < self.until:
            with suppress(OSError):
                held.append(socket.create_connection(("127.0.0.1", self.port), timeout=1))
                good = (
                    f"GET {PATHS[0]} HTTP/1.1\r\nHost: x\r\nx-api-key: {chance.choice(sorted(self.now.keys))}\r\n\r\n"
                )
                held[-1].sendall(
                    chance.choice((chance.randbytes(500), good[:40].encode(), good.encode() * 20, b"\r\n\r\n"))
                )
                self.counts["hostile connections"] += 1
            if len(held) > 200:
                held.pop(0).close()
            sleep(0.02)
        for each in held:
            each.close()

    def memory(self) -> float:
        """Give the megabytes that the service holds in memory."""
        status = Path(f"/proc/{self.service.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1000

    def run(self) -> None:
        """Let everything happen until the time is up."""
        began = monotonic()
        clients: list[tuple[Callable[[random.Random], None], int]] = [(self.read, READERS), (self.annoy, 1)]
        threads = [Thread(target=self.guard, args=(act, n)) for act, count in clients for n in range(count)]
        for thread in threads:
            thread.start()
        changes = [self.import_state, self.write_by_another_tool, self.change_the_key, self.back_up, self.break_it]
        before = 0.0
        while monotonic() < self.until and self.service.poll() is None:
            self.chance.choice(changes)()
            if not before and monotonic() - began > (self.until - began) / 5:
                before = self.memory()
        for thread in threads:
            thread.join()
        after = self.memory()
        self.service.terminate()
        self.counts["exit status"] = self.service.wait(20)
        self.report(before, after)

    def report(self, before: float, after: float) -> None:
        """Print what happened. Raises click.ClickException where anything was wrong."""
        for name, count in sorted(self.counts.items()):
            click.echo(f"{count:9,} {name}")
        click.echo(f"{self.slowest * 1000:9.0f} ms for the slowest answer while the database was in order")
        click.echo(f"{before:9.0f} MB after a fifth of the time, {after:.0f} MB at the end")
        (sound,) = self.sql("PRAGMA integrity_check")[0]
        click.echo(f"{sound:>9} says the check of the database's integrity")
        if after > before * 1.3 or self.slowest > 5:
            self.wrong.append("The service grew, or a client had to wait.")
        if self.wrong or sound != "ok" or self.counts["exit status"] or not self.counts["answers 200"]:
            raise click.ClickException("\n".join(["Wrong:", *self.wrong]))
        click.echo("No answer was wrong, and none an error while the database was in order.")


@click.command()
@click.argument("minutes", type=float, default=10)
def main(minutes: float) -> None:
    """Soak the service for so many minutes."""
    with tempfile.TemporaryDirectory() as folder:
        Soak(Path(folder), minutes).run()


if __name__ == "__main__":
    main()
