"""What only internals can show (plans, statement counts, engine events), so product modules are imported here."""

import os
import random
import shutil
import threading
import time
from base64 import b64encode
from contextlib import ExitStack, closing, contextmanager
from itertools import product

import helpers
import pytest
from helpers import (
    ENDPOINTS,
    LISTS,
    SITEMAP,
    article_json,
    assert_problem,
    client_with_key,
    close,
    copy_database,
    create_application,
    create_key,
    run_sql,
    save_articles,
    side_by_side,
)
from sqlalchemy import Engine, event, text
from sqlalchemy.exc import IntegrityError, InvalidRequestError, OperationalError

from models import db
from storage.engine import write_transaction
from storage.tables import open_database

FULL, PREVIEW = LISTS


@contextmanager
def engine_event(name, listener):
    """Call the listener at an event of any application's engine."""
    event.listen(Engine, name, listener)
    yield
    event.remove(Engine, name, listener)


@contextmanager
def before_statements(function):
    """Call the function with each statement before it is sent to a database."""
    with engine_event("before_cursor_execute", lambda _connection, _cursor, statement, *_: function(statement)):
        yield


@pytest.fixture
def statements():
    """The statements that applications send to their databases from now on."""
    sent = []
    with before_statements(sent.append):
        yield sent


@pytest.fixture
def is_hit(statements):
    """Return whether a client gets a successful response without any SELECT."""

    def is_hit(client, path, **headers):
        statements.clear()
        assert client.get(path, headers=headers).status_code == 200
        return not any(statement.startswith("SELECT") for statement in statements)

    return is_hit


@pytest.fixture
def small_cache(key, database):
    """A client of an application whose cache holds a megabyte."""
    app = create_application(database, CACHE_MB=1)
    yield client_with_key(app, key)
    helpers.close(app)


# Hits and misses of the response cache


@pytest.mark.sqlite
@pytest.mark.parametrize("path", [*ENDPOINTS, FULL + "?q=title&take=7"])
def test_warm_response_equals_the_first_and_sends_no_select(client, save, statements, is_hit, path):
    save(*(article_json(number) for number in range(60)))
    first = client.get(path)
    statements.clear()
    second = client.get(path)
    assert (second.data, second.headers) == (first.data, first.headers)
    assert client.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert client.head(path).headers == first.headers
    assert is_hit(client, path, **{"Accept-Encoding": "gzip"})
    assert [statement for statement in statements if statement.startswith("SELECT")] == []


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


@pytest.mark.sqlite
def test_rolled_back_write_keeps_the_cache_warm(client, save, database, is_hit):
    save(article_json(1))
    with closing(helpers.sqlite3.connect(database, isolation_level=None)) as connection:
        assert [is_hit(client, path) for path in ENDPOINTS * 2] == [False] * 3 + [True] * 3
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO customer (name) VALUES ('x')")
        assert all(is_hit(client, path) for path in ENDPOINTS)
        connection.execute("ROLLBACK")
        assert all(is_hit(client, path) for path in ENDPOINTS)
        connection.execute("INSERT INTO customer (name) VALUES ('x')")
        assert [is_hit(client, path) for path in ENDPOINTS * 2] == [False] * 3 + [True] * 3


def test_nothing_is_cached_while_the_version_is_unknown(app, client, save, is_hit, monkeypatch):
    save(article_json(1))
    detector = app.extensions["change_detector"]
    monkeypatch.setattr(detector, "version", lambda: None)
    monkeypatch.setattr(detector, "was_replaced", lambda *_, **__: False)
    assert not any(is_hit(client, path) for path in ENDPOINTS * 2)


@pytest.mark.sqlite
def test_nothing_is_cached_if_cache_mb_is_zero(save, key, database, is_hit):
    save(article_json(1))
    app = create_application(database, CACHE_MB=0)
    assert not any(is_hit(client_with_key(app, key), path) for path in ENDPOINTS * 2)
    helpers.close(app)


