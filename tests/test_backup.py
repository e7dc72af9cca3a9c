"""`flask database backup` and `flask database restore`, while the service runs."""

import os
import random
import resource
import signal
from threading import Timer

import helpers
import pytest
from helpers import LISTS, article_json, assert_rejected, halve, overwrite, run_sql, titles, truncate

from storage.tables import SCHEMA_VERSION

pytestmark = pytest.mark.sqlite


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
    titles(client)
    sql("UPDATE article SET title = 'In the WAL'")
    path = tmp_path / "what?&%20#" / "backup.db"
    assert_rejected(run("database", "backup", path), "No such file or directory")
    path.parent.mkdir()
    result = run("database", "backup", path)
    assert (result.exit_code, result.stdout) == (0, "")
    assert list(path.parent.iterdir()) == [path]
    before = path.read_bytes()
    assert_rejected(run("database", "backup", path), "backup.db already exists")
    assert path.read_bytes() == before
    sql("DELETE FROM article")
    assert run("database", "restore", path, "--yes").exit_code == 0
    assert sql("SELECT title FROM article") == [("In the WAL",)]


def test_restore_needs_yes_and_reports_what_it_exposes_again(run, backup, client, articles):
    """One article was withdrawn, and another one deleted."""
    assert run("keys", "revoke", "1").exit_code == 0
    assert articles("unpublish", "slug-3").exit_code == 0
    assert articles("delete", "slug-4", "--yes").exit_code == 0
    assert_rejected(run("database", "restore", backup), "Add --yes", status=2)
    assert client.get(LISTS[0]).status_code == 401
    result = run("database", "restore", backup, "--yes")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "valid again: 1." in result.stderr
    assert "public again: 2." in result.stderr
    assert titles(client) == OLD
    again = run("database", "restore", backup, "--yes")
    assert (again.exit_code, again.stderr) == (0, f"Restored from {backup}.\n")


def test_restore_reports_a_valid_key_whose_id_another_one_has(run, backup, sql):
    assert run("keys", "revoke", "1").exit_code == 0
    sql("UPDATE api_key SET id = 2")
    assert run("keys", "create", "Acme").exit_code == 0
    sql("UPDATE api_key SET id = 1 WHERE revoked_at IS NULL")
    assert "valid again: 1." in run("database", "restore", backup, "--yes").stderr


def test_database_that_is_restored_from_itself_stays_the_same(run, backup, client, database):
    assert run("database", "restore", database, "--yes").exit_code == 0
    assert titles(client) == NEW


def test_restore_fills_an_empty_database_in_use(run, backup, client, database, sql):
    """An earlier restore over a missing file may have been killed."""
    assert titles(client) == NEW
    truncate(database)
    assert client.get(LISTS[0]).status_code == 503
    result = run("database", "restore", backup, "--yes")
    assert result.exit_code == 0, result.stderr
    assert titles(client) == OLD
    assert [sql(f"PRAGMA {name}") for name in ("integrity_check", "journal_mode")] == [[("ok",)], [("wal",)]]
    assert files_beside(database) == {"backup.db"}


def test_restore_over_a_missing_file_names_what_to_restart(backup, key, database):
    """Only the owner may read the new file, like the backup."""
    database.unlink()
    before = os.umask(0)
    with helpers.application(database) as app:
        result = helpers.run_command(app, "database", "restore", backup, "--yes")
        os.umask(before)
        assert result.exit_code == 0, result.stderr
        assert all(word in result.stderr for word in (str(database), "Restart the service", "Litestream"))
        assert titles(helpers.client_with_key(app, key)) == OLD
    assert {path.stat().st_mode & 0o777 for path in (database, backup)} == {0o600}
    assert files_beside(database) == {"backup.db"}


def test_new_database_is_only_readable_by_its_owner(database):
    before = os.umask(0)
    with helpers.application(database) as app:
        helpers.create_key(app)
    os.umask(before)
    assert database.stat().st_mode & 0o777 == 0o600


def make_foreign(database):
    database.unlink()
    run_sql(database, "CREATE TABLE bookmark (id INTEGER PRIMARY KEY, name TEXT)")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [(halve, "Stop the service, move"), (overwrite, "Stop the service, move"), (make_foreign, "DATABASE_URL")],
)
def test_restore_over_another_or_corrupt_file_changes_nothing(backup, database, damage, reason):
    damage(database)
    before = database.read_bytes()
    with helpers.application(database) as app:
        assert_rejected(helpers.run_command(app, "database", "restore", backup, "--yes"), str(database), reason)
    assert database.read_bytes() == before
    assert files_beside(database) == {"backup.db"}


def test_backup_and_database_of_an_older_version_stay_so(run, save, sql, database):
    """The older version must be able to restore the backup."""
    save(article_json(1))
    sql("UPDATE tables_version SET number = number - 1")
    sql("ALTER TABLE customer ADD COLUMN older TEXT")
    backup = database.with_name("backup.db")
    assert run("database", "backup", backup).exit_code == 0
    for path in (database, backup):
        assert run_sql(path, "SELECT number FROM tables_version") == [(SCHEMA_VERSION - 1,)]
        assert run_sql(path, "SELECT older FROM customer") == [(None,)]


@pytest.mark.parametrize(
    ("damage", "statement", "reason"),
    [
        (lambda _: b"Not a database. " * 500, "", "is corrupt or not a SQLite database"),
        (lambda backup: backup[:20_000] + random.Random(2).randbytes(20_000) + backup[40_000:], "", "is corrupt"),
        (lambda _: b"", "CREATE TABLE article (id INTEGER)", "is not a database of this service"),
        (bytes, "DROP TABLE api_key", "bad.db: api_key."),
        (bytes, "UPDATE tables_version SET number = number + 1", f"version {SCHEMA_VERSION + 1}"),
    ],
)
def test_invalid_backup_is_rejected_and_changes_nothing(run, backup, client, database, damage, statement, reason):
    bad = database.parent / "bad.db"
    bad.write_bytes(damage(backup.read_bytes()))
    if statement:
        run_sql(bad, statement)
    before = files_beside(database)
    assert_rejected(run("database", "restore", bad, "--yes"), str(bad), reason)
    assert titles(client) == NEW
    assert files_beside(database) == before


def test_restore_waits_for_another_writer_until_interrupted(run, backup, client, database, monkeypatch):
    """Or for a minute."""
    with helpers.other_writer(database):
        Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        assert_rejected(run("database", "restore", backup, "--yes"), "Interrupted: ")
        monkeypatch.setattr("storage.backup.WRITE_LOCK_TIMEOUT_SECONDS", 0.5)
        assert_rejected(run("database", "restore", backup, "--yes"), "locked by another program")
    assert titles(client) == NEW


def test_failed_copy_names_the_database_and_the_folder(run, save, database, tmp_path):
    save(*map(article_json, range(300)))
    target = tmp_path / "elsewhere"
    target.mkdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))  # like a full disk
    try:
        result = run("database", "backup", target / "new.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_rejected(result, f"{database} cannot be copied to the folder {target}")
    assert list(target.iterdir()) == []
