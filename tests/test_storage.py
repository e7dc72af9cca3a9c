"""The database file under a running service: damaged, overwritten, full disk, killed writers."""

import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import helpers
import pytest
from helpers import ENDPOINTS, LISTS, Server, Site, article_json, close, minimal_json, run_sql, subprocess_args

pytestmark = pytest.mark.sqlite

# without capabilities, file permissions apply to root as well
AS_A_USER = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


class Service(Site):
    """A running service with its own database, for a single customer."""

    @property
    def database(self) -> Path:
        return self.server.database

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


@pytest.mark.parametrize("replace", [copy_over, restore])
def test_overwritten_database_is_served_at_once(service, replace):
    """The files have the same size and different journal modes; the database is changed in between."""
    service.save(*(article_json(number, title="First") for number in range(50)))
    first, second = copy_of(service.database, "first.db"), copy_of(service.database, "second.db")
    run_sql(second, "PRAGMA journal_mode = WAL")
    run_sql(second, "UPDATE article SET title = 'Other'")
    assert first.stat().st_size == second.stat().st_size
    for _ in range(3):
        if replace is copy_over:  # closes the file, otherwise SQLite would apply the WAL to the new one
            service.save(*(article_json(number, title="Later") for number in range(50)))
        else:
            service.sql("UPDATE article SET title = 'Later'")
        assert set(service.titles()) == {"Later"}
        for copy, title in ((first, "First"), (second, "Other")):
            replace(service.database, copy)
            assert set(service.titles()) == {title}


def start_restore(service: Service, title: str) -> int:
    """Start to restore a backup with another title; return the process id."""
    backup = copy_of(service.database)
    run_sql(backup, "UPDATE article SET title = ?", title)
    child = os.fork()  # much faster than a new process
    if child:
        return child
    with suppress(BaseException):
        app = helpers.create_application(service.database)
        os._exit(helpers.run_command(app, "database", "restore", backup, "--yes").exit_code)
    os._exit(70)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_restore_leaves_the_old_or_the_new_state(service, kills):
    """SIGKILL at random moments, sometimes only after the command has ended."""
    service.save(*(minimal_json(number, title="Title") for number in range(100)))
    title, latest, killed, chance = "Title", 0.1, 0, random.Random(7)
    for number in range(kills):
        child = start_restore(service, f"Title {number}")
        time.sleep(chance.uniform(0.2, 1) * latest)
        os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        latest *= 1.3 if status else 1 / 1.3  # about half of the commands are killed, on any machine
        assert status in (0, -signal.SIGKILL)
        killed += status != 0
        # opening the database recovers a commit whose writer was killed just before finishing
        titles = service.titles()
        assert titles == [f"Title {number}"] * 100 or (status and titles == [title] * 100)
        title = titles[0]
        assert service.sql("PRAGMA integrity_check") == [("ok",)]
    assert killed > 1


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


def test_full_disk_stops_no_reads(template, start, small_disk):
    database = Path(shutil.copy(template, small_disk))
    server = start(DATABASE_URL=helpers.database_url(database))
    server.database = database
    with helpers.application(database) as app:
        service = Service(app, server)
        service.save(article_json(1))
        with pytest.raises(OSError, match="No space left"):
            (small_disk / "filler").write_bytes(bytes(8_000_000))
        assert service.statuses() == [200] * 4
        assert service.titles() == ["Title 1"]


SERVE_IN_TWO_PROCESSES = """
import os
from wsgiref.simple_server import make_server
from app import create_app
server = make_server("127.0.0.1", 0, create_app())
opened = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")[:-1]]
assert not any(".db" in path for path in opened), opened  # a connection must not be shared after the fork
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
            for title in ("First", "Second"):
                service.sql("UPDATE article SET title = ?", title)
                for _ in range(6):
                    assert service.titles() == [title]
        finally:
            os.killpg(process.pid, signal.SIGKILL)
