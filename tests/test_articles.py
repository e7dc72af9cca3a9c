"""The daily work: `flask articles import`, `publish`, `unpublish`, `list`."""

import http.client
import json
import os
import re
import subprocess
import time
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from conftest import LISTS, PAST, SITEMAP, article, make_key, program, simple, url_of, wait_for

import seed
from app import create_app


@pytest.fixture
def run(app, key):
    """Run a command of `flask articles`; there is one customer, Acme."""
    return lambda *arguments, **options: app.test_cli_runner().invoke(args=["articles", *arguments], **options)


@pytest.fixture
def take_in(run):
    """Import articles by standard input."""
    return lambda *articles, options=(): run("import", "-", *options, input="\n".join(map(json.dumps, articles)))


def slugs_of(client):
    return [each["url"] for each in client.get(SITEMAP).get_json()["data"]]


def test_an_import_tells_what_is_new_changed_and_unchanged(take_in, client):
    assert take_in(simple(1), simple(2)).stdout == "2 new, 0 changed, 0 unchanged\n"
    assert take_in(simple(1, title="New"), simple(2), simple(3)).stdout == "1 new, 1 changed, 1 unchanged\n"
    data = client.get(LISTS[0]).get_json()["data"]
    assert [each["title"] for each in data] == ["Title 3", "Title 2", "New"]


def test_what_is_imported_is_in_the_next_answer_of_a_running_service(take_in, server, key):
    for number in range(1, 4):
        take_in(simple(number))
        connection = http.client.HTTPConnection(server.host, server.port)
        connection.request("GET", LISTS[0], headers={"x-api-key": key})
        assert json.load(connection.getresponse())["meta"]["total"] == number
        connection.close()


def test_the_same_import_again_changes_nothing(take_in, sql):
    articles = [simple(number) for number in range(3)] + [simple(7, publishedAt=None), simple(8, status="published")]
    articles[1].pop("id")
    take_in(*articles)
    before = sql("SELECT * FROM article")
    assert take_in(*articles).stdout == "0 new, 0 changed, 5 unchanged\n"
    assert sql("SELECT * FROM article") == before


def test_a_dry_run_says_the_same_and_writes_nothing(take_in, sql):
    take_in(simple(1), simple(2), simple(3))
    before = sql("SELECT * FROM article")
    articles = simple(1, slug="slug-2"), simple(2, slug="slug-1"), simple(3), simple(4)
    dry = take_in(*articles, options=["--dry-run"])
    assert dry.stdout == "1 new, 2 changed, 1 unchanged (dry run: nothing was written)\n"
    assert sql("SELECT * FROM article") == before
    assert take_in(*articles).stdout == "1 new, 2 changed, 1 unchanged\n"
    assert take_in(simple(5, slug="slug-4"), options=["--dry-run"]).exit_code == 1


def test_every_bad_article_is_named_with_place_field_and_reason(take_in, sql):
    bad = [
        simple(2, readTime="3"),
        simple(3, author="me", views=-1),
        {"slug": "only"},
        simple(5, slug=7),
        [],
        simple(8, _schema=1),
    ]
    result = take_in(simple(1), *bad)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.splitlines() == [
        "Error: Nothing was written. What is wrong:",
        "standard input, line 2, slug 'slug-2': readTime: Must be a number of minutes, at least 0 and under 1000000.",
        "standard input, line 3, slug 'slug-3': author: Unknown field. "
        "views: Must be a whole number, 0 to 9007199254740992.",
        "standard input, line 4, slug 'only': contentHtml: Missing data for required field. "
        "title: Missing data for required field.",
        "standard input, line 5: slug: Must be a string.",
        "standard input, line 6: Must be an object.",
        "standard input, line 7, slug 'slug-8': _schema: Unknown field.",
    ]
    assert sql("SELECT * FROM article") == []


def test_an_article_is_not_blamed_for_what_another_ones_fault_brings(take_in):
    take_in(simple(1))
    lines = take_in(simple(1, slug="moved", title=None), simple(2, slug="slug-1")).stderr.splitlines()
    assert len(lines) == 2
    assert lines[1].startswith("standard input, line 1, slug 'moved': title: ")


