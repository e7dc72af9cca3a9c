"""The response cache is never stale, serves nobody but the key that it was filled for, and stays within its memory."""

import gc
import gzip
import http.client
import random
import re
import subprocess
import sys
import time
import tracemalloc
from contextlib import closing
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import product
from statistics import median

import helpers
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
ROUNDS = [20, pytest.param(200, marks=pytest.mark.slow)]


EXECUTE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.stdin:
    connection.execute(statement)
    print(flush=True)
"""


@pytest.fixture
def execute(database):
    """Run SQL in another process, which keeps the database open."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", EXECUTE, str(database)], **pipes) as process:

        def run(statement):
            print(statement, file=process.stdin, flush=True)
            assert process.stdout.readline() == "\n"

        yield run
        process.stdin.close()


def column(client, path, name):
    """Return a field of all articles in a response."""
    return [article[name] for article in client.get(path).get_json()["data"]]


def request_forms(etag):
    """Return the methods and headers of requests that the same entry of the cache can serve."""
    tags = f'"{etag}"', f'"{etag}-gzip"', "*"
    return [
        *product(("GET", "HEAD"), ({}, {"Accept-Encoding": "gzip"})),
        *(
            ("GET", {"If-None-Match": tag, "Accept-Encoding": encoding})
            for tag, encoding in product(tags, ("", "gzip"))
        ),
    ]


def every_form(connection, etags, **key_header):
    """Yield the method, headers, response and body of requests in every form to endpoints whose ETags are known."""
    for path, etag in etags.items():
        for method, headers in request_forms(etag):
            connection.request(method, path, headers=headers | key_header)
            response = connection.getresponse()
            body = response.read()
            if response.headers["Content-Encoding"] == "gzip" and body:
                body = gzip.decompress(body)
            yield method, headers, response, body.lower()


def check_own(connection, etags, key, own, other, *, is_owner):
    """Check that a key gets its own customer's articles, from the entries that have the ETags if it is their owner."""
    for method, headers, response, body in every_form(connection, etags, **{"x-api-key": key}):
        tag = headers.get("If-None-Match")
        assert response.status == (304 if tag == "*" or (tag and is_owner) else 200)
        assert (response.headers["ETag"].strip('"').removesuffix("-gzip") in etags.values()) == is_owner
        assert (own in body, other in body) == (response.status == 200 and method == "GET", False)


def test_nobody_without_the_key_gets_a_warm_response(site):
    """Every endpoint is warm in every form when requests without that very key follow, all on one connection."""
    other_customer = f"{site.customer} and another"
    key, second_key, other_key = site.key, create_key(site.app, site.customer), create_key(site.app, other_customer)
    for customer, name in ((site.customer, "mine"), (other_customer, "theirs")):
        named = (article_json(number, title=name, slug=f"{name}-{number}") for number in range(60))
        helpers.save_articles(site.app, *named, customer=customer)
    etags = {path: site.get(path).headers["ETag"].strip('"') for path in ENDPOINTS}
    assert len(set(etags.values())) == 3
    hashed = sha256(key.encode()).hexdigest()
    joined = f"{key}, {key}", f"{key},{other_key}"
    bad_keys = "", key.swapcase(), key.upper(), key[:-1], key[:6], key[1:], key + "x", *joined, hashed, "None", "*"
    with closing(http.client.HTTPConnection(site.server.host, site.server.port, timeout=20)) as connection:
        connection.connect()
        connection.auto_open = False
        check_own(connection, etags, key, b"mine", b"theirs", is_owner=True)
        check_own(connection, etags, other_key, b"theirs", b"mine", is_owner=False)
        check_own(connection, etags, second_key, b"mine", b"theirs", is_owner=True)
        for key_header in ({}, *({"x-api-key": bad_key} for bad_key in bad_keys)):
            for method, _, response, body in every_form(connection, etags, **key_header):
                assert response.status == 401
                assert response.headers["Content-Type"] == "application/problem+json"
                assert response.headers["Cache-Control"] == "no-store"
                assert {"ETag", "Content-Encoding"}.isdisjoint(response.headers)
                assert (b"mine" in body, body == b"") == (False, method == "HEAD")
        check_own(connection, etags, other_key, b"theirs", b"mine", is_owner=False)
        check_own(connection, etags, key, b"mine", b"theirs", is_owner=True)


@pytest.mark.sqlite
@pytest.mark.parametrize("rounds", ROUNDS)
def test_change_by_another_process_is_in_the_next_response(client, save, execute, sql, rounds):
    save(*(article_json(number) for number in range(20)))
    for round_ in range(rounds):
        execute(f"UPDATE article SET title = 'Round {round_}', slug = 'round-{round_}' WHERE id = 'id-0007'")
        for path in LISTS:
            assert f"Round {round_}" in column(client, path, "title")
        assert f"round-{round_}" in column(client, SITEMAP, "url")
        sql("UPDATE article SET category = ?", f"Round {round_}")  # by a tool that reopens the file
        assert set(column(client, PREVIEW, "category")) == {f"Round {round_}"}
        execute("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00.000000'")
        assert all(client.get(path).status_code == 401 for path in ENDPOINTS)
        execute("UPDATE api_key SET revoked_at = NULL")


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


