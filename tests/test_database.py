"""The database under a running service: broken, replaced, locked, read-only; its tables' version; its writers."""

import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from contextlib import closing

import pytest
from conftest import ENDPOINTS, LISTS, article, get, program, simple, url_of, wait_for, write_articles

from app import create_app
from cache import Cache
from cache import init_app as cache_init
from database import VERSION, create_tables
from models import db
from watch import LOG_IS_QUIET

pytestmark = pytest.mark.sqlite

# The superuser may write everywhere; without these capabilities it is as bound to permissions as others.
AS_A_USER = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []


@pytest.fixture
def save(app, save, key):
    """Write articles, and let go of the file, as a command that ends does."""

    def save_and_close(*articles):
        save(*articles)
        with app.app_context():
            db.engine.dispose()

    return save_and_close


def titles(server, key):
    """Give the titles of a list, which is served now."""
    answer = get(server, LISTS[1] + "?orderBy=title&order=asc&take=100", x_api_key=key)
    assert answer.status == 200, answer.body
    return [each["title"] for each in json.loads(answer.body)["data"]]


def assert_out_of_order(server, key):
    """Check that every endpoint answers 503 as it should."""
    for path in (*ENDPOINTS, "/healthz"):
        answer = get(server, path, x_api_key=key)
        assert answer.status == 503, path
        assert int(answer.getheader("Retry-After")) > 0
        assert answer.getheader("Content-Type") == "application/problem+json"
        assert b"sqlite" not in answer.body
        assert b".db" not in answer.body


def copy_of(database, name="copy.db", mode="DELETE"):
    """Make a copy as the README's backup does, in its journal mode or another, and give its path."""
    copy = database.parent / name
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"VACUUM INTO '{copy}'")
    with closing(sqlite3.connect(copy)) as connection:
        connection.execute(f"PRAGMA journal_mode = {mode}")
    return copy


def remove(database, _copy):
    database.rename(database.parent / "away.db")


def put_back(database, _copy):
    (database.parent / "away.db").rename(database)


def truncate(database, _copy):
    os.truncate(database, 0)


def halve(database, _copy):
    os.truncate(database, database.stat().st_size // 2)


def overwrite(database, _copy):
    with database.open("r+b") as file:
        file.write(random.Random(1).randbytes(database.stat().st_size))


def overwrite_after_the_start(database, _copy):
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (database.stat().st_size - 4096))


def make_a_folder(database, _copy):
    database.unlink()
    database.mkdir()


def move_over(database, copy):
    if database.is_dir():
        database.rmdir()
    os.replace(shutil.copyfile(copy, copy.with_suffix(".moved")), database)


def copy_over(database, copy):
    shutil.copyfile(copy, database)


def forbid(database, _copy):
    database.chmod(0)


def allow(database, _copy):
    database.chmod(0o644)


@pytest.mark.parametrize("megabytes", ["0", "64"])
@pytest.mark.parametrize(
    ("break_it", "mend_it"),
    [
        (remove, put_back),
        (remove, copy_over),
        (remove, move_over),
        (truncate, copy_over),
        (halve, copy_over),
        (halve, move_over),
        (overwrite, copy_over),
        (overwrite, move_over),
        (overwrite_after_the_start, copy_over),
        (make_a_folder, move_over),
        (forbid, allow),
    ],
)
def test_a_broken_database_is_out_of_order_until_it_is_mended(
    save, sql, start, key, database, break_it, mend_it, megabytes
):
    save(*(article(number) for number in range(90)))
    copy = copy_of(database)
    server = start(*AS_A_USER, CACHE_MB=megabytes)
    assert len(titles(server, key)) == 90
    for _ in range(2):
        break_it(database, copy)
        for _ in range(3):
            assert_out_of_order(server, key)
        mend_it(database, copy)
        for path in ENDPOINTS:
            assert get(server, path, x_api_key=key).status == 200
        assert get(server, "/healthz").status == 200
        assert len(titles(server, key)) == 90
    sql("UPDATE article SET title = 'Later' WHERE id = 'id-0007'")
    assert "Later" in titles(server, key)
    assert sql("PRAGMA integrity_check") == [("ok",)]
    assert "Traceback" not in server.log()


