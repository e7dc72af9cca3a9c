"""`flask keys` and `flask articles` except for the import: customers, output, errors."""

import json
import os
import re
import signal
import time
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from threading import Timer
from types import SimpleNamespace

import helpers
import pytest
from helpers import LISTS, SITEMAP, application, assert_rejected, minimal_json, run_command
from time_machine import travel

from app import create_app
from schema_fields import parse_time_zone

DATE, FUTURE = "2026-01-31T09:30:00.000Z", "2999-01-01T00:00:00.000Z"
NOW, DRAFT = "2026-03-01T12:00:00.123Z", {"publishedAt": None}
MARKUP = {"@context": "https://schema.org", "@graph": [{"datePublished": "given"}]}


def published_slugs(client):
    return [entry["url"] for entry in client.get(SITEMAP).get_json()["data"]]


def table(result):
    """Return the tab-separated cells of a command's output."""
    assert result.exit_code == 0
    return [line.split("\t") for line in result.stdout.splitlines()]


# flask keys


def test_create_prints_the_key_and_stores_only_its_hash(app, run, sql):
    result = run("keys", "create", "Acme & Söhne")
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}\n", result.stdout)
    assert "New customer: Acme & Söhne\n" in result.stderr
    key, stored = result.stdout.strip(), str(sql("SELECT * FROM api_key"))
    assert (sha256(key.encode()).hexdigest() in stored, key in stored) == (True, False)
    assert "New customer" not in run("keys", "create", "Acme & Söhne").stderr
    assert run("keys", "create", "x" * 100).exit_code == 0
    assert helpers.client_with_key(app, key).get(SITEMAP).status_code == 200


def test_keys_list_has_one_line_per_key(run):
    with travel("2026-02-28T23:59:59Z", tick=False):
        created = run("keys", "create", " Acme ", "--expires", "9999-12-31").stdout
        run("keys", "create", "Other", "--expires", "2026-02-28")
    with travel("2026-03-01T00:00:00Z", tick=False):
        run("keys", "create", "Acme")
        run("keys", "revoke", 3)
        run("keys", "create", "Other", "--expires", "2026-03-01")
        first, *rows = table(run("keys", "list"))
    assert first == ["1", "Acme", created[:6] + "…", "2026-02-28", "9999-12-31", "active"]
    assert [row[:2] + row[3:] for row in rows] == [
        ["2", "Other", "2026-02-28", "2026-02-28", "expired"],
        ["3", "Acme", "2026-03-01", "never", "revoked"],
        ["4", "Other", "2026-03-01", "2026-03-01", "active"],
    ]


def test_revoking_a_key_again_keeps_the_first_date(run, key, sql):
    with travel("2026-02-03T23:00:00Z"):
        assert f"key 1 ({key[:6]}…) of Acme" in run("keys", "revoke", 1).stderr
    revoked = sql("SELECT revoked_at FROM api_key")
    again = run("keys", "revoke", 1)
    assert (again.exit_code, again.stdout, "already revoked on 2026-02-03" in again.stderr) == (0, "", True)
    assert sql("SELECT revoked_at FROM api_key") == revoked


@pytest.mark.sqlite
def test_only_keys_create_creates_a_database_file(database):
    """On an empty database, a service would reject every key instead of responding with 503."""
    with application(database) as app:
        for command in ("keys list", "articles list", "articles publish a", f"database backup {database}.b"):
            assert_rejected(run_command(app, *command.split()), f"{database} does not exist")
        assert list(database.parent.iterdir()) == []
        assert f"Created the tables in {database}.\n" in run_command(app, "keys", "create", "Acme").stderr
        os.truncate(database, 0)  # by accident
        for command in ("keys list", "articles import -", "customers delete Acme --yes"):
            assert_rejected(run_command(app, *command.split()), f"{database} is empty", "restore a backup")
        assert database.stat().st_size == 0


# Rejected commands

