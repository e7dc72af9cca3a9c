"""What only internals can show (plans, statement counts, engine events), so product modules are imported here."""

import sqlite3
import subprocess
import sys
import time
from contextlib import ExitStack, closing, contextmanager
from itertools import product

import pytest
from helpers import (
    ENDPOINTS,
    LISTS,
    SITEMAP,
    application,
    article_json,
    assert_problem,
    client_with_key,
)
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

from models import db

FULL, PREVIEW = LISTS


@contextmanager
def engine_event(name, listener):
    """Call the listener at an event of any application's engine."""
    event.listen(Engine, name, listener)
    yield
    event.remove(Engine, name, listener)


@pytest.fixture
def statements():
    """The statements that applications send to their databases from now on."""
    sent = []
    with engine_event("before_cursor_execute", lambda _connection, _cursor, statement, *_: sent.append(statement)):
        yield sent


@pytest.fixture
def is_hit(statements):
    """Return whether a client gets a successful response without any SELECT."""

    def is_hit(client, path, **headers):
        statements.clear()
        assert client.get(path, headers=headers).status_code == 200
        return not any(statement.startswith("SELECT") for statement in statements)

    return is_hit


# Hits and misses of the response cache


@pytest.mark.sqlite
@pytest.mark.parametrize("path", [*ENDPOINTS, FULL + "?q=title&take=7"])
def test_warm_response_equals_the_first_and_sends_no_statement(client, save, statements, is_hit, path):
    save(*(article_json(number) for number in range(60)))
    first = client.get(path)
    assert is_hit(client, path)
    assert is_hit(client, path, **{"Accept-Encoding": "gzip"})
    second = client.get(path)
    assert (second.data, second.headers) == (first.data, first.headers)
    assert client.head(path).headers == first.headers
    assert client.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert statements == []


@pytest.mark.sqlite
def test_valid_key_is_remembered_and_invalid_ones_are_looked_up_each_time(app, client, statements):
    assert client.get(SITEMAP).status_code == 200
    for _ in range(2):
        statements.clear()
        assert client_with_key(app, "wrong").get(SITEMAP).status_code == 401
        assert [statement.split()[0] for statement in statements] == ["BEGIN", "SELECT"]
    statements.clear()
    assert client.get(PREVIEW).status_code == 200
    assert not any("api_key" in statement for statement in statements)


@pytest.mark.sqlite
def test_unknown_parameters_and_order_make_no_second_entry(client, save, is_hit):
    save(article_json(1, title="Café"))
    assert not is_hit(client, FULL + "?q=cafe+1&take=50")
    for query in (
        "?take=50&q=cafe+1",
        "?take=50&q=cafe+1&_=123",
        "?utm_source=x&q=cafe+1&_=124&take=50&Q=x&x-api-key=y",
        "?q=cafe+1&q=x&take=50&take=7",
        "?q=cafe%201&take=%350",
    ):
        assert client.get(FULL + query).get_json()["meta"]["total"] == 1
        assert is_hit(client, FULL + query)
    assert not is_hit(client, SITEMAP)
    assert is_hit(client, SITEMAP + "?take=1&q=x&_=1")


WRITE_AND_WAIT = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("UPDATE article SET views = views + 1, content_html = ?", ("x" * int(sys.argv[2]),))
connection.commit()
if sys.argv[3] == "close":
    connection.close()
