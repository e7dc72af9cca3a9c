"""The response cache on PostgreSQL: several instances, a standby, poolers, and servers that restart."""

import json
import os
import random
import shutil
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGQUIT, SIGSTOP
from tempfile import TemporaryDirectory

import helpers
import pytest
from helpers import (
    ENDPOINTS,
    LISTS,
    POSTGRESQL,
    WAITING,
    Server,
    article_json,
    assert_one_is_below,
    create_key,
    get,
    iso,
    run_command,
    save_articles,
    side_by_side,
    subprocess_args,
    wait_for,
)
from sqlalchemy import event

from app import create_app
from models import db

if POSTGRESQL:
    import psycopg

    from benchmarks.measure import free_port
    from benchmarks.postgresql import postgresql_server

pytestmark = pytest.mark.skipif(not POSTGRESQL, reason="for PostgreSQL alone")

FULL, PREVIEW = LISTS
DATABASE = "articles"
PATHS = (f"{FULL}?q=round", f"{PREVIEW}?q=round", ENDPOINTS[2])


class Cluster:
    """A primary, its hot standby, and services on them."""

    def __init__(self, folder, stack):
        self.folder, self.stack = folder, stack
        self.primary = stack.enter_context(postgresql_server())
        self.primary.execute(f"CREATE DATABASE {DATABASE}")
        self.app = create_app({"DATABASE_URL": self.primary.url(DATABASE)})
        stack.callback(helpers.close, self.app)
        self.key = create_key(self.app)
        save_articles(self.app, *(article_json(number, title=f"Round {number}") for number in (0, 1)))
        save_articles(
            self.app, *(article_json(number, title="Other 0", slug=f"other-{number}") for number in range(2, 6))
        )

    @cached_property
    def standby(self):
        """A hot standby, which is started when a test first needs it."""
        return self.stack.enter_context(postgresql_server(self.primary))

    def serve(self, url, **environment):
        """Start a service on a database."""
        server = Server(self.folder / "articles.db", DATABASE_URL=url, **environment)
        self.stack.callback(server.stop)
        return server

    def write(self, statement, *parameters):
        """Run a statement on the primary in a transaction of its own."""
        return self.primary.execute(statement, *parameters, database=DATABASE)

    def get(self, service, path=PREVIEW, key=None):
        return get(service, path, x_api_key=key or self.key)

    def titles(self, service, path=f"{PREVIEW}?q=round"):
        response = self.get(service, path)
        assert response.status == 200, response.body
        return [article["title"] for article in json.loads(response.body)["data"]]

    def set_title(self, title):
        self.write("UPDATE article SET title = %s WHERE id IN ('id-0000', 'id-0001')", title)


@contextmanager
def running_cluster(folder):
    with ExitStack() as stack:
        yield Cluster(folder, stack)


@pytest.fixture
def cluster(tmp_path, database):
    """A primary and a standby of the test's own."""
    with running_cluster(tmp_path) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A cluster that the module's tests share, with two services on the primary and one on the standby."""
    before = len(helpers.created_databases)
    with running_cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        urls = [server.url(DATABASE) for server in (cluster.primary, cluster.primary, cluster.standby)]
        cluster.services = [cluster.serve(url) for url in urls]
        for setting in ("synchronous_standby_names = '*'", "synchronous_commit = local"):
            cluster.primary.execute(f"ALTER SYSTEM SET {setting}")
        cluster.primary.execute("SELECT pg_reload_conf()")
        yield cluster
    helpers.drop_databases(before)


def bodies(cluster, services, path):
    """Return the bodies that services send, twice each, so that the second ones may come from a cache."""
    responses = [cluster.get(service, path) for service in services * 2]
    assert {response.status for response in responses} == {200}
    return {response.body for response in responses}