YESTERDAY = str(datetime.now(UTC).date() - timedelta(days=1))
SAME_NAMES = ("my café", "MY  CAFÉ", "My Cafe\N{COMBINING ACUTE ACCENT}", "Ｍｙ Ｃａｆé")
REJECTED = [  # exit status, words of the error, command, values in it
    (2, "in the past", "keys create Acme --expires {}", [YESTERDAY]),
    (2, "%Y-%m-%d", "keys create Acme --expires {}", ("31/12/2030", "2030-02-30")),
    (2, "printable", "keys create {}", ("   ", "two\nlines", "x" * 101)),
    (1, "a customer 'My Café'", "keys create {}", SAME_NAMES),
    (1, "a customer 'My Café'", "customers rename Acme {}", ("My Café", *SAME_NAMES)),
    (1, "Did you mean 'My Café'?", "customers rename {} New", ["my cafés"]),
    (1, "Did you mean 'My Café'?", "customers delete {}", ["my cafés"]),
    (1, "flask keys list", "keys revoke -- {}", ("99", "9" * 30)),
    (1, "'Nobody'", "articles watch --customer {} -- true", ["Nobody"]),
    (127, "'no-such-program'", "articles watch -- {} --flag", ["no-such-program"]),
    (1, "Acme has no article", "articles publish slug-1 {}", ("nope", "SLUG-1", "%")),
    (1, "UTF-8", "articles publish {}", ["\udcff"]),
    (1, "Acme has no article", "articles unpublish slug-1 {}", ["nope"]),
    (1, "'nowhere' or 'elsewhere'", "articles delete slug-1 {} elsewhere --yes", ["nowhere"]),
    (1, "Acme has no article", "articles edit {}", ["slag-1"]),
    (2, "--yes", "articles delete {}", ["slug-1"]),
    (2, "--yes", "customers delete {}", ["Acme"]),
    (2, "2026-03-01 20:00", "articles publish slug-1 --at {}", ("tomorrow", "9999-12-31T23:59:59-01:00", "3/1/2026")),
]


def test_rejected_command_explains_and_changes_nothing(run, save, sql, monkeypatch):
    monkeypatch.setenv("VISUAL", "true")
    save(minimal_json(1))
    save(minimal_json(1, slug="slag-1"), customer="My Café")
    tables = [f"SELECT * FROM {name} ORDER BY 1" for name in ("customer", "api_key", "article")]
    before = list(map(sql, tables))
    for status, words, command, values in REJECTED:
        for value in values:
            group, *arguments = (part.format(value) for part in command.split())
            owner = ["--customer", "Acme"] if group == "articles" and value != "Nobody" else []
            assert_rejected(run(group, arguments[0], *owner, *arguments[1:]), words, status=status)
        assert list(map(sql, tables)) == before, command


# flask articles


PUBLISHED = [  # stored fields, TIMEZONE, --at, end of the printed line
    ({"publishedAt": None}, "UTC", None, f"published since {NOW}"),
    ({"status": "draft"}, "UTC", None, f"published since {DATE}"),
    ({"publishedAt": FUTURE}, "UTC", None, f"published since {NOW} (was {FUTURE})"),
    ({"status": "pending", "publishedAt": FUTURE}, "UTC", None, f"scheduled for {FUTURE}"),
    ({}, "UTC", "2999-01-01T02:00:00+02:00", f"scheduled for {FUTURE} (was {DATE})"),
    (DRAFT, "Europe/Berlin", "1.7.2998 8:00", "2998-07-01 08:00 Europe/Berlin, 2998-07-01T06:00:00.000Z"),
    # without a time: the same day in the zone and in UTC (Havana has no midnight that day)
    (DRAFT, "Europe/Berlin", "2998-07-01", "2998-07-01 02:00 Europe/Berlin, 2998-07-01T00:00:00.000Z"),
    (DRAFT, "America/Lima", "2998-07-01", "2998-07-01 00:00 America/Lima, 2998-07-01T05:00:00.000Z"),
    (DRAFT, "America/Havana", "2025-03-09", "2025-03-09 01:00 America/Havana, 2025-03-09T05:00:00.000Z"),
]


