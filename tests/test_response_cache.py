"""The response cache is never stale, serves nobody but the key that it was filled for, and stays within its memory."""

import gc
import gzip
import http.client
import json
import random
import re
import subprocess
import sys
import threading
import time
import tracemalloc
from contextlib import closing, contextmanager
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
    article_json,
    assert_problem,
    client_with_key,
    create_application,
    create_key,
    iso,
    run_command,
    subprocess_args,
)
from werkzeug.test import EnvironBuilder, run_wsgi_app

FULL, PREVIEW = LISTS
ROUNDS = [20, pytest.param(200, marks=pytest.mark.slow)]


@contextmanager
def other_process(database):
    """Yield a function that runs SQL in another process, which keeps the database open."""
    code = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.stdin:
    connection.execute(statement)
    print(flush=True)
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def run(statement):
        process.stdin.write(statement + "\n")
        process.stdin.flush()
        assert process.stdout.readline() == "\n"

    yield run
    process.communicate()


@pytest.fixture
def execute(database):
    """Run SQL in another process, which keeps the database open."""
    with other_process(database) as run:
        yield run


@contextmanager
def application(database, **settings):
    """Yield another application on the database."""
    app = create_application(database, **settings)
    yield app
    helpers.close(app)


def column(client, path, name):
    """Return a field of all articles in a response."""
    return [article[name] for article in client.get(path).get_json()["data"]]


def test_similar_queries_are_not_mistaken_for_each_other(client, save):
    save(article_json(1, title="a b"), article_json(2, title="a+b"), article_json(3, title="b, then a&take=1"))
    totals = {
        "q=a+b": 3,
        "q=b+a": 3,
        "q=a%2Bb": 1,
        "q=a%26take%3D1": 1,
        "q=ab": 0,
        "q=a": 3,
        "q=&q=ab": 3,
        "q=ab&q=": 0,
        "Q=ab": 3,
        "": 3,
    }
    takes = {"take=1&take=2": 1, "take=2&take=1": 2, "skip=1&take=1": 1, "skip=1&take=2": 2, "skip=2&take=2": 1}
    for _ in range(2):
        assert {query: client.get(f"{PREVIEW}?{query}").get_json()["meta"]["total"] for query in totals} == totals
        assert {query: client.get(f"{PREVIEW}?{query}").get_json()["meta"]["take"] for query in takes} == takes
        for bad_query in ("take=", "skip=", "order=", "orderBy=", "take=1%00", "q=a%00", "take=1+"):
            assert_problem(client.get(f"{PREVIEW}?{bad_query}"), 400)
            assert_problem(client.get(f"{PREVIEW}?{bad_query}&take=1"), 400)


def test_word_that_folds_to_two_words_is_not_two_words(client, save):
    save(article_json(1, title="A´b"), article_json(2, title="B before a"))  # the accent by itself becomes a space
    for _ in range(2):
        assert [client.get(FULL + f"?q={q}").get_json()["meta"]["total"] for q in ("a+b", "a´b")] == [2, 1]


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


def test_nobody_without_the_key_gets_a_warm_response(site):
    """Every endpoint is warm in every form when requests without that very key follow."""
    other = f"{site.customer} and another"
    key, second_key, other_key = site.key, create_key(site.app, site.customer), create_key(site.app, other)
    site.save(*(article_json(number, title="Mine", slug=f"mine-{number}") for number in range(60)))
    theirs = (article_json(number, title="Theirs", slug=f"theirs-{number}") for number in range(60))
    helpers.save_articles(site.app, *theirs, customer=other)
    etags = {path: site.get(path).headers["ETag"].strip('"') for path in ENDPOINTS}
    assert len(set(etags.values())) == 3
    connection = http.client.HTTPConnection(site.server.host, site.server.port, timeout=20)

    def check_mine(own_key):
        for method, headers, response, body in every_form(connection, etags, **{"x-api-key": own_key}):
            assert response.status == (304 if "If-None-Match" in headers else 200)
            assert response.headers["ETag"].strip('"').removesuffix("-gzip") in etags.values()
            assert (b"mine" in body, b"theirs" in body) == (response.status == 200 and method == "GET", False)

    def check_theirs():
        for method, headers, response, body in every_form(connection, etags, **{"x-api-key": other_key}):
            assert response.status == (304 if headers.get("If-None-Match") == "*" else 200)
            assert response.headers["ETag"].strip('"').removesuffix("-gzip") not in etags.values()
            assert (b"theirs" in body, b"mine" in body) == (response.status == 200 and method == "GET", False)

    bad_keys = (
        "",
        key.swapcase(),
        key.upper(),
        key[:-1],
        key[:6],
        key[1:],
        key + "x",
        f"{key}, {key}",
        f"{key},{other_key}",
        sha256(key.encode()).hexdigest(),
        "None",
        "*",
    )
    check_mine(key)
    check_theirs()
    check_mine(second_key)
    for key_header in ({}, *({"x-api-key": bad_key} for bad_key in bad_keys)):
        for method, _, response, body in every_form(connection, etags, **key_header):
            assert response.status == 401
            assert response.headers["Content-Type"] == "application/problem+json"
            assert response.headers["Cache-Control"] == "no-store"
            assert {"ETag", "Content-Encoding"}.isdisjoint(response.headers)
            assert (b"mine" in body, body == b"") == (False, method == "HEAD")
    check_theirs()
    check_mine(key)
    connection.close()


