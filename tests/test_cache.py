"""Answers are kept, and never stale."""

import gzip
import http.client
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta

import pytest
from conftest import (
    ENDPOINTS,
    LISTS,
    PAST,
    SITEMAP,
    article,
    assert_problem,
    make_key,
    program,
    simple,
    url_of,
)
from sqlalchemy import event

from app import create_app
from cache import Answer, Cache
from models import db
from watch import DisturbedError, Watch

FULL, PREVIEW = LISTS


@pytest.fixture
def statements(app):
    """Give the SELECTs that the application sends to its database from now on."""
    seen = []
    with app.app_context():
        engine = db.engine

    def note(_connection, _cursor, statement, *_):
        if statement.startswith("SELECT"):
            seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    return seen


@pytest.fixture
def other_process(database):
    """Run SQL in another process, which has the database open all the while."""
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


@pytest.mark.sqlite
@pytest.mark.parametrize("path", ENDPOINTS)
def test_what_was_answered_is_answered_again_without_the_database(client, save, statements, path):
    save(*(article(number) for number in range(60)))
    first = client.get(path)
    statements.clear()
    again = client.get(path)
    assert (again.data, again.headers) == (first.data, first.headers)
    assert client.get(path, headers={"If-None-Match": first.headers["ETag"]}).status_code == 304
    assert statements == []


@pytest.mark.sqlite
def test_equal_queries_share_an_answer_however_they_are_written(client, save, statements):
    save(article(1, title="Café"))
    client.get(FULL + "?q=cafe+1&take=50")
    statements.clear()
    for query in ("?q=CAFÉ++1", "?take=050&q=%20cafe%201%20&_=123", "?orderBy=publishedAt&q=1+cafe&q=x&order=desc"):
        assert client.get(FULL + query).get_json()["meta"]["total"] == 1
    assert statements == []


def test_different_queries_have_different_answers(client, save):
    save(*(article(number) for number in range(5)))
    queries = (
        "",
        "?take=1",
        "?skip=1",
        "?q=1",
        "?orderBy=title",
        "?order=asc",
        "?orderBy=views&order=asc&take=2&skip=1",
    )
    for _ in range(2):
        bodies = {client.get(path + query).data for path in LISTS for query in queries}
        assert len(bodies) == 2 * len(queries) - 2  # orderBy=title is the default's order here


def test_a_word_that_is_folded_to_two_is_not_taken_for_two_words(client, save):
    save(article(1, title="A´b"), article(2, title="B before a"))  # the accent by itself becomes a space
    for _ in range(2):
        assert [client.get(FULL + f"?q={q}").get_json()["meta"]["total"] for q in ("a+b", "a´b")] == [2, 1]


def test_no_customer_gets_anothers_answer(app, save):
    save(article(1, title="Ours"))
    save(article(1, title="Theirs", slug="theirs"), customer="Other")
    client = app.test_client()
    keys = make_key(app, "Acme"), make_key(app, "Other")
    for path in ENDPOINTS:
        bodies = [client.get(path, headers={"x-api-key": key}).data for key in keys * 2]
        assert bodies[0] != bodies[1]
        assert bodies[:2] == bodies[2:]
        assert_problem(client.get(path, headers={"x-api-key": "wrong"}), 401)


@pytest.mark.sqlite
def test_every_change_by_another_process_is_in_the_next_answer(client, save, other_process):
    """Hundreds of changes, each read in all three endpoints, each of which was warm before it."""
    save(*(article(number) for number in range(20)))
    for round_ in range(200):
        other_process(f"UPDATE article SET title = 'Round {round_}', slug = 'round-{round_}' WHERE id = 'id-0007'")
        for path in LISTS:
            assert f"Round {round_}" in {each["title"] for each in client.get(path).get_json()["data"]}
        assert f"round-{round_}" in {each["url"] for each in client.get(SITEMAP).get_json()["data"]}


