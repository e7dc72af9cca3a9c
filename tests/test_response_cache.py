"""The response cache is never stale, serves nobody but the key that it was filled for, and stays within its memory."""

import gc
import gzip
import random
import sqlite3
import tracemalloc
from contextlib import closing
from datetime import UTC, datetime, timedelta
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


def column(client, path, name):
    """Return a field of all articles in a response."""
    return [article[name] for article in client.get(path).get_json()["data"]]


def test_nobody_without_the_key_gets_a_warm_response(app, key, save):
    """Every endpoint is warm in every form when requests without that very key follow."""
    second_key, other_key = create_key(app), create_key(app, "Other")
    for customer, name in (("Acme", b"mine"), ("Other", b"theirs")):
        slugs = (f"{name.decode()}-{number}" for number in range(60))
        save(*(article_json(number, title=slug, slug=slug) for number, slug in enumerate(slugs)), customer=customer)
    etags = {path: client_with_key(app, key).get(path).headers["ETag"].strip('"') for path in ENDPOINTS}

    def responses(**key_header):
        for (path, etag), encoding, method in product(etags.items(), ("", "gzip"), ("GET", "HEAD")):
            for tag in ("", f'"{etag}"', f'"{etag}-gzip"', "*"):
                headers = {"Accept-Encoding": encoding, "If-None-Match": tag} | key_header
                response = app.test_client().open(path, method=method, headers=headers)
                is_zipped = response.data and "Content-Encoding" in response.headers
                yield tag, response, gzip.decompress(response.data) if is_zipped else response.data

    def check_own(own_key, own, other, *, is_owner):
        for tag, response, body in responses(**{"x-api-key": own_key}):
            assert response.status_code == (304 if tag == "*" or (tag and is_owner) else 200)
            assert (response.headers["ETag"].strip('"').removesuffix("-gzip") in etags.values()) == is_owner
            assert (own in body, other in body) == (body != b"", False)

    check_own(key, b"mine", b"theirs", is_owner=True)
    hashed, joined = sha256(key.encode()).hexdigest(), (f"{key}, {key}", f"{key},{other_key}")
    bad_keys = "", key.swapcase(), key[:-1], key[:6], key[1:], key + "x", *joined, hashed, "None", "*"
    for key_header in ({}, *({"x-api-key": bad_key} for bad_key in bad_keys)):
        for _, response, body in responses(**key_header):
            assert (response.status_code, response.headers["Cache-Control"]) == (401, "no-store")
            assert {"ETag", "Content-Encoding"}.isdisjoint(response.headers)
            assert b"mine" not in body
    check_own(other_key, b"theirs", b"mine", is_owner=False)
    check_own(second_key, b"mine", b"theirs", is_owner=True)
    check_own(key, b"mine", b"theirs", is_owner=True)


@pytest.mark.sqlite
def test_change_by_another_tool_is_in_the_next_response(client, save, database, sql):
    """One tool keeps the database open, and one opens it again. test_internals.py writes from another process."""
    save(*(article_json(number) for number in range(20)))
    with closing(sqlite3.connect(database, isolation_level=None)) as other:
        for round_ in range(20):
            other.execute(f"UPDATE article SET title = 'Round {round_}', slug = 'round-{round_}' WHERE id = 'id-0007'")
            assert all(f"Round {round_}" in column(client, path, "title") for path in LISTS)
            assert f"round-{round_}" in column(client, SITEMAP, "url")
            sql("UPDATE article SET category = ?", f"Round {round_}")
            assert set(column(client, PREVIEW, "category")) == {f"Round {round_}"}
            other.execute("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00.000000'")
            assert all(client.get(path).status_code == 401 for path in ENDPOINTS)
            other.execute("UPDATE api_key SET revoked_at = NULL")


def test_key_expires_at_midnight_under_a_warm_cache(app, save):
    with time_machine.travel(datetime(2027, 1, 30, 12, tzinfo=UTC), tick=False) as clock:
        save(article_json(1))
        client = client_with_key(app, create_key(app, "Acme", "--expires", "2027-01-31"))
        for hours, status in ((0, 200), (35.9999, 200), (0.0001, 401), (-0.0001, 200), (24, 401)):
            clock.shift(timedelta(hours=hours))
            for path in ENDPOINTS:
                assert [client.get(path).status_code for _ in range(2)] == [status] * 2