def test_warm_response_is_for_its_own_origin(save, key, database):
    save(article_json(1))
    origins = ["https://www.example.com", "https://shop.example.com"]
    with application(database, CORS_ORIGINS=origins) as app:
        client = client_with_key(app, key)
        for _ in range(2):
            for origin, allowed in ((origins[0], origins[0]), (None, None), (origins[1], origins[1]), ("x", None)):
                response = client.get(FULL, headers={"Origin": origin} if origin else {})
                assert response.get_json()["meta"]["total"] == 1
                assert response.headers.get("Access-Control-Allow-Origin") == allowed
                assert "Origin" in response.vary


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


@pytest.mark.slow
def test_change_by_a_command_is_in_the_next_response(app, client, save, database, tmp_path):
    """Commands run in a second application, so on another connection; two of them run in processes of their own."""
    source = tmp_path / "a.json"
    with application(database) as other:
        for round_ in range(6):
            source.write_text(json.dumps([article_json(1, title=f"Round {round_}")]))
            for arguments, total in (
                (["import", str(source)], 1),
                (["unpublish", "slug-1"], 0),
                (["publish", "slug-1"], 1),
            ):
                if round_ == 5 and arguments[0] != "publish":
                    subprocess.run(**subprocess_args(database, "-m", "flask", "articles", *arguments), check=True)
                else:
                    assert run_command(other, "articles", *arguments).exit_code == 0
                for path in LISTS:
                    assert client.get(path).get_json()["meta"]["total"] == total
                    assert column(client, path, "title") == [f"Round {round_}"] * total
                assert len(column(client, SITEMAP, "url")) == total


def test_key_expires_at_midnight_under_a_warm_cache(app, save):
    with time_machine.travel(datetime(2027, 1, 30, 12, tzinfo=UTC), tick=False) as clock:
        save(article_json(1))
        client = client_with_key(app, create_key(app, "Acme", "--expires", "2027-01-31"))
        for hours, status in ((0, 200), (35.9999, 200), (0.0001, 401), (-0.0001, 200), (24, 401)):
            clock.shift(timedelta(hours=hours))
            for path in ENDPOINTS:
                assert [client.get(path).status_code for _ in range(2)] == [status] * 2


@pytest.mark.parametrize("customers", [["Acme"], ["Acme", "Other"]])
def test_scheduled_article_appears_at_its_millisecond(client, save, customers):
    for customer in customers:
        save(
            article_json(1, publishedAt=iso(PAST)), article_json(2, publishedAt="2099-01-01T00:00Z"), customer=customer
        )
    with time_machine.travel(PAST - timedelta(hours=1), tick=False) as clock:
        for moment, total in ((timedelta(hours=-1), 0), (timedelta(milliseconds=-1), 0), (timedelta(0), 1)):
            clock.move_to(PAST + moment)
            for path in (*ENDPOINTS, FULL + "?orderBy=views&q=title"):
                for _ in range(2):
                    assert len(client.get(path).get_json()["data"]) == total
            assert client.get(FULL).get_json()["meta"]["total"] == total


