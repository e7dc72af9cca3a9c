"""What imports publish and hide: the table of `transfer.publication`, missing articles, the brake, `publish --pending`.

The examples use dates in this order: OLDER, PAST, NEWER, NOW, FUTURE, LATER, LATEST.
"""

import json
import re
from pathlib import Path

import pytest
from helpers import article_json, json_lines, minimal_json
from importer import counts, ghost, post, wordpress
from time_machine import travel

from models import db
from transfer.json_files import parse_json_lines

OLDER, PAST, NEWER = "2025-12-01T08:00:00.000Z", "2026-01-31T09:30:00.000Z", "2026-02-01T00:00:00.000Z"
NOW = "2026-03-01T12:00:00.000Z"
FUTURE, LATER, LATEST = (f"{year}-01-01T00:00:00.000Z" for year in (2997, 2998, 2999))
MISSING = "--unpublish-missing"


def published(*names, date=PAST):
    """Return a folder with these articles, which it publishes."""
    return {f"posts/{name}.md": post(text="Text", date=date, title=name) for name in names}


def withheld(*names):
    """Return a folder with these articles, which are drafts."""
    return {f"posts/{name}.md": post("draft: true", "Text", date=PAST, title=name) for name in names}


# articles that are stored, with their status and date
STORED = {
    "draft": ("draft", PAST),
    "pending": ("pending", PAST),
    "published": ("published", PAST),
    "scheduled": ("published", LATER),
}
# date and status in the source, options of the import, and what a new article and the stored ones are then
TABLE = [
    (NEWER, "draft", [], [("draft", NEWER)] * 5),
    ("", "draft", [], [("draft", None), *[("draft", PAST)] * 3, ("draft", LATER)]),
    (NEWER, "", ["--publish"], [("published", NEWER)] * 5),
    (FUTURE, "", ["--publish"], [("published", FUTURE)] * 5),
    ("", "published", ["--publish"], [("published", NOW), *[("published", PAST)] * 3, ("published", LATER)]),
    (OLDER, "", [], [*[("pending", OLDER)] * 3, ("published", OLDER), ("published", LATER)]),
    (FUTURE, "", [], [*[("pending", FUTURE)] * 3, ("published", FUTURE), ("published", LATER)]),
    (LATEST, "", [], [*[("pending", LATEST)] * 3, *[("published", LATEST)] * 2]),
    ("", "published", [], [("pending", None), *[("pending", PAST)] * 2, ("published", PAST), ("published", LATER)]),
    ("", "", ["--publish"], [("pending", None), *[("pending", PAST)] * 2, ("published", PAST), ("published", LATER)]),
]


@pytest.mark.parametrize(("date", "status", "options", "expected"), TABLE)
def test_status_and_date_follow_the_table(importer, save, date, status, options, expected):
    """Those of articles whose publication is yours stay."""
    names = [*STORED, *(f"yours-{name}" for name in STORED)]
    before = dict(zip(names, [*STORED.values()] * 2, strict=True))
    for name, (stored_status, stored_date) in before.items():
        origin = {"id": name, "slug": name, "source": "csv", "sourceKey": name, "publicationEdited": "yours" in name}
        save(minimal_json(1, title="A", status=stored_status, publishedAt=stored_date, **origin))
    rows = [f"{name},A,Text,{date},{status}" for name in ("new", *names)]
    with travel(NOW, tick=False):
        result = importer.run("import", {"a.csv": "\n".join(["slug,title,body,date,status", *rows])}, "--yes", *options)
    assert result.exit_code == 0, result.stderr
    after = {slug: (article["status"], article.get("publishedAt")) for slug, article in importer.articles().items()}
    assert [after.pop(name) for name in ("new", *STORED)] == expected
    assert after == {name: publication for name, publication in before.items() if "yours" in name}


def test_earlier_date_waits_for_publish_and_is_reported(importer):
    importer.run("import", published("a", date=LATER), "--publish")
    for options, date in (([], LATER), (["--publish"], FUTURE)):
        result = importer.run("import", published("a", date=FUTURE), *options)
        assert importer.values("publishedAt") == {"a": date}
        assert ("--publish" in result.stderr) == (not options)


# What commands and records make yours


