"""A database file that is replaced while requests are reading it."""

import gc
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import helpers
import pytest
from flask import Flask
from helpers import LISTS, minimal_json, run_sql, subprocess_args, titles, truncate
from sqlalchemy import text

from models import db
from storage.database import open_database
from storage.sqlite_file import sqlite_file

pytestmark = [
    pytest.mark.sqlite,
    pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="looks at open files, which needs Linux"),
]

COUNT = "SELECT count(*) FROM article"
# SQLite's "dead man switch": a process that can lock this byte of -shm truncates the file
TRY_TO_LOCK = """
import fcntl, sys
with open(sys.argv[1], "r+b") as file:
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 128)
    except OSError:
        sys.exit("locked")
"""


@pytest.fixture
def copy(save, database: Path) -> Path:
    """Another database in one file, with one article more than the current one."""
    save(*(minimal_json(number, title="New") for number in range(3)))
    path = database.with_name("copy.db")
    run_sql(database, f"VACUUM INTO '{path}'")
    run_sql(path, "PRAGMA journal_mode = WAL")
    save(*(minimal_json(number, title="Old") for number in range(3)))
    run_sql(database, "DELETE FROM article WHERE id = 'id-0002'")
    return path


def open_files(database: Path) -> set[int]:
    """Return the inodes of all files that this process has opened at the path of the database."""
    names = (str(database), f"{database} (deleted)")
    return {entry.stat().st_ino for entry, name in helpers.open_files().items() if name in names}


def is_locked(database: Path) -> bool:
    """Return whether the database's -shm is locked, as another process sees it."""
    command = [sys.executable, "-c", TRY_TO_LOCK, f"{database}-shm"]
    return subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0


@contextmanager
def request_in_flight(app: Flask) -> Iterator[None]:
    """Run the block while a request in another thread is in the middle of a transaction."""
    has_read, may_end = Event(), Event()

    def read() -> list[int]:
        with app.test_request_context():
            counts = [db.session.scalar(text(COUNT))]
            has_read.set()
            assert may_end.wait(30)
            return [*counts, db.session.scalar(text(COUNT))]

    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(read)
        try:
            assert has_read.wait(10)
            yield
        finally:
            may_end.set()
        assert result.result() == [2, 2]


def test_new_file_is_opened_after_requests_that_read_the_old_one(app, client, database, copy):
    """Otherwise, locks are lost, and the next command truncates -shm while the service is using it."""
    assert titles(client) == ["Old"] * 2
    with request_in_flight(app):
        os.replace(copy, database)
        for path in (LISTS[1], LISTS[1], "/healthz"):
            assert client.get(path).status_code == 503
            assert len(open_files(database)) == 1
            assert database.stat().st_ino not in open_files(database)
    assert titles(client) == ["New"] * 3
    gc.collect()  # closes what nothing refers to any longer
    assert open_files(database) == {database.stat().st_ino}
    assert is_locked(database)


def test_file_may_be_replaced_after_the_version_was_read(app, client, database, copy):
    """The request connects only afterwards."""
    copies = []

    @app.before_request  # runs after the version has been read, and before the key is checked
    def replace_once() -> None:
        if copies:
            os.replace(copies.pop(), database)

    assert titles(client) == ["Old"] * 2
    copies.append(copy)
    for take in (10, 10, 20):
        response = client.get(f"{LISTS[1]}?take={take}")
        assert response.status_code == 503 or len(response.get_json()["data"]) == 3
        assert len(open_files(database)) == 1
    assert open_files(database) == {database.stat().st_ino}


def test_file_may_be_replaced_while_a_request_connects(app, client, database, copy, monkeypatch):
    """A statement on the new file would drop the locks of requests that read the old one."""
    connect, copies = sqlite3.connect, [copy]

    def replace_and_connect(*arguments, **options):
        if copies:
            os.replace(copies.pop(), database)
        return connect(*arguments, **options)

    assert titles(client) == ["Old"] * 2
    with request_in_flight(app):
        monkeypatch.setattr(sqlite3, "connect", replace_and_connect)
        assert client.get(f"{LISTS[1]}?q=old").status_code == 503
        assert database.stat().st_ino not in open_files(database)
    assert titles(client) == ["New"] * 3


def test_lost_teardown_only_delays_the_new_file(app, client, database, copy):
    """An extension's teardown function fails, so the request keeps its connection to the old file."""
    failures = [RuntimeError("from an extension")]

    @app.teardown_appcontext
    def fail_once(_error: BaseException | None) -> None:
        if failures:
            raise failures.pop()

    with pytest.raises(RuntimeError):
        client.get(LISTS[1])
    os.replace(copy, database)
    assert titles(client) == ["New"] * 3
    assert open_files(database) == {database.stat().st_ino}


def test_threads_that_open_one_path_share_its_connections(database, monkeypatch):
    """Two objects for one path would reopen each other's files."""
    link = database.with_name("link.db")
    link.symlink_to(database)
    monkeypatch.setattr("storage.sqlite_file.RLock", lambda: time.sleep(0.05))  # creating the object takes a while
    assert len(set(helpers.call_concurrently(lambda path: sqlite_file(str(path)), [database, link] * 4))) == 1


def test_command_keeps_its_locks_while_it_reads(app, run, key, database):
    """A read lock on the file keeps other processes from checkpointing over the snapshot."""
    with app.app_context():
        open_database()
        assert db.session.scalar(text(COUNT)) == 0
        probe = TRY_TO_LOCK.replace("1, 128", "510, 0x40000002")  # https://www.sqlite.org/lockingv3.html
        assert subprocess.run([sys.executable, "-c", probe, str(database)], stderr=subprocess.DEVNULL).returncode


def test_restore_over_a_truncated_file_during_a_request(app, client, database, copy):
    """The WAL of the truncated file is not empty."""
    run_sql(database, "UPDATE article SET title = 'In the WAL'")
    assert titles(client) == ["In the WAL"] * 2
    with request_in_flight(app):
        truncate(database)
        assert client.get(LISTS[1]).status_code == 503
        assert Path(f"{database}-wal").exists()
        restored = subprocess.run(**subprocess_args(database, "-m", "flask", "database", "restore", str(copy), "--yes"))
        assert restored.returncode == 0, restored.stderr
        assert len(open_files(database)) == 1
    assert titles(client) == ["New"] * 3
    gc.collect()
    assert open_files(database) == {database.stat().st_ino}
    assert is_locked(database)


def test_switched_symbolic_link_is_followed(key, database, copy):
    first, link = database.with_name("first.db"), database.with_name("link.db")
    run_sql(database, f"VACUUM INTO '{first}'")
    link.symlink_to(first)
    with helpers.application(link) as app:
        client = helpers.client_with_key(app, key)
        assert titles(client) == ["Old"] * 2
        link.unlink()
        link.symlink_to(copy)
        assert titles(client) == ["New"] * 3
