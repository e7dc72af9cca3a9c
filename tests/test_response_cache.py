"""The response cache: never stale, never shared between customers, and within CACHE_MB."""

import gc
import gzip
import random
import sqlite3
import tracemalloc
from contextlib import closing
from datetime import timedelta
from hashlib import sha256
from itertools import product
from unittest.mock import patch

import pytest
import time_machine
from helpers import (
    ENDPOINTS,
    LISTS,
    PAST,
    SITEMAP,
    application,
    article_json,
    assert_problem,
    client_with_key,
    create_key,
    iso,
)

FULL, PREVIEW = LISTS
each_endpoint = pytest.mark.parametrize("path", ENDPOINTS)


def titles(client):
    return [article["title"] for article in client.get(PREVIEW).get_json()["data"]]


# Keys


@pytest.fixture
def other_key(app, save):
    """A key of another customer with one article."""
    save(article_json(1, title="theirs", slug="theirs"), customer="Other")
    return create_key(app, "Other")


@pytest.fixture
def warm(app, key, other_key, save):
    """Fill the cache with Acme's responses, plain and compressed; its titles and slugs contain "mine"."""
    save(*(article_json(number, title=f"mine {number}", slug=f"mine-{number}") for number in range(60)))
    for path, encoding in product(ENDPOINTS, ("", "gzip")):
        assert client_with_key(app, key).get(path, headers={"Accept-Encoding": encoding}).status_code == 200


@each_endpoint
@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_cached_response_is_only_sent_to_its_customer(app, other_key, warm, path, encoding):
    response = client_with_key(app, other_key).get(path, headers={"Accept-Encoding": encoding})
    assert b"theirs" in response.data
    assert b"mine" not in response.data


@each_endpoint
def test_cached_response_needs_the_exact_key(app, key, warm, path):
    etag = client_with_key(app, key).get(path).headers["ETag"]
    hashed = sha256(key.encode()).hexdigest()
    for bad_key in ("", key.swapcase(), key[:-1], key[:6], key[1:], key + "x", f"{key}, {key}", hashed, "None", "*"):
        for method, tag in product(("GET", "HEAD"), ("", etag, "*")):
            headers = {"x-api-key": bad_key, "If-None-Match": tag, "Accept-Encoding": "gzip"}
            response = app.test_client().open(path, method=method, headers=headers)
            assert (response.status_code, response.headers["Cache-Control"]) == (401, "no-store")
            assert {"ETag", "Content-Encoding"}.isdisjoint(response.headers)
            assert b"mine" not in response.data


# Freshness


@pytest.mark.sqlite
def test_commit_on_an_open_connection_shows_at_once(client, save, database):
    """test_internals.py covers writes by another process."""
    save(*(article_json(number) for number in range(20)))
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        for round_ in range(20):
            other.execute(f"UPDATE article SET title = 'Round {round_}', slug = 'round-{round_}' WHERE id = 'id-0007'")
            assert f"Round {round_}" in titles(client)
            assert f"round-{round_}" in client.get(SITEMAP).text


@each_endpoint
def test_key_revoked_by_another_tool_is_rejected_at_once(client, save, sql, path):
    for _ in range(2):
        assert client.get(path).status_code == 200
        sql("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00'")
        assert client.get(path).status_code == 401
        sql("UPDATE api_key SET revoked_at = NULL")


def test_nothing_is_cached_while_the_version_is_unknown(app, client, save, sql, monkeypatch):
    save(article_json(1, title="Old"))
    monkeypatch.setattr(app.extensions["change_detector"], "version", lambda: None)
    assert titles(client) == ["Old"]
    sql("UPDATE article SET title = 'New'")
    assert titles(client) == ["New"]
    sql("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00'")
    assert client.get(PREVIEW).status_code == 401