@pytest.mark.parametrize(
    ("imported", "command", "is_yours"),
    [
        ([published("a")], ["unpublish", "a"], True),
        ([published("a")], ["publish", "a"], False),  # agrees with the source
        ([published("a")], ["publish", "a", "--at", FUTURE], True),
        ([withheld("a")], ["publish", "a"], True),
        ([published("a", date=FUTURE)], ["publish", "--pending", "--yes"], False),
        ([published("a", date=FUTURE), "--publish"], ["publish", "a"], True),
    ],
)
def test_decision_that_differs_from_the_source_is_yours(importer, imported, command, is_yours):
    importer.run("import", *imported)
    printed = importer.run(*command).stderr
    assert importer.only().get("publicationEdited", False) == is_yours
    assert ("publicationEdited" in printed) == is_yours
    assert "publicationEdited" not in importer.run(*command).stderr
    assert importer.only().get("publicationEdited", False) == is_yours


# Missing articles


def test_missing_articles_become_drafts_and_come_back(importer):
    """Whatever their state was, unless somebody decided about them here."""
    importer.run("import", published("kept", "yours", "public") | published("scheduled", date=FUTURE), "--publish")
    importer.run("import", published("pending"))
    importer.run("publish", "yours", "--at", NEWER)
    before = importer.states()
    result = importer.run("import", "posts/kept.md", MISSING)
    assert counts(result) == {"unchanged": 1, "unpublished": 3}
    assert "yours" in result.stderr
    assert importer.states() == dict.fromkeys(before, "draft") | {"kept": "published", "yours": "published"}
    importer.run("import", "posts", "--publish")
    assert importer.states() == before | {"pending": "published"}


def test_invalid_article_is_not_missing(importer):
    """The others of its source are."""
    importer.run("import", published("a", "b", "c"), "--publish")
    broken = {"posts/b.md": post(title="x" * 256)}
    for name in "bc":
        (importer.folder / f"posts/{name}.md").unlink()
    assert importer.run("import", published("a") | broken, MISSING).exit_code == 1
    assert importer.run("import", "posts", MISSING, "--skip-invalid").exit_code == 0
    assert importer.states() == {"a": "published", "b": "published", "c": "draft"}


def test_nothing_is_missing_if_an_origin_is_unknown(importer):
    feed = [minimal_json(number) for number in (1, 2)]
    importer.run("import", {"a.jsonl": json_lines(feed)}, "--source", "shop")
    options = "--source", "shop", MISSING, "--skip-invalid"
    for broken in ("{", json.dumps({"title": "Without an id or a slug"})):
        result = importer.run("import", {"a.jsonl": json_lines(feed[:1]) + broken}, *options)
        assert "(1 source): shop" in result.stderr
        assert set(importer.states().values()) == {"published"}
    assert "shop" not in importer.run("import", {"a.jsonl": json_lines(feed[:1])}, *options).stderr
    assert importer.states() == {"slug-1": "published", "slug-2": "draft"}


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (["a.json", MISSING], 2),
        (["-", MISSING, "--source", "feed"], 2),  # a stream may have been cut off
        (["a.json", MISSING, "--source", "feed"], 0),
    ],
)
def test_own_articles_are_never_missing(importer, save, arguments, exit_code):
    save(minimal_json(1), minimal_json(2))
    importer.write({"a.json": json.dumps([minimal_json(1), minimal_json(3)])})
    assert importer.run("import", *arguments, input=json.dumps(minimal_json(1))).exit_code == exit_code
    assert set(importer.states().values()) == {"published"}


@pytest.mark.parametrize("files", [{"a.csv": "slug,title,body\n\n"}, ghost(), {"a.xml": wordpress()}, {"a.json": "[]"}])
def test_empty_source_is_an_error(importer, save, files):
    save(minimal_json(1))
    assert next(iter(files)) in importer.rejects(files)


def test_posts_in_the_trash_are_withheld_if_they_are_stored(importer):
    """Even if the export contains nothing else."""
    importer.run("import", {"a.xml": wordpress({}, {})}, "--publish")
    trash = {"status": "trash"}
    assert counts(importer.run("import", {"a.xml": wordpress(trash, trash, trash)})) == {"unpublished": 2}
    assert importer.states() == {"post-1": "draft", "post-2": "draft"}
    importer.run("import", {"a.xml": wordpress({}, {})}, "--publish")
    assert importer.states() == {"post-1": "published", "post-2": "published"}


# The brake

TWELVE = [f"a{number}{'x' * 90}" for number in range(12)]
HEAD = "slug,title,body,date,draft\n"


def table(names, last_cells, title="A"):
    """Return the rows of a CSV file with an article for each name, whose date and statement are `last_cells`."""
    return "".join(f"{name},{title},Text,{last_cells}\n" for name in names)