def test_a_database_that_another_process_keeps_locked_is_out_of_order_until_it_is_released(save, start, key, database):
    save(article(1))
    copy = copy_of(database)
    server = start()
    os.replace(copy, database)  # in WAL mode nobody could keep readers out
    assert titles(server, key) == ["Title 1"]
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        answers = []
        readers = [
            threading.Thread(target=lambda path=path: answers.append(get(server, path, x_api_key=key)))
            for path in (*ENDPOINTS, "/healthz")
        ]
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
        assert [answer.status for answer in answers] == [503] * 4
    assert titles(server, key) == ["Title 1"]


@pytest.mark.parametrize("replace", [copy_over, move_over])
@pytest.mark.parametrize("megabytes", ["0", "64"])
def test_a_backup_in_its_place_is_served_at_once(save, sql, start, key, database, replace, megabytes):
    save(*(article(number, title=f"Old {number}") for number in range(50)))
    copy = copy_of(database)
    server = start(CACHE_MB=megabytes)
    for number in range(5):
        save(*(article(each, title=f"New {number} {each}") for each in range(60)))
        assert titles(server, key) == sorted(f"New {number} {each}" for each in range(60))
        replace(database, copy)
        assert titles(server, key) == sorted(f"Old {each}" for each in range(50))
    assert sql("PRAGMA integrity_check") == [("ok",)]


def test_the_log_of_a_database_is_not_taken_for_that_of_the_one_moved_in_its_place(save, sql, server, key, database):
    save(*(article(number, title=f"Old {number}") for number in range(50)))
    for number in range(3):
        copy = copy_of(database, mode="WAL")
        assert titles(server, key) == sorted(f"Old {each}" for each in range(50))
        sql("UPDATE article SET title = 'New', content_html = ?", "x" * 10_000 * number)
        assert (database.parent / "articles.db-wal").stat().st_size > 0
        os.replace(copy, database)
        assert titles(server, key) == sorted(f"Old {each}" for each in range(50))
        assert sql("PRAGMA integrity_check") == [("ok",)]


def test_what_is_committed_to_the_database_moved_in_its_place_is_kept(save, sql, server, key, database):
    """Though its writer, who takes the log that is there for its own, is faster than the service."""
    save(article(1, title="Old"))
    copy = copy_of(database, mode="WAL")
    assert titles(server, key) == ["Old"]
    time.sleep(3 * LOG_IS_QUIET)
    server.process.send_signal(signal.SIGSTOP)
    os.replace(copy, database)
    time.sleep(0.05)
    with closing(sqlite3.connect(database)) as writer:
        writer.execute("UPDATE article SET title = 'Committed'")
        writer.commit()
        server.process.send_signal(signal.SIGCONT)
        time.sleep(3 * LOG_IS_QUIET)
        assert titles(server, key) == ["Committed"]
    assert sql("SELECT title FROM article") == [("Committed",)]


@pytest.mark.parametrize("megabytes", [0, 64])
@pytest.mark.parametrize("replace", [copy_over, move_over])
def test_a_key_of_one_database_shows_nothing_of_the_one_in_its_place(
    app, save, key, database, tmp_path, monkeypatch, megabytes, replace
):
    """Though it is put there between the key's check and the articles, and customers have the same numbers in it."""
    save(article(1))
    app.config["CACHE_MB"] = megabytes
    other = create_app({"DATABASE_URL": url_of(tmp_path / "other.db")})
    with other.app_context():
        create_tables()
    write_articles(other, article(1, title="Secret"), customer="Other")
    cache_init(app)
    client = app.test_client()
    answer = Cache.answer

    def replace_before(cache, *arguments):
        monkeypatch.setattr(Cache, "answer", answer)
        replace(database, tmp_path / "other.db")
        cache.version()  # as another request would
        return answer(cache, *arguments)

    assert client.get(LISTS[0], headers={"x-api-key": key}).status_code == 200
    monkeypatch.setattr(Cache, "answer", replace_before)
    assert client.get(LISTS[0] + "?q=e", headers={"x-api-key": key}).status_code == 401