@pytest.mark.sqlite
def test_concurrent_equal_requests_of_two_customers_are_apart(app, client, save):
    save(article_json(1, title="Mine"))
    save(article_json(1, title="Theirs"), customer="Other")
    clients = client, client_with_key(app, create_key(app, "Other"))
    barrier = threading.Barrier(8)

    def request(number):
        barrier.wait(5)
        return clients[number % 2].get(PREVIEW).get_json()["data"][0]["title"]

    with before_statements(lambda statement: time.sleep(0.05 * ("FROM article" in statement))):
        assert list(side_by_side(request, range(8), threads=8)) == ["Mine", "Theirs"] * 4


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


@pytest.fixture
def large_articles(save):
    """Eight articles that compress badly, of which a megabyte holds four as plain bodies, and two with gzip bodies."""
    chance = random.Random(1)
    save(*(article_json(number, contentHtml=b64encode(chance.randbytes(137_000)).decode()) for number in range(8)))


def page_of_one(number):
    return f"{FULL}?take=1&skip={number}"


@pytest.mark.sqlite
def test_least_recently_used_entries_are_evicted_first(small_cache, large_articles, is_hit):
    for number in (0, 1, 2, 3, 0, 4):
        small_cache.get(page_of_one(number))
    assert [is_hit(small_cache, page_of_one(number)) for number in (0, 2, 3, 4)] == [True] * 4
    assert not is_hit(small_cache, page_of_one(1))
    assert [is_hit(small_cache, page_of_one(number)) for number in (1, 4, 3, 2)] == [True, True, True, True]
    assert not is_hit(small_cache, page_of_one(0))


@pytest.mark.sqlite
def test_response_larger_than_the_cache_is_not_kept(small_cache, large_articles, is_hit):
    for number in range(4):
        small_cache.get(page_of_one(number))
    for headers in ({}, {}, {"Accept-Encoding": "gzip"}, {}):
        assert not is_hit(small_cache, f"{FULL}?take=5", **headers)
    assert all(is_hit(small_cache, page_of_one(number)) for number in range(4))


@pytest.mark.sqlite
def test_compressed_bodies_count_as_memory(small_cache, large_articles, is_hit):
    for number in range(4):
        small_cache.get(page_of_one(number))
    for number in range(4):
        small_cache.get(page_of_one(number), headers={"Accept-Encoding": "gzip"})
    for headers in ({}, {"Accept-Encoding": "gzip"}):
        assert [is_hit(small_cache, page_of_one(number), **headers) for number in (3, 2)] == [True, True]
    assert [is_hit(small_cache, page_of_one(number)) for number in (1, 0)] == [False, False]


@pytest.mark.sqlite
def test_entry_that_outgrows_the_cache_when_compressed_goes(small_cache, large_articles, is_hit):
    page = f"{FULL}?take=4"
    assert [is_hit(small_cache, page) for _ in range(2)] == [False, True]
    assert small_cache.get(page, headers={"Accept-Encoding": "gzip"}).headers["Content-Encoding"] == "gzip"
    assert not is_hit(small_cache, page)


@pytest.mark.sqlite
def test_evicted_and_replaced_entries_free_their_memory(small_cache, large_articles, sql, is_hit):
    """Entries come and go, also by a commit, and the cache holds as many of them at the end as at the start."""
    for round_ in range(3):
        for number in range(8):
            small_cache.get(page_of_one(number), headers={"Accept-Encoding": "gzip"})
        sql("UPDATE article SET views = ?", round_)
        for number in range(8):
            small_cache.get(page_of_one(number))
    assert [is_hit(small_cache, page_of_one(number)) for number in (7, 6, 5, 4, 3)] == [True] * 4 + [False]


@pytest.mark.sqlite
def test_small_entries_count_two_kilobytes_each(small_cache, save, is_hit):
    save(article_json(1))
    for number in range(500):
        small_cache.get(f"{PREVIEW}?q=none{number}")
    assert all(is_hit(small_cache, f"{PREVIEW}?q=none{number}") for number in range(100, 500, 10))
    assert not is_hit(small_cache, f"{PREVIEW}?q=none0")


# Statements and what the planner makes of them


