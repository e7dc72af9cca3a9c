"""The response cache: never stale, never shared between customers, and within CACHE_MB."""

import random
from datetime import timedelta
from itertools import product

import pytest
import time_machine
from helpers import ENDPOINTS, LISTS, PAST, SITEMAP, application, article_json, client_with_key, create_key, iso
from sqlalchemy import Engine, event

FULL, PREVIEW = LISTS


@pytest.fixture
def statements():
    """The SQL statements that all engines have sent from now on."""
    sent = []

    def note(_connection, _cursor, statement, *_):
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield sent
    event.remove(Engine, "before_cursor_execute", note)


@pytest.fixture
def is_hit(client, statements):
    """Return a function that sends a request and tells whether it needed no statement."""

    def is_hit(path, **headers):
        statements.clear()
        assert client.get(path, headers=headers).status_code in (200, 304)
        return not statements

    return is_hit


# Hits and misses


@pytest.mark.sqlite
@pytest.mark.parametrize("path", ENDPOINTS)
def test_second_response_needs_no_statement(save, is_hit, path):
    save(article_json(1))
    headers = {}, {}, {"Accept-Encoding": "gzip"}, {"If-None-Match": "*"}
    assert [is_hit(path, **sent) for sent in headers] == [False, True, True, True]


@pytest.mark.sqlite
@pytest.mark.parametrize(("sent", "megabytes", "lookups"), [("valid", 64, 0), ("valid", 0, 1), ("wrong", 64, 1)])
def test_only_valid_keys_are_remembered_and_only_with_a_cache(key, database, statements, sent, megabytes, lookups):
    with application(database, CACHE_MB=megabytes) as app:
        client = client_with_key(app, key if sent == "valid" else sent)
        client.get(SITEMAP)
        statements.clear()
        client.get(SITEMAP)
        assert sum("api_key" in statement for statement in statements) == lookups


@pytest.mark.sqlite
def test_equivalent_queries_share_a_cache_entry(save, is_hit):
    save(article_json(1, title="Café"))
    assert not is_hit(FULL + "?q=cafe+1&take=50")
    for query in ("?take=50&q=cafe+1&_=124&Q=x&x-api-key=y", "?q=cafe+1&q=x&take=50&take=7", "?q=cafe%201&take=%350"):
        assert is_hit(FULL + query)
    assert not is_hit(SITEMAP)
    assert is_hit(SITEMAP + "?take=1&q=x&_=1")


# Freshness


def test_key_expires_at_midnight_under_a_warm_cache(app):
    with time_machine.travel("2027-01-30T12:00:00Z", tick=False) as clock:
        client = client_with_key(app, create_key(app, "Acme", "--expires", "2027-01-31"))
        for hours, status in ((0, 200), (35.9999, 200), (0.0001, 401), (-0.0001, 200), (24, 401)):
            clock.shift(timedelta(hours=hours))
            assert [client.get(SITEMAP).status_code for _ in range(2)] == [status] * 2


@pytest.mark.parametrize("path", [*ENDPOINTS, FULL + "?orderBy=views&q=title"])
def test_scheduled_article_appears_on_the_millisecond(client, save, path):
    """And disappears again if the clock is set back."""
    save(article_json(1, publishedAt=iso(PAST)), article_json(2, publishedAt="2099-01-01T00:00Z"))
    with time_machine.travel(PAST - timedelta(hours=1), tick=False) as clock:
        for milliseconds, total in ((-3_600_000, 0), (-1, 0), (0, 1), (1, 1), (-1, 0), (5000, 1)):
            clock.move_to(PAST + timedelta(milliseconds=milliseconds))
            assert [len(client.get(path).get_json()["data"]) for _ in range(2)] == [total] * 2


# Equal to uncached responses


def response_to(app, key, path, headers, query=""):
    response = client_with_key(app, key).get(path, headers=headers, environ_overrides={"QUERY_STRING": query})
    return response.status_code, list(response.headers), response.data