@contextmanager
def overlapping_writers(cluster, number=4):
    """Run transactions that overlap, of which half are rolled back; some have savepoints or are prepared first."""
    done, errors = threading.Event(), []

    def write(writer):
        chance = random.Random(writer)
        try:
            with psycopg.connect(cluster.primary.url(DATABASE), autocommit=True) as connection:
                for step in range(10**9):
                    if done.is_set():
                        return
                    commits = chance.random() < 0.5
                    title = f"Other {step}" if commits else "Rolled back"
                    # With remote_apply it is in the WAL, and visible on the standby, before it is visible here.
                    connection.execute(f"SET synchronous_commit = {chance.choice(('local', 'remote_apply'))}")
                    connection.execute("BEGIN")
                    connection.execute("UPDATE article SET title = %s WHERE id = %s", [title, f"id-{writer + 2:04}"])
                    connection.execute("SAVEPOINT one")
                    connection.execute("UPDATE article SET category = 'x' WHERE id = %s", [f"id-{writer + 2:04}"])
                    connection.execute(chance.choice(("ROLLBACK TO one", "RELEASE one")))
                    time.sleep(chance.choice((0, 0.005, 0.02)))
                    if chance.random() < 0.3:
                        connection.execute(f"PREPARE TRANSACTION 'writer {writer}'")
                        connection.execute(f"{'COMMIT' if commits else 'ROLLBACK'} PREPARED 'writer {writer}'")
                    else:
                        connection.execute("COMMIT" if commits else "ROLLBACK")
                    time.sleep(chance.choice((0, 0.005, 0.02)))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert errors == []


@pytest.mark.parametrize("writers", [0, 4])
@pytest.mark.parametrize("rounds", [40, pytest.param(400, marks=pytest.mark.slow)])
def test_write_is_in_the_next_response_everywhere(shared, writers, rounds):
    """Each response has the latest write, and the bytes of all services are equal, whatever others write."""
    with overlapping_writers(shared, writers):
        for round_ in range(rounds):
            path, written = PATHS[round_ % 3], f"written-{round_}-of-{rounds}"
            update = "UPDATE article SET title = %s, slug = %s || id WHERE id IN ('id-0000', 'id-0001')"
            shared.write(update, written, written)
            (body,) = bodies(shared, shared.services[:2], path)
            assert body.count(f'"{written}id-'.encode()) == 2  # their slugs
            shared.standby.wait_for_replay(shared.primary)
            assert bodies(shared, shared.services, path) == {body}
    shared.standby.wait_for_replay(shared.primary)
    for path in ENDPOINTS:
        (body,) = bodies(shared, shared.services, path)
        assert b"Rolled back" not in body


@pytest.mark.parametrize("seconds", [2, pytest.param(10, marks=pytest.mark.slow)])
def test_equal_versions_have_equal_data(shared, seconds):
    """What is read after a version is what is read before an equal one, however transactions overlap meanwhile."""
    deadline = time.monotonic() + seconds

    def compare(server):
        app, equal = create_app({"DATABASE_URL": server.url(DATABASE)}), 0
        detector = app.extensions["change_detector"]
        with psycopg.connect(server.url(DATABASE), autocommit=True) as connection:
            statement = "SELECT id, title, category FROM article ORDER BY id"
            version = detector.version()
            stored = connection.execute(statement).fetchall()
            while time.monotonic() < deadline:
                data = connection.execute(statement).fetchall()
                now = detector.version()
                if now == version:  # then `data` is of this version as well
                    equal += 1
                    assert data == stored
                else:
                    version, stored = now, connection.execute(statement).fetchall()
        helpers.close(app)
        return equal

    with overlapping_writers(shared), ThreadPoolExecutor() as pool:
        assert all(equal > 10 for equal in pool.map(compare, (shared.primary, shared.standby)))


def check_caching(shared, url):
    """Check that a transaction of the first request is the only one, but for one more if autovacuum ends one of its."""
    app, begun = create_app({"DATABASE_URL": url}), []
    with app.app_context():
        event.listen(db.engine, "begin", begun.append)
    client = helpers.client_with_key(app, shared.key)
    assert {client.get(FULL).status_code for _ in range(5)} == {200}
    helpers.close(app)
    assert 1 <= len(begun) <= 2


@pytest.mark.parametrize("server", ["primary", "standby"])
def test_second_response_comes_from_the_cache(shared, server):
    check_caching(shared, getattr(shared, server).url(DATABASE))


