"""Tests of the demo data and of `python seed.py`."""

import os
import pty
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from xml.etree import ElementTree

import helpers
import pytest
import time_machine
from click.testing import CliRunner
from helpers import (
    LISTS,
    POSTGRESQL,
    PROJECT,
    SITEMAP,
    application,
    article_json,
    create_key,
    database_url,
    subprocess_args,
)

import seed

BASE_URL = "http://127.0.0.1:8000"
HIDDEN = 4  # drafts and scheduled articles


@pytest.fixture
def run_seed(database, monkeypatch):
    """Run `python seed.py`, in this process, on the test's database."""
    monkeypatch.setenv("DATABASE_URL", database_url(database))
    return lambda *arguments: CliRunner().invoke(seed.main, arguments)


@pytest.fixture
def get(run_seed, database):
    """Send a request with a key, "demo" unless another one is named, and return the body."""
    with application(database) as app:
        yield lambda path, key="demo": app.test_client().get(path, headers={"x-api-key": key}).get_json()


def rows(sql):
    return sql("SELECT * FROM article ORDER BY pk"), sql("SELECT id, hash FROM api_key"), sql("SELECT * FROM customer")


def test_first_run_creates_120_articles_and_a_key(run_seed, get):
    """Drafts and the scheduled article are among what is new, and appear nowhere."""
    result = run_seed()
    assert result.exit_code == 0
    assert "120 published articles, 3 drafts and 1 scheduled article (124 new" in result.output
    key = re.search(r"^Key: ([A-Za-z0-9_-]{43})$", result.output, re.MULTILINE)[1]
    assert f"curl -H 'x-api-key: {key}' \"{BASE_URL}/api/public/v1/articles?take=2\"" in result.output
    assert get(LISTS[0], key)["meta"] == {"total": 120, "take": 50, "skip": 0}
    assert len(get(SITEMAP, key)["data"]) == 120


def test_curl_line_has_the_configured_host_and_port(run_seed, monkeypatch):
    monkeypatch.setenv("HOST", "::")
    monkeypatch.setenv("PORT", "9000")
    output = run_seed("--articles", "0", "--key", "it's").output
    assert "http://[::1]:9000/api/public/v1/articles" in output
    assert "'x-api-key: it'\"'\"'s'" in output  # quoted for a shell


def test_seed_announces_the_new_customer_and_the_file(run_seed, database):
    if not POSTGRESQL:
        assert "which does not exist" in run_seed("--remove").stderr
        assert list(database.parent.iterdir()) == []
    created = "" if POSTGRESQL else f"Created the database {database}.\n"
    assert run_seed("--articles", "0").stderr == f"{created}New customer: Demo\n"
    assert run_seed("--articles", "0").stderr == ""


def test_customer_too_similar_to_demo_is_an_error(app, run_seed, sql):
    create_key(app, "demo")
    result = run_seed()
    assert result.exit_code == 1
    assert "There is already a customer 'demo'." in result.stderr
    assert sql("SELECT name FROM customer") == [("demo",)]


def test_remove_deletes_demo_alone_and_says_how_many(app, save, run_seed, sql):
    save(article_json(1))
    run_seed("--articles", "10")
    save(article_json(1), customer="Demo")
    create_key(app, "Demo")
    removed = run_seed("--remove")
    assert (removed.exit_code, removed.stdout) == (0, "Deleted Demo (articles: 15, keys: 2).\n")
    assert [[len(table) for table in rows(sql)], sql("SELECT name FROM customer")] == [[1, 1, 1], [("Acme",)]]
    again = run_seed("--remove")
    assert (again.exit_code, again.stdout) == (0, "There is no customer Demo: nothing to delete.\n")


@pytest.mark.slow
def test_seed_shows_progress_on_a_terminal(database):
    output, terminal = pty.openpty()
    subprocess.run(**subprocess_args(database, "seed.py", "--articles", "5") | {"stderr": terminal}, check=True)
    os.close(terminal)
    shown = b""
    with suppress(OSError):  # the end of a terminal
        while chunk := os.read(output, 65536):
            shown += chunk
    os.close(output)
    assert b"Writing the demo" in shown
    assert b"9/9" in shown


