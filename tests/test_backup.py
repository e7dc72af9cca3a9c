"""`flask database backup` and `flask database restore`, while the service runs."""

import os
import random
import re
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from helpers import (
    DAMAGES,
    LISTS,
    article_json,
    client_with_key,
    close,
    create_application,
    create_key,
    fast_clock,
    halve,
    overwrite_after_first_page,
    remove,
    run_command,
    run_sql,
    subprocess_args,
    truncate,
)

pytestmark = pytest.mark.sqlite
QUERY = LISTS[1] + "?orderBy=title&order=asc&take=100"


def shown(client):
    """Return the titles that the API shows; this also opens the database."""
    return [article["title"] for article in client.get(QUERY).get_json()["data"]]


def files_beside(database):
    return {path.name for path in database.parent.iterdir()} - {"articles.db", "articles.db-wal", "articles.db-shm"}


@pytest.fixture
def backup(run, save, key, database):
    """A backup of ten articles; since then the database has been changed."""
    save(*(article_json(number, title=f"Old {number}") for number in range(10)))
    path = database.parent / "backup.db"
    assert run("database", "backup", path).exit_code == 0
    save(*(article_json(number, title=f"New {number}") for number in range(12)))
    return path


OLD = [f"Old {number}" for number in range(10)]
NEW = sorted(f"New {number}" for number in range(12))