def test_clock_that_is_set_back_hides_later_articles(client, save):
    save(article_json(1), article_json(2, publishedAt=iso(datetime.now(UTC) + timedelta(hours=1))))
    for path in ENDPOINTS:
        with time_machine.travel(datetime.now(UTC) + timedelta(hours=2)):
            assert len(client.get(path).get_json()["data"]) == 2
        assert len(client.get(path).get_json()["data"]) == 1


@pytest.mark.sqlite
def test_missing_database_file_is_503_and_is_not_created(tmp_path):
    with application(tmp_path / "none.db") as app:
        for path in ENDPOINTS * 2:
            assert_problem(app.test_client().get(path, headers={"x-api-key": "x"}), 503)
        assert_problem(app.test_client().get("/none", headers={"x-api-key": "x"}), 404)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sqlite
def test_no_response_under_full_load_mixes_two_states(site):
    """Eight readers read while a writer changes all titles, and publishes or withdraws an article."""
    deadline = time.monotonic() + 20
    site.save(*(article_json(number, title="Round 0") for number in range(40)))
    own = f"customer_id = (SELECT id FROM customer WHERE name = '{site.customer}')"
    wrong, read, done, committed = [], [], threading.Event(), [0]

    def reader(number):
        path = (FULL, PREVIEW, FULL + "?orderBy=title", PREVIEW + "?take=100&order=asc")[number % 4]
        connection = http.client.HTTPConnection(site.server.host, site.server.port)
        latest = 0
        while not done.is_set():
            latest = max(latest, committed[-1])
            connection.request("GET", path, headers={"x-api-key": site.key, "Accept-Encoding": "gzip"})
            response = connection.getresponse()
            body = response.read()
            if response.headers["Content-Encoding"]:
                body = gzip.decompress(body)
            page = json.loads(body)
            rounds = {int(article["title"].removeprefix("Round ")) for article in page["data"]}
            (round_,) = rounds if len(rounds) == 1 else (-1,)
            total = page["meta"]["total"]
            if round_ < latest or total != 40 - round_ % 2 or len(page["data"]) != total:
                wrong.append((rounds, latest, page["meta"]))
            latest = round_
            read.append(round_)
        connection.close()

    threads = [threading.Thread(target=reader, args=(number,)) for number in range(8)]
    round_ = 0
    with other_process(site.server.database) as execute:
        try:
            for thread in threads:
                thread.start()
            while len(set(read)) <= 60 and time.monotonic() < deadline:
                round_ += 1
                status = "draft" if round_ % 2 else "published"
                status_of_one = f"iif(id = 'id-0003', '{status}', status)"
                execute(f"UPDATE article SET title = 'Round {round_}', status = {status_of_one} WHERE {own}")
                committed.append(round_)
        finally:
            done.set()
            for thread in threads:
                thread.join()
    assert wrong == []
    assert len(set(read)) > 50


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


def request_headers_in_source():
    """Return the WSGI names of the request headers that the product's source reads."""
    by_name = r"""\b(?:request|self)\.headers(?:\.get\w*\(|\[)["']([\w-]+)["']"""
    by_presence = r"""["']([\w-]+)["'] (?:not )?in (?:request|self|self\.request)\.headers"""
    by_attribute = r"""(?<![\w.])request\.(?!(?:args|blueprints|environ|headers|method|script_root)\b)(\w+)"""
    names = set()
    for file in helpers.PROJECT.rglob("*.py"):
        if file.relative_to(helpers.PROJECT).parts[0] not in ("tests", "benchmarks", ".venv"):
            source = file.read_text("utf-8")
            names.update(re.findall(r"""["'](HTTP_\w+|CONTENT_\w+)["']""", source))
            for pattern in (by_name, by_presence, by_attribute):
                found = (name.upper().replace("-", "_") for name in re.findall(pattern, source))
                names.update(name if name.startswith("CONTENT_") else f"HTTP_{name}" for name in found)
    return names


@pytest.mark.slow
@pytest.mark.parametrize("origins", [(), ORIGINS])
def test_warm_response_is_that_of_no_cache_by_each_header(client, save, key, database, origins):
    """A header that the application reads, and the cache's key lacks, would make a wrong response."""
    assert request_headers_in_source() == set(HEADER_VALUES)
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