@pytest.mark.sqlite
@pytest.mark.parametrize("megabytes", [0, 1])
def test_request_takes_few_statements(save, key, database, statements, megabytes):
    """A request selects the key, the total with the time of the next publication, and the page."""
    save(*(article_json(number) for number in range(60)))
    app = create_application(database, CACHE_MB=megabytes)
    statements.clear()
    assert len(client_with_key(app, key).get(FULL).get_json()["data"]) == 50
    assert [statement.split()[0] for statement in statements] == ["BEGIN", "SELECT", "SELECT", "SELECT"]
    helpers.close(app)


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


def test_preview_selects_no_long_column(client, save, statements):
    save(article_json(1))
    statements.clear()
    client.get(PREVIEW + "?orderBy=views&order=asc&q=title")
    assert [statement for statement in statements if "article.title" in statement]
    assert not [statement for statement in statements if "content_html" in statement or "schema_markup" in statement]


def test_search_looks_for_each_word_once(client, save, statements):
    save(article_json(1, title="Tea in the Café"))
    for q, words in ((" Café  CAFE\u3000\u0301 tea ´ \n", 2), ("´ \u0301", 0)):
        statements.clear()
        assert client.get(PREVIEW, query_string={"q": q}).get_json()["meta"]["total"] == 1
        likes = [statement.count("LIKE") for statement in statements if "FROM article" in statement]
        assert max(likes) == words


@pytest.fixture(scope="module", params=["fresh", "analysed"])
def plans(request, template, tmp_path_factory):
    """Return the SELECTs of a request and SQLite's plans for them, without statistics and with them."""
    database = tmp_path_factory.mktemp(request.param) / "articles.db"
    helpers.copy_database(template, database)
    app = create_application(database)
    client = client_with_key(app, create_key(app))
    save_articles(app, *(article_json(number) for number in range(500)), article_json(999, status="draft"))
    run_sql(database, "INSERT INTO customer (name) SELECT slug FROM article LIMIT 50")
    keys = "INSERT INTO api_key (customer_id, hash, prefix, created_at)"
    run_sql(database, f"{keys} SELECT id, name, 'x', '2026-01-31 09:30:00' FROM customer WHERE id > 1")
    if request.param == "analysed":
        run_sql(database, "ANALYZE")

    def plans(path):
        sent = []

        def record(_connection, _cursor, statement, parameters, *_rest):
            if statement.startswith("SELECT"):
                sent.append((statement, parameters))

        run_sql(database, "UPDATE customer SET name = name")  # so that the cache is cold
        with engine_event("before_cursor_execute", record):
            assert client.get(path).status_code == 200
        return {
            statement: [step for *_, step in run_sql(database, f"EXPLAIN QUERY PLAN {statement}", *parameters)]
            for statement, parameters in sent
        }

    yield plans
    helpers.close(app)


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("order_by", "index"),
    [
        ("publishedAt", "article_by_publication"),
        ("createdAt", "article_by_creation"),
        ("title", "article_by_title"),
        ("views", "article_by_views"),
    ],
)
def test_page_is_found_in_the_index_of_its_order_alone(plans, order_by, index):
    for path, order, q, skip in product(LISTS, ("asc", "desc"), ("", "title+slug"), (0, 400)):
        statements = plans(f"{path}?orderBy={order_by}&order={order}&q={q}&skip={skip}")
        (steps,) = (steps for statement, steps in statements.items() if "LIMIT" in statement)
        assert steps == [
            "SEARCH article USING INTEGER PRIMARY KEY (rowid=?)",
            "LIST SUBQUERY 1",
            f"SEARCH article USING COVERING INDEX {index} (customer_id=? AND status=?)",
            "USE TEMP B-TREE FOR ORDER BY",  # of the page's own rows
        ]


@pytest.mark.sqlite
@pytest.mark.parametrize("q", ["", "title", "title+slug+4"])
def test_total_is_counted_on_indexes_alone(plans, q):
    (steps,) = (steps for statement, steps in plans(f"{PREVIEW}?q={q}").items() if "count(" in statement)
    reads = [step for step in steps if "article" in step]
    assert reads
    assert not [step for step in reads if "COVERING INDEX" not in step]


