"""The database file under a running service: damaged, replaced, locked, read-only, full disk, killed writers."""

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import helpers
import pytest
from flask import Flask
from helpers import ENDPOINTS, LISTS, Server, Site, article_json, close, minimal_json, run_sql, subprocess_args

from storage.tables import SCHEMA_VERSION

pytestmark = pytest.mark.sqlite

# without capabilities, file permissions apply to root as well
AS_A_USER = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


class Service(Site):
    """A running service with its own database, for a single customer."""

    def __init__(self, app: Flask, server: Any) -> None:
        super().__init__(app, server)
        self.database: Path = server.database
        self.wal = self.database.with_name(f"{self.database.name}-wal")

    def save(self, *articles: dict[str, Any]) -> None:
        """Import articles and close the file, as a separate command would."""
        super().save(*articles)
        close(self.app)

    def sql(self, statement: str, *parameters: Any) -> list[Any]:
        return run_sql(self.database, statement, *parameters)

    def titles(self) -> list[str]:
        """Return the titles of a successful list request."""
        response = self.get(LISTS[1] + "?orderBy=title&order=asc&take=100")
        assert response.status == 200, response.body
        return [article["title"] for article in json.loads(response.body)["data"]]

    def statuses(self) -> list[int]:
        """Return the status of every endpoint and of /healthz."""
        return [self.get(path).status for path in (*ENDPOINTS, "/healthz")]