def assert_cache_is_invisible(database, key, requests, **settings):
    """Compare responses of a cold and a warm cache with uncached ones, and return the latter."""
    with application(database, **settings) as cached, application(database, **settings, CACHE_MB=0) as uncached:
        expected = [response_to(uncached, key, *request) for request in requests]
        for number in random.Random(3).sample(range(len(requests)), len(requests)) * 2:
            assert response_to(cached, key, *requests[number]) == expected[number], requests[number]
    return expected


ORIGINS = ["https://a.example", "https://b.example"]
HEADER_VALUES = {  # keys are tested in test_auth.py
    "Origin": ("", "null", *ORIGINS, "https://c.example"),
    "Accept-Encoding": ("", "gzip", "GZIP;q=0.5", "gzip;q=0", "nonsense;;q=x"),
    "If-None-Match": ("", "*", '"', '"other"', ",,,", "\xff"),
    "Host": ("", "a.example:80", "[::1", "a..b", "x" * 5000, "a b", "é"),
    "Connection": ("close", "upgrade"),
    "Access-Control-Request-Method": ("GET",),
    "If-Modified-Since": ("Wed, 01 Jan 2099 00:00:00 GMT",),
    "If-Match": ('"x"',),
    "Range": ("bytes=0-1",),
    "Accept": ("text/html;q=0",),
}


@pytest.mark.parametrize("origins", [(), ORIGINS])
def test_cached_equals_uncached_for_every_header(save, key, database, origins):
    """A cache entry must not depend on headers of the request that created it."""
    save(*(article_json(number, slug=str(number) * 190) for number in range(9)))  # enough for compression
    chance = random.Random(7)
    each = [{name: value} for name, values in HEADER_VALUES.items() for value in values]
    each.append({"Upgrade": "websocket", "Connection": "upgrade"})
    mixed = [{name: chance.choice(values) for name, values in HEADER_VALUES.items()} for _ in range(10)]
    requests = list(product((FULL, SITEMAP), each + mixed))
    responses = assert_cache_is_invisible(database, key, requests, CORS_ORIGINS=origins)
    assert {status for status, _, _ in responses} == {200, 304, 400}  # 400: invalid Host, or a WebSocket handshake
    assert len({body for status, _, body in responses if status != 400}) == 5  # plain, compressed and none


ODD_QUERIES = [
    *("", "q=a", "Q=a", "q=a%00", "q=a%2500", "q=%ff", "q=%fe", "q=%25ff", "q=%c3%bf", "q=\xff", "utm=\xe9", "=a"),
    *("take=5&take=6", "take=6&take=5", "take=5", "TAKE=5", "take=+5", "take=", "skip=0&skip=3", "skip=3&skip=0"),
    *("q=a;take=5", "q=a&take=5", "q=a%26take=5", "q=a#take=5", "q[]=a", "order=asc", "orderBy=title", "take=None"),
    *("q=a+b", "q=b+a", "q=a%2Bb", "q=ab", "category=News", "q=News", "slug=News", "keyword=one"),
]


def test_cached_equals_uncached_for_odd_queries(save, key, database):
    words = "a", "a b", "a;take=5", "a&take=5", "%ff", "ÿ", "þ", "Ã¿", "a%00", "=a", "a+b", "ab"
    save(*(article_json(number, title=title) for number, title in enumerate((*words, "B before a", "News"))))
    responses = assert_cache_is_invisible(database, key, list(product((PREVIEW, SITEMAP), [{}], ODD_QUERIES)))
    assert len({body for _, _, body in responses}) > 15


@pytest.mark.sqlite
@pytest.mark.parametrize(("query", "number"), [("?q=none{}", 600), ("?take={}1", 6)])
def test_cache_keeps_the_latest_responses_within_cache_mb(save, key, database, statements, query, number):
    """The size of an entry includes its overhead and the compressed body."""
    save(article_json(1, contentHtml="x" * 100_000))
    paths = [FULL + query.format(index) for index in range(number)]
    with application(database, CACHE_MB=1) as app:
        client = client_with_key(app, key)
        for path in paths:
            assert client.get(path).status_code == 200
        statements.clear()
        assert client.get(paths[-1]).status_code == 200
        assert statements == []
        assert client.get(paths[0]).status_code == 200
        assert statements