def test_backup_is_one_complete_new_file(run, save, sql, client, tmp_path):
    """Its folder must exist, but may have any name."""
    save(article_json(1))
    shown(client)
    sql("UPDATE article SET title = 'In the WAL'")
    path = tmp_path / "what?&%20#" / "backup.db"
    missing = run("database", "backup", path)
    assert (missing.exit_code, missing.stderr.count("\n")) == (1, 1)
    assert "(No such file or directory)" in missing.stderr
    path.parent.mkdir()
    result = run("database", "backup", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert list(path.parent.iterdir()) == [path]
    before = path.read_bytes()
    again = run("database", "backup", path)
    assert again.exit_code == 1
    assert again.stderr == f"Error: {path} already exists. Choose another name, or move it away.\n"
    assert path.read_bytes() == before
    link = path.with_name("link.db")
    link.symlink_to("nowhere")
    assert (run("database", "backup", link).exit_code, link.is_symlink()) == (1, True)
    sql("DELETE FROM article")
    assert run("database", "restore", path, "--yes").exit_code == 0
    assert sql("SELECT title FROM article") == [("In the WAL",)]


@pytest.mark.parametrize("has_links", [True, False])
def test_file_created_during_a_backup_is_not_overwritten(run, save, database, monkeypatch, has_links):
    """Not even on a file system without hard links, such as FAT."""
    save(article_json(1))
    target, earlier = database.with_name("backup.db"), database.with_name("earlier.db")
    if not has_links:
        monkeypatch.setattr(os, "link", lambda *_: os.close(-1))  # fails
    assert run("database", "backup", earlier).exit_code == 0
    assert run("database", "restore", earlier, "--yes").exit_code == 0
    monkeypatch.setattr(
        os, "fsync", lambda _file: target.write_text("Precious")
    )  # the last step before publishing the file
    result = run("database", "backup", target)
    assert (result.exit_code, result.stderr.count("\n")) == (1, 1)
    assert str(target) in result.stderr
    assert target.read_text() == "Precious"
    assert files_beside(database) == {"backup.db", "earlier.db"}


@pytest.mark.parametrize("damage", [halve, overwrite_after_first_page])
def test_corrupt_database_is_not_backed_up(run, save, database, app, damage):
    save(*(article_json(number, contentHtml="x" * 3000) for number in range(90)))
    before = files_beside(database)
    damage(database)
    result = run("database", "backup", database.parent / "backup.db")
    assert result.exit_code == 1
    assert result.stderr.count("\n") <= 2
    assert "Restore an earlier backup" in result.stderr
    assert files_beside(database) == before


def test_restore_needs_yes_and_warns_about_revoked_keys(run, backup, client):
    assert run("keys", "revoke", "1").exit_code == 0
    unconfirmed = run("database", "restore", backup)
    assert (unconfirmed.exit_code, "Add --yes" in unconfirmed.stderr) == (2, True)
    assert run("database", "restore", backup.with_name("none.db"), "--yes").exit_code == 2
    assert client.get(LISTS[0]).status_code == 401
    result = run("database", "restore", backup, "--yes")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Keys that were revoked since the backup are valid again: revoke them." in result.stderr
    assert shown(client) == OLD


def test_database_cannot_be_restored_from_itself(run, backup, client, database):
    link = database.with_name("link.db")
    link.symlink_to(database)
    for path in (database, link):
        result = run("database", "restore", path, "--yes")
        assert (result.exit_code, str(path) in result.stderr) == (1, True)
    assert shown(client) == NEW


def test_restore_repairs_the_database_in_use(run, backup, app, client, database, sql):
    """Mode and owner are preserved, and so is a corrupt file. A missing one gets its folder's owner."""
    owner = 1234 if os.geteuid() == 0 else os.geteuid()
    os.chown(database.parent, owner, -1)
    for damage in DAMAGES:
        assert client.get(LISTS[0]).status_code == 200
        os.chown(database, owner, -1)
        database.chmod(0o640)
        damage(database)
        assert client.get(LISTS[0]).status_code == 503
        Path(f"{database}-journal").write_bytes(b"\0")  # SQLite would apply a valid one to the new file
        damaged = damage not in (remove, truncate) and database.read_bytes()
        result = run("database", "restore", backup, "--yes")
        assert result.exit_code == 0, result.stderr
        assert database.stat().st_mode & 0o777 == (0o600 if damage is remove else 0o640)
        assert database.stat().st_uid == owner
        assert shown(client) == OLD
        assert [sql(f"PRAGMA {name}") for name in ("integrity_check", "journal_mode")] == [[("ok",)], [("wal",)]]
        corrupt = {name for name in files_beside(database) if re.search("damaged-[0-9T]+$", name)}
        assert len(corrupt) == bool(damaged)
        for name in corrupt:
            assert f"Kept the corrupt database as {database.parent / name}." in result.stderr
            assert (database.parent / name).read_bytes() == damaged
        journals = [path.read_bytes() for path in database.parent.glob("*.damaged-*-journal")]
        assert journals == [b"\0"] * (damage is not truncate)  # a truncated file is an empty, intact database
        for path in database.parent.glob("*.damaged-*"):
            path.unlink()
        assert files_beside(database) == {"backup.db"}


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("damage", [damage for damage in DAMAGES if damage is not truncate])
def test_restore_killed_after_the_move_is_complete(run, backup, app, client, database, damage):
    """Nothing may be left to do, because the service only reads and could not finish it."""
    close(app)
    damage(database)
    child = os.fork()
    if not child:
        replace = os.replace
        os.replace = lambda *paths: (replace(*paths), os.kill(os.getpid(), signal.SIGKILL))
        run_command(create_application(database), "database", "restore", backup, "--yes")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert database.read_bytes()[18:20] == b"\2\2"  # WAL mode: https://www.sqlite.org/fileformat.html
    assert shown(client) == OLD


CORRUPT = "is corrupt or not a SQLite database"
FOREIGN = "is not a database of this service"


@pytest.mark.parametrize(
    ("damage", "statement", "reason"),
    [
        (lambda _backup: b"Not a database. " * 500, "", f"{CORRUPT} (file is not a database)"),
        (lambda backup: backup[: len(backup) // 2], "", CORRUPT),
        (lambda backup: backup[:20_000] + random.Random(2).randbytes(20_000) + backup[40_000:], "", CORRUPT),
        (lambda _backup: b"", "", FOREIGN),
        (lambda _backup: b"", "CREATE TABLE bookmark (id INTEGER)", FOREIGN),
        (lambda _backup: b"", "CREATE TABLE article (id INTEGER)", FOREIGN),
        *(
            (bytes, f"DROP TABLE {name}", f"incomplete: {name} is missing")
            for name in ("customer", "api_key", "article")
        ),
        (bytes, "DELETE FROM tables_version", "version None"),
        (bytes, "UPDATE tables_version SET number = number + 1", "version 5"),
    ],
)
def test_invalid_backup_is_rejected_and_changes_nothing(run, backup, client, database, damage, statement, reason):
    bad = database.parent / "bad.db"
    bad.write_bytes(damage(backup.read_bytes()))
    if statement:
        run_sql(bad, statement)
    before = files_beside(database)
    result = run("database", "restore", bad, "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    assert reason in result.stderr
    assert result.stderr.count("\n") <= 2
    assert shown(client) == NEW
    assert files_beside(database) == before


def test_restore_waits_for_another_writer_until_interrupted(backup, client, database):
    restore = subprocess_args(database, "-m", "flask", "database", "restore", str(backup), "--yes")
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with subprocess.Popen(**restore) as interrupted, subprocess.Popen(**restore) as patient:
            assert all("Waiting" in process.stderr.readline() for process in (interrupted, patient))
            interrupted.send_signal(signal.SIGINT)
            assert "Interrupted: " in interrupted.communicate(timeout=30)[1]
            assert shown(client) == NEW
            writer.execute("ROLLBACK")
            assert patient.wait(timeout=20) == 0
    assert shown(client) == OLD


@pytest.mark.slow
def test_restore_gives_up_after_a_minute_of_waiting(backup, client, database, tmp_path):
    command = "-m", "flask", "database", "restore", str(backup), "--yes"
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        result = subprocess.run(**subprocess_args(database, *command, **fast_clock(tmp_path, 10)))
    assert result.returncode == 1
    assert "locked by another program" in result.stderr
    assert shown(client) == NEW


def test_new_files_are_only_readable_by_their_owner(database, tmp_path):
    """Including a database that a restore creates."""
    app = create_application(database)
    before = os.umask(0)
    try:
        key = create_key(app)
        assert run_command(app, "database", "backup", tmp_path / "backup.db").exit_code == 0
        assert database.stat().st_mode & 0o777 == 0o600
        database.unlink()
        close(app)
        restored = run_command(app, "database", "restore", tmp_path / "backup.db", "--yes")
        assert (restored.exit_code, restored.stderr.splitlines()[0]) == (0, f"Created the database {database}.")
        modes = {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.glob("*.db*")}
        assert modes == {"articles.db": "0o600", "backup.db": "0o600"}
        assert client_with_key(app, key).get(LISTS[0]).status_code == 200
    finally:
        os.umask(before)