@pytest.mark.skipif(os.geteuid() != 0, reason="only who may write to what others may not can show what they see of it")
def test_a_database_that_can_only_be_read_shows_nothing_uncommitted(save, start, key, database):
    save(*(article(number, content_html="x" * 3000) for number in range(90)))
    copy = copy_of(database)
    folder = database.parent / "folder"
    folder.mkdir()
    alone = copy.rename(folder / "articles.db")
    alone.chmod(0o444)
    folder.chmod(0o555)
    link = database.parent / "link.db"
    link.symlink_to(alone)
    server = start(*AS_A_USER, DATABASE_URL=url_of(link))
    with closing(sqlite3.connect(alone, isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 5")  # so that it writes pages into the file before it commits
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE article SET title = 'Uncommitted', category = ?", ("x" * 9000,))
        assert get(server, LISTS[0], x_api_key=key).status == 503
        writer.execute("ROLLBACK")
        assert "Uncommitted" not in titles(server, key)
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("UPDATE article SET title = 'Committed'")
        assert set(titles(server, key)) == {"Committed"}


def test_the_restore_that_the_readme_describes_needs_no_stop(save, sql, server, key, database):
    """Though a log is removed that the service has open, and not all that is in it is in the file."""
    save(*(article(number, title=f"Old {number}") for number in range(50)))
    copy = copy_of(database)
    old = sorted(f"Old {each}" for each in range(50))
    for number in range(5):
        assert titles(server, key) == old
        sql("UPDATE article SET title = 'New', content_html = ?", "x" * 5_000 * number)
        assert set(titles(server, key)) == {"New"}
        (database.parent / "articles.db-wal").unlink(missing_ok=True)
        (database.parent / "articles.db-shm").unlink(missing_ok=True)
        copy_over(database, copy)
        assert titles(server, key) == old
        sql("UPDATE article SET title = 'Later'")
        assert set(titles(server, key)) == {"Later"}
        copy_over(database, copy)
        (database.parent / "articles.db-wal").unlink(missing_ok=True)
        (database.parent / "articles.db-shm").unlink(missing_ok=True)
        assert titles(server, key) == old
        assert sql("PRAGMA integrity_check") == [("ok",)]


def test_what_others_write_is_soon_in_the_file_itself(save, sql, server, key, database):
    save(article(1))
    log = database.parent / "articles.db-wal"
    assert titles(server, key) == ["Title 1"]
    sql("UPDATE article SET title = 'New'")
    assert log.stat().st_size > 0
    wait_for(lambda: log.stat().st_size == 0, lambda: f"{log.stat().st_size} bytes in the log")
    assert titles(server, key) == ["New"]
    plain_copy = shutil.copyfile(database, database.parent / "plain.db")
    sql("UPDATE article SET title = 'Newer'")
    time.sleep(3 * LOG_IS_QUIET)
    copy_over(database, plain_copy)
    assert titles(server, key) == ["New"]


def test_no_answer_mixes_two_databases_that_replace_each_other_under_load(save, sql, start, key, database):
    """Readers at full speed, while two databases of several megabytes are copied and moved over each other."""
    copies = []
    for name, count in (("first", 90), ("second", 60), ("third", 100)):
        sql("DELETE FROM article")
        save(*(article(each, title=f"{name} {each}", content_html=f"{name} " * 8000) for each in range(count)))
        copies.append((name, count, copy_of(database, f"{name}.db")))
    counts = {name: count for name, count, _ in copies}
    server = start(CACHE_MB="16")
    until = time.monotonic() + 6
    wrong, right, out_of_order = [], [], []

    def read(path):
        while time.monotonic() < until:
            answer = get(server, path, x_api_key=key)
            if answer.status == 503:
                out_of_order.append(answer)
                continue
            page = json.loads(answer.body) if answer.status == 200 else {"data": [], "meta": answer.status}
            names = {each["title"].split()[0] for each in page["data"]}
            names |= {each["contentHtml"].split()[0] for each in page["data"] if "contentHtml" in each}
            (name,) = names if len(names) == 1 else ("",)
            if page["meta"] != {"total": counts.get(name), "take": counts.get(name), "skip": 0}:
                wrong.append((names, page["meta"]))
            right.append(name)

    readers = [threading.Thread(target=read, args=(f"{path}?take=100",)) for path in LISTS * 2]
    for reader in readers:
        reader.start()
    chance = random.Random(3)
    while time.monotonic() < until:
        chance.choice((copy_over, move_over))(database, chance.choice(copies)[2])
        time.sleep(chance.choice((0, 0.01, 0.1)))
    for reader in readers:
        reader.join()
    assert not wrong
    assert set(right) == set(counts)
    assert len(right) > 5 * len(out_of_order)
    for name, count, copy in copies:
        copy_over(database, copy)
        assert titles(server, key) == sorted(f"{name} {each}" for each in range(count))


@pytest.mark.parametrize("replace", [copy_over, move_over])
def test_a_database_that_can_only_be_read_is_served_with_all_that_is_committed(save, start, key, database, replace):
    save(article(1))
    copy = copy_of(database)
    server = start(*AS_A_USER)
    server.stop()
    (database.parent / "folder").mkdir()
    alone = database.rename(database.parent / "folder" / database.name)
    alone.chmod(0o444)
    alone.parent.chmod(0o555)
    try:
        server = start(*AS_A_USER, DATABASE_URL=url_of(alone))
        assert get(server, "/healthz").status == 200
        assert titles(server, key) == ["Title 1"]
        if os.geteuid() == 0:  # who may write all the same
            with closing(sqlite3.connect(alone)) as writer:
                for number in range(3):
                    writer.execute("UPDATE article SET title = ?", (f"Writer {number}",))
                    writer.commit()  # and goes on being open
                    assert titles(server, key) == [f"Writer {number}"]
                writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            assert titles(server, key) == ["Writer 2"]
            replace(alone, copy)
            assert titles(server, key) == ["Title 1"]
        for arguments in (["keys", "list"], ["articles", "list"]):
            listing = program(alone, "-m", "flask", *arguments, prefix=AS_A_USER)
            assert subprocess.run(**listing, timeout=60).returncode == 0
        creating = program(alone, "-m", "flask", "keys", "create", "Acme", prefix=AS_A_USER)
        refused = subprocess.run(**creating, timeout=60)
        assert refused.returncode == 1
        assert "Nothing was written: you must be allowed to write the file and its folder" in refused.stderr
        assert refused.stderr.count("\n") == 1
    finally:
        alone.parent.chmod(0o755)


IMPORT = ["-m", "flask", "articles", "import"]
COMMANDS = [
    ["app.py"],
    ["seed.py"],
    ["-m", "flask", "keys", "create", "Acme"],
    ["-m", "flask", "keys", "list"],
    ["-m", "flask", "keys", "revoke", "1"],
    [*IMPORT, "-"],
    ["-m", "flask", "articles", "publish", "slug-1"],
    ["-m", "flask", "articles", "unpublish", "slug-1"],
    ["-m", "flask", "articles", "list"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_a_database_of_a_newer_version_is_refused_in_one_line(save, sql, database, arguments):
    save(article(1))
    sql("UPDATE tables_version SET number = ?", VERSION + 1)
    before = database.read_bytes()
    result = subprocess.run(**program(database, *arguments), stdin=subprocess.DEVNULL, timeout=30)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: A newer version of this service made the database")
    assert result.stderr.count("\n") == 1
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    "statements",
    [["DROP TABLE tables_version"], ["DROP TABLE tables_version", "ALTER TABLE article DROP COLUMN markup_is_made"]],
)
def test_a_database_of_an_earlier_version_is_brought_forward(save, sql, start, key, statements):
    save(article(1))
    for statement in statements:
        sql(statement)
    assert titles(start(), key) == ["Title 1"]
    assert sql("SELECT number FROM tables_version") == [(VERSION,)]
    save(article(1, title="New"), article(2))
    assert titles(start(), key) == ["New", "Title 2"]


def test_two_imports_at_once_wait_for_each_other(save, sql, database, tmp_path):
    save(article(1))
    imports = []
    for name in "ab":
        articles = [
            simple(number, title=f"{name} {number}", id=f"{name}-{number}", slug=f"{name}-{number}")
            for number in range(3000)
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(articles))
        imports.append(subprocess.Popen(**program(database, *IMPORT, str(tmp_path / f"{name}.json"))))
    assert [each.communicate(timeout=60)[0] for each in imports] == ["3000 new, 0 changed, 0 unchanged\n"] * 2
    assert sql("SELECT count(*) FROM article") == [(6001,)]
    assert sql("PRAGMA integrity_check") == [("ok",)]


def test_an_import_killed_a_hundred_times_is_there_as_a_whole_or_not_at_all(save, sql, server, key, database, tmp_path):
    """At random moments up to its end, by a signal that cannot be caught."""
    save(*(article(number, title="Round 0") for number in range(50)))
    state, outcomes = (50, "Round 0"), []
    chance = random.Random(7)
    for round_ in range(1, 101):
        articles = [simple(number, title=f"Round {round_}") for number in range(400 + round_)]
        (tmp_path / "new.json").write_text(json.dumps(articles))
        child = os.fork()  # far faster than a new process
        if not child:
            other = create_app({"DATABASE_URL": url_of(database)})
            os._exit(other.test_cli_runner().invoke(args=["articles", "import", str(tmp_path / "new.json")]).exit_code)
        time.sleep(chance.uniform(0, 0.3))
        os.kill(child, signal.SIGKILL)
        outcomes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        (now,) = sql("SELECT count(*), max(title) FROM article")
        assert now == (400 + round_, f"Round {round_}") or (now == state and outcomes[-1] == -signal.SIGKILL)
        state = now
        assert set(titles(server, key)) == {state[1]}
        assert sql("PRAGMA integrity_check") == [("ok",)]
    assert 20 < outcomes.count(-signal.SIGKILL) < 100


def test_a_writer_for_whom_the_disk_is_full_writes_nothing_and_says_so(save, sql, server, key, database, tmp_path):
    save(*(article(number) for number in range(50)))
    articles = [simple(number, contentHtml="<p>x</p>" * 10_000) for number in range(500)]
    (tmp_path / "new.jsonl").write_text("".join(json.dumps(each) + "\n" for each in articles))

    def no_more_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    importing = program(database, *IMPORT, str(tmp_path / "new.jsonl"))
    refused = subprocess.run(**importing, preexec_fn=no_more_room, timeout=60)
    assert refused.returncode == 1
    assert "Nothing was written: look whether the disk is full or broken." in refused.stderr
    assert "Traceback" not in refused.stderr
    assert len(titles(server, key)) == 50
    assert sql("PRAGMA integrity_check") == [("ok",)]
    assert subprocess.run(**importing, timeout=60).returncode == 0
    assert len(titles(server, key)) == 100


def test_what_is_committed_waits_for_the_disk(app):
    with app.app_context(), db.engine.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_a_backup_in_its_place_soon_lets_readers_and_writers_alone(save, sql, server, key, database):
    save(article(1))
    copy_over(database, copy_of(database))
    assert titles(server, key) == ["Title 1"]
    wait_for(lambda: sql("PRAGMA journal_mode") == [("wal",)], lambda: "The journal mode stays.")
    assert titles(server, key) == ["Title 1"]