def test_every_change_by_a_tool_that_opens_the_file_anew_is_in_the_next_answer(client, save, sql):
    save(article(1))
    for round_ in range(200):
        sql("UPDATE article SET views = ?, category = ?", round_, f"Round {round_}")
        assert client.get(PREVIEW).get_json()["data"][0]["category"] == f"Round {round_}"


def test_every_change_by_a_command_is_in_the_next_answer(app, client, database, tmp_path):
    for round_ in range(5):
        (tmp_path / "a.json").write_text(json.dumps([simple(1, title=f"Round {round_}")]))
        for arguments, total in (
            (["import", str(tmp_path / "a.json")], 1),
            (["unpublish", "slug-1"], 0),
            (["publish", "slug-1"], 1),
        ):
            subprocess.run(**program(database, "-m", "flask", "articles", *arguments), check=True)
            for path in LISTS:
                answer = client.get(path).get_json()
                assert answer["meta"]["total"] == total
                assert [each["title"] for each in answer["data"]] == [f"Round {round_}"] * total
            assert len(client.get(SITEMAP).get_json()["data"]) == total


@pytest.mark.sqlite
def test_a_revoked_key_is_refused_in_the_next_request_and_may_come_back(client, save, other_process):
    save(article(1))
    for _ in range(50):
        other_process("UPDATE api_key SET revoked_at = NULL")
        assert all(client.get(path).status_code == 200 for path in ENDPOINTS)
        other_process("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00.000000'")
        assert all(client.get(path).status_code == 401 for path in ENDPOINTS)


def test_a_key_expires_under_a_warm_cache(app, save, monkeypatch):
    save(article(1))
    today = datetime.now(UTC).date()
    client, headers = app.test_client(), {"x-api-key": make_key(app, "Acme", expires_on=today)}
    assert client.get(FULL, headers=headers).status_code == 200

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(days=1)

    monkeypatch.setattr("auth.datetime", Tomorrow)
    assert client.get(FULL, headers=headers).status_code == 401


def test_a_scheduled_article_appears_within_its_second_under_a_warm_cache(client, save):
    due = datetime.now(UTC) + timedelta(seconds=2)
    save(article(1), article(2, slug="soon", published_at=due), article(3, published_at=due + timedelta(hours=1)))
    seen = dict.fromkeys(ENDPOINTS)
    while None in seen.values():
        for path in ENDPOINTS:
            before = datetime.now(UTC)
            data = client.get(path).get_json()["data"]
            if len(data) == 2 and not seen[path]:
                seen[path] = datetime.now(UTC)
            assert len(data) == (2 if seen[path] else 1)
            assert before < due + timedelta(seconds=1)
    assert all(due <= moment <= due + timedelta(seconds=1) for moment in seen.values())


@pytest.mark.parametrize("headers", [{}, {"Accept-Encoding": "gzip"}])
def test_the_answers_are_the_same_without_a_cache(app, client, save, key, database, headers):
    save(*(article(number) for number in range(120)))
    without = create_app({"DATABASE_URL": url_of(database), "CACHE_MB": 0}).test_client()
    without.environ_base["HTTP_X_API_KEY"] = key
    for path in (*ENDPOINTS, FULL + "?q=1&take=7&order=asc", FULL + "?take=0", PREVIEW + "?skip=1000"):
        for _ in range(2):
            one, two = client.get(path, headers=headers), without.get(path, headers=headers)
            assert (one.status_code, one.data, one.headers) == (two.status_code, two.data, two.headers)


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "sqlite:///file:x.db?uri=true"])
def test_a_database_that_is_no_file_is_not_cached(url):
    assert create_app({"DATABASE_URL": url}).extensions["cache"].version() is None


def test_a_page_from_the_far_end_is_the_same_page(client, save):
    """What lies past the middle is read from the end."""
    save(*(article(number, views=number % 3) for number in range(30)))
    for order_by in ("views", "publishedAt"):
        for order in ("asc", "desc"):
            whole = client.get(PREVIEW + f"?take=100&orderBy={order_by}&order={order}").get_json()["data"]
            for skip in range(32):
                page = client.get(PREVIEW + f"?take=4&skip={skip}&orderBy={order_by}&order={order}").get_json()
                assert page == {
                    "data": whole[skip : skip + 4],
                    "meta": {"total": 30, "take": len(whole[skip : skip + 4]), "skip": skip},
                }


