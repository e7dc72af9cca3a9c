"""Changes that the soak test makes to the service's database."""

import os
import random
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any

import click

from benchmarks.measure import API, Request, check
from benchmarks.revisions import ARTICLES, FAR_FUTURE, MAX_PUBLISHED, Expectation, count_published, revision_lines
from benchmarks.servers import run_flask, run_server, start_flask

DAMAGES: dict[str, Callable[[Path], object]] = {
    "intact": lambda file: None,
    "missing": Path.unlink,
    "empty": lambda file: os.truncate(file, 0),
    "half": lambda file: os.truncate(file, file.stat().st_size // 2),
    "overwritten": lambda file: file.write_bytes(b"\xa5" * file.stat().st_size),
}


class Changes:
    """The service, its database, and changes to it that work on either engine.

    `history` lists what responses may show, and `made` the names of the changes.
    """

    def __init__(self, stack: ExitStack, url: str, rng: random.Random) -> None:
        """Create the database, and run the service until the stack is closed."""
        self.url, self.rng = url, rng
        self.run = partial(run_flask, url)
        self.made: list[str] = []
        key = self.run("keys", "create", "Soak")
        self.run("articles", "import", "-", stdin="".join(revision_lines(0)))
        self.all_keys = {key}
        self.history = [Expectation(0, "Soak", key)]
        self.settled = 0  # index in history of the last expectation before any change in progress
        self.numbers = count(1)
        # A small cache fills up early. A larger one would keep growing, and memory with it.
        # PYTHONFAULTHANDLER: print where a signal such as SIGBUS ended the service.
        server = run_server("app.py", DATABASE_URL=url, CACHE_MB="4", LOG_LEVEL="warning", PYTHONFAULTHANDLER="1")
        self.service = stack.enter_context(server)
        self.wait_for_service()

    @property
    def current(self) -> Expectation:
        """What responses show once the change in progress is complete."""
        return self.history[-1]

    def wait_for_service(self) -> None:
        """Wait until the service reads the current database. Raises click.ClickException after ten seconds."""
        request = Request(self.service, f"{API}/sitemap", {"x-api-key": self.current.key})
        for _ in range(100):
            if request.send().status == 200:
                return
            sleep(0.1)
        raise click.ClickException("The service cannot read the database.")

    def kinds(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [self.change_by_sql, self.replace_key, self.rename_customer, self.schedule_article]

    def apply_next(self) -> None:
        """Make a change."""
        self.apply(self.rng.choice([*self.kinds(), self.import_revision, self.import_revision]))

    def apply(self, change: Callable[[], None]) -> None:
        """Record the name of a change, and make it."""
        self.made.append(change.__name__.replace("_", " "))
        change()

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
            with self.transition(before._replace(revision=revision, is_due=False)):
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
        """Change all articles many times in a row while responses are being rendered."""
        for _ in range(50):
            self.write_revision()

    def write_revision(self) -> None:
        """Change all articles in one statement, as another tool would."""
        revision = next(self.numbers)
        with self.transition(self.current._replace(revision=revision)):
            self.run_sql(
                f"UPDATE article SET slug = 'revision-{revision}-' || views, status = CASE WHEN views < "
                f"{count_published(revision)} OR views = {ARTICLES} THEN 'published' ELSE 'draft' END"
            )

    def replace_key(self) -> None:
        """Create a new key, then revoke the old one."""
        (number,) = re.findall(r"^(\d+)\t.*\tactive$", self.run("keys", "list"), re.MULTILINE)
        new = self.run("keys", "create", self.current.customer)
        self.all_keys.add(new)
        with self.transition(self.current._replace(key=new)):
            self.run("keys", "revoke", number)

    def rename_customer(self) -> None:
        """Rename the customer, which changes the structured data of all articles."""
        old, new = self.current.customer, f"Soak {next(self.numbers)}"
        with self.transition(self.current._replace(customer=new)):
            self.run("customers", "rename", old, new)

    def schedule_article(self) -> None:
        """Schedule one article for the next second and wait for it, or schedule it for the far future."""
        is_due = not self.current.is_due
        moment = datetime.now(UTC) + timedelta(seconds=1) if is_due else FAR_FUTURE
        with self.transition(self.current._replace(is_due=is_due)):
            self.run_sql(f"UPDATE article SET published_at = '{moment:%F %T}.000000' WHERE views = {ARTICLES}")
            sleep(1.2)
        sleep(0.5)  # before the next change, which empties the cache


class SQLiteChanges(Changes):
    """Changes to a SQLite file behind a symbolic link, which is also damaged, replaced and restored."""

    def __init__(self, stack: ExitStack, rng: random.Random) -> None:
        """Create the database and a backup of it."""
        self.folder = Path(stack.enter_context(TemporaryDirectory()))
        self.database = self.folder / "articles.db"
        self.database.symlink_to(self.folder / "first.db")
        super().__init__(stack, f"sqlite:///{self.database}", rng)
        self.backups: dict[Path, Expectation] = {}  # what responses show once each of them is restored
        self.back_up()

    def kinds(self) -> list[Callable[[], None]]:
        """Return the changes to choose from."""
        return [*super().kinds(), self.back_up, self.replace_repeatedly, self.replace_repeatedly]

    def run_sql(self, statement: str) -> list[Any]:
        """Run a statement on the database, as another tool would, and return its rows."""
        with closing(sqlite3.connect(self.database, timeout=60)) as connection, connection:
            return connection.execute(statement).fetchall()

    def check_integrity(self) -> None:
        """Run SQLite's integrity check."""
        check(self.run_sql("PRAGMA integrity_check") == [("ok",)], "The integrity check failed.")

    def back_up(self) -> None:
        """Back up a new revision with another size, page size and journal mode, over one of the previous backups."""
        self.write_revision()
        drafts = f"views BETWEEN {MAX_PUBLISHED} AND {ARTICLES - 1}"  # in every revision
        size = self.rng.randrange(100_000)
        self.run_sql(f"UPDATE article SET content_html = hex(zeroblob({size})) WHERE {drafts}")
        backup = self.folder / f"backup-{self.rng.randrange(4)}.db"
        backup.unlink(missing_ok=True)
        self.run("database", "backup", str(backup))
        with closing(sqlite3.connect(backup, isolation_level=None)) as connection:
            connection.execute(f"PRAGMA page_size = {self.rng.choice((4096, 8192))}")
            connection.execute("VACUUM")
            connection.execute(f"PRAGMA journal_mode = {self.rng.choice(('WAL', 'DELETE'))}")
        self.backups[backup] = self.current

    def replace_repeatedly(self) -> None:
        """Damage and replace the database several times in quick succession."""
        ways = [self.restore_with_the_command, self.switch_the_link, *[self.replace_the_file] * 3]
        damages = [*DAMAGES, *["intact"] * 3]  # otherwise, few requests would be reading the replaced file
        for _ in range(self.rng.randint(1, 10)):
            way = self.rng.choice(ways)
            damage = self.rng.choice(damages)
            self.made.append(f"{way.__name__.replace('_', ' ')}, {damage} database")
            self.replace(DAMAGES[damage], way)

    def replace(self, damage: Callable[[Path], object], restore: Callable[[Path], None]) -> None:
        """Damage the database and restore a backup, then write to it.

        Writing opens the database in a process other than the service's, which truncates the -shm file if the service
        has lost its lock on it. This must wait until the service has noticed a replaced file, because the two processes
        would otherwise share the -shm file of the previous one.
        """
        backup, restored = self.rng.choice(list(self.backups.items()))
        self.run_sql("PRAGMA wal_checkpoint(TRUNCATE)")  # SQLite would apply a leftover WAL to the backup
        with self.transition(self.current._replace(is_broken=True), restored):
            damage(self.database.resolve())
            sleep(self.rng.choice((0, 0, 0, 0.1)))
            restore(Path(shutil.copyfile(backup, self.folder / "copy.db")))
            self.wait_for_service()
        sleep(self.rng.choice((0, 0.1)))
        for _ in range(self.rng.choice((1, 20))):
            self.write_revision()

    def restore_with_the_command(self, backup: Path) -> None:
        """Restore a backup with the service's command."""
        self.run("database", "restore", str(backup), "--yes")
        for damaged in self.folder.glob("*.damaged-*"):
            damaged.unlink()

    def replace_the_file(self, backup: Path) -> None:
        """Replace the database file with a backup."""
        os.replace(backup, self.database.resolve())

    def switch_the_link(self, backup: Path) -> None:
        """Replace the file that the symbolic link does not point to with a backup, and switch the link to it."""
        name = "second.db" if self.database.resolve().name == "first.db" else "first.db"
        other, link = self.folder / name, self.folder / "link"
        os.replace(backup, other)
        link.symlink_to(other)
        os.replace(link, self.database)
