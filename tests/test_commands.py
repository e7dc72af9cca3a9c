"""`flask keys` and `flask articles` except for the import: customers, output, errors."""

import json
import os
import re
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import product

import pytest
from helpers import (
    LISTS,
    SITEMAP,
    application,
    client_with_key,
    close,
    create_key,
    json_lines,
    minimal_json,
    other_writer,
    run_command,
    subprocess_args,
)
from time_machine import travel

from app import create_app
from fields import parse_time_zone

NOW, SHOWN_NOW = datetime(2026, 3, 1, 12, 0, 0, 123_999, tzinfo=UTC), "2026-03-01T12:00:00.123Z"
MARKUP = {"@context": "https://schema.org", "@graph": [{"datePublished": "given"}]}


@pytest.fixture
def keys(app):
    """Run `flask keys`."""
    return partial(run_command, app, "keys")


@pytest.fixture
def new_app(database):
    """An application whose database does not exist."""
    with application(database) as app:
        yield app


def published_slugs(client):
    return [entry["url"] for entry in client.get(SITEMAP).get_json()["data"]]


def table(result):
    """Return the tab-separated cells of a command's output."""
    assert result.exit_code == 0
    return [line.split("\t") for line in result.stdout.splitlines()]


def exported(articles):
    """Export the only article."""
    return json.loads(articles("export").stdout)


# flask keys


def test_create_prints_only_the_key_and_it_works(app, keys):
    result = keys("create", "Acme & Söhne")
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}\n", result.stdout)
    assert "New customer: Acme & Söhne\n" in result.stderr
    assert "not shown again" in result.stderr
    assert "New customer" not in keys("create", "Acme & Söhne").stderr
    assert keys("create", "x" * 100).exit_code == 0
    assert client_with_key(app, result.stdout.strip()).get(SITEMAP).status_code == 200


@pytest.mark.sqlite
def test_only_the_hash_of_a_key_is_stored(key, database):
    stored = b"".join(file.read_bytes() for file in database.parent.iterdir())
    assert sha256(key.encode()).hexdigest().encode() in stored
    assert key.encode() not in stored


def test_keys_list_has_one_line_per_key(keys, sql):
    with travel("2026-02-28T23:59:59Z", tick=False):
        created = keys("create", " Acme ", "--expires", "9999-12-31").stdout
        keys("create", "Other", "--expires", "2026-02-28")
    with travel("2026-03-01T00:00:00Z", tick=False):
        keys("create", "Acme")
        keys("revoke", 3)
        keys("create", "Other", "--expires", "2026-03-01")
        rows = table(keys("list"))
    assert rows[0] == ["1", "Acme", created[:6] + "…", "2026-02-28", "9999-12-31", "active"]
    assert [row[:2] + row[3:] for row in rows[1:]] == [
        ["2", "Other", "2026-02-28", "2026-02-28", "expired"],
        ["3", "Acme", "2026-03-01", "never", "revoked"],
        ["4", "Other", "2026-03-01", "2026-03-01", "active"],
    ]


def test_revoking_a_key_again_keeps_the_first_date(keys, key, sql):
    with travel("2026-02-03T23:00:00Z"):
        assert keys("revoke", 1).exit_code == 0
    ((revoked_at,),) = sql("SELECT revoked_at FROM api_key")
    assert revoked_at
    again = keys("revoke", 1)
    assert (again.exit_code, again.stdout) == (0, "")
    assert "already revoked on 2026-02-03" in again.stderr
    assert sql("SELECT revoked_at FROM api_key") == [(revoked_at,)]


@pytest.mark.sqlite
def test_only_keys_create_creates_a_database_file(new_app, database):
    """On an empty database, a service would reject every key instead of responding with 503."""
    run = partial(run_command, new_app)
    for command in ("keys list", "articles list", "articles publish a", f"database backup {database}.b"):
        result = run(*command.split())
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"{database} does not exist. Check DATABASE_URL" in result.stderr
    assert list(database.parent.iterdir()) == []
    assert f"Created the database {database}.\n" in run("keys", "create", "Acme").stderr
    os.truncate(database, 0)  # tables are created in an existing file
    assert run("keys", "list").exit_code == 0
    assert "Created the database" not in run("keys", "create", "Acme").stderr