@pytest.mark.parametrize("rounds", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_revoked_key_is_refused_at_once_everywhere(shared, rounds):
    for _ in range(rounds):
        for revoked_at, status in (("2026-01-01", 401), (None, 200)):
            shared.write("UPDATE api_key SET revoked_at = %s::timestamptz", revoked_at)
            shared.standby.wait_for_replay(shared.primary)
            for path in ENDPOINTS:
                assert [shared.get(service, path).status for service in shared.services] == [status] * 3


def test_scheduled_article_appears_on_time_everywhere(shared):
    due = datetime.now(UTC) + timedelta(seconds=2)
    save_articles(shared.app, article_json(99, title="Scheduled", publishedAt=iso(due)))
    shared.standby.wait_for_replay(shared.primary)
    seen = {}
    while len(seen) < 3:
        assert datetime.now(UTC) < due + timedelta(seconds=1)
        for number, service in enumerate(shared.services):
            before = datetime.now(UTC)
            scheduled = shared.titles(service, f"{PREVIEW}?q=scheduled")
            if scheduled:
                seen.setdefault(number, datetime.now(UTC))
            assert not scheduled or datetime.now(UTC) >= due - timedelta(milliseconds=1)
            assert scheduled or before < due
    shared.write("DELETE FROM article WHERE id = 'id-0099'")


def test_terminated_connections_hide_no_write(shared):
    """The connections of the detectors are among those that are terminated."""
    terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
    for round_ in range(10):
        for service in shared.services:
            shared.titles(service)
        for server in (shared.primary, shared.standby):
            server.execute(terminate, DATABASE)
        shared.set_title(f"Terminated {round_}")
        shared.standby.wait_for_replay(shared.primary)
        for service in shared.services:
            assert shared.titles(service) == [f"Terminated {round_}"] * 2


@pytest.mark.parametrize("how", [SIGINT, SIGQUIT])
def test_restarted_server_is_read_again_at_once(cluster, how):
    service = cluster.serve(cluster.primary.url(DATABASE))
    before = cluster.titles(service)

    def restart():
        cluster.primary.stop(how)
        began = time.monotonic()
        assert {cluster.get(service, path).status for path in ENDPOINTS} == {503}
        seconds = time.monotonic() - began
        cluster.primary.start()
        assert cluster.titles(service) == before
        return seconds

    assert_one_is_below(1, restart)
    cluster.set_title("After the restart")
    assert cluster.titles(service) == ["After the restart"] * 2


def test_commit_that_a_crash_loses_is_not_served(cluster):
    """The server reuses the lost transaction's id, so that its snapshot is the same, and it has started just once."""
    service = cluster.serve(cluster.primary.url(DATABASE))
    cluster.titles(service)
    ((walwriter,),) = cluster.write("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'")
    os.kill(walwriter, SIGSTOP)
    snapshot = "SELECT pg_postmaster_start_time(), pg_current_snapshot()::text"
    with psycopg.connect(cluster.primary.url(DATABASE), autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("UPDATE article SET title = 'Lost'")
        before = connection.execute(snapshot).fetchone()
        assert set(cluster.titles(service, PREVIEW)) == {"Lost"}
        os.kill(walwriter, SIGKILL)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT pg_sleep(20)")
    cluster.primary.wait_until_ready()
    cluster.write("UPDATE article SET title = 'Kept'")
    assert cluster.primary.execute(snapshot) == [before]
    assert set(cluster.titles(service, PREVIEW)) == {"Kept"}


def test_promoted_standby_is_served_with_every_write(cluster):
    service = cluster.serve(cluster.standby.url(DATABASE))
    cluster.set_title("Before")
    cluster.standby.wait_for_replay(cluster.primary)
    assert cluster.titles(service) == cluster.titles(service) == ["Before"] * 2
    cluster.primary.stop(SIGQUIT)
    assert cluster.titles(service) == ["Before"] * 2
    cluster.standby.promote()
    for round_ in range(20):
        cluster.standby.execute("UPDATE article SET title = %s", f"Round {round_}", database=DATABASE)
        for path in (PREVIEW, FULL):
            assert set(cluster.titles(service, path)) == set(cluster.titles(service, path)) == {f"Round {round_}"}


# Writers


def test_writers_wait_for_each_other_and_readers_for_none(cluster):
    """Another tool updates an article, and so does a command, which keeps the tool's change."""
    update = "UPDATE article SET views = 7, category = 'By the tool' WHERE slug = 'other-2'"
    command = "-m", "flask", "articles", "unpublish", "other-2"
    args = subprocess_args(cluster.folder / "articles.db", *command, DATABASE_URL=cluster.primary.url(DATABASE))
    with psycopg.connect(cluster.primary.url(DATABASE)) as tool:
        tool.execute(update)
        process = subprocess.Popen(**args)
        assert process.stderr.readline() == WAITING
        process.send_signal(SIGINT)
        assert process.communicate(timeout=10) == ("", "\nAborted!\n")
        process = subprocess.Popen(**args)
        assert process.stderr.readline() == WAITING
        assert cluster.get(cluster.serve(cluster.primary.url(DATABASE))).status == 200
        cluster.primary.run("pg_dump", "-d", cluster.primary.url(DATABASE), "-f", os.devnull)
    assert process.communicate(timeout=10) == ("other-2: draft\n", "")
    assert cluster.write("SELECT status, views, category FROM article WHERE slug = 'other-2'") == [
        ("draft", 7, "By the tool")
    ]


def test_open_editor_holds_no_connection(cluster, tmp_path, monkeypatch):
    count = f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{DATABASE}'"
    helpers.close(cluster.app)
    editor = tmp_path / "editor"
    editor.write_text(
        f'#!/bin/sh\n{cluster.primary.tools}/psql {cluster.primary.url()} -Atc "{count}" > {tmp_path}/count\n'
    )
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    assert run_command(cluster.app, "articles", "edit", "other-2").exit_code == 0
    assert (tmp_path / "count").read_text() == "0\n"


# Several servers behind one URL


def test_url_of_several_servers_follows_the_promoted_one(cluster):
    ports = cluster.primary.port, cluster.standby.port
    hosts = "&".join(f"host=127.0.0.1:{port}" for port in ports)
    service = cluster.serve(f"postgresql+psycopg://postgres@/{DATABASE}?{hosts}&target_session_attrs=read-write")
    cluster.set_title("Before")
    cluster.standby.wait_for_replay(cluster.primary)
    assert cluster.titles(service) == ["Before"] * 2
    cluster.primary.stop(SIGQUIT)
    assert cluster.get(service).status == 503
    cluster.standby.promote()
    wait_for(lambda: cluster.get(service).status == 200, lambda: f"{cluster.get(service).body}")
    for round_ in range(20):
        cluster.standby.execute("UPDATE article SET title = %s", f"Round {round_}", database=DATABASE)
        assert set(cluster.titles(service, PREVIEW)) == {f"Round {round_}"}


class Balancer:
    """A load balancer for TCP: connections go to the ports in turn."""

    def __init__(self, *ports):
        self.ports, self.listener, self.count = ports, socket.create_server(("127.0.0.1", 0)), 0
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self.ports[self.count % len(self.ports)]))
            self.count += 1
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self.forward, args=pair, daemon=True).start()

    @staticmethod
    def forward(source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        for connection in (source, target):
            with closing(connection):
                pass


@pytest.mark.parametrize("first", [1, pytest.param(0, marks=pytest.mark.slow)])
def test_lagging_server_behind_a_balancer_is_never_cached(cluster, first):
    """The version may come from the primary, and the articles from a standby that has not replayed the write yet."""
    servers = cluster.primary, cluster.standby
    balancer = Balancer(servers[first].port, servers[1 - first].port)
    with closing(balancer.listener):
        service = cluster.serve(f"postgresql://postgres@127.0.0.1:{balancer.port}/{DATABASE}")
        for round_ in range(3):
            cluster.standby.execute("SELECT pg_wal_replay_pause()")
            cluster.set_title(f"Balanced {round_}")
            seen = set()
            for _ in range(8):
                seen.update(cluster.titles(service))
            assert seen <= {f"Balanced {round_}", f"Balanced {round_ - 1}", "Round 0", "Round 1"}
            cluster.standby.execute("SELECT pg_wal_replay_resume()")
            cluster.standby.wait_for_replay(cluster.primary)
            for _ in range(8):
                assert set(cluster.titles(service)) == {f"Balanced {round_}"}
            time.sleep(2)  # so that the versions are not suspended in all rounds


@contextmanager
def pgbouncer(port, **options):
    """Run pgbouncer in transaction mode in front of a server, and yield its port, its configuration and its process."""
    executable = shutil.which("pgbouncer")
    if not executable:
        pytest.skip("pgbouncer is not installed")
    own_port = free_port()
    settings = {
        "listen_addr": "127.0.0.1",
        "listen_port": own_port,
        "auth_type": "any",
        "pool_mode": "transaction",
        "default_pool_size": 5,
        "ignore_startup_parameters": "options",
        "unix_socket_dir": "",
    } | options
    prefix = []
    if os.geteuid() == 0:  # as whom it refuses to run
        prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        configuration, log_path = folder / "pgbouncer.ini", folder / "log"
        lines = [f"[databases]\n{DATABASE} = host=127.0.0.1 port={port} user=postgres\n[pgbouncer]"]
        lines += [f"{name} = {value}" for name, value in settings.items()]
        configuration.write_text("\n".join(lines))
        with log_path.open("w") as log:
            process = subprocess.Popen([*prefix, executable, str(configuration)], stdout=log, stderr=log, cwd="/")
        try:
            wait_for(lambda: responds(own_port), log_path.read_text)
            yield own_port, configuration, process
        finally:
            process.terminate()
            process.wait(20)


def responds(port):
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True


def test_pooler_in_transaction_mode_hides_no_write(shared):
    with pgbouncer(shared.primary.port) as (port, _, _):
        url = f"postgresql://postgres@127.0.0.1:{port}/{DATABASE}"
        check_caching(shared, url)
        service = shared.serve(url)
        for round_ in range(20):
            shared.set_title(f"Pooled {round_}")
            for _ in range(2):
                assert set(side_by_side(lambda path: shared.get(service, path).status, (*ENDPOINTS,) * 3)) == {200}
                assert shared.titles(service) == [f"Pooled {round_}"] * 2
        (expected,) = {shared.get(other).body for other in shared.services[:2]}
        assert shared.get(service).body == expected
        service.stop()


def test_imports_through_a_pooler_succeed(cluster):
    """Each repeats its statements, and all of them share the server's processes."""
    with pgbouncer(cluster.primary.port, default_pool_size=1) as (port, _, _):
        url = f"postgresql://postgres@127.0.0.1:{port}/{DATABASE}"
        for import_ in range(3):
            app = create_app({"DATABASE_URL": url})
            save_articles(app, *(article_json(number, category=f"{import_}") for number in range(20)))
            helpers.close(app)
        assert cluster.write("SELECT DISTINCT category FROM article") == [("2",)]


def test_pooler_that_changes_to_a_lagging_server_is_never_cached(cluster):
    with pgbouncer(cluster.primary.port, server_fast_close=1) as (port, configuration, process):
        service = cluster.serve(f"postgresql://postgres@127.0.0.1:{port}/{DATABASE}")
        assert cluster.titles(service)
        ports = cluster.standby.port, cluster.primary.port
        for round_ in range(4):
            cluster.standby.execute("SELECT pg_wal_replay_pause()")
            cluster.set_title(f"Pooled {round_}")
            text = configuration.read_text()
            before, after = ports if round_ % 2 else ports[::-1]
            configuration.write_text(text.replace(f" port={before} ", f" port={after} "))
            process.send_signal(SIGHUP)  # read the configuration again
            for _ in range(8):
                cluster.titles(service)
                time.sleep(0.05)
            cluster.standby.execute("SELECT pg_wal_replay_resume()")
            cluster.standby.wait_for_replay(cluster.primary)
            for _ in range(4):
                assert cluster.titles(service) == [f"Pooled {round_}"] * 2