def test_a_readable_number_of_faults_is_shown(take_in):
    lines = take_in(*(simple(number, title=1) for number in range(1000))).stderr.splitlines()
    assert len(lines) == 22
    assert lines[-1] == "… and 980 more."


def test_what_an_article_holds_cannot_reach_the_terminal_as_it_is(run):
    bad = simple(1, slug="\x1b[2J\n" * 50, **{f"\x1b[31m{number}" * 50: 1 for number in range(50)})
    result = run("import", "-", input=json.dumps(bad), color=True)
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert all(len(line) <= 500 for line in result.stderr.splitlines())
    assert result.stderr.endswith("…\n")
    slug = "a\x1b[2J\u202eb"
    run("import", "-", input=json.dumps(simple(1, slug=slug)))
    for command in (["list"], ["unpublish", slug], ["publish", slug]):
        shown = run(*command, color=True).stdout
        assert "a [2J b" in shown


@pytest.mark.parametrize("command", [["import", "-"], ["list"], ["publish", "a"], ["unpublish", "a"]])
def test_each_command_needs_to_know_the_customer(tmp_path, command):
    flask = create_app({"DATABASE_URL": url_of(tmp_path / "new.db")}).test_cli_runner()
    result = flask.invoke(args=["articles", *command])
    assert (result.exit_code, result.stdout) == (1, "")
    assert "There is no customer yet. To make one, with a key: flask keys create CUSTOMER" in result.stderr
    assert not (tmp_path / "new.db").exists()  # for the service, an empty database would be one that knows no key
    for name in ("Acme", "Ö & Co"):
        flask.invoke(args=["keys", "create", name])
    assert "Name one by --customer: Acme, 'Ö & Co'" in flask.invoke(args=["articles", *command]).stderr
    unknown = flask.invoke(args=["articles", *command, "--customer", "It's"])
    assert unknown.exit_code == 1
    assert "There is no customer \"It's\". To make it, with a key: flask keys create 'It'\"'\"'s'" in unknown.stderr


def test_an_import_belongs_to_the_customer_that_is_named(app, take_in, key):
    other = make_key(app, "Other")
    assert take_in(simple(1), options=["--customer", "Other"]).exit_code == 0
    for each, total in ((key, 0), (other, 1)):
        answer = app.test_client().get(LISTS[0], headers={"x-api-key": each})
        assert answer.get_json()["meta"]["total"] == total


@pytest.mark.sqlite
def test_publish_means_now_unless_it_was_published_before(take_in, run, client, sql):
    take_in(simple(1, publishedAt=None), simple(2, status="draft"), simple(3, publishedAt="2999-01-01T00:00:00Z"))
    assert slugs_of(client) == []
    before = datetime.now(UTC)
    for slug in ("slug-1", "slug-3"):
        since = re.fullmatch(rf"{slug}: published since (\S+)\n", run("publish", slug).stdout)[1]
        assert -0.001 <= (datetime.fromisoformat(since) - before).total_seconds() < 30
    assert run("publish", "slug-2").stdout == "slug-2: published since 2026-01-31T09:30:00.000Z\n"
    assert slugs_of(client) == ["slug-1", "slug-2", "slug-3"]
    rows = sql("SELECT * FROM article")
    time.sleep(0.01)
    for slug in ("slug-1", "slug-2", "slug-3"):
        assert run("publish", slug).exit_code == 0
    assert sql("SELECT * FROM article") == rows


def test_publish_at_a_time_schedules_or_dates_back(take_in, run, client):
    take_in(simple(1))
    scheduled = run("publish", "slug-1", "--at", "2999-01-01T01:00:00+02:00")
    assert scheduled.stdout == "slug-1: scheduled for 2998-12-31T23:00:00.000Z\n"
    assert slugs_of(client) == []
    back = run("publish", "slug-1", "--at", "2020-01-01t00:00:00z")
    assert back.stdout == "slug-1: published since 2020-01-01T00:00:00.000Z\n"
    (shown,) = client.get(LISTS[0]).get_json()["data"]
    assert shown["publishedAt"] == "2020-01-01T00:00:00.000Z"
    assert shown["schemaMarkup"]["@graph"][0]["datePublished"] == "2020-01-01T00:00:00.000Z"