def test_host_changes_no_response_warm_or_cold(client, save, sql):
    save(article_json(1))
    for host in ("a..b", ".", "x" * 64, "x" * 64 + ".example", "a_b", "x%20y", "[::1]:80"):
        sql("UPDATE article SET views = views + 1")  # so that the cache is cold
        for path in (*ENDPOINTS * 2, "/healthz"):
            assert client.get(path, headers={"Host": host}).status_code == 200, host
        assert_problem(client.get("/none", headers={"Host": host}), 404)


def test_environ_without_path_or_query_is_served(app, client):
    """PEP 3333 allows a server to leave out what is empty."""
    for path in (*ENDPOINTS, "/", ""):
        environ = EnvironBuilder(path=path).get_environ() | {"PATH_INFO": path} | client.environ_base
        for name in ("QUERY_STRING", *([] if path else ["PATH_INFO"])):
            del environ[name]
        _, status, _ = run_wsgi_app(app, environ)
        assert status.startswith("200" if path else "308"), path


ODD_QUERIES = [
    *("", "?", "q", "q=", "q=&q=a", "q=a", "Q=a", "%71=a", "%51=a", "q=+a", "q=a+", "q=%20a", "q=a%00", "q=a%2500"),
    *("q=%ff", "q=%fe", "q=%FF", "q=%25ff", "q=%25fe", "q=%c3%bf", "q=%c3%be", "q=\xc3\xbf", "q=%", "q=%f"),
    *("take=5&take=6", "take=6&take=5", "take=5", "take=6", "TAKE=5", "take=+5", "take=%205", "take=05", "take=%35"),
    *("q=a;take=5", "q=a&take=5", "q=a%3btake=5", "q=a%26take=5", "q=a&;take=5", "q=a&amp;take=5", "q=a#take=5"),
    *("order=asc", "orderby=title", "orderBy=title", "orderBy=title&order=asc", "q=None", "take=None", "q=\x00"),
    *("q[]=a", "q==a", "=a", "&&q=a", "q=a&", "q =a", "%00q=a", "q%00=a", "skip=0&skip=3", "skip=3&skip=0", "skip=3"),
]


def test_warm_response_is_that_of_no_cache_by_odd_query(save, key, database):
    titles = ("a", "a b", "a;take=5", "a&take=5", "%ff", "%fe", "ÿ", "þ", "Ã¿", "a%00", "none", "=a", "%", "a&amp;")
    save(*(article_json(number, title=title) for number, title in enumerate(titles)))
    chance = random.Random(3)
    with application(database) as cached_app, application(database, CACHE_MB=0) as uncached_app:

        def response(app, path, query):
            got = client_with_key(app, key).get(path, environ_overrides={"QUERY_STRING": query})
            return got.status, list(got.headers), got.data

        requests = list(product(LISTS, ODD_QUERIES))
        expected = {request: response(uncached_app, *request) for request in requests}
        assert len({body for _, _, body in expected.values()}) > 30
        for _ in range(3):
            for request in chance.sample(requests, len(requests)):
                assert response(cached_app, *request) == expected[request], request


@pytest.mark.parametrize("headers", [{}, {"Accept-Encoding": "gzip"}])
def test_responses_are_the_same_without_a_cache(client, save, key, database, headers):
    save(*(article_json(number) for number in range(120)))
    with application(database, CACHE_MB=0) as uncached_app:
        uncached = client_with_key(uncached_app, key)
        for path in (*ENDPOINTS, FULL + "?q=1&take=7&order=asc", FULL + "?take=0", PREVIEW + "?skip=1000"):
            for _ in range(2):
                one, two = client.get(path, headers=headers), uncached.get(path, headers=headers)
                assert (one.status_code, one.data, one.headers) == (two.status_code, two.data, two.headers)


def test_gzip_is_sent_if_it_is_allowed_and_pays(client, save):
    save(*(article_json(number) for number in range(50)))
    plain = client.get(FULL)
    assert "Content-Encoding" not in plain.headers
    for header in ("gzip", "br;q=1.0, gzip;q=0.8, *;q=0.1", "GZIP", "*", "deflate, gzip;q=1.0", "identity;q=0.5, gzip"):
        compressed = client.get(FULL, headers={"Accept-Encoding": header})
        assert compressed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(compressed.data) == plain.data
    for header in ("", "identity", "br", "gzip;q=0", "identity, gzip;q=0.5", "nonsense;;q=x", "*;q=0"):
        assert client.get(FULL, headers={"Accept-Encoding": header}).data == plain.data
    assert "Content-Encoding" not in client.get(FULL + "?q=nothing", headers={"Accept-Encoding": "gzip"}).headers


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


