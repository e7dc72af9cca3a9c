"""`flask database backup` and `flask database restore`, while the service runs."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import closing
from itertools import count as count_from

import pytest
from helpers import (
    DAMAGES,
    ENDPOINTS,
    LISTS,
    WAITING,
    article_json,
    client_with_key,
    close,
    create_application,
    fast_clock,
    get,
    halve,
    overwrite_after_first_page,
    remove,
    run_command,
    run_sql,
    subprocess_args,
    truncate,
)

pytestmark = pytest.mark.sqlite
REVOKED = "Keys that were revoked since the backup are valid again: revoke them."


QUERY = LISTS[1] + "?orderBy=title&order=asc&take=100"


def titles(server, key):
    """Return the titles that a running service shows."""
    response = get(server, QUERY, x_api_key=key)
    assert response.status == 200, response.body
    return [article["title"] for article in json.loads(response.body)["data"]]


def shown(client):
    """Return the titles that the application shows, which has had the database open before."""
    return [article["title"] for article in client.get(QUERY).get_json()["data"]]


def files_beside(database):
    return {path.name for path in database.parent.iterdir()} - {"articles.db", "articles.db-wal", "articles.db-shm"}


@pytest.fixture
def backup(run, save, key, database):
    """A backup of ten articles; the database has two others since."""
    save(*(article_json(number, title=f"Old {number}") for number in range(10)))
    path = database.parent / "backup.db"
    assert run("database", "backup", path).exit_code == 0
    save(*(article_json(number, title=f"New {number}") for number in range(12)))
    return path


OLD = [f"Old {number}" for number in range(10)]
NEW = sorted(f"New {number}" for number in range(12))


def test_backup_holds_what_was_committed_to_the_wal(run, save, sql, client, database):
    save(article_json(1))
    shown(client)
    sql("UPDATE article SET title = 'In the WAL'")
    result = run("database", "backup", database.parent / "backup.db")
    assert (result.exit_code, result.stdout) == (0, "")
    assert {path.name for path in database.parent.glob("backup*")} == {"backup.db"}
    with closing(sqlite3.connect(database.parent / "backup.db")) as copy:
        assert copy.execute("SELECT title FROM article").fetchall() == [("In the WAL",)]
        assert copy.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_backup_never_overwrites_a_file(run, backup):
    before = backup.read_bytes()
    result = run("database", "backup", backup)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {backup} exists already. Choose another name, or move it away.\n"
    assert backup.read_bytes() == before


def test_backup_into_a_missing_folder_is_refused(run, app, tmp_path):
    result = run("database", "backup", tmp_path / "none" / "backup.db")
    assert result.exit_code == 1
    assert "cannot be written (No such file or directory)" in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("damage", [halve, overwrite_after_first_page])
def test_damaged_database_is_not_backed_up(run, save, database, app, damage):
    save(*(article_json(number, contentHtml="x" * 3000) for number in range(90)))
    before = files_beside(database)
    damage(database)
    result = run("database", "backup", database.parent / "backup.db")
    assert result.exit_code == 1
    assert result.stderr.count("\n") <= 2
    assert "Restore an earlier backup." in result.stderr
    assert files_beside(database) == before


@pytest.mark.slow
def test_interrupted_backup_leaves_no_file(save, key, database):
    save(*(article_json(number, contentHtml="x" * 200_000) for number in range(100)))
    for _ in range(5):
        args = subprocess_args(database, "-m", "flask", "database", "backup", str(database.parent / "backup.db"))
        process = subprocess.Popen(**args)
        while process.poll() is None and not any(".tmp" in name for name in files_beside(database)):
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        if process.returncode == 0:
            (database.parent / "backup.db").unlink()
        assert files_beside(database) == set()


def test_backup_beside_a_busy_writer_ends_with_one_state(run, save, sql, database):
    """Another program commits while the database is copied."""
    save(*(article_json(number, title="State 0", contentHtml="x" * 200_000) for number in range(60)))
    stopping = threading.Event()

    def write():
        for state in count_from(1):
            if stopping.wait(0.01):
                return
            sql("UPDATE article SET title = ?", f"State {state}")

    writer = threading.Thread(target=write)
    writer.start()
    result = run("database", "backup", database.parent / "backup.db")
    stopping.set()
    writer.join()
    assert result.exit_code == 0, result.output
    with closing(sqlite3.connect(database.parent / "backup.db")) as copy:
        assert copy.execute("SELECT count(DISTINCT title) FROM article").fetchall() == [(1,)]


def test_restore_shows_in_the_next_response(run, backup, save, server, key, sql):
    for _ in range(3):
        assert titles(server, key) == NEW
        assert run("keys", "revoke", "1").exit_code == 0
        assert get(server, LISTS[0], x_api_key=key).status == 401
        result = run("database", "restore", backup, "--yes")
        assert (result.exit_code, result.stdout) == (0, "")
        assert REVOKED in result.stderr
        assert titles(server, key) == OLD
        assert sql("PRAGMA integrity_check") == [("ok",)]
        assert sql("PRAGMA journal_mode") == [("wal",)]
        save(*(article_json(number, title=f"New {number}") for number in range(12)))


def test_restore_repairs_the_database_of_a_running_service(run, backup, app, server, key, database, sql):
    """It keeps mode and owner of the file. One that is lost gets the owner of its folder."""
    owner = 1234 if os.geteuid() == 0 else os.geteuid()
    os.chown(database.parent, owner, -1)
    for damage in DAMAGES:
        titles(server, key)
        close(app)
        os.chown(database, owner, -1)
        database.chmod(0o640)
        damage(database)
        assert get(server, LISTS[0], x_api_key=key).status == 503
        result = run("database", "restore", backup, "--yes")
        assert result.exit_code == 0, result.stderr
        assert database.stat().st_mode & 0o777 == (0o600 if damage is remove else 0o640)
        assert database.stat().st_uid == owner
        assert titles(server, key) == OLD
        assert sql("PRAGMA integrity_check") == [("ok",)]
        assert not [name for name in files_beside(database) if "tmp" in name]
    assert "Traceback" not in server.log()


@pytest.mark.parametrize("damage", [remove, truncate])
def test_journal_of_the_old_file_is_not_applied(run, backup, app, client, database, damage, sql):
    """A writer in rollback mode was killed, and has left its journal beside the file."""
    close(app)
    journal = database.parent / "articles.db-journal"
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("PRAGMA cache_size = 5")
        writer.execute("BEGIN")
        writer.execute("UPDATE article SET content_html = ?", ("x" * 50_000,))
        hot = journal.read_bytes()
    journal.write_bytes(hot)
    damage(database)
    assert run("database", "restore", backup, "--yes").exit_code == 0
    assert shown(client) == OLD
    assert sql("PRAGMA integrity_check") == [("ok",)]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("damage", DAMAGES[:-1])  # others are repaired in their place
def test_restore_killed_after_the_move_leaves_all_in_order(run, backup, app, client, database, damage):
    """It has nothing left to do: a service, which only reads, could not end what was begun."""
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


def test_folder_of_a_backup_may_have_any_name(run, save, tmp_path):
    save(article_json(1))
    folder = tmp_path / "what?&%20#"
    folder.mkdir()
    assert run("database", "backup", folder / "b.db").exit_code == 0
    assert run("database", "restore", folder / "b.db", "--yes").exit_code == 0


@pytest.mark.slow  # SQLite waits for five seconds
def test_locked_database_is_not_called_damaged(run, save, app, database):
    save(article_json(1))
    close(app)
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = DELETE")
        writer.execute("BEGIN EXCLUSIVE")
        result = run("database", "backup", database.parent / "b.db")
    assert result.exit_code == 1
    assert "Another program writes to it: try again." in result.stderr


def test_restore_creates_a_database_that_serves(tmp_path, backup, key):
    app = create_application(tmp_path / "elsewhere.db")
    result = run_command(app, "database", "restore", backup, "--yes")
    assert result.exit_code == 0
    assert f"Created the database {tmp_path / 'elsewhere.db'}.\n" in result.stderr
    assert app.test_client().get(LISTS[0], headers={"x-api-key": key}).get_json()["meta"]["total"] == 10


NOT_WHOLE = "is not a whole SQLite database"
FOREIGN = "is not a database of this service"


@pytest.mark.parametrize(
    ("damage", "statement", "reason"),
    [
        (lambda _backup: b"This is no database. " * 500, "", f"{NOT_WHOLE} (file is not a database)"),
        (lambda backup: backup[: len(backup) // 2], "", NOT_WHOLE),
        (lambda backup: backup[:20_000] + random.Random(2).randbytes(20_000) + backup[40_000:], "", NOT_WHOLE),
        (lambda _backup: b"", "", FOREIGN),
        (lambda _backup: b"", "CREATE TABLE bookmark (id INTEGER)", FOREIGN),
        (lambda _backup: b"", "CREATE TABLE article (id INTEGER)", FOREIGN),
        (bytes, "ALTER TABLE api_key DROP COLUMN expires_on", "no such column: api_key.expires_on"),
        (bytes, "UPDATE tables_version SET number = number + 1", "A newer version of this service made the database"),
    ],
)
def test_unusable_backup_is_refused_and_changes_nothing(run, backup, client, database, damage, statement, reason):
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


@pytest.mark.parametrize("name", ["backup.db", "articles.db"])
def test_backup_with_another_page_size_is_restored(run, backup, app, client, database, name):
    close(app)
    with closing(sqlite3.connect(database.with_name(name), isolation_level=None)) as connection:
        for statement in ("journal_mode = DELETE", "page_size = 8192"):
            connection.execute(f"PRAGMA {statement}")
        connection.execute("VACUUM")
        connection.execute("PRAGMA journal_mode = WAL")
    assert run("database", "restore", backup, "--yes").exit_code == 0
    assert shown(client) == OLD
    assert run("database", "backup", database.with_name("again.db")).exit_code == 0


def test_restore_needs_yes_where_nobody_can_be_asked(run, backup, client, key):
    result = run("database", "restore", backup)
    assert result.exit_code == 2
    assert "Add --yes" in result.stderr
    assert shown(client) == NEW
    assert run("database", "restore", backup.with_name("none.db"), "--yes").exit_code == 2


def test_restore_waits_for_another_writer(run, backup, client, key, database):
    writer = sqlite3.connect(database, check_same_thread=False, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    threading.Timer(0.5, lambda: writer.execute("ROLLBACK")).start()
    began = time.monotonic()
    assert run("database", "restore", backup, "--yes").exit_code == 0
    assert time.monotonic() - began >= 0.5
    assert shown(client) == OLD
    writer.close()


@pytest.mark.slow
def test_restore_gives_up_after_a_minute_of_another_writer(backup, client, database, tmp_path):
    command = "-m", "flask", "database", "restore", str(backup), "--yes"
    with closing(sqlite3.connect(database, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        result = subprocess.run(**subprocess_args(database, *command, **fast_clock(tmp_path, 10)))
    assert result.returncode == 1
    assert (
        result.stderr == WAITING + "Error: Another program has been writing to the database for a minute. Try again.\n"
    )
    assert shown(client) == NEW


def read_states(server, key, stop, states, faults):
    """Read both lists and the sitemap until told to stop; collect what shows no whole state of the database."""
    while not stop.is_set():
        for path in ENDPOINTS:
            response = get(server, f"{path}?take=100", x_api_key=key)
            if response.status == 503:
                states.append("503")
                continue
            page = json.loads(response.body)
            names = {(article.get("title") or article["url"]).split()[0].split("-")[0] for article in page["data"]}
            state = names.pop() if len(names) == 1 else None
            if response.status != 200 or {"Old": 60, "New": 90}.get(state) != len(page["data"]):
                faults.append((response.status, response.body[:200]))
            states.append(state)


@pytest.fixture
def backups(run, save, key, database):
    """Two backups by name; the database is as the second one."""
    copies = {}
    for state, count in (("Old", 60), ("New", 90)):
        text = f"<p>{state}</p>" * 4000
        save(*(article_json(n, title=f"{state} {n}", slug=f"{state}-{n}", contentHtml=text) for n in range(count)))
        copies[state] = database.parent / f"{state}.db"
        assert run("database", "backup", copies[state]).exit_code == 0
    return copies


@pytest.mark.slow
def test_restore_under_load_mixes_no_responses(run, backups, start, key):
    server = start(CACHE_MB="16")
    stop, states, faults = threading.Event(), [], []
    readers = [threading.Thread(target=read_states, args=(server, key, stop, states, faults)) for _ in range(4)]
    for reader in readers:
        reader.start()
    for number in range(60):
        state = ("Old", "New")[number % 2]
        result = run("database", "restore", backups[state], "--yes")
        assert result.exit_code == 0, result.stderr
        assert {title.split()[0] for title in titles(server, key)} == {state}
    stop.set()
    for reader in readers:
        reader.join()
    assert not faults
    assert {"Old", "New"} <= set(states)
    assert states.count("503") <= len(states) // 20
    assert "Traceback" not in server.log()


@pytest.mark.slow
def test_killed_restore_leaves_the_old_or_the_new_state(backups, sql, server, key, database):
    chance, current = random.Random(3), "New"
    for number in range(50):
        wanted = ("Old", "New")[number % 2]
        child = os.fork()  # faster than a new process
        if not child:
            other = create_application(database)
            os._exit(run_command(other, "database", "restore", backups[wanted], "--yes").exit_code)
        time.sleep(chance.uniform(0.01, 0.2))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        states = {title.split()[0] for title in titles(server, key)}
        assert states in ({wanted}, {current})
        (current,) = states
        assert sql("PRAGMA integrity_check") == [("ok",)]


def test_new_files_are_their_owners_alone(database, tmp_path):
    new_app = create_application(database)
    before = os.umask(0)
    try:
        for command in (["keys", "create", "Acme"], ["database", "backup", tmp_path / "backup.db"]):
            assert run_command(new_app, *command).exit_code == 0
        assert database.stat().st_mode & 0o777 == 0o600
        database.unlink()
        close(new_app)
        assert run_command(new_app, "database", "restore", tmp_path / "backup.db", "--yes").exit_code == 0
        assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.glob("*.db*")} == {
            "articles.db": "0o600",
            "backup.db": "0o600",
        }
    finally:
        os.umask(before)


FOREIGN_TABLES = [
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, email TEXT)",
    "CREATE TABLE api_key (id INTEGER PRIMARY KEY, customer_id INTEGER, secret TEXT)",
    "CREATE TABLE article (id INTEGER PRIMARY KEY, title TEXT, body TEXT)",
]


@pytest.mark.parametrize("mode", ["DELETE", "WAL"])
def test_tables_of_another_program_are_left_alone(app, run, key, database, tmp_path, start, mode):
    assert run("database", "backup", tmp_path / "backup.db").exit_code == 0
    close(app)
    database.unlink()
    for statement in (f"PRAGMA journal_mode = {mode}", *FOREIGN_TABLES):
        run_sql(database, statement)
    before = database.read_bytes()
    for command in ("keys create Acme", "articles list", f"database restore {tmp_path}/backup.db --yes"):
        result = run(*command.split())
        assert result.stderr == f"Error: {database} is another program's database. Set DATABASE_URL to another one.\n"
    assert "is not a database of this service" in run("database", "backup", tmp_path / "other.db").stderr
    client = client_with_key(app, key)
    assert client.get(LISTS[0]).status_code == 503
    close(app)
    assert database.read_bytes() == before