@pytest.mark.sqlite
def test_publish_leaves_the_update_and_what_was_given(take_in, run, client, sql):
    given = {"@context": "https://schema.org", "@graph": [{"datePublished": "given"}]}
    take_in(simple(1, schemaMarkup=given, updatedAt="2026-02-01T00:00:00Z"))
    run("publish", "slug-1", "--at", "2020-01-01T00:00:00Z")
    assert client.get(LISTS[0]).get_json()["data"][0]["schemaMarkup"] == given
    assert sql("SELECT updated_at FROM article") == [("2026-02-01 00:00:00.000000",)]


def test_publish_touches_an_article_that_another_tool_renamed(take_in, run, client, sql):
    take_in(simple(1))
    sql("UPDATE article SET title = 'Café'")
    run("publish", "slug-1")
    assert client.get(LISTS[0] + "?q=cafe").get_json()["meta"]["total"] == 1
    assert client.get(LISTS[0]).get_json()["data"][0]["schemaMarkup"]["@graph"][0]["headline"] == "Café"


def test_unpublish_hides_an_article_and_keeps_its_date(take_in, run, client):
    take_in(simple(1), simple(2))
    assert run("unpublish", "slug-1").stdout == "slug-1: draft\n"
    assert slugs_of(client) == ["slug-2"]
    assert run("unpublish", "slug-1").exit_code == 0
    assert run("publish", "slug-1").stdout == "slug-1: published since 2026-01-31T09:30:00.000Z\n"


@pytest.mark.parametrize("command", ["publish", "unpublish"])
@pytest.mark.parametrize("slug", ["nope", "SLUG-1", "", "\udcff", "slug-1 ", "%"])
def test_an_unknown_slug_is_told(take_in, run, command, slug):
    take_in(simple(1))
    result = run(command, slug)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: Acme has no article with the slug ")
    assert "flask articles list --customer Acme" in result.stderr


@pytest.mark.parametrize("at", ["2026-01-31", "2026-01-31T09:30:00", "tomorrow", "9999-12-31T23:59:59-01:00", ""])
def test_a_time_that_is_none_is_wrong_usage(take_in, run, at):
    take_in(simple(1))
    result = run("publish", "slug-1", "--at", at)
    assert result.exit_code == 2
    assert "Must be a timestamp with its zone, as in 2026-01-31T09:30:00Z." in result.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_that_cannot_show_a_title_shows_the_rest(take_in, database, encoding):
    take_in(simple(1, title="Größe 東京"))
    for group in ("articles", "keys"):
        listing = program(database, "-m", "flask", group, "list", PYTHONIOENCODING=encoding)
        result = subprocess.run(**listing | {"text": False}, check=True)
        assert result.stdout.count(b"\n") == 1


def test_an_output_that_cannot_be_written_is_told(take_in, database):
    take_in(simple(1))
    listing = program(database, "-m", "flask", "articles", "list", prefix=["sh", "-c", 'exec "$@" >/dev/full', "sh"])
    result = subprocess.run(**listing)
    assert result.returncode == 1
    assert result.stderr == "Error: The output cannot be written (No space left on device).\n"


def test_list_shows_state_and_time_in_utc_drafts_first_then_the_latest(take_in, run):
    take_in(
        simple(1, publishedAt="2026-01-31T10:30:00+01:00"),
        simple(2, publishedAt=None),
        simple(3, publishedAt="2999-01-01T00:00:00Z"),
        simple(4, status="draft"),
        simple(5, title="Tab\there,\nescape \x1b[31m"),
    )
    lines = [line.split("\t") for line in run("list").stdout.splitlines()]
    assert lines == [
        ["draft", "2026-01-31T09:30:00.000Z", "slug-4", "Title 4"],
        ["draft", "-", "slug-2", "Title 2"],
        ["scheduled", "2999-01-01T00:00:00.000Z", "slug-3", "Title 3"],
        ["published", "2026-01-31T09:30:00.000Z", "slug-5", "Tab here, escape  [31m"],
        ["published", "2026-01-31T09:30:00.000Z", "slug-1", "Title 1"],
    ]