@pytest.mark.sqlite
def test_sitemap_is_read_from_its_index_alone(plans):
    (steps,) = (steps for statement, steps in plans(SITEMAP).items() if "ORDER BY" in statement)
    assert len(steps) == 1
    assert steps[0].startswith("SEARCH article USING COVERING INDEX article_by_slug (customer_id=? AND status=?)")


@pytest.mark.sqlite
def test_next_publication_is_found_in_an_index_alone(plans):
    (steps,) = (steps for statement, steps in plans(SITEMAP).items() if "min(" in statement)
    assert [step for step in steps if "article" in step] == steps
    assert all("SEARCH article USING COVERING INDEX article_by_publication" in step for step in steps)


@pytest.mark.sqlite
def test_key_is_found_by_its_index(plans):
    (steps,) = (steps for statement, steps in plans(SITEMAP).items() if "api_key" in statement)
    assert steps
    assert not [step for step in steps if step.startswith("SCAN")]


@pytest.mark.sqlite
def test_key_needs_a_customer(app):
    key = "INSERT INTO api_key (customer_id, hash, prefix, created_at) VALUES (99, 'x', 'x', '2026-01-31')"
    with app.app_context(), pytest.raises(IntegrityError, match="FOREIGN KEY"):
        db.session.execute(text(key))


def test_write_transaction_cannot_begin_inside_another(app, sql):
    """It would write without the lock, upon rows that others may have changed."""
    with app.app_context():
        db.session.execute(text("SELECT 1"))
        with pytest.raises(InvalidRequestError), write_transaction():
            db.session.execute(text("INSERT INTO customer (name) VALUES ('x')"))
    assert sql("SELECT name FROM customer") == []


def test_64_threads_find_a_connection_each(database):
    app = create_application(database, THREADS=64)
    with app.app_context(), ExitStack() as stack:
        open_database(create=True)
        for _ in range(64):
            stack.enter_context(db.engine.connect())
    close(app)


def move_over(database, copy):
    os.replace(shutil.copyfile(copy, copy.with_suffix(".moved")), database)


def copy_over(database, copy):
    shutil.copyfile(copy, database)


@pytest.mark.sqlite
@pytest.mark.parametrize("megabytes", [0, 64])
@pytest.mark.parametrize("replace", [copy_over, move_over])
def test_key_of_one_database_shows_nothing_of_another(template, database, tmp_path, sql, megabytes, replace):
    """The other database comes between the check of the key and the articles; its customer has the same number."""
    other = tmp_path / "other.db"
    for path in (database, other):
        copy_database(template, path)
    other_app = create_application(other)
    save_articles(other_app, article_json(1, title="Secret"), customer="Other")
    close(other_app)
    app = create_application(database, CACHE_MB=megabytes)
    client = client_with_key(app, create_key(app))
    save_articles(app, article_json(1))
    assert client.get(LISTS[0]).status_code == 200
    sql("UPDATE article SET views = 7")  # so that no remembered key is good for the next request
    replaced = []

    def replace_after_key_check(_connection, _cursor, statement, *_arguments):
        if "api_key" in statement and not replaced:
            replaced.append(statement)
            replace(database, other)
            another_request = threading.Thread(target=app.test_client().get, args=("/healthz",))
            another_request.start()
            another_request.join()

    event.listen(Engine, "after_cursor_execute", replace_after_key_check)
    try:
        response = client.get(LISTS[0] + "?q=e")
    finally:
        event.remove(Engine, "after_cursor_execute", replace_after_key_check)
    assert replaced
    assert response.status_code == 401
    assert b"Secret" not in response.data
    close(app)


@pytest.mark.sqlite
def test_commits_wait_for_the_disk(run, save):
    """With synchronous = FULL (2) a commit is on the disk when a command ends, also in WAL mode."""
    settings = []

    def read_settings(connection):
        pragmas = ("synchronous", "journal_mode")
        settings.append([connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in pragmas])

    event.listen(Engine, "commit", read_settings)
    try:
        save(article_json(1))
        assert run("keys", "revoke", "1").exit_code == 0
    finally:
        event.remove(Engine, "commit", read_settings)
    assert settings
    assert all(found == [2, "wal"] for found in settings)