def test_second_run_changes_nothing(run_seed, sql):
    run_seed("--key", "demo")
    before = rows(sql)
    assert len(before[0]) == 120 + HIDDEN
    again = run_seed("--key", "demo")
    assert "0 new, 0 changed, 124 unchanged, 0 removed" in again.output
    without_key = run_seed()
    assert "flask keys create Demo" in without_key.output
    assert rows(sql) == before


def test_other_count_adds_or_removes_only_demo_articles(save, run_seed, sql, get):
    run_seed("--articles", "30", "--key", "demo")
    thirty = rows(sql)[0]
    own = [article_json(1, id="mine"), article_json(2, id="demo-mine"), article_json(3, id="demo-00004x")]
    save(*own, customer="Demo")
    assert "20 new" in run_seed("--articles", "50").output
    assert get(LISTS[0])["meta"]["total"] == 53
    assert "20 removed" in run_seed("--articles", "30").output
    assert get(LISTS[0])["meta"]["total"] == 33
    assert rows(sql)[0][: len(thirty)] == thirty
    run_seed("--articles", "0")
    assert sorted(article["id"] for article in get(LISTS[0])["data"]) == ["demo-00004x", "demo-mine", "mine"]


def test_demo_is_the_same_in_every_database_at_any_time(run_seed, database, tmp_path, monkeypatch):
    other = tmp_path / "other.db"
    assert run_seed("--articles", "40").exit_code == 0
    monkeypatch.setenv("DATABASE_URL", database_url(other))
    with time_machine.travel(datetime(2033, 5, 1, tzinfo=UTC)):
        assert run_seed("--articles", "40").exit_code == 0
    first, second = (helpers.run_sql(path, "SELECT * FROM article ORDER BY pk") for path in (database, other))
    assert len(first) == 40 + HIDDEN
    assert first == second


def test_another_key_is_added(run_seed, get, sql, monkeypatch):
    monkeypatch.setenv("DEMO_KEY", "first")
    assert "Key: first\n" in run_seed("--articles", "2").output
    assert "Key: demo\n" in run_seed("--articles", "2", "--key", "demo").output
    assert len(get(SITEMAP)["data"]) == len(get(SITEMAP, "first")["data"]) == 2
    assert sql("SELECT count(*) FROM api_key") == [(2,)]


def test_unusable_key_is_refused_and_nothing_is_written(app, run, run_seed, sql):
    taken, revoked = create_key(app, "Other"), create_key(app, "Demo")
    assert run("keys", "revoke", "2").exit_code == 0
    expiring = create_key(app, "Demo", "--expires", "2999-12-31")
    before = rows(sql)
    for key in (taken, revoked, expiring, "", "two words", "é", "x" * 201, "a\nb"):
        result = run_seed(f"--key={key}")
        assert (result.exit_code, result.exception.__class__) == (2, SystemExit)
        assert "--key" in result.output
    assert rows(sql) == before
    assert before[0] == []


@pytest.mark.parametrize("count", ["-1", "100001", "many", "1.5"])
def test_count_out_of_range_is_refused(run_seed, count):
    result = run_seed("--articles", count)
    assert result.exit_code == 2
    assert "--articles" in result.output


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.slow)])
def test_titles_slugs_and_ids_are_distinct(count):
    titles, slugs, ids = set(), set(), set()
    for article in seed.demo_articles(count, ""):
        titles.add(article["title"])
        slugs.add(article["slug"])
        ids.add(article["id"])
        assert not re.search(r"[\s/?#]", article["slug"])
        assert len(article["slug"]) <= 200
    assert len(titles) == len(slugs) == len(ids) == count + HIDDEN


def test_demo_is_well_formed_has_every_banner_and_is_past():
    articles = list(seed.demo_articles(120, BASE_URL))
    for article in articles:
        ElementTree.fromstring(f"<body>{article['contentHtml']}</body>")  # noqa: S314
    banners = {f"{BASE_URL}/static/banners/{file.name}" for file in (PROJECT / "static/banners").iterdir()}
    assert {article["bannerUrl"] for article in articles} == banners
    assert max(article["updatedAt"] for article in articles) < "2026-11-01"