@pytest.mark.parametrize(("fields", "zone", "at", "printed"), PUBLISHED)
def test_publish_prints_when_and_in_which_zone(app, articles, save, monkeypatch, fields, zone, at, printed):
    """Without --at, the article is published now, unless it was published before, or is pending with a date."""
    monkeypatch.setitem(app.config, "TIMEZONE", parse_time_zone(zone))
    save(minimal_json(1, **fields))
    with travel("2026-03-01T12:00:00.123999Z", tick=False):
        result = articles("publish", "slug-1", *(["--at", at] if at else []))
    assert (result.exit_code, result.stdout.endswith(f" {printed}\n")) == (0, True), result.output
    (moment,) = re.findall(r"(\S+Z)(?: \(|$)", printed)
    assert json.loads(articles("export").stdout)["publishedAt"] == moment


def test_articles_published_in_one_millisecond_are_ordered_by_id(articles, client, save):
    save(minimal_json(1, **DRAFT), minimal_json(2, **DRAFT))
    for slug, moment in {"slug-2": "2026-03-01T12:00:00.123001Z", "slug-1": "2026-03-01T12:00:00.123999Z"}.items():
        with travel(moment, tick=False):
            assert articles("publish", slug).exit_code == 0
    assert [article["slug"] for article in client.get(LISTS[0]).get_json()["data"]] == ["slug-2", "slug-1"]


def test_publish_updates_only_derived_structured_data(articles, client, save, sql):
    save(minimal_json(1, updatedAt="2026-02-01T00:00:00Z"), minimal_json(2, schemaMarkup=MARKUP))
    updated = sql("SELECT updated_at FROM article ORDER BY id")
    assert articles("publish", "slug-1", "slug-2", "--at", "2020-01-01").exit_code == 0
    second, first = client.get(LISTS[0]).get_json()["data"]
    assert first["schemaMarkup"]["@graph"][0]["datePublished"] == "2020-01-01T00:00:00.000Z"
    assert second["schemaMarkup"] == MARKUP
    assert sql("SELECT updated_at FROM article ORDER BY id") == updated


@pytest.mark.parametrize(
    ("typed", "first", "second"),
    [
        ("2027-03-28 02:30", "2027-03-28T01:30:00+01:00", "2027-03-28T03:30:00+02:00"),
        ("2027-10-31 02:30", "2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+01:00"),
    ],
)
def test_error_for_an_ambiguous_time_suggests_both_readings(app, articles, save, monkeypatch, typed, first, second):
    monkeypatch.setitem(app.config, "TIMEZONE", parse_time_zone("Europe/Berlin"))
    save(minimal_json(1))
    assert_rejected(articles("publish", "slug-1", "--at", typed), f"{first} or {second}", status=2)
    assert articles("publish", "slug-1", "--at", first).exit_code == 0


def test_unpublish_hides_an_article_and_keeps_its_date(articles, client, save):
    save(minimal_json(1), minimal_json(2))
    assert articles("unpublish", "slug-2", "slug-1", "slug-2").stdout == "slug-2: draft\nslug-1: draft\n"
    assert published_slugs(client) == []
    shown = f"slug-1: published since {DATE}\nslug-2: published since {DATE}\n"
    assert articles("publish", "slug-1", "slug-2").stdout == shown
    assert published_slugs(client) == ["slug-1", "slug-2"]


def test_articles_list_shows_drafts_first_then_the_latest(articles, save):
    save(minimal_json(1), minimal_json(2, publishedAt=None), minimal_json(3, publishedAt=FUTURE))
    save(minimal_json(4, status="draft"), minimal_json(5, title="Tab\there,\nCafé? \x9b31m"))
    rows = [
        ["draft", DATE, "slug-4", "Title 4"],
        ["draft", "-", "slug-2", "Title 2"],
        ["scheduled", FUTURE, "slug-3", "Title 3"],
        ["published", DATE, "slug-5", "Tab here, Café?  31m"],
        ["published", DATE, "slug-1", "Title 1"],
    ]
    assert table(articles("list")) == rows
    assert table(articles("list", "--state", "scheduled")) == [rows[2]]
    found = articles("list", "--search", ' (here,)  "cafe"', "--state", "published")
    assert (table(found), found.stderr) == ([rows[3]], "")
    record = json.loads(articles("list", "--json").stdout.splitlines()[1])
    origin = {"source": None, "sourceKey": None, "textEdited": False, "publicationEdited": False}
    assert record == {"state": "draft", "publishedAt": None, "slug": "slug-2", "title": "Title 2"} | origin