@pytest.fixture(scope="module")
def shared_service(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service shared by the module's tests."""
    database = tmp_path_factory.mktemp("service") / "articles.db"
    helpers.copy_database(template, database)
    with helpers.application(database) as app:
        service = Service(app, Server(database, *AS_A_USER))
        yield service
    service.server.stop()


@pytest.fixture
def service(shared_service: Service) -> Iterator[Service]:
    """The shared service without articles, which must work again when the test ends."""
    # another test may have left a copy with a rollback journal
    for statement in ("PRAGMA journal_mode = WAL", "DELETE FROM article", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
        shared_service.sql(statement)
    assert shared_service.statuses() == [200] * 4  # opens the file
    yield shared_service
    assert shared_service.statuses() == [200] * 4
    assert shared_service.sql("PRAGMA integrity_check") == [("ok",)]
    assert "Traceback" not in shared_service.server.log()


def copy_of(database: Path, name: str = "copy.db") -> Path:
    """Copy a database into one file, in rollback journal mode; return its path."""
    copy = database.with_name(name)
    copy.unlink(missing_ok=True)
    run_sql(database, f"VACUUM INTO '{copy}'")
    return copy


def forbid(database):
    database.chmod(0)


def allow(database, _copy):
    database.chmod(0o644)


def copy_over(database, copy):
    shutil.copyfile(copy, database)


def restore(database, copy):
    with helpers.application(database) as app:
        assert helpers.run_command(app, "database", "restore", copy, "--yes").exit_code == 0


@pytest.mark.parametrize(
    ("damage", "repair"),
    [
        (helpers.truncate, restore),
        (helpers.halve, copy_over),
        (helpers.overwrite, copy_over),
        (forbid, allow),
    ],
)
def test_damaged_database_is_a_503_until_it_is_repaired(service, damage, repair):
    service.save(*(article_json(number) for number in range(90)))
    copy = copy_of(service.database)
    assert len(service.titles()) == 90
    for _ in range(2):
        damage(service.database)
        for path in (*ENDPOINTS, "/healthz") * 3:
            response = service.get(path)
            assert (response.status, b".db" in response.body) == (503, False), path
        repair(service.database, copy)
        assert service.statuses() == [200] * 4
        assert len(service.titles()) == 90
    service.sql("UPDATE article SET title = 'Later' WHERE id = 'id-0007'")
    assert "Later" in service.titles()


@pytest.mark.slow
def test_locked_database_is_a_503_until_the_lock_ends(app, start, run, database):
    service = Service(app, start())
    service.save(article_json(1))
    copy_over(database, copy_of(database))  # in WAL mode, a writer would not block readers
    assert service.titles() == ["Title 1"]
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        responses = helpers.call_concurrently(service.get, (*ENDPOINTS, "/healthz"))
        assert [response.status for response in responses] == [503] * 4
        assert "is locked" in run("database", "backup", f"{database}.backup").stderr
    assert service.titles() == ["Title 1"]


@pytest.mark.parametrize("replace", [copy_over, restore])
def test_overwritten_database_is_served_at_once(service, replace):
    """The files have the same size and different journal modes; the database is changed in between."""
    service.save(*(article_json(number, title="First") for number in range(50)))
    first, second = copy_of(service.database, "first.db"), copy_of(service.database, "second.db")
    run_sql(second, "PRAGMA journal_mode = WAL")
    run_sql(second, "UPDATE article SET title = 'Other'")
    assert first.stat().st_size == second.stat().st_size
    for length in (0, 5_000, 10_000):
        if replace is copy_over:  # otherwise SQLite would apply the WAL to the new file
            service.save(*(article_json(number, title="Later") for number in range(60)))
            assert service.wal.stat().st_size == 0
        else:
            service.sql("UPDATE article SET title = 'Later', content_html = ?", "x" * length)
            assert service.wal.stat().st_size > 0
        assert set(service.titles()) == {"Later"}
        for copy, title in ((first, "First"), (second, "Other")):
            replace(service.database, copy)
            assert set(service.titles()) == {title}
            assert service.sql("PRAGMA integrity_check") == [("ok",)]


def make_newer(database):
    run_sql(database, "UPDATE tables_version SET number = number + 1")


def make_foreign(database):
    other = database.with_name("bookmarks.db")
    run_sql(other, "CREATE TABLE bookmark (id INTEGER PRIMARY KEY, name TEXT)")
    shutil.copyfile(other, database)  # in place: the application opens no other file


def write_text(database):
    database.write_text("Not a database. " * 100)


@pytest.mark.parametrize(
    ("make_unusable", "reason"),
    [
        (make_newer, f"version {SCHEMA_VERSION + 1}"),
        (make_foreign, "DATABASE_URL"),
        (write_text, "file is not a database"),
    ],
)
def test_unusable_database_is_rejected_and_unchanged(app, run, save, database, make_unusable, reason):
    save(article_json(1))
    backup = database.with_name("backup.db")
    assert run("database", "backup", backup).exit_code == 0
    close(app)
    make_unusable(database)
    before = database.read_bytes()
    commands = ["keys create Acme", "articles import -", "articles list"]
    if make_unusable is make_foreign:
        commands.append(f"database restore {backup} --yes")
    for command in commands:
        helpers.assert_rejected(run(*command.split()), str(database), reason)
    close(app)
    assert database.read_bytes() == before


def test_empty_database_is_an_error_and_gets_no_tables(run, database):
    """A service would otherwise reject all keys instead of reporting that its database is lost."""
    helpers.truncate(database)
    for command in ("keys list", "articles list", "articles import -", "customers delete Acme --yes"):
        helpers.assert_rejected(run(*command.split()), f"{database} is empty", "flask keys create")
        assert database.stat().st_size == 0
    assert run("keys", "create", "Acme").exit_code == 0


def start_command(service: Service, group: str, size: int, round_: int) -> int:
    """Start an import or a restore that changes every title; return its process id."""
    if group == "database":
        path = copy_of(service.database)
        run_sql(path, "UPDATE article SET title = ?", f"Round {round_}")
        command = ["restore", path, "--yes"]
    else:
        path = service.database.with_name("new.jsonl")
        path.write_text(helpers.json_lines(minimal_json(number, title=f"Round {round_}") for number in range(size)))
        command = ["import", path]
    child = os.fork()  # much faster than a new process
    if child:
        return child
    with suppress(BaseException):
        os._exit(helpers.run_command(helpers.create_application(service.database), group, *command).exit_code)
    os._exit(70)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize(
    ("group", "kills", "fewest", "size"),
    [
        ("articles", 6, 1, 100),
        pytest.param("articles", 100, 20, 600, marks=pytest.mark.slow),
        pytest.param("database", 100, 20, 600, marks=pytest.mark.slow),
    ],
)
def test_killed_command_leaves_the_old_or_the_new_state(service, group, kills, fewest, size):
    """SIGKILL at random moments, sometimes only after the command has ended."""
    started = time.monotonic()
    first = start_command(service, "articles", size, 0)
    assert os.waitstatus_to_exitcode(os.waitpid(first, 0)[1]) == 0
    latest = time.monotonic() - started
    state, outcomes, chance = (size, "Round 0", "Round 0"), [], random.Random(7)
    for round_ in range(1, kills + 1):
        new = (size + round_ if group == "articles" else size), f"Round {round_}", f"Round {round_}"
        child = start_command(service, group, new[0], round_)
        time.sleep(chance.uniform(0.2, 1) * latest)
        os.kill(child, signal.SIGKILL)
        outcomes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        latest *= 1.3 if outcomes[-1] else 1 / 1.3  # about half of the commands are killed, on any machine
        # opening the database recovers a commit whose writer was killed just before finishing
        titles = set(service.titles())
        (now,) = service.sql("SELECT count(*), min(title), max(title) FROM article")
        assert now == new or (now == state and outcomes[-1] == -signal.SIGKILL)
        state = now
        assert titles == {state[1]}
        assert service.sql("PRAGMA integrity_check") == [("ok",)]
    assert set(outcomes) <= {0, -signal.SIGKILL}
    assert fewest < outcomes.count(-signal.SIGKILL)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of four megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a file system needs root")
    yield disk
    subprocess.run(["umount", "--lazy", str(disk)], check=True)


def test_full_disk_stops_imports_but_no_reads(template, start, small_disk, tmp_path):
    """Reads go on even if the disk was full before the first request."""
    database = Path(shutil.copy(template, small_disk))
    server = start(DATABASE_URL=helpers.database_url(database))
    server.database = database
    with helpers.application(database) as app:
        service = Service(app, server)
        service.save(*(article_json(number) for number in range(20)))
        filler = small_disk / "filler"
        with pytest.raises(OSError, match="No space left"):
            filler.write_bytes(bytes(8_000_000))
        assert service.statuses() == [200] * 4
        before = service.titles()
        assert len(before) == 20
        filler.unlink()
        path = tmp_path / "new.jsonl"
        path.write_text(helpers.json_lines(minimal_json(number, contentHtml="x" * 80_000) for number in range(20, 120)))
        helpers.assert_rejected(helpers.run_command(app, "articles", "import", path), "disk is full")
        assert (service.titles(), service.sql("SELECT count(*) FROM article")) == (before, [(20,)])


SERVE_IN_TWO_PROCESSES = """
import os
from wsgiref.simple_server import make_server
from app import create_app
server = make_server("127.0.0.1", 0, create_app())
opened = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")[:-1]]
assert not any(".db" in path for path in opened), opened
print(server.server_port, flush=True)
os.fork()
server.serve_forever()
"""


def test_forked_processes_see_every_commit_at_once(app, database):
    """Forked after the application was created, as by gunicorn --preload."""
    arguments = subprocess_args(database, "-c", SERVE_IN_TWO_PROCESSES) | {"stderr": subprocess.DEVNULL}
    with subprocess.Popen(**arguments, start_new_session=True) as process:
        try:
            port = int(process.stdout.readline())
            service = Service(app, SimpleNamespace(host="127.0.0.1", port=port, database=database))
            service.save(article_json(1))
            for title in ("First", "Second", "Third"):
                service.sql("UPDATE article SET title = ?", title)
                for _ in range(6):
                    assert service.titles() == [title]
        finally:
            os.killpg(process.pid, signal.SIGKILL)