@each_endpoint
def test_key_expires_at_midnight_under_a_warm_cache(app, path):
    with time_machine.travel("2027-01-30T12:00:00Z", tick=False) as clock:
        client = client_with_key(app, create_key(app, "Acme", "--expires", "2027-01-31"))
        for hours, status in ((0, 200), (35.9999, 200), (0.0001, 401), (-0.0001, 200), (24, 401)):
            clock.shift(timedelta(hours=hours))
            assert [client.get(path).status_code for _ in range(2)] == [status] * 2


@pytest.mark.parametrize("path", [*ENDPOINTS, FULL + "?orderBy=views&q=title"])
def test_scheduled_article_appears_on_the_millisecond(client, save, path):
    """And disappears again if the clock is set back."""
    save(article_json(1, publishedAt=iso(PAST)), article_json(2, publishedAt="2099-01-01T00:00Z"))
    with time_machine.travel(PAST - timedelta(hours=1), tick=False) as clock:
        for milliseconds, total in ((-3_600_000, 0), (-1, 0), (0, 1), (1, 1), (-1, 0), (5000, 1)):
            clock.move_to(PAST + timedelta(milliseconds=milliseconds))
            assert [len(client.get(path).get_json()["data"]) for _ in range(2)] == [total] * 2


@pytest.mark.sqlite
def test_missing_database_file_is_503_and_is_not_created(tmp_path):
    with application(tmp_path / "none.db") as app:
        for path in ENDPOINTS * 2:
            assert_problem(app.test_client().get(path, headers={"x-api-key": "x"}), 503)
        assert_problem(app.test_client().get("/none", headers={"x-api-key": "x"}), 404)
    assert list(tmp_path.iterdir()) == []


# Equal to uncached responses


ORIGINS = ["https://a.example", "https://b.example"]
HEADER_VALUES = {  # keys are tested above
    "Origin": ("", "null", *ORIGINS, "https://c.example"),
    "Accept-Encoding": ("", "gzip", "GZIP;q=0.5", "gzip;q=0", "br, *", "identity, gzip;q=0.1", "nonsense;;q=x"),
    "If-None-Match": ("", "*", '"', "W/", '"other"', "garbage", '"a', ",,,", '"' * 1000, "\xff"),
    "Host": ("", "a.example:80", "[::1]", "[::1", "a..b", ".", "x" * 64, "x" * 5000, "a_b", "a b", "é", "x%20y", "a/b"),
    "Upgrade": ("websocket",),
    "Connection": ("close", "upgrade"),
    "Access-Control-Request-Method": ("GET",),
    "If-Modified-Since": ("Wed, 01 Jan 2099 00:00:00 GMT",),
    "If-Match": ('"x"',),
    "Range": ("bytes=0-1",),
    "Accept": ("text/html;q=0",),
    "Content-Length": ("0",),
}


@pytest.mark.parametrize("origins", [(), ORIGINS])
def test_cached_equals_uncached_for_every_header(save, key, database, origins):
    """A cache entry must not depend on headers of the request that created it."""
    save(*(article_json(number) for number in range(50)))
    chance = random.Random(7)
    settings = {"CORS_ORIGINS": origins}
    each = [{name: value} for name, values in HEADER_VALUES.items() for value in values]
    each.append({"Upgrade": "websocket", "Connection": "upgrade"})
    mixed = [{name: chance.choice(values) for name, values in HEADER_VALUES.items()} for _ in range(20)]
    requests = list(product(ENDPOINTS, each + mixed))
    with application(database, **settings) as cached, application(database, **settings, CACHE_MB=0) as uncached:

        def response(app, path, headers):
            got = client_with_key(app, key).get(path, headers=headers)
            return got.status_code, list(got.headers), got.data

        expected = [response(uncached, *request) for request in requests]
        assert {status for status, _, _ in expected} == {200, 304, 400}  # 400: invalid Host, or a WebSocket handshake
        assert len({body for status, _, body in expected if status != 400}) == 7  # plain, compressed and none
        for _ in range(2):
            for number in chance.sample(range(len(requests)), len(requests)):
                assert response(cached, *requests[number]) == expected[number], requests[number]


