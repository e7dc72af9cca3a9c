"""Behaviour that only shows in the SQL statements sent and in SQLAlchemy's engine events."""

import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import pytest
from helpers import ENDPOINTS, LISTS, SITEMAP, application, article_json, assert_problem, client_with_key
from sqlalchemy import Engine, event
from sqlalchemy.exc import OperationalError

from models import db

FULL, PREVIEW = LISTS


@contextmanager
def engine_event(name, listener):
    """Listen to an event of all engines."""
    event.listen(Engine, name, listener)
    yield
    event.remove(Engine, name, listener)


@pytest.fixture
def statements():
    """The SQL statements sent from now on."""
    sent = []
    with engine_event("before_cursor_execute", lambda _connection, _cursor, statement, *_: sent.append(statement)):
        yield sent


@pytest.fixture
def is_hit(statements):
    """Return whether a successful response needed no SELECT."""

    def is_hit(client, path, **headers):
        statements.clear()
        assert client.get(path, headers=headers).status_code == 200
        return not any(statement.startswith("SELECT") for statement in statements)

    return is_hit


# Hits and misses of the response cache


@pytest.mark.sqlite
@pytest.mark.parametrize("path", [*ENDPOINTS, FULL + "?q=title&take=7"])
def test_cache_hit_equals_the_miss_and_sends_no_statement(client, save, statements, is_hit, path):
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
def test_only_valid_keys_are_cached(app, client, statements):
    assert client.get(SITEMAP).status_code == 200
    for _ in range(2):
        statements.clear()
        assert client_with_key(app, "wrong").get(SITEMAP).status_code == 401
        assert [statement.split()[0] for statement in statements] == ["BEGIN", "SELECT"]
    statements.clear()
    assert client.get(PREVIEW).status_code == 200
    assert not any("api_key" in statement for statement in statements)


@pytest.mark.sqlite
def test_equivalent_queries_share_a_cache_entry(client, save, is_hit):
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
def test_commit_by_another_process_causes_one_cache_miss(client, save, database, is_hit, size, end):
    """The larger commit triggers a checkpoint, which changes the main file."""
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
def test_error_response_is_not_cached(client, save, error):
    save(article_json(1))
    assert client.get(SITEMAP).status_code == 200

    def fail(_connection):
        raise error

    for path in LISTS:
        with engine_event("begin", fail):  # SQLAlchemy would report errors of a statement to the cache
            for _ in range(2):
                assert_problem(client.get(path), 503 if isinstance(error, OperationalError) else 500)
        assert client.get(path).get_json()["meta"]["total"] == 1


@pytest.mark.sqlite
def test_response_larger_than_the_cache_is_not_cached(save, key, database, is_hit):
    save(*(article_json(number, contentHtml="x" * 300_000) for number in range(3)))
    with application(database, CACHE_MB=1) as app:
        client = client_with_key(app, key)
        assert [is_hit(client, PREVIEW) for _ in range(2)] == [False, True]
        assert [is_hit(client, FULL) for _ in range(2)] == [False, False]
        assert is_hit(client, PREVIEW)


def test_total_and_data_come_from_one_snapshot(client, save, sql):
    """Another program deletes everything between the two statements of a request."""
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


LISTS_BY = {"publishedAt": "publication", "createdAt": "creation", "title": "title", "views": "views"}
INDEXES = {f"{PREVIEW}?orderBy={order}&q=title": f"article_by_{index}" for order, index in LISTS_BY.items()}
INDEXES |= {f"{PREVIEW}?order=asc&skip=40": "article_by_publication", SITEMAP: "article_by_slug"}


@pytest.mark.sqlite
@pytest.mark.parametrize("path", INDEXES)
def test_lists_and_sitemap_use_an_index(key, save, database, sql, path):
    save(*(article_json(number) for number in range(50)))
    plans = []

    def explain(_connection, _cursor, statement, parameters, *_rest):
        if "ORDER BY" in statement:
            plans.extend(step for *_, step in sql(f"EXPLAIN QUERY PLAN {statement}", *parameters))

    with application(database, CACHE_MB=0) as app, engine_event("before_cursor_execute", explain):
        assert client_with_key(app, key).get(path).status_code == 200
    assert any(f"INDEX {INDEXES[path]} " in step for step in plans), plans
    assert not any("SCAN article" in step for step in plans)


def test_64_threads_get_a_connection_each(app, database):
    with application(database, THREADS=64) as app, app.app_context(), ExitStack() as stack:
        for _ in range(64):
            stack.enter_context(db.engine.connect())


@pytest.mark.sqlite
def test_commits_are_durable(run, save):
    """`PRAGMA synchronous = FULL` (2) syncs the WAL on each commit."""
    found = []

    def read_settings(connection):
        pragmas = ("synchronous", "journal_mode")
        found.append([connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas])

    with engine_event("commit", read_settings):
        save(article_json(1))
        assert run("keys", "revoke", "1").exit_code == 0
    assert found
    assert all(settings == [2, "wal"] for settings in found)