# Rejected commands

NAMES = ("   ", "two\nlines", "x" * 101, "\x1b[31m")
SLUGS = ("nope", "SLUG-1", "", "\udcff", "%")
TIMES = ("tomorrow", "9999-12-31T23:59:59-01:00", "", "2026-02-30", "08:00", "3/1/2026")
YESTERDAY = str(datetime.now(UTC).date() - timedelta(days=1))
REJECTED = [
    (2, "in the past", [["keys", "create", "Acme", "--expires", day] for day in ("2000-01-01", YESTERDAY)]),
    (2, "'%Y-%m-%d'", [["keys", "create", "Acme", "--expires", day] for day in ("31.12.2030", "2030-02-30")]),
    (2, "printable", [["keys", "create", name] for name in NAMES]),
    (1, "flask keys list", [["keys", "revoke", "--", id] for id in ("99", "0", "-1", "9" * 30, "-9" + "9" * 30)]),
    (2, "'ID'", [["keys", "revoke", "x"]]),
    (1, "Error: There is no customer 'Nobody'", [["articles", "watch", "--customer", "Nobody", "--", "true"]]),
    (2, "Usage: ", [["articles", "watch"]]),
    (127, "no program 'no-such-program'", [["articles", "watch", "--", "no-such-program", "--flag"]]),
    (
        1,
        "Error: Acme has no article with the slug ",
        [["articles", *names] for names in product(("publish", "unpublish", "export"), ("slug-1",), SLUGS)],
    ),
    (1, "'nowhere', 'elsewhere'", [["articles", "delete", "slug-1", "nowhere", "elsewhere", "--yes"]]),
    (1, "'slag-1'. Did you mean 'slug-1'?", [["articles", "unpublish", "slag-1"], ["articles", "edit", "slag-1"]]),
    (2, "Add --yes to confirm.", [["articles", "delete", "slug-1"], ["customers", "delete", "Acme"]]),
    (2, "2026-03-01 20:00", [["articles", "publish", "slug-1", "--at", moment] for moment in TIMES]),
    (
        1,
        "Error: There is already a customer 'My Site'.",
        [["keys", "create", name] for name in ("my site", "MySite", "MY  SITE")]
        + [["customers", "rename", "Acme", name] for name in ("My Site", "my site", "MySite", "MY  SITE")],
    ),
    (
        1,
        "There is no customer 'my sites'. Did you mean 'My Site'? Existing customers: Acme, 'My Site'.",
        [["customers", "rename", "my sites", "New"], ["customers", "delete", "my sites", "--yes"]],
    ),
]


@pytest.mark.parametrize(("status", "message", "commands"), REJECTED)
def test_rejected_command_explains_and_changes_nothing(app, run, save, sql, status, message, commands):
    save(minimal_json(1))
    create_key(app, "My Site")
    tables = [f"SELECT * FROM {name} ORDER BY 1" for name in ("customer", "api_key", "article")]
    before = list(map(sql, tables))
    for command in commands:
        options = ["--customer", "Acme"] if command[0] == "articles" else []
        result = run(*command[:2], *options, *command[2:])
        assert (result.exit_code, result.stdout, message in result.stderr) == (status, "", True), result.output
        assert status == 2 or result.stderr.count("\n") <= 2
    assert list(map(sql, tables)) == before


# flask articles


@pytest.mark.parametrize("command", [["import", "-"], ["list"], ["publish", "a"]])
def test_articles_commands_need_a_customer(new_app, database, command):
    def error(*options):
        result = run_command(new_app, "articles", *command, *options)
        assert (result.exit_code, result.stdout) == (1, "")
        return result.stderr

    database.touch()
    assert "flask keys create CUSTOMER" in error()
    for name in ("Acme", "Ö & Co"):
        create_key(new_app, name)
    assert "Acme, 'Ö & Co'" in error()
    unknown = error("--customer", "It's")
    assert "It's" in unknown
    assert "Acme, 'Ö & Co'" in unknown
    assert "flask keys create 'It'\"'\"'s'" in unknown


