"""Behaviour that only shows in the SQL statements sent and in SQLAlchemy's engine events."""

from contextlib import contextmanager

import pytest
from helpers import ENDPOINTS, LISTS, SITEMAP, application, article_json, client_with_key
from sqlalchemy import Engine, event

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
    """Return whether a successful response needed no statement."""

    def is_hit(client, path, **headers):
        statements.clear()
        assert client.get(path, headers=headers).status_code == 200
        return statements == []

    return is_hit


# Hits and misses of the response cache


@pytest.mark.sqlite
@pytest.mark.parametrize("path", ENDPOINTS)
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
@pytest.mark.parametrize(("sent", "megabytes", "lookups"), [("valid", 64, 0), ("valid", 0, 1), ("wrong", 64, 1)])
def test_only_valid_keys_are_remembered_and_only_with_a_cache(key, database, statements, sent, megabytes, lookups):
    with application(database, CACHE_MB=megabytes) as app:
        app.before_request_funcs["api"].append(lambda: "early")  # before the view, which would look the key up too
        client = client_with_key(app, key if sent == "valid" else sent)
        client.get(SITEMAP)
        statements.clear()
        client.get(SITEMAP)
        assert sum("api_key" in statement for statement in statements) == lookups


@pytest.mark.sqlite
def test_equivalent_queries_share_a_cache_entry(client, save, is_hit):
    save(article_json(1, title="Café"))
    assert not is_hit(client, FULL + "?q=cafe+1&take=50")
    for query in ("?take=50&q=cafe+1&_=124&Q=x&x-api-key=y", "?q=cafe+1&q=x&take=50&take=7", "?q=cafe%201&take=%350"):
        assert is_hit(client, FULL + query)
    assert not is_hit(client, SITEMAP)
    assert is_hit(client, SITEMAP + "?take=1&q=x&_=1")


@pytest.mark.sqlite
@pytest.mark.parametrize("size", [10, 300_000])
def test_commit_causes_exactly_one_cache_miss(client, save, sql, is_hit, size):
    """The larger commit triggers a checkpoint, which changes the main file."""
    save(*(article_json(number) for number in range(20)))
    while not is_hit(client, PREVIEW):
        pass
    sql("UPDATE article SET content_html = ?", "x" * size)
    assert [is_hit(client, PREVIEW) for _ in range(3)] == [False, True, True]


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
    save(*(article_json(number) for number in range(120)))

    def interfere(_connection, _cursor, statement, *_rest):
        if "count(" in statement:
            sql("DELETE FROM article")

    with engine_event("after_cursor_execute", interfere):
        page = client.get(PREVIEW).get_json()
    assert (page["meta"]["total"], len(page["data"])) == (120, 50)


ORDERS = [f"{PREVIEW}?orderBy={order}&q=title" for order in ("publishedAt", "createdAt", "title", "views")]


@pytest.mark.sqlite
@pytest.mark.parametrize("path", [*ORDERS, SITEMAP])
def test_lists_and_sitemap_use_an_index(key, save, database, sql, path):
    save(*(article_json(number) for number in range(50)))
    plans = []

    def explain(_connection, _cursor, statement, parameters, *_rest):
        if "ORDER BY" in statement:
            plans.extend(step for *_, step in sql(f"EXPLAIN QUERY PLAN {statement}", *parameters))

    with application(database, CACHE_MB=0) as app, engine_event("before_cursor_execute", explain):
        assert client_with_key(app, key).get(path).status_code == 200
    assert any("COVERING INDEX" in step for step in plans), plans
    assert not any("SCAN article" in step for step in plans)


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