@pytest.mark.parametrize("number", [3, 4])
@pytest.mark.parametrize(
    "change",
    [
        lambda names: "",  # missing
        lambda names: table(names, f"{PAST},yes"),
        lambda names: table(names, f"{FUTURE},no"),
        lambda names: table(names, f"{NEWER},no", title="Other"),  # replaced
    ],
    ids=["missing", "withheld", "scheduled", "replaced"],
)
def test_import_that_changes_more_than_a_quarter_needs_yes(importer, change, number):
    importer.run("import", {"a.csv": HEAD + table(TWELVE, f"{PAST},no")}, "--publish")
    before = importer.articles()
    files = {"a.csv": HEAD + change(TWELVE[:number]) + table(TWELVE[number:], f"{PAST},no")}
    dry_run = importer.run("import", files, MISSING, "--dry-run")
    assert (dry_run.exit_code, "--yes" in dry_run.stderr) == (0, number == 4)
    assert all(len(line) <= 300 for line in dry_run.stderr.splitlines())
    assert "--yes" not in importer.run("import", files, MISSING, "--dry-run", "--yes").stderr
    result = importer.run("import", files, MISSING)
    if number == 4:
        assert (result.exit_code, "--yes" in result.stderr) == (1, True)
        assert set(TWELVE[:4]) & set(re.findall(r"\w+", result.stderr))
        assert importer.articles() == before
        result = importer.run("import", files, MISSING, "--yes")
    assert result.exit_code == 0
    assert importer.articles() != before


def test_new_titles_alone_do_not_replace_articles(importer):
    for title in ("Old", "New"):
        result = importer.run("import", {"a.csv": HEAD + table(TWELVE, f"{PAST},no", title)})
    assert counts(result) == {"changed": 12}


def test_articles_whose_text_is_yours_are_not_replaced(importer, save):
    importer.run("import", {"a.csv": HEAD + table(TWELVE, f"{PAST},no")}, "--publish")
    save(*(article | {"metaTitle": "Mine"} for article in importer.articles().values()))
    result = importer.run("import", {"a.csv": HEAD + table(TWELVE, f"{NEWER},no", title="Other")})
    assert counts(result) == {"changed": 12}
    assert set(importer.values("title").values()) == {"A"}


def test_each_source_has_its_own_limit(importer):
    """A large source does not cover for a small one, whose articles may be scheduled."""
    importer.run("import", published(*TWELVE), "--publish")
    small = {f"small/b{number}.md": post(date=FUTURE) for number in range(3)}
    importer.run("import", small, "--source", "small", "--publish")
    drafts = {name: post("draft: true", date=FUTURE) for name in small}
    assert importer.run("import", drafts, "--source", "small").exit_code == 1


def test_posts_with_reused_numbers_need_yes(importer):
    """Such as those of another blog with the same address."""
    importer.run("import", {"a.xml": wordpress(*({"title": f"Soup {n}"} for n in range(4)))}, "--publish")
    before = importer.articles()
    others = ({"title": f"Law {n}", "post_name": f"law-{n}"} for n in range(4))
    assert importer.run("import", {"a.xml": wordpress(*others)}, "--publish").exit_code == 1
    assert importer.articles() == before


@pytest.mark.parametrize(("answer", "state"), [("n", "published"), ("y", "draft")])
def test_import_that_would_stop_asks_on_a_terminal(importer, monkeypatch, answer, state):
    importer.run("import", published("a", "b", "c"), "--publish")
    monkeypatch.setattr("commands.support.terminal.can_ask", lambda: True)
    monkeypatch.setattr("commands.import_articles.can_ask", lambda: True)
    result = importer.run("import", withheld("a", "b", "c"), input=answer)
    assert result.exit_code == (state == "published")
    assert set(importer.states().values()) == {state}


# What the report says


def test_import_says_what_waits_even_if_nothing_changes(importer):
    files = published("a") | published("b", date=FUTURE) | withheld("draft")
    assert "2 articles" in importer.run("import", files, "--dry-run").stderr
    importer.run("import", files)
    first, second = importer.run("import", files, "--customer", "Acme").stderr.splitlines()
    assert "2 articles" in first
    assert second.endswith("flask articles publish --pending --customer Acme")
    importer.imports(files)


def test_articles_that_are_public_only_here_are_always_named(importer):
    importer.run("import", published("kept") | withheld("a"))
    importer.run("publish", "a")
    importer.run("publish", "kept")
    for source in ("posts", "posts", "posts/kept.md"):
        result = importer.run("import", source, MISSING)
        assert re.search(r"\ba\b.*unpublish", result.stderr)
        assert importer.states()["a"] == "published"