@pytest.mark.sqlite
def test_gzip_is_made_once_and_only_where_it_pays_and_is_allowed(client, save, monkeypatch):
    save(*(article(number) for number in range(50)))
    made = []
    compress = gzip.compress
    monkeypatch.setattr(
        "cache.gzip.compress", lambda *arguments, **options: made.append(1) or compress(*arguments, **options)
    )
    plain = client.get(FULL)
    assert "Content-Encoding" not in plain.headers
    for header in ("gzip", "br;q=1.0, gzip;q=0.8, *;q=0.1", "GZIP", "*", "deflate, gzip;q=1.0", "identity;q=0.5, gzip"):
        packed = client.get(FULL, headers={"Accept-Encoding": header})
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.data) == plain.data
    assert len(made) == 1
    for header in ("", "identity", "br", "gzip;q=0", "identity, gzip;q=0.5", "nonsense;;q=x", "*;q=0"):
        assert client.get(FULL, headers={"Accept-Encoding": header}).data == plain.data
    assert "Content-Encoding" not in client.get(FULL + "?q=nothing", headers={"Accept-Encoding": "gzip"}).headers


def test_each_encoding_has_an_etag_of_its_own_and_either_is_known(client, save):
    save(*(article(number) for number in range(50)))
    plain, packed = client.get(FULL), client.get(FULL, headers={"Accept-Encoding": "gzip"})
    tags = plain.headers["ETag"], packed.headers["ETag"]
    assert tags[0] != tags[1]
    for tag in (*tags, f"W/{tags[0]}", f'"x", {tags[1]}', "*"):
        for encoding, own in (("", tags[0]), ("gzip", tags[1])):
            answer = client.get(FULL, headers={"If-None-Match": tag, "Accept-Encoding": encoding})
            assert (answer.status_code, answer.data) == (304, b"")
            assert answer.headers["ETag"] == (own if tag == "*" else re.search(r'"\w{9,}(-gzip)?"', tag)[0])
    assert client.get(FULL, headers={"If-None-Match": '"other"'}).status_code == 200