def test_the_seeded_articles_mirrored_into_an_empty_instance_are_the_same_bytes(database, start, monkeypatch, tmp_path):
    """Instance A serves the demo; B imports it over HTTP: each page is the same, by publication and by title."""
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    assert CliRunner().invoke(seed.main, ["--key", "demo", "--articles", "230"]).exit_code == 0
    server = start()
    ours = create_app()
    mirror = create_app({"DATABASE_URL": url_of(tmp_path / "mirror.db")})
    key = make_key_in(mirror)
    flask = mirror.test_cli_runner()
    command = ["articles", "import", f"http://{server.host}:{server.port}{LISTS[0]}", "--key", "demo"]
    assert flask.invoke(args=command).stdout == "230 new, 0 changed, 0 unchanged\n"
    assert flask.invoke(args=command).stdout == "0 new, 0 changed, 230 unchanged\n"

    pages = 0
    for path in LISTS:
        for order_by in ("publishedAt", "title"):
            for order in ("asc", "desc"):
                for q in ("", "cafe", "the web", "ü", "no such thing"):
                    for skip in range(0, 240, 60):
                        query = {"q": q, "orderBy": order_by, "order": order, "take": 60, "skip": skip}
                        one, two = (
                            app.test_client().get(path, query_string=query, headers={"x-api-key": each})
                            for app, each in ((ours, "demo"), (mirror, key))
                        )
                        assert one.status_code == 200
                        assert one.data == two.data
                        assert one.headers["ETag"] == two.headers["ETag"]
                        pages += bool(one.get_json()["data"])
    assert pages >= 60


def make_key_in(app):
    return app.test_cli_runner().invoke(args=["keys", "create", "Mirror"]).stdout.strip()


def test_an_instances_own_output_imported_into_it_again_changes_nothing(database, run, client, save, sql, tmp_path):
    save(*(article(number) for number in range(20)))
    (tmp_path / "own.json").write_bytes(client.get(LISTS[0]).data)
    before = sql("SELECT * FROM article")
    assert run("import", str(tmp_path / "own.json")).stdout == "0 new, 0 changed, 20 unchanged\n"
    assert sql("SELECT * FROM article") == before


@pytest.fixture
def importing(app, key, database, tmp_path):
    """Start `flask articles import` as a user does, on a pipe whose other end is given too."""
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    started = []

    def importing():
        process = subprocess.Popen(**program(database, "-m", "flask", "articles", "import", str(pipe)))
        started.append((process, pipe.open("wb", buffering=0)))
        return started[-1]

    yield importing
    for process, source in started:
        process.kill()
        process.communicate()
        source.close()


def many(count, title):
    return "".join(
        json.dumps(simple(number, title=title, contentHtml="word " * 1500)) + "\n" for number in range(count)
    )


def log_grew(database):
    """Tell whether an import has begun to write."""
    log = database.with_name(database.name + "-wal")
    return log.exists() and log.stat().st_size > 500_000


@pytest.mark.sqlite
def test_readers_are_served_the_old_articles_until_an_import_is_complete(importing, save, server, key, database):
    save(*(article(number) for number in range(20)))
    process, source = importing()
    source.write(many(1200, "New").encode())
    wait_for(lambda: log_grew(database), lambda: "nothing written")
    connection = http.client.HTTPConnection(server.host, server.port)

    def titles():
        connection.request("GET", LISTS[1] + "?take=100", headers={"x-api-key": key})
        answer = json.load(connection.getresponse())
        return answer["meta"]["total"], {each["title"] for each in answer["data"]}

    for _ in range(50):
        assert titles() == (20, {f"Title {number}" for number in range(20)})
    source.close()
    assert process.stdout.read() == "1180 new, 20 changed, 0 unchanged\n"
    assert titles() == (1200, {"New"})
    connection.close()


@pytest.mark.sqlite
def test_an_import_stopped_by_hand_leaves_the_old_articles(importing, save, sql, database):
    save(article(1, published_at=PAST))
    process, source = importing()
    source.write(many(1200, "New").encode())
    wait_for(lambda: log_grew(database), lambda: "nothing written")
    process.send_signal(2)  # Ctrl+C
    _, message = process.communicate(timeout=20)
    assert (process.returncode, message.strip()) == (1, "Aborted!")
    assert sql("SELECT title FROM article") == [("Title 1",)]