def test_scheduled_article_appears_at_its_millisecond(client, save):
    """It disappears again if the clock is set back."""
    save(article_json(1, publishedAt=iso(PAST)), article_json(2, publishedAt="2099-01-01T00:00Z"))
    save(article_json(1), customer="Other")
    with time_machine.travel(PAST - timedelta(hours=1), tick=False) as clock:
        for milliseconds, total in ((-3_600_000, 0), (-1, 0), (0, 1), (1, 1), (-1, 0)):
            clock.move_to(PAST + timedelta(milliseconds=milliseconds))
            for path in (*ENDPOINTS, FULL + "?orderBy=views&q=title"):
                for _ in range(2):
                    assert len(client.get(path).get_json()["data"]) == total
            page = client.get(FULL).get_json()
            assert page["meta"]["total"] == total
            assert [article["publishedAt"] for article in page["data"]] == [iso(PAST)] * total


@pytest.mark.sqlite
def test_missing_database_file_is_503_and_is_not_created(tmp_path):
    with application(tmp_path / "none.db") as app:
        for path in ENDPOINTS * 2:
            assert_problem(app.test_client().get(path, headers={"x-api-key": "x"}), 503)
        assert_problem(app.test_client().get("/none", headers={"x-api-key": "x"}), 404)
    assert list(tmp_path.iterdir()) == []


ORIGINS = ["https://a.example", "https://b.example"]
HEADER_VALUES = {  # The test of keys is above.
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
def test_warm_response_is_that_of_no_cache_by_each_header(save, key, database, origins):
    """An entry must not depend on a header of the request that filled it."""
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
        assert {status for status, _, _ in expected} == {200, 304, 400}  # 400: no valid Host, or a WebSocket handshake
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


def test_warm_response_is_that_of_no_cache_by_odd_query(save, key, database):
    titles = ("a", "a b", "a;take=5", "a&take=5", "%ff", "%fe", "ÿ", "þ", "Ã¿", "a%00", "none", "=a", "%", "a&amp;")
    save(*(article_json(number, title=title) for number, title in enumerate((*titles, "a+b", "A´b", "B before a"))))
    chance = random.Random(3)
    with application(database) as cached_app, application(database, CACHE_MB=0) as uncached_app:

        def response(app, path, query, encoding):
            headers = {"Accept-Encoding": encoding}
            got = client_with_key(app, key).get(path, headers=headers, environ_overrides={"QUERY_STRING": query})
            return got.status, list(got.headers), got.data

        requests = list(product(ENDPOINTS, ODD_QUERIES, ("", "gzip")))
        expected = {request: response(uncached_app, *request) for request in requests}
        assert len({body for _, _, body in expected.values()}) > 60
        for _ in range(3):
            for request in chance.sample(requests, len(requests)):
                assert response(cached_app, *request) == expected[request], request


def test_body_is_compressed_once(client, save):
    """Compression takes most of a large response's processor time."""
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
        # no article, and a Link of 2 KB
        (1200, lambda number: f"take=100&skip={70 + number % 100}&q=" + "%E3%80%80" * (200 - number // 100)),
    ],
    ids=["large", "small", "links"],
)
def test_entries_large_and_small_stay_within_cache_mb(save, key, database, count, query):
    """The cache counts what an entry takes besides its body, so CACHE_MB holds for small ones too."""
    save(*(article_json(number, contentHtml="<p>" + "word " * 1600) for number in range(70)))
    with application(database, CACHE_MB=1) as small:
        client = client_with_key(small, key)
        for number in range(100):  # what is parsed of queries is remembered too, however many entries there are
            client.get(f"{FULL}?take=1&skip={number}&q=before{number}")
        gc.collect()
        tracemalloc.start()
        for number in range(count):
            assert client.get(f"{FULL}?{query(number)}").status_code == 200
        gc.collect()
        growth, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert growth < 1_300_000
