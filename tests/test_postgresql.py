"""The response cache on PostgreSQL: several instances, and servers that stall or restart."""

import json
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import product

import helpers
import pytest
from helpers import ENDPOINTS, LISTS, POSTGRESQL, Server, article_json, close, create_key, get, save_articles

from app import create_app

if POSTGRESQL:
    import psycopg
    from postgresql_server import PostgreSQLServer


pytestmark = pytest.mark.skipif(not POSTGRESQL, reason="only for PostgreSQL")

FULL, PREVIEW = LISTS
DATABASE = "articles"
PATHS = (f"{FULL}?q=round", f"{PREVIEW}?q=round", ENDPOINTS[2])


class Cluster:
    """A PostgreSQL server, and services using it."""

    def __init__(self, folder, stack):
        self.folder, self.stack = folder, stack
        self.postgresql = stack.enter_context(closing(PostgreSQLServer()))
        self.postgresql.execute(f"CREATE DATABASE {DATABASE}")
        self.url = self.postgresql.url(DATABASE)
        app = create_app({"DATABASE_URL": self.url})
        stack.callback(close, app)
        self.key = create_key(app)
        save_articles(app, *(article_json(number, title=f"Round {number}") for number in (0, 1)))
        save_articles(app, *(article_json(number, title="Other 0") for number in range(2, 6)))

    def serve(self):
        """Start a service."""
        server = Server(self.folder / "articles.db", DATABASE_URL=self.url)
        self.stack.callback(server.stop)
        return server

    def write(self, statement, *parameters):
        """Run a statement in its own transaction."""
        return self.postgresql.execute(statement, *parameters, database=DATABASE)

    def get(self, service, path=PREVIEW):
        return get(service, path, x_api_key=self.key)

    def titles(self, service):
        response = self.get(service, f"{PREVIEW}?q=round")
        assert response.status == 200, response.body
        return [article["title"] for article in json.loads(response.body)["data"]]


@pytest.fixture
def cluster(tmp_path, database):
    """A cluster of the test's own."""
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A server with two services, shared by the module's tests."""
    folder = tmp_path_factory.mktemp("cluster")
    with helpers.temporary_databases(folder), ExitStack() as stack:
        cluster = Cluster(folder, stack)
        cluster.services = [cluster.serve(), cluster.serve()]
        yield cluster


def write_until(done, url, writer):
    """Commit and roll back transactions that overlap with those of other writers."""
    chance = random.Random(writer)
    with psycopg.connect(url) as connection:
        while not done.is_set():
            end, title = chance.choice(((connection.commit, "Other"), (connection.rollback, "Rolled back")))
            connection.execute("UPDATE article SET title = %s WHERE id = %s", [title, f"id-{writer + 2:04}"])
            time.sleep(chance.choice((0, 0.005)))
            end()


@contextmanager
def overlapping_writers(cluster, number):
    done = threading.Event()
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(write_until, done, cluster.url, writer) for writer in range(number)]
        try:
            yield
        finally:
            done.set()
        assert [writer.result() for writer in writers] == [None] * number


@pytest.mark.parametrize("writers", [0, 4])
def test_commit_shows_in_the_next_response_everywhere(shared, writers):
    """All services send identical bytes with the latest commit, and reject a revoked key."""
    with overlapping_writers(shared, writers):
        for round_ in range(100):
            path, written = PATHS[round_ % 3], f"written-{round_}-of-{writers}"
            update = "UPDATE article SET title = %s, slug = %s || id WHERE id IN ('id-0000', 'id-0001')"
            shared.write(update, written, written)
            responses = [shared.get(service, path) for service in shared.services * 2]  # the second from its cache
            (body,) = {response.body for response in responses}
            assert body.count(f'"{written}id-'.encode()) == 2  # their slugs
    for revoked_at, status in (("2026-01-01", 401), (None, 200)):
        shared.write("UPDATE api_key SET revoked_at = %s::timestamptz", revoked_at)
        for service, path in product(shared.services, ENDPOINTS):
            response = shared.get(service, path)
            assert (response.status, b"Rolled back" in response.body) == (status, False)


def test_server_that_stalls_blocks_no_other_requests(cluster):
    """One request waits for the server; others do not wait for that request."""
    service = cluster.serve()
    assert cluster.titles(service) == ["Round 1", "Round 0"]
    backends = [pid for (pid,) in cluster.write("SELECT pid FROM pg_stat_activity WHERE datname = %s", DATABASE)]

    def send_signal(number):
        for pid in backends:
            with suppress(ProcessLookupError):  # of the connection that asked
                os.kill(pid, number)

    with ThreadPoolExecutor(1) as pool:
        send_signal(signal.SIGSTOP)
        try:
            waiting = pool.submit(cluster.titles, service)
            time.sleep(0.2)
            began = time.monotonic()
            assert [cluster.get(service, path).status for path in ("/healthz", PREVIEW)] == [503, 503]
            assert time.monotonic() - began < 10
            assert not waiting.done()
        finally:
            send_signal(signal.SIGCONT)
        assert waiting.result() == ["Round 1", "Round 0"]


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_service_recovers_at_once_after_a_server_restart(cluster, mode):
    service = cluster.serve()
    cluster.postgresql.stop(mode)
    assert {cluster.get(service, path).status for path in ENDPOINTS} == {503}
    cluster.postgresql.start()
    assert cluster.titles(service) == ["Round 1", "Round 0"]
    cluster.write("UPDATE article SET title = 'Later'")
    assert set(cluster.titles(service)) == {"Later"}