print("committed", flush=True)
sys.stdin.read()
"""


@pytest.mark.sqlite
@pytest.mark.parametrize(("size", "end"), [(10, "stay"), (300_000, "close")])
def test_commit_by_another_process_costs_one_render(client, save, database, is_hit, size, end):
    """SQLite checkpoints the larger commit, which changes the file itself."""
    save(*(article_json(number) for number in range(20)))
    arguments = [sys.executable, "-c", WRITE_AND_WAIT, str(database), str(size), end]
    while not is_hit(client, PREVIEW):
        pass
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout.readline() == "committed\n"
        hits = [is_hit(client, PREVIEW) for _ in range(2)]
        time.sleep(0.3)
        hits.append(is_hit(client, PREVIEW))
    hits.append(is_hit(client, PREVIEW))
    assert hits == [False, True, True, True]


@pytest.mark.parametrize("error", [OperationalError("SELECT", None, Exception("broken")), ZeroDivisionError("broken")])
def test_error_response_is_not_kept(client, save, error):
    save(article_json(1))
    assert client.get(SITEMAP).status_code == 200

    def fail(_connection):
        raise error

    for path in LISTS:
        with engine_event("begin", fail):  # at a statement, SQLAlchemy would report the error to the cache too
            for _ in range(2):
                assert_problem(client.get(path), 503 if isinstance(error, OperationalError) else 500)
        assert client.get(path).get_json()["meta"]["total"] == 1


@pytest.mark.sqlite
def test_response_larger_than_the_cache_is_not_kept(save, key, database, is_hit):
    save(*(article_json(number, contentHtml="x" * 300_000) for number in range(3)))
    with application(database, CACHE_MB=1) as app:
        client = client_with_key(app, key)
        assert [is_hit(client, PREVIEW) for _ in range(2)] == [False, True]
        assert [is_hit(client, FULL) for _ in range(2)] == [False, False]
        assert is_hit(client, PREVIEW)


# Statements and what the planner makes of them


@pytest.mark.sqlite
@pytest.mark.parametrize("megabytes", [0, 1])
def test_request_takes_few_statements(save, key, database, statements, megabytes):
    """A request reads the key, the total with the time of the next publication, and the page; a cached one nothing."""
    save(*(article_json(number) for number in range(60)))
    with application(database, CACHE_MB=megabytes) as app:
        statements.clear()
        for _ in range(2):
            assert len(client_with_key(app, key).get(FULL).get_json()["data"]) == 50
    selects = ["BEGIN", "SELECT", "SELECT", "SELECT"]
    assert [statement.split()[0] for statement in statements] == selects * (1 if megabytes else 2)


def test_total_and_data_come_from_one_state(client, save, sql):
    """Another program deletes everything between the two statements of a request, which sees none of it."""
    save(
        *(article_json(number) for number in range(120)),
        *(article_json(number, status="draft") for number in range(120, 130)),
    )

    def interfere(_connection, _cursor, statement, *_rest):
        if "count(" in statement:
            sql("DELETE FROM article")

    with engine_event("after_cursor_execute", interfere):
        page = client.get(PREVIEW).get_json()
    assert (page["meta"]["total"], len(page["data"])) == (120, 50)
    assert client.get(PREVIEW).get_json()["meta"]["total"] == 0


@pytest.fixture
def plans(app, key, save, database, sql):
    """Return the SELECTs of a request and SQLite's plans for them."""
    save(*(article_json(number) for number in range(500)), article_json(999, status="draft"))
    sql("INSERT INTO customer (name) SELECT slug FROM article LIMIT 50")

    def plans(path):
        sent = {}

        def record(_connection, _cursor, statement, parameters, *_rest):
            sent[statement] = parameters

        with application(database, CACHE_MB=0) as uncached, engine_event("before_cursor_execute", record):
            assert client_with_key(uncached, key).get(path).status_code == 200
        return {
            statement: [step for *_, step in sql(f"EXPLAIN QUERY PLAN {statement}", *parameters)]
            for statement, parameters in sent.items()
            if statement.startswith("SELECT")
        }

    return plans


@pytest.mark.sqlite
def test_page_is_found_in_an_index_and_articles_are_not_sorted(plans):
    """A preview reads none of the long columns either."""
    for order_by, order, q in product(("publishedAt", "createdAt", "title", "views"), ("asc", "desc"), ("", "title")):
        statements = plans(f"{PREVIEW}?orderBy={order_by}&order={order}&q={q}&skip=400")
        ((statement, steps),) = (item for item in statements.items() if "LIMIT" in item[0])
        assert "content_html" not in statement
        assert all(
            step.startswith(("SEARCH article USING COVERING INDEX", "SEARCH article USING INTEGER"))
            for step in steps
            if "article" in step
        ), steps


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("path", "part", "index"),
    [
        (f"{PREVIEW}?q=title+slug+4", "count(", "COVERING INDEX"),
        (SITEMAP, "ORDER BY", "COVERING INDEX article_by_slug"),
        (SITEMAP, "min(", "COVERING INDEX article_by_publication"),
        (SITEMAP, "api_key", "SEARCH"),
    ],
)
def test_statement_reads_indexes_alone(plans, path, part, index):
    """The sitemap's entries are not sorted either."""
    (steps,) = (steps for statement, steps in plans(path).items() if part in statement)
    reads = [step for step in steps if step.startswith(("SEARCH", "SCAN")) and step != "SCAN CONSTANT ROW"]
    assert reads
    assert all(index in step for step in reads), steps
    assert "USE TEMP B-TREE FOR ORDER BY" not in steps


# Other connections read the schema again once its version has changed.
MOVE_ROOT = "UPDATE sqlite_schema SET rootpage = rootpage {} WHERE name = 'article'; PRAGMA schema_version = {}"


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("break_it", "repair", "opens_again"),
    [
        ("ALTER TABLE article RENAME TO hidden", "ALTER TABLE hidden RENAME TO article", False),
        (MOVE_ROOT.format("+ 1000000", 1000), MOVE_ROOT.format("- 1000000", 1001), True),
    ],
)
def test_only_a_broken_file_closes_the_connections(client, save, database, break_it, repair, opens_again):
    """The fault arrives by a commit, so that nothing but the error can be the reason."""
    save(article_json(1))
    opened = []
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        other.execute("PRAGMA writable_schema = ON")
        assert client.get(PREVIEW).status_code == 200
        with engine_event("do_connect", lambda *_: opened.append("connection")):
            other.executescript(break_it)
            assert_problem(client.get(PREVIEW), 503)
            other.executescript(repair)
            assert client.get(PREVIEW).status_code == 200
    assert bool(opened) == opens_again


def test_64_threads_find_a_connection_each(app, database):
    with application(database, THREADS=64) as app, app.app_context(), ExitStack() as stack:
        for _ in range(64):
            stack.enter_context(db.engine.connect())


@pytest.mark.sqlite
def test_commits_wait_for_the_disk(run, save):
    """With synchronous = FULL (2) a commit is on the disk when a command ends, also in WAL mode."""
    found = []

    def read_settings(connection):
        pragmas = ("synchronous", "journal_mode")
        found.append([connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas])

    with engine_event("commit", read_settings):
        save(article_json(1))
        assert run("keys", "revoke", "1").exit_code == 0
    assert found
    assert all(settings == [2, "wal"] for settings in found)