def test_encodings_have_their_own_etags_and_both_are_known(client, save):
    save(*(article_json(number) for number in range(50)))
    plain, compressed = client.get(FULL), client.get(FULL, headers={"Accept-Encoding": "gzip"})
    tags = plain.headers["ETag"], compressed.headers["ETag"]
    assert tags[0] != tags[1]
    for tag in (*tags, f"W/{tags[0]}", f'"x", {tags[1]}', "*"):
        for encoding, own in (("", tags[0]), ("gzip", tags[1])):
            response = client.get(FULL, headers={"If-None-Match": tag, "Accept-Encoding": encoding})
            assert (response.status_code, response.data) == (304, b"")
            assert response.headers["ETag"] == (own if tag == "*" else re.search(r'"\w{9,}(-gzip)?"', tag)[0])
    assert client.get(FULL, headers={"If-None-Match": '"other"'}).status_code == 200


def test_warm_responses_fit_the_request(site):
    """HEAD, 304, gzip, a wrong key and other methods follow each other on one connection."""
    site.save(*(article_json(number) for number in range(60)))
    with closing(http.client.HTTPConnection(site.server.host, site.server.port)) as connection:
        connection.connect()
        connection.auto_open = False  # all is sent on this one connection

        def request(method="GET", path=FULL, **headers):
            connection.request(method, path, headers={"x-api-key": site.key} | headers)
            response = connection.getresponse()
            return response.status, response.read(), response.headers

        for _ in range(5):
            _, body, headers = request()
            head = request("HEAD")
            assert head[:2] == (200, b"")
            assert int(head[2]["Content-Length"]) == len(body)
            assert request(**{"If-None-Match": headers["ETag"]})[:2] == (304, b"")
            assert gzip.decompress(request(**{"Accept-Encoding": "gzip"})[1]) == body
            assert request(**{"x-api-key": "wrong"})[0] == 401
            assert request("POST")[0] == 405
            assert request("OPTIONS")[:2] == (200, b"")
            assert request(path="/nowhere")[0] == 404
            assert json.loads(body)["meta"]["total"] == 60


def test_pipelined_responses_come_in_order_warm_or_not(site):
    site.save(*(article_json(number, contentHtml="word " * 2000) for number in range(100)))

    def request(skip, headers=""):
        path = f"{FULL}?take=30&skip={skip}"
        return f"GET {path} HTTP/1.1\r\nHost: x\r\nx-api-key: {site.key}\r\n{headers}\r\n".encode()

    site.get(f"{FULL}?take=30&skip=0")
    skips = [0, 1, 0, 50, 1, 60, 0, 0, 0, 70, 0] * 3
    requests = [*map(request, skips), request(1, "Connection: close\r\n")]
    received = helpers.send(site.server, b"".join(requests), timeout=20)
    assert list(map(int, re.findall(rb'"skip":(\d+)', received))) == [*skips, 1]


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
def test_large_entries_stay_within_cache_mb(save, key, database):
    save(*(article_json(number, contentHtml="<p>" + "word " * 1600) for number in range(70)))
    with application(database, CACHE_MB=1) as small:
        client = client_with_key(small, key)
        client.get(f"{FULL}?take=10&skip=69")
        assert traced_growth(client, [f"{FULL}?take=10&skip={skip}" for skip in range(60)]) < 1_500_000


@pytest.mark.slow
@pytest.mark.sqlite
def test_small_entry_takes_about_two_kilobytes(client, save):
    """The cache counts 2,000 bytes for what an entry takes besides its body, so CACHE_MB holds for small ones too."""
    save(article_json(1))
    for number in range(100):  # what is parsed of queries is remembered too, however many entries there are
        client.get(f"{FULL}?q=before{number}")
    assert traced_growth(client, [f"{FULL}?q=none{number}" for number in range(100)]) < 100 * 2500