def test_articles_commands_only_affect_their_customer(app, articles, client, save):
    save(minimal_json(1))
    save(minimal_json(1, title="Other"), customer="Other")
    assert articles("unpublish", "slug-1", "--customer", "Other").exit_code == 0
    assert published_slugs(client) == ["slug-1"]
    assert table(articles("list", "--customer", "Other"))[0][::3] == ["draft", "Other"]
    assert table(articles("list", "--customer", "Acme"))[0][::3] == ["published", "Title 1"]


def test_publish_means_now_unless_published_before(articles, client, save):
    future = "2999-01-01T00:00:00.000Z"
    save(minimal_json(1, publishedAt=None), minimal_json(2, status="draft"), minimal_json(3, publishedAt=future))
    assert published_slugs(client) == []
    with travel(NOW, tick=False):
        assert articles("publish", "slug-1").stdout == f"slug-1: published since {SHOWN_NOW}\n"
        assert articles("publish", "slug-3").stdout == f"slug-3: published since {SHOWN_NOW} (replaces {future})\n"
        assert articles("publish", "slug-2").stdout == "slug-2: published since 2026-01-31T09:30:00.000Z\n"
        shown = {article["slug"]: article["publishedAt"] for article in client.get(LISTS[0]).get_json()["data"]}
        assert shown == {"slug-1": SHOWN_NOW, "slug-2": "2026-01-31T09:30:00.000Z", "slug-3": SHOWN_NOW}


def test_publish_at_schedules_or_backdates(articles, client, save, sql):
    """`updatedAt` and custom structured data do not change."""
    save(minimal_json(1, updatedAt="2026-02-01T00:00:00Z"), minimal_json(2, schemaMarkup=MARKUP))
    updated = sql("SELECT updated_at FROM article ORDER BY id")
    scheduled = articles("publish", "slug-1", "--at", "2999-01-01T01:00:00+02:00")
    replaced = " (replaces 2026-01-31T09:30:00.000Z)"
    assert scheduled.stdout == f"slug-1: scheduled for 2998-12-31T23:00:00.000Z{replaced}\n"
    assert published_slugs(client) == ["slug-2"]
    since = "2020-01-01T00:00:00.000Z"
    backdated = articles("publish", "slug-1", "slug-2", "--at", "2020-01-01t00:00:00z")
    lines = [f"slug-1: published since {since} (replaces 2998-12-31T23:00:00.000Z)"]
    assert backdated.stdout.splitlines() == [*lines, f"slug-2: published since {since}{replaced}"]
    second, first = client.get(LISTS[0]).get_json()["data"]
    assert first["publishedAt"] == first["schemaMarkup"]["@graph"][0]["datePublished"] == since
    assert second["schemaMarkup"] == MARKUP
    assert sql("SELECT updated_at FROM article ORDER BY id") == updated


LOCAL_TIMES = [  # TIMEZONE, argument, UTC, local time printed
    ("UTC", "2998-07-01 08:00", "2998-07-01T08:00:00.000Z", ""),
    ("Europe/Berlin", "2998-07-01 08:00", "2998-07-01T06:00:00.000Z", "2998-07-01 08:00 Europe/Berlin, "),
    ("Europe/Berlin", "2998-07-01 08", "2998-07-01T06:00:00.000Z", "2998-07-01 08:00 Europe/Berlin, "),
    ("Europe/Berlin", "2998-07-01 0800+05", "2998-07-01T03:00:00.000Z", "2998-07-01 05:00 Europe/Berlin, "),
    ("Europe/Berlin", "2998-07-01 08:00Z", "2998-07-01T08:00:00.000Z", "2998-07-01 10:00 Europe/Berlin, "),
    # without a time: the same day in the zone and in UTC
    ("Europe/Berlin", "2998-07-01", "2998-07-01T00:00:00.000Z", "2998-07-01 02:00 Europe/Berlin, "),
    ("America/New_York", "2998-07-01", "2998-07-01T04:00:00.000Z", "2998-07-01 00:00 America/New_York, "),
    (
        "America/Havana",
        "2025-03-09",
        "2025-03-09T05:00:00.000Z",
        "2025-03-09 01:00 America/Havana, ",
    ),  # has no midnight
]


