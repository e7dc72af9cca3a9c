"""The set-ups of docs/operate.md: nginx in front, several instances on one PostgreSQL, a hot standby."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from types import SimpleNamespace

import psycopg
import pytest
from conftest import LISTS, POSTGRESQL, PROJECT, SITEMAP, Server, article, get, make_key, program, url_of, wait_for

from benchmarks.larger import nginx
from benchmarks.measure import free_port

DOCS = (PROJECT / "docs/operate.md").read_text()
on_postgresql = pytest.mark.skipif(not POSTGRESQL, reason="for PostgreSQL alone")


def test_systemd_accepts_the_unit(tmp_path):
    unit = re.search(r"```ini\n(.*?)```", DOCS, re.DOTALL)[1]
    for written, here in (
        ("/opt/articles/.venv/bin/python", sys.executable),
        ("/opt/articles", str(PROJECT)),
        ("User=articles", "User=root"),
    ):
        assert written in unit
        unit = unit.replace(written, here)
    (tmp_path / "articles.service").write_text(unit)
    command = ["systemd-analyze", "verify", str(tmp_path / "articles.service")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.fixture
def front(tmp_path):
    """Start nginx with the site of the docs, in front of some instances; give its address."""
    with ExitStack() as stack:

        def front(*instances):
            port = stack.enter_context(nginx(tmp_path, *(each.port for each in instances)))
            return SimpleNamespace(host="127.0.0.1", port=port)

        yield front


def total(server, key, path=LISTS[1]):
    answer = get(server, path, x_api_key=key)
    return json.loads(answer.body)["meta"]["total"] if answer.status == 200 else answer.status


def test_nginx_keeps_answers_for_a_second_and_keys_apart(app, save, sql, start, front, key):
    other = make_key(app, "Other")
    save(article(1, content_html="x" * 100_000))
    instance = start()
    proxy = front(instance)
    for path in (*LISTS, SITEMAP):
        direct = get(instance, path, x_api_key=key)
        for encoding in ("identity", "gzip", "identity"):
            answer = get(proxy, path, x_api_key=key, Accept_Encoding=encoding)
            wanted = get(instance, path, x_api_key=key, Accept_Encoding=encoding)
            assert (answer.status, answer.body) == (200, wanted.body)
            assert answer.getheader("ETag") == wanted.getheader("ETag")
        assert get(proxy, path, x_api_key=key, If_None_Match=direct.getheader("ETag")).status == 304
        assert get(proxy, path, x_api_key="wrong").status == 401
        assert get(proxy, path).status == 401
    assert (total(proxy, key), total(proxy, other)) == (1, 0)
    save(article(2))
    wait_for(lambda: total(proxy, key) == 2, lambda: f"{total(proxy, key)} articles")
    asked = instance.log().count("GET /api/public/v1/articles/preview")
    until = time.monotonic() + 2
    while time.monotonic() < until:
        assert total(proxy, key) == 2
    assert instance.log().count("GET /api/public/v1/articles/preview") - asked <= 4
    assert instance.log().count("preview 304 ") >= 1
    sql("UPDATE api_key SET revoked_at = '2026-01-01 00:00:00'")
    wait_for(lambda: total(proxy, key) == 401, lambda: "The revoked key goes on.")


@on_postgresql
def test_several_instances_show_one_database_and_one_may_fail(save, start, front, key):
    save(article(1))
    first, second = start(), start()
    proxy = front(first, second)
    for number in range(2, 7):
        save(article(number))
        assert total(first, key) == total(second, key) == number
    first.stop()
    for skip in range(6):
        assert total(proxy, key, f"{LISTS[1]}?skip={skip}") == 6


def test_several_instances_without_a_database_tell_their_clients_so(save, sql, start, front, key):
    save(article(1))
    proxy = front(start(), start())
    sql("ALTER TABLE article RENAME TO elsewhere")
    for path in (*LISTS, SITEMAP, "/healthz") * 3:
        answer = get(proxy, path, x_api_key=key)
        assert (answer.status, answer.getheader("Content-Type")) == (503, "application/problem+json")
        assert answer.getheader("Retry-After")
    sql("ALTER TABLE elsewhere RENAME TO article")
    wait_for(lambda: total(proxy, key) == 1, lambda: "The articles do not come back.")


@on_postgresql
def test_connections_that_are_cut_under_load_give_no_fault_of_the_service(save, sql, start, key):
    """A transaction that was under way may answer 503; what comes after is right at once."""
    save(article(1))
    server = start()
    others = "datname = current_database() AND pid <> pg_backend_pid()"
    statuses, until = set(), time.monotonic() + 4

    def read():
        while time.monotonic() < until:
            statuses.add(total(server, key, f"{LISTS[1]}?q=t"))

    readers = [threading.Thread(target=read) for _ in range(6)]
    for reader in readers:
        reader.start()
    while time.monotonic() < until:
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE " + others)
        time.sleep(0.1)
    for reader in readers:
        reader.join()
    assert statuses <= {1, 503}
    assert total(server, key) == 1
    assert "Traceback" not in server.log()


@on_postgresql
def test_a_table_that_is_locked_gives_503_until_it_is_free(save, server, database, key):
    save(article(1))
    with psycopg.connect(url_of(database).replace("+psycopg", "")) as other:
        other.execute("LOCK TABLE article IN ACCESS EXCLUSIVE MODE")
        for path in (*LISTS, SITEMAP, "/healthz"):
            assert get(server, path, x_api_key=key).status == 503
    assert total(server, key) == 1


@on_postgresql
def test_how_the_server_would_write_dates_and_texts_changes_nothing(save, sql, start, database, key, monkeypatch):
    save(article(1, title="Größe 東京"))
    before = get(start(), LISTS[0], x_api_key=key).body
    name = url_of(database).rpartition("/")[2]
    sql(f"ALTER DATABASE {name} SET datestyle = 'German, DMY'")
    sql(f"ALTER DATABASE {name} SET timezone = 'Asia/Kolkata'")
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    assert get(start(), LISTS[0], x_api_key=key).body == before
    result = subprocess.run(**program(database, "-m", "flask", "articles", "list"))
    assert result.stdout == "published\t2025-03-01T10:30:00.000Z\tslug-1\tGröße 東京\n"


@on_postgresql
@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_hold_every_text_is_refused_in_one_line(database, encoding):
    url, name = url_of(database), f"test_{encoding.lower()}"
    with psycopg.connect(POSTGRESQL, autocommit=True) as server:
        server.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING '{encoding}' LOCALE 'C' LOCALE_PROVIDER libc"
        )
        try:
            url = url.rpartition("/")[0] + f"/{name}"
            for arguments in (["app.py"], ["seed.py"], ["-m", "flask", "keys", "create", "Acme"]):
                refused = subprocess.run(**program(database, *arguments, DATABASE_URL=url), timeout=30)
                assert refused.returncode == 1
                assert refused.stderr.startswith(f"Error: The database's encoding is {encoding}.")
                assert refused.stderr.count("\n") == 1
        finally:
            server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@on_postgresql
def test_an_address_may_name_several_servers(save, start, database, key):
    save(article(1))
    address = re.sub(r"@([^/]+)/(\w+)", r"@/\2?host=127.0.0.1:1&host=\1", url_of(database))
    assert total(start(DATABASE_URL=address), key) == 1


@on_postgresql
def test_a_hot_standby_is_served_and_refuses_commands_in_one_line(save, database, key, tmp_path):
    save(article(1))
    folder = tmp_path / "standby"
    folder.mkdir()
    port = str(free_port())
    tools = os.environ.get("POSTGRESQL_TOOLS", "/usr/lib/postgresql/15/bin")
    as_postgres = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    if as_postgres:
        for path in (folder, *list(folder.parents)[: len(tmp_path.parts) - 2]):
            path.chmod(0o755)
        shutil.chown(folder, "postgres", "postgres")
        folder.chmod(0o700)
    copy = f"{tools}/pg_basebackup -d {POSTGRESQL} -D {folder} -R -X stream -c fast"
    subprocess.run([*as_postgres, *copy.split()], check=True, cwd="/")
    command = [*as_postgres, f"{tools}/postgres", "-D", str(folder), "-p", port, "-k", str(folder)]
    with (tmp_path / "log").open("w") as log:
        standby = subprocess.Popen(command, cwd="/", stderr=log)
    url = re.sub(r":\d+/", f":{port}/", url_of(database))
    try:
        wait_for(
            lambda: subprocess.run([f"{tools}/pg_isready", "-q", "-h", "127.0.0.1", "-p", port]).returncode == 0,
            (tmp_path / "log").read_text,
        )
        server = Server(database, DATABASE_URL=url)
        assert total(server, key) == 1
        save(article(2))
        wait_for(lambda: total(server, key) == 2, lambda: "The standby lags.")
        refused = subprocess.run(**program(database, "-m", "flask", "keys", "create", "Acme", DATABASE_URL=url))
        assert refused.returncode == 1
        assert refused.stderr.count("\n") == 1
        assert "DATABASE_URL must name the server that this standby follows" in refused.stderr
        assert server.stop() == 0
    finally:
        standby.terminate()
        standby.wait(timeout=20)