def test_two_threads_that_ask_the_same_at_once_have_it_made_once(tmp_path):
    made = []
    cache = Cache(None, 10_000_000)

    def make():
        made.append(1)
        time.sleep(0.2)
        return Answer(b"body")

    answers = []
    threads = [threading.Thread(target=lambda: answers.append(cache.answer("key", 1, make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert {id(answer) for answer in answers} == {id(answers[0])}
    cache.answer("key", 2, make)
    assert len(made) == 2


@pytest.fixture
def wait_for_another():
    """Ask a cache while another thread makes the same, in half a second; give both answers."""

    def wait_for_another(make_other, make):
        cache, answers = Cache(None, 10_000_000), []

        def slowly():
            asked.set()
            time.sleep(0.5)
            return make_other()

        def ask():
            with suppress(DisturbedError):
                answers.append(cache.answer("key", 1, slowly))

        asked = threading.Event()
        other = threading.Thread(target=ask)
        other.start()
        asked.wait()
        answers.append(cache.answer("key", 1, make))
        other.join()
        return sorted(answer.body for answer in answers)

    return wait_for_another


def test_who_waits_for_anothers_answer_until_it_no_longer_holds_makes_its_own(wait_for_another):
    soon = time.time() + 0.2
    assert wait_for_another(lambda: Answer(b"before", until=soon), lambda: Answer(b"then")) == [b"before", b"then"]


def test_who_waits_for_another_that_was_disturbed_makes_its_own(wait_for_another):
    def be_disturbed():
        raise DisturbedError

    assert wait_for_another(be_disturbed, lambda: Answer(b"mine")) == [b"mine"]


def test_what_fails_is_not_kept_and_the_next_one_has_its_turn():
    cache = Cache(None, 10_000_000)

    def fail():
        raise OSError

    for _ in range(2):
        with pytest.raises(OSError):  # noqa: PT011
            cache.answer("key", 1, fail)
    assert cache.answer("key", 1, lambda: Answer(b"body")).body == b"body"


def test_the_least_recently_used_answers_make_room():
    cache = Cache(None, 100_000)
    made = []

    def ask(key, size=20_000):
        return cache.answer(key, 1, lambda: made.append(key) or Answer(os.urandom(size)))

    for key in "abcd":
        ask(key)
    ask("a")
    ask("e")
    made.clear()
    for key in "acde":
        ask(key)
    assert made == []
    ask("b")
    assert made == ["b"]
    # Compressed bodies count too, and what is larger than the whole cache is not kept.
    for key in "acdeb":
        cache.gzipped(ask(key))
    assert cache._size <= 100_000
    assert not cache.holds(ask("large", 100_000), 1)
    assert cache._size == sum(each.size() for each in cache._answers.values())
    assert min(each.size() for each in cache._answers.values()) > 21_000


@pytest.mark.sqlite
def test_ten_thousand_queries_stay_within_the_limit(app, save, key, database):
    save(*(article(number, content_html="<p>" + "word " * 1600) for number in range(200)))
    small = create_app({"DATABASE_URL": url_of(database), "CACHE_MB": 1})
    client = small.test_client()
    client.environ_base["HTTP_X_API_KEY"] = key
    cache = small.extensions["cache"]
    for number in range(1000):
        client.get(f"{PREVIEW}?skip={number % 190}&take={number % 7 + 1}&q={'title' * (number % 2)}")
        client.get(f"{FULL}?take=1&q=Title+{number}")
        assert cache._size <= 1_000_000
    assert len(cache._answers) > 50


@pytest.mark.sqlite
def test_the_watch_sees_each_commit_and_no_rollback(database, app):
    watch = Watch(str(database), lambda: None)
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        first = watch.version()
        assert watch.version() == first
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO customer (name) VALUES ('x')")
        assert watch.version() == first
        connection.execute("ROLLBACK")
        assert watch.version() == first
        connection.execute("INSERT INTO customer (name) VALUES ('x')")
        second = watch.version()
        assert second != first


def test_the_watch_knows_nothing_of_a_file_that_is_not_there(tmp_path):
    watch = Watch(str(tmp_path / "none.db"), lambda: None)
    assert watch.version() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.sqlite
@pytest.mark.parametrize("megabytes", [0, 64])
def test_another_file_moved_over_the_database_is_served_at_once(app, save, key, database, tmp_path, megabytes):
    client = create_app({"DATABASE_URL": url_of(database), "CACHE_MB": megabytes}).test_client()
    save(article(1, title="Old"))
    with app.app_context():
        db.engine.dispose()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(f"VACUUM INTO '{tmp_path}/copy.db'")
    with closing(sqlite3.connect(tmp_path / "copy.db")) as connection, connection:
        connection.execute("UPDATE article SET title = 'New', slug = 'new'")
    for title in ("Old", "New"):
        for path in LISTS:
            data = client.get(path, headers={"x-api-key": key}).get_json()["data"]
            assert [each["title"] for each in data] == [title]
        (tmp_path / "copy.db").exists() and (tmp_path / "copy.db").replace(database)


def test_a_clock_that_is_set_back_hides_what_was_not_published_then(client, save, monkeypatch):
    save(article(1), article(2, published_at=datetime.now(UTC) + timedelta(hours=1)))

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + timedelta(hours=2)

    with monkeypatch.context() as later:
        later.setattr("endpoints.responses.datetime", Later)
        assert client.get(FULL).get_json()["meta"]["total"] == 2
    assert client.get(FULL).get_json()["meta"]["total"] == 1


@pytest.mark.sqlite
def test_no_answer_under_full_load_mixes_two_states(save, server, key, database, other_process):
    """Eight readers, and a writer that gives all articles another title and publishes or withdraws one at a time."""
    save(*(article(number, title="Round 0") for number in range(40)))
    until = time.monotonic() + 4
    wrong, read = [], []

    def reader(number):
        connection = http.client.HTTPConnection(server.host, server.port)
        latest = 0
        while time.monotonic() < until:
            path = (FULL, PREVIEW, FULL + "?orderBy=title", PREVIEW + "?take=100&order=asc")[number % 4]
            connection.request("GET", path, headers={"x-api-key": key, "Accept-Encoding": "gzip"})
            answer = connection.getresponse()
            body = answer.read()
            if answer.headers["Content-Encoding"]:
                body = gzip.decompress(body)
            page = json.loads(body)
            rounds = {int(each["title"].removeprefix("Round ")) for each in page["data"]}
            (round_,) = rounds if len(rounds) == 1 else (-1,)
            if (
                round_ < latest
                or page["meta"]["total"] != 40 - round_ % 2
                or len(page["data"]) != page["meta"]["total"]
            ):
                wrong.append((rounds, latest, page["meta"]))
            latest = round_
            read.append(round_)
        connection.close()

    threads = [threading.Thread(target=reader, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    round_ = 0
    while time.monotonic() < until:
        round_ += 1
        status = "draft" if round_ % 2 else "published"
        other_process(f"UPDATE article SET title = 'Round {round_}', status = iif(id = 'id-0003', '{status}', status)")
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(set(read)) > 50


def raw(server, *requests):
    """Send requests in one packet on one connection; give the answers, in order."""
    with socket.create_connection((server.host, server.port), timeout=20) as connection:
        connection.sendall(b"".join(requests))
        stream = connection.makefile("rb")
        for _ in requests:
            head = b"".join(iter(stream.readline, b"\r\n")).decode()
            length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
            yield json.loads(stream.read(length))


def test_answers_come_in_the_order_of_the_requests_warm_or_not(save, server, key):
    save(*(article(number, content_html="word " * 2000) for number in range(100)))

    def request(skip):
        return f"GET {FULL}?take=30&skip={skip} HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode()

    list(raw(server, request(0), request(1)))
    skips = [0, 1, 0, 50, 1, 60, 0, 0, 0, 70, 0] * 3
    assert [answer["meta"]["skip"] for answer in raw(server, *map(request, skips))] == skips


def test_a_client_that_does_not_read_a_warm_answer_keeps_nobody_waiting(save, server, key):
    save(*(article(number, content_html="word " * 40_000) for number in range(100)))
    request = f"GET {FULL}?take=100 HTTP/1.1\r\nHost: x\r\nx-api-key: {key}\r\n\r\n".encode()
    (answer,) = raw(server, request)
    assert answer["meta"]["take"] == 100
    with socket.create_connection((server.host, server.port)) as idle:
        idle.sendall(request * 5)  # 100 MB
        for _ in range(3):
            began = time.monotonic()
            (answer,) = raw(server, request)
            assert time.monotonic() - began < 5
            assert answer["meta"]["take"] == 100


def test_warm_answers_keep_to_what_is_asked_for(server, save, key):
    """HEAD, 304, gzip and a wrong key, each on a connection that stays open, while the answer itself is warm."""
    save(*(article(number) for number in range(60)))
    connection = http.client.HTTPConnection(server.host, server.port)

    def ask(method="GET", **headers):
        connection.request(method, FULL, headers={"x-api-key": key} | headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers

    for _ in range(5):
        _, body, headers = ask()
        assert ask("HEAD")[:2] == (200, b"")
        assert ask(**{"If-None-Match": headers["ETag"]})[:2] == (304, b"")
        assert gzip.decompress(ask(**{"Accept-Encoding": "gzip"})[1]) == body
        assert ask(**{"x-api-key": "wrong"})[0] == 401
        assert ask("POST")[0] == 405
        assert json.loads(body)["meta"]["total"] == 60
    connection.close()


def test_a_database_without_articles_is_published_to_once_it_has_one(client, save):
    for path in ENDPOINTS:
        assert client.get(path).get_json()["data"] == []
    save(article(1, published_at=PAST))
    for path in ENDPOINTS:
        assert len(client.get(path).get_json()["data"]) == 1