@pytest.mark.parametrize(("zone", "typed", "moment", "shown"), LOCAL_TIMES)
def test_times_without_an_offset_are_in_the_time_zone(
    app, articles, save, sql, monkeypatch, zone, typed, moment, shown
):
    monkeypatch.setitem(app.config, "TIMEZONE", parse_time_zone(zone))
    save(minimal_json(1, publishedAt=None))
    result = articles("publish", "slug-1", "--at", typed)
    state = "published since" if moment < "2026" else "scheduled for"
    assert (result.exit_code, result.stdout) == (0, f"slug-1: {state} {shown}{moment}\n")
    assert exported(articles)["publishedAt"] == moment


def test_ambiguous_or_nonexistent_local_time_is_rejected(app, articles, save, sql, monkeypatch):
    """The error suggests both readings, which are accepted."""
    monkeypatch.setitem(app.config, "TIMEZONE", parse_time_zone("Europe/Berlin"))
    save(minimal_json(1))
    for typed, first, second in (
        ("2027-03-28 02:30", "2027-03-28T01:30:00+01:00", "2027-03-28T03:30:00+02:00"),
        ("2027-10-31 02:30", "2027-10-31T02:30:00+02:00", "2027-10-31T02:30:00+01:00"),
    ):
        rejected = articles("publish", "slug-1", "--at", typed)
        assert (rejected.exit_code, rejected.stdout, f"{first} or {second}" in rejected.stderr) == (2, "", True)
        assert articles("publish", "slug-1", "--at", first).exit_code == 0


def test_unpublish_hides_an_article_and_keeps_its_date(articles, client, save):
    save(minimal_json(1), minimal_json(2))
    assert articles("unpublish", "slug-2", "slug-1", "slug-2").stdout == "slug-2: draft\nslug-1: draft\n"
    assert published_slugs(client) == []
    since = "published since 2026-01-31T09:30:00.000Z"
    assert articles("publish", "slug-1", "slug-2").stdout == f"slug-1: {since}\nslug-2: {since}\n"
    assert published_slugs(client) == ["slug-1", "slug-2"]


def test_articles_list_shows_drafts_first_then_the_latest(articles, save):
    save(
        minimal_json(1, publishedAt="2026-01-31T10:30:00+01:00"),
        minimal_json(2, publishedAt=None),
        minimal_json(3, publishedAt="2999-01-01T00:00:00Z"),
        minimal_json(4, status="draft"),
        minimal_json(5, title="Tab\there,\nCafé? \x9b31m"),
    )
    rows = [
        ["draft", "2026-01-31T09:30:00.000Z", "slug-4", "Title 4"],
        ["draft", "-", "slug-2", "Title 2"],
        ["scheduled", "2999-01-01T00:00:00.000Z", "slug-3", "Title 3"],
        ["published", "2026-01-31T09:30:00.000Z", "slug-5", "Tab here, Café?  31m"],
        ["published", "2026-01-31T09:30:00.000Z", "slug-1", "Title 1"],
    ]
    assert table(articles("list")) == rows
    assert articles("list").stderr == "2 published, 1 scheduled, 2 draft\n"
    for state in ("published", "scheduled", "draft"):
        assert table(articles("list", "--state", state)) == [row for row in rows if row[0] == state]
    assert table(articles("list", "--search", "TITLE 2")) == [rows[1]]
    found = articles("list", "--search", " here,  cafe", "--state", "published")
    assert (table(found), found.stderr) == ([rows[3]], "1 published, 0 scheduled, 0 draft\n")
    records = [json.loads(line) for line in articles("list", "--json").stdout.splitlines()]
    assert records[1] == {"state": "draft", "publishedAt": None, "slug": "slug-2", "title": "Title 2"}
    assert (records[0]["publishedAt"], records[3]["title"]) == (rows[0][1], "Tab\there,\nCafé? \x9b31m")