ODD_QUERIES = [
    *("", "?", "q", "q=", "q=&q=a", "q=a", "Q=a", "%71=a", "%51=a", "q=+a", "q=a+", "q=%20a", "q=a%00", "q=a%2500"),
    *("q=%ff", "q=%fe", "q=%FF", "q=%25ff", "q=%25fe", "q=%c3%bf", "q=%c3%be", "q=\xc3\xbf", "q=%", "q=%f"),
    *("q=\xff", "q=\xe9", "utm=\xe9", "take=\xe9", "\xe9=a"),
    *("take=5&take=6", "take=6&take=5", "take=5", "take=6", "TAKE=5", "take=+5", "take=%205", "take=05", "take=%35"),
    *("q=a;take=5", "q=a&take=5", "q=a%3btake=5", "q=a%26take=5", "q=a&;take=5", "q=a&amp;take=5", "q=a#take=5"),
    *("order=asc", "orderby=title", "orderBy=title", "orderBy=title&order=asc", "q=None", "take=None", "q=\x00"),
    *("q[]=a", "q==a", "=a", "&&q=a", "q=a&", "q =a", "%00q=a", "q%00=a", "skip=0&skip=3", "skip=3&skip=0", "skip=3"),
    *("q=a+b", "q=b+a", "q=a%2Bb", "q=a%C2%B4b", "q=ab", "q=&q=ab", "q=ab&q=", "take=", "take=&take=1", "take=1%00"),
]


def test_cached_equals_uncached_for_odd_queries(save, key, database):
    titles = ("a", "a b", "a;take=5", "a&take=5", "%ff", "%fe", "ÿ", "þ", "Ã¿", "a%00", "none", "=a", "%", "a&amp;")
    save(*(article_json(number, title=title) for number, title in enumerate((*titles, "a+b", "A´b", "B before a"))))
    with application(database) as cached, application(database, CACHE_MB=0) as uncached:

        def response(app, path, query):
            got = client_with_key(app, key).get(path, environ_overrides={"QUERY_STRING": query})
            return got.status, list(got.headers), got.data

        requests = list(product((PREVIEW, SITEMAP), ODD_QUERIES))
        expected = {request: response(uncached, *request) for request in requests}
        assert len({body for _, _, body in expected.values()}) > 20
        for _ in range(2):
            for request in random.Random(3).sample(requests, len(requests)):
                assert response(cached, *request) == expected[request], request


# Memory and time


def test_cached_body_is_compressed_only_once(client, save):
    """Compression dominates the CPU time of a large response."""
    save(*(article_json(number) for number in range(50)))
    with patch("gzip.compress", wraps=gzip.compress) as compress:
        for _ in range(3):
            assert client.get(FULL, headers={"Accept-Encoding": "gzip"}).headers["Content-Encoding"] == "gzip"
    assert compress.call_count == 1


@pytest.mark.slow
@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("count", "query"),
    [
        (60, lambda number: f"take=10&skip={number}"),
        (1200, lambda number: f"q=none{number}"),
        # no articles, but a Link header of 2 KB
        (1200, lambda number: f"take=100&skip={70 + number % 100}&q=" + "%E3%80%80" * (200 - number // 100)),
    ],
    ids=["large", "small", "links"],
)
def test_large_and_small_entries_stay_within_cache_mb(save, key, database, count, query):
    """Entry sizes include their overhead, so CACHE_MB holds for small entries too."""
    save(*(article_json(number, contentHtml="<p>" + "word " * 1600) for number in range(70)))
    with application(database, CACHE_MB=1) as small:
        client = client_with_key(small, key)
        for number in range(100):  # parsed queries are memoized as well
            client.get(f"{FULL}?take=1&skip={number}&q=before{number}")
        gc.collect()
        tracemalloc.start()
        for number in range(count):
            assert client.get(f"{FULL}?{query(number)}").status_code == 200
        gc.collect()
        growth, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert growth < 1_300_000