# publish --pending


def test_publish_pending_publishes_what_has_a_date(importer, save):
    """Articles with a date in the future are scheduled; those without a date stay pending, and are named."""
    save(article_json(1, status="pending"), customer="Other")
    acme = "--customer", "Acme"
    files = published("a") | published("b", date=FUTURE) | published("undated", date="")
    importer.run("import", files, *acme)
    assert importer.run("publish", "--pending", *acme).exit_code == 2
    result = importer.run("publish", "--pending", "--yes", *acme)
    assert (result.exit_code, result.stdout, "undated" in result.stderr) == (0, "1 published, 1 scheduled\n", True)
    rows = [json.loads(line) for line in importer.run("list", "--json", *acme).stdout.splitlines()]
    assert {row["slug"]: (row["state"], row["publishedAt"]) for row in rows} == {
        "a": ("published", PAST),
        "b": ("scheduled", FUTURE),
        "undated": ("pending", None),
    }
    assert importer.run("publish", "--pending", *acme).exit_code == 0
    for arguments in (["a", "--pending"], ["--pending", "--at", "2030-01-01"], []):
        assert importer.run("publish", *arguments, "--yes", *acme).exit_code == 2


def test_publish_pending_leaves_what_was_not_in_its_question(importer, articles, monkeypatch):
    monkeypatch.setattr("commands.support.terminal.can_ask", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_args, **_options: importer.run("import", published("b")))
    importer.run("import", published("a"))
    assert articles("publish", "--pending").stdout == "1 published, 0 scheduled\n"
    assert importer.states() == {"a": "published", "b": "pending"}


# Commands that wait

COMMANDS = [["import", "-"], ["publish", "--pending"], ["delete", "a"], ["edit", "a"], ["new", "b"]]
REPLACEMENTS = {"renamed": [("Acme", "New")], "restored": [("Acme", "x"), ("Other", "Acme"), ("x", "Other")]}


@pytest.fixture
def on_wait(monkeypatch):
    """Return a function that takes what happens while a command waits."""

    def on_wait(happen):
        def edit(filename):
            Path(filename).write_text(Path(filename).read_text().replace("title:", "title: New"))
            happen()

        def read(*arguments, **options):
            yield from parse_json_lines(*arguments, **options)
            happen()

        monkeypatch.setattr("commands.support.terminal.can_ask", lambda: True)
        monkeypatch.setattr("commands.support.editor.can_ask", lambda: True)
        monkeypatch.setattr("click.confirm", lambda *_arguments, **_options: happen() or True)
        monkeypatch.setattr("click.edit", edit)
        monkeypatch.setattr("transfer.sources.parse_json_lines", read)

    return on_wait


@pytest.mark.parametrize("replacement", REPLACEMENTS)
@pytest.mark.parametrize("command", COMMANDS, ids=next(zip(*COMMANDS, strict=True)))
def test_command_that_waits_never_writes_for_another_customer(importer, save, sql, on_wait, command, replacement):
    """After a restore, another customer may have the id, and another id the name."""
    record = minimal_json(1, slug="a", status="pending", source="markdown", sourceKey="a")
    save(record, customer="Other")
    save(record)
    before = sql("SELECT * FROM article")
    connections = []

    def replace():
        connections.append(db.engine.pool.checkedout())
        for old, new in REPLACEMENTS[replacement]:
            sql("UPDATE customer SET name = ? WHERE name = ?", new, old)

    on_wait(replace)
    new = json.dumps(record | {"title": "New"})
    result = importer.articles_command(*command, "--customer", "Acme", input=new)
    assert (result.exit_code, "Acme" in result.stderr) == (1, True)
    assert sql("SELECT * FROM article") == before
    assert connections == [0]  # no transaction meanwhile


@pytest.mark.parametrize("command", [["delete", "a"], ["edit", "a"]], ids=["delete", "edit"])
def test_command_that_waits_never_writes_another_article(importer, save, sql, on_wait, command):
    """It was deleted, and another one got its slug, and on SQLite even its primary key."""
    save(minimal_json(1, slug="a"))
    on_wait(lambda: sql("UPDATE article SET id = 'other', title = 'Other'"))
    assert importer.run(*command).exit_code == 1
    assert sql("SELECT id, title FROM article") == [("other", "Other")]
