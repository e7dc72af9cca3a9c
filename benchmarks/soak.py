"""Soak the service: readers, writers, changing keys, hostile clients and a broken database, all at once.

    python -m benchmarks.soak [MINUTES]

The articles of every state of the database carry its number, so that an answer tells which state it shows. Each is
checked against the states that there were while it was asked for; an error is allowed only while the database was
broken. At the end the database is checked too, and the memory compared with what it was after a fifth of the time.
"""

import http.client
import json
import random
import re
import socket
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from time import monotonic, sleep

import click

from benchmarks.changes import Changes, Known, count_of
from benchmarks.measure import API, megabytes_of, running

READERS = 6
PATHS = (
    f"{API}/articles?take=100",
    f"{API}/articles/preview?take=100&orderBy=title&order=asc",
    f"{API}/articles?q=article&take=7&skip=3&orderBy=views",
    f"{API}/sitemap",
)
STATE = re.compile(r'"(?:slug|url)":"state-(\d+)-')


class Soak:
    """Clients of a service, each in a thread of its own, while its database changes; and what they found."""

    def __init__(self, changes: Changes, service: subprocess.Popen[bytes], port: int, minutes: float) -> None:
        self.changes, self.service, self.port = changes, service, port
        self.until = monotonic() + minutes * 60
        self.counts: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.slowest = 0.0
        self.lock = Lock()

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
            first = len(self.changes.history) - 1
            key = chance.choice(sorted(self.changes.everything if chance.random() < 0.1 else self.changes.now.keys))
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
            self.check(path, key, response.status, body, self.changes.history[first:], seconds)
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
                key = chance.choice(sorted(self.changes.now.keys))
                good = f"GET {PATHS[0]} HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n"
                held[-1].sendall(
                    chance.choice((chance.randbytes(500), good[:40].encode(), good.encode() * 20, b"\r\n\r\n"))
                )
                self.counts["hostile connections"] += 1
            if len(held) > 200:
                held.pop(0).close()
            sleep(0.02)
        for each in held:
            each.close()

    def run(self) -> None:
        """Let everything happen until the time is up."""
        began = monotonic()
        clients: list[tuple[Callable[[random.Random], None], int]] = [(self.read, READERS), (self.annoy, 1)]
        threads = [Thread(target=self.guard, args=(act, n)) for act, count in clients for n in range(count)]
        for thread in threads:
            thread.start()
        before = 0.0
        while monotonic() < self.until and self.service.poll() is None:
            self.changes.make_one()
            if not before and monotonic() - began > (self.until - began) / 5:
                before = megabytes_of(self.service)
        for thread in threads:
            thread.join()
        after = megabytes_of(self.service)
        self.service.terminate()
        self.counts["exit status"] = self.service.wait(20)
        self.report(before, after)

    def report(self, before: float, after: float) -> None:
        """Print what happened. Raises click.ClickException where anything was wrong."""
        for name, count in sorted([*self.counts.items(), *self.changes.counts.items()]):
            click.echo(f"{count:9,} {name}")
        click.echo(f"{self.slowest * 1000:9.0f} ms for the slowest answer while the database was in order")
        click.echo(f"{before:9.0f} MB after a fifth of the time, {after:.0f} MB at the end")
        (sound,) = self.changes.sql("PRAGMA integrity_check")[0]
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
        changes = Changes(Path(folder))
        with running("app.py", DATABASE_URL=changes.url) as (port, service):
            Soak(changes, service, port, minutes).run()


if __name__ == "__main__":
    main()