def test_list_shows_sources_and_what_is_yours(articles, save):
    origin = {"source": "wordpress:example.com/blog", "sourceKey": "7"}
    yours = {"textEdited": True, "publicationEdited": True}
    save(minimal_json(1), minimal_json(2, **origin), minimal_json(3, source="markdown", sourceKey="a/b", **yours))
    third, second, first = (line[4:] for line in table(articles("list")))
    assert (first, second) == ([], ["wordpress:example.com/blog"])
    assert re.fullmatch("markdown .*text, publication.*", *third)
    last, record, _ = map(json.loads, articles("list", "--json").stdout.splitlines())
    assert record.items() >= origin.items()
    assert last.items() >= yours.items()


def test_writers_wait_for_each_other_but_readers_do_not(articles, client, save, sql, database):
    """Another tool holds the lock; one of the waiting commands is interrupted."""
    save(minimal_json(1), minimal_json(2))
    with helpers.other_writer(database) as writer:
        writer.execute("UPDATE article SET title = 'Theirs' WHERE slug = 'slug-1'")
        assert client.get(LISTS[0]).get_json()["meta"]["total"] == 2
        assert articles("list").exit_code == 0
        Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
        started = time.monotonic()
        assert "nothing was written" in articles("unpublish", "slug-2").stderr
        assert time.monotonic() - started < 10
        Timer(1, writer.execute, ["COMMIT"]).start()
        assert articles("unpublish", "slug-1").stdout == "slug-1: draft\n"
    assert sql("SELECT slug, title FROM article WHERE status = 'draft'") == [("slug-1", "Theirs")]


@pytest.mark.sqlite
def test_writer_gives_up_after_a_minute(articles, save, database, monkeypatch):
    save(minimal_json(1))
    seconds = iter((0, 59, 61))
    monkeypatch.setattr("storage.engine.time", SimpleNamespace(monotonic=lambda: next(seconds)))
    with helpers.other_writer(database):
        assert_rejected(articles("unpublish", "slug-1"), "locked")
    assert list(seconds) == []


# Output


def test_import_shows_its_progress_on_a_terminal_only(app, key, monkeypatch):
    for is_terminal in (True, False):
        monkeypatch.setattr("commands.support.terminal.stderr_is_terminal", lambda is_shown=is_terminal: is_shown)
        result = helpers.import_articles(app, *map(minimal_json, range(30)))
        assert (result.exit_code, bool(result.stderr)) == (0, is_terminal)


def test_unexpected_error_is_one_line_and_hints_at_the_traceback(app, articles, monkeypatch):
    monkeypatch.setattr("commands.list_articles.build_conditions", lambda query: query["none"])
    assert_rejected(articles("list"), "KeyError", "LOG_LEVEL=debug")
    monkeypatch.setitem(app.config, "LOG_LEVEL", "debug")
    assert isinstance(articles("list").exception, KeyError)


def test_names_and_slugs_cannot_forge_output_lines(articles, save):
    slug = "a\x9b2J\u202eb"
    save(minimal_json(1, slug=slug))
    for command in (["list"], ["unpublish", slug], ["publish", slug]):
        shown = articles(*command, color=True).stdout
        assert ("a 2J b" in shown, {"\x9b", "\u202e"} & set(shown)) == (True, set())


def test_backup_on_postgresql_suggests_pg_dump():
    pytest.importorskip("psycopg")
    app = create_app({"DATABASE_URL": "postgresql+psycopg://postgres@127.0.0.1:1/none"})
    for arguments in (["backup", "backup.db"], ["restore", __file__, "--yes"]):
        assert_rejected(run_command(app, "database", *arguments), "pg_dump")