def test_writers_wait_for_each_other_but_readers_do_not(app, client, save, sql, database, tmp_path):
    """Another tool holds the lock longer than SQLite's timeout; one of the waiting commands is interrupted."""
    save(minimal_json(1), minimal_json(2))
    close(app)
    new = tmp_path / "new.jsonl"
    new.write_text(json_lines(minimal_json(number) for number in range(3, 100)))
    with other_writer(database) as writer:
        writer.execute("UPDATE article SET title = 'Theirs', views = 5 WHERE slug = 'slug-1'")
        unpublish, import_, interrupted = (
            subprocess.Popen(**subprocess_args(database, "-m", "flask", "articles", *command))
            for command in (["unpublish", "slug-1"], ["import", str(new)], ["unpublish", "slug-2"])
        )
        assert all("Waiting" in process.stderr.readline() for process in (unpublish, import_, interrupted))
        interrupted.send_signal(signal.SIGINT)
        assert "nothing was written" in interrupted.communicate(timeout=30)[1]
        assert client.get(LISTS[0]).get_json()["meta"]["total"] == 2
        writer.execute("COMMIT")
        assert unpublish.communicate(timeout=60)[0] == "slug-1: draft\n"
        assert import_.communicate(timeout=60)[0] == "97 new, 0 changed, 0 unchanged (new: 97 published)\n"
    drafts = sql("SELECT slug, title, folded_title, views FROM article WHERE status = 'draft'")
    assert drafts == [("slug-1", "Theirs", "theirs", 5)]


def test_list_prints_local_time_but_utc_in_json(app, articles, save, monkeypatch):
    monkeypatch.setitem(app.config, "TIMEZONE", parse_time_zone("Europe/Berlin"))
    save(minimal_json(1, publishedAt="2026-07-01T22:30:00Z"))
    assert table(articles("list"))[0][1] == "2026-07-02 00:30"
    assert "Europe/Berlin" in articles("list").stderr
    assert json.loads(articles("list", "--json").stdout)["publishedAt"] == "2026-07-01T22:30:00.000Z"


# Output


def test_names_and_slugs_cannot_forge_output_lines(app, articles, save, sql):
    slug = "a\x9b2J\u202eb"
    save(minimal_json(1, slug=slug))
    for command in (["list"], ["unpublish", slug], ["publish", slug]):
        shown = articles(*command, color=True).stdout
        assert ("a 2J b" in shown, {"\x9b", "\u202e"} & set(shown)) == (True, set())
    sql("UPDATE customer SET name = ?", "Acme\nError: \x1b[31mforged")
    for command in (["articles", "publish", "nope"], ["articles", "list", "--customer", "x"], ["customers", "list"]):
        result = run_command(app, *command, color=True)
        assert result.output.count("\n") == 1, result.output
        assert "\x1b" not in result.output


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8"])
def test_unencodable_characters_are_replaced_in_output(app, save, encoding):
    save(minimal_json(1, title="Größe 東京"))
    result = app.test_cli_runner(charset=encoding).invoke(args=["articles", "list"])
    assert (result.exit_code, "\tGröße 東京\n".encode(encoding, "replace") in result.stdout_bytes) == (0, True)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["seed.py", "-m flask articles list", "-m flask keys create New"])
def test_unwritable_output_is_reported(save, sql, database, command):
    """A key that could not be printed is not created."""
    save(minimal_json(1))
    with open("/dev/full", "w") as full:
        result = subprocess.run(**subprocess_args(database, *command.split()) | {"stdout": full})
    assert result.returncode == 1
    assert result.stderr.endswith("Error: The output cannot be read or written (No space left on device).\n")
    assert sql("SELECT customer.name FROM customer JOIN api_key ON customer.id = customer_id") == [("Acme",)]


def test_backup_on_postgresql_suggests_pg_dump():
    pytest.importorskip("psycopg")
    app = create_app({"DATABASE_URL": "postgresql+psycopg://postgres@127.0.0.1:1/none"})
    for arguments in (["backup", "backup.db"], ["restore", __file__, "--yes"]):
        result = run_command(app, "database", *arguments)
        assert (result.exit_code, result.stderr.count("\n"), "pg_dump" in result.stderr) == (1, 1, True)