# Each request header that the product reads, by its WSGI name, and the values that are tried. None is no header.
HEADER_VALUES = {
    "HTTP_X_API_KEY": (None, "", "KEY", "OTHER_KEY", "wrong", "KEY, KEY"),
    "HTTP_ORIGIN": (None, "", "null", "https://a.example", "https://b.example", "https://c.example"),
    "HTTP_ACCEPT_ENCODING": (None, "", "gzip", "GZIP;q=0.5", "gzip;q=0", "br, *", "identity, gzip;q=0.1"),
    "HTTP_IF_NONE_MATCH": (None, "", "*", "TAG", "TAG-gzip", "W/TAG", '"other"', '"other", TAG'),
    "HTTP_HOST": (None, "x", "", "a.example:80", "[::1]", "a..b", ".", "x" * 64, "a_b", "x%20y"),
    "HTTP_CONNECTION": (None, "close", "keep-alive"),
    "HTTP_UPGRADE": (None, "websocket"),
    "HTTP_ACCESS_CONTROL_REQUEST_METHOD": (None, "GET"),
    "CONTENT_LENGTH": (None, "0"),
}
ORIGINS = ["https://a.example", "https://b.example"]


@pytest.mark.slow
@pytest.mark.parametrize("origins", [(), ORIGINS])
def test_warm_response_is_that_of_no_cache_by_each_header(client, save, key, database, origins):
    """A header that the application reads, and the cache's key lacks, would make a wrong response."""
    chance = random.Random(7)
    save(*(article_json(number) for number in range(20)))
    save(*(article_json(number, title="Other") for number in range(20)), customer="Other")
    with (
        application(database, CORS_ORIGINS=origins) as cached_app,
        application(database, CORS_ORIGINS=origins, CACHE_MB=0) as uncached_app,
    ):
        cached, uncached = cached_app.test_client(), uncached_app.test_client()
        words = {"OTHER_KEY": create_key(cached_app, "Other"), "KEY": key, "TAG": client.get(FULL).headers["ETag"]}
        words["TAG-gzip"] = words["TAG"][:-1] + '-gzip"'

        def substitute(value):
            return re.sub("OTHER_KEY|KEY|TAG-gzip|TAG", lambda match: words[match[0]], value)

        def response(test_client, method, path, environ):
            got = test_client.open(path, method=method, environ_overrides=environ)
            return got.status, sorted(header for header in got.headers if header[0] != "Date"), got.data

        requests = []
        usual = {"HTTP_X_API_KEY": "KEY", "HTTP_HOST": "x"}
        for name, values in HEADER_VALUES.items():  # each value by itself, and in the company of others
            for value in values:
                requests.append(usual | {name: value})
                others = {other: chance.choice(HEADER_VALUES[other]) for other in HEADER_VALUES}
                requests += [others | {name: value}, others | usual | {name: value}]
        requests = [
            (method, path, {name: substitute(value) for name, value in environ.items() if value is not None})
            for environ in requests
            for method, path in (("GET", FULL), (chance.choice(("GET", "HEAD")), chance.choice(ENDPOINTS)))
        ]
        for request in chance.sample(requests, len(requests)):
            response(cached, *request)
        for request in chance.sample(requests, len(requests)):
            assert response(cached, *request) == response(uncached, *request), request


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


@pytest.mark.sqlite
def test_body_is_compressed_once(client, save):
    """Compression takes most of a large response's processor time, and a warm response takes next to none."""
    words = "".join(f"{number * 7919 % 100_003} " for number in range(150_000))
    save(*(article_json(number, contentHtml=words) for number in range(3)))

    def processor_time():
        began = time.thread_time()
        assert client.get(FULL, headers={"Accept-Encoding": "gzip"}).headers["Content-Encoding"] == "gzip"
        return time.thread_time() - began

    assert client.get(FULL).status_code == 200
    first = processor_time()
    assert median(processor_time() for _ in range(5)) < first / 10


def traced_growth(client, paths):
    """Return by how many bytes Python's memory has grown after requests for the paths."""
    gc.collect()
    tracemalloc.start()
    for path in paths:
        assert client.get(path).status_code == 200
    gc.collect()
    growth, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return growth


@pytest.mark.slow
@pytest.mark.sqlite
@pytest.mark.parametrize("query", ["take=10&skip={}", "q=none{}"])
def test_entries_large_and_small_stay_within_cache_mb(save, key, database, query):
    """The cache counts what an entry takes besides its body, so CACHE_MB holds for small ones too."""
    save(*(article_json(number, contentHtml="<p>" + "word " * 1600) for number in range(70)))
    with application(database, CACHE_MB=1) as small:
        client = client_with_key(small, key)
        for number in range(100):  # what is parsed of queries is remembered too, however many entries there are
            client.get(f"{FULL}?take=1&skip={number}&q=before{number}")
        paths = [f"{FULL}?{query.format(number)}" for number in range(60 if "take" in query else 1200)]
        assert traced_growth(client, paths) < 1_300_000
