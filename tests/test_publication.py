"""What imports publish and hide: the claims of sources, dates, missing articles, stops, and `publish --pending`.

The examples use three dates in the past and two in the future, in this order: OLDER, PAST, NEWER, FUTURE, LATER.
"""

import itertools
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from helpers import ENDPOINTS, article_json, iso, json_lines, minimal_json
from importer import counts, ghost, post, wordpress

from transfer.spool import Spool

OLDER, PAST, NEWER = "2025-12-01T08:00:00.000Z", "2026-01-31T09:30:00.000Z", "2026-02-01T00:00:00.000Z"
FUTURE, LATER = "2998-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"


def published(*names, date=PAST):
    """Return a folder with these articles, which it publishes."""
    return {f"posts/{name}.md": post(text="Text", date=date) for name in names}


def withheld(*names):
    """Return a folder with these articles, which are drafts."""
    return {f"posts/{name}.md": post("draft: true", "Text", date=PAST) for name in names}


# All combinations of what a source says and what is stored, against two tables

# The status after an import of an article that was new, pending, published and draft
STATUSES = {
    "published": ("pending", "pending", "published", "draft"),
    "published, with --publish": ("published", "published", "published", "draft"),
    "turns withheld": ("pending", "pending", "pending", "draft"),
    "withheld as before": ("pending", "pending", "published", "draft"),
    "nothing": ("pending", "pending", "published", "draft"),
}
# The date of a published article after an import, if its stored date was taken from its source
PUBLISHED_DATES = {
    # stored date, the source's date: without and with --publish
    (PAST, OLDER): (OLDER, OLDER),
    (PAST, NEWER): (NEWER, NEWER),
    (PAST, FUTURE): (FUTURE, FUTURE),
    (PAST, LATER): (LATER, LATER),
    (FUTURE, OLDER): (FUTURE, OLDER),
    (FUTURE, NEWER): (FUTURE, NEWER),
    (FUTURE, FUTURE): (FUTURE, FUTURE),
    (FUTURE, LATER): (LATER, LATER),
}
NOW = "now"


class Stored(NamedTuple):
    """A stored article. Its date is the source's if it equals `claimed`; otherwise, it was set here."""

    status: str
    date: str | None
    claimed: str | None
    claim: str | None
    is_edited: bool


NEW = Stored("new", None, None, None, False)


class Case(NamedTuple):
    """What a source says about an article, and what is stored, if anything."""

    claim: str | None
    date: str | None
    stored: Stored | None

    def expected(self, publish):
        """Return the status, the date, the claim and the title after an import."""
        before, date, claimed, claim, is_edited = self.stored or NEW
        if self.claim == "published":
            statement = "published, with --publish" if publish else "published"
        elif self.claim == "withheld":
            statement = "withheld as before" if claim == "withheld" else "turns withheld"
        else:
            statement = "nothing"
        status = STATUSES[statement][["new", "pending", "published", "draft"].index(before)]
        if self.date and date == claimed:
            date = PUBLISHED_DATES[date, self.date][publish] if status == before == "published" else self.date
        if status == "published" and not date:
            date = NOW
        return status, date, self.claim or claim, "Stored" if is_edited else "Source"


def stored_articles():
    """Yield None, for a new article, and articles with all combinations of values."""
    yield None
    dates = [(None, None), (PAST, PAST), (PAST, OLDER), (PAST, None), (FUTURE, FUTURE), (FUTURE, OLDER), (FUTURE, None)]
    claims = "published", "withheld", None
    for status, date, claim, is_edited in itertools.product(("pending", "draft"), dates, claims, (False, True)):
        yield Stored(status, *date, claim, is_edited)
    for date, claim, is_edited in itertools.product(dates[1:], claims, (False, True)):
        yield Stored("published", *date, claim, is_edited)


SAID = [*itertools.product(("published", "withheld"), (OLDER, NEWER, FUTURE, LATER, None)), (None, None)]
STATUS = {"published": "published", "withheld": "draft", None: ""}


@pytest.mark.parametrize("publish", [False, True])
def test_status_and_date_follow_the_tables(importer, articles, publish):
    """And nothing becomes visible, or visible earlier, without --publish."""
    cases = [Case(*said, stored) for stored in stored_articles() for said in SAID]
    records = [
        minimal_json(
            number,
            slug=f"a{number}",
            title="Stored",
            origin=f"csv/a{number}",
            **dict(zip(("status", "publishedAt", "claimedAt", "claim", "edited"), case.stored, strict=True)),
        )
        for number, case in enumerate(cases)
        if case.stored
    ]
    assert articles("import", "-", input=json_lines(records)).exit_code == 0
    before = importer.articles()
    start = iso(datetime.now(UTC))
    rows = (f"a{n},Source,Text,{case.date or ''},{STATUS[case.claim]}\n" for n, case in enumerate(cases))
    table = {"a.csv": "slug,title,body,date,status\n" + "".join(rows)}
    result = importer.run("import", table, "--yes", *["--publish"] * publish)
    assert result.exit_code == 0, result.stderr
    after = importer.articles()
    for number, case in enumerate(cases):
        article = after[f"a{number}"]
        status, date, *others = case.expected(publish)
        if date == NOW:
            assert start <= article["publishedAt"] < FUTURE, case
            date = article["publishedAt"]
        found = (article["status"], article.get("publishedAt"), article.get("claim"), article["title"])
        assert found == (status, date, *others), case
        if not publish:
            assert visible_from(article, start) >= visible_from(before.get(f"a{number}"), start), case
    assert len(after) == len(cases)


def visible_from(article: dict[str, Any] | None, now: str) -> str:
    """Return when an article is visible: now, its date in the future, or never."""
    return max(article["publishedAt"], now) if article and article["status"] == "published" else "never"


def test_pending_articles_are_shown_nowhere(importer, client):
    before = [client.get(path).data for path in ENDPOINTS]
    importer.run("import", published("a"))
    assert importer.states() == {"a": "pending"}
    assert [client.get(path).data for path in ENDPOINTS] == before


def test_date_that_was_set_here_stays_once_the_source_has_had_it(importer):
    importer.run("import", published("a"), "--publish")
    importer.run("publish", "a", "--at", NEWER)
    for date in (NEWER, FUTURE):
        importer.run("import", published("a", date=date), "--publish")
        assert importer.values("publishedAt") == {"a": NEWER}


def test_earlier_date_is_taken_by_a_later_import_with_publish(importer):
    importer.run("import", published("a", date=LATER), "--publish")
    for options, date in (([], LATER), (["--publish"], FUTURE)):
        result = importer.run("import", published("a", date=FUTURE), *options)
        assert importer.values("publishedAt") == {"a": date}
        assert ("--publish" in result.stderr) == (not options)


@pytest.mark.parametrize(
    ("status", "stored", "taken"),
    [("published", PAST, NEWER), ("published", FUTURE, FUTURE), ("draft", FUTURE, FUTURE), ("pending", FUTURE, NEWER)],
)
def test_future_date_from_before_origins_counts_as_set_here(importer, save, status, stored, taken):
    """Unless the article is pending."""
    save(minimal_json(1, slug="a", title="A", status=status, publishedAt=stored, origin="?"))
    for options in ([], ["--publish"]):
        importer.run("import", published("a", date=NEWER), *options)
        assert importer.values("publishedAt") == {"a": taken}


# Missing articles

MISSING = "--unpublish-missing", "--publish"


def test_missing_articles_come_back_with_a_complete_import(importer):
    """Whatever their state was; only the draft stays hidden, as decided here."""
    importer.run("import", published("kept", "draft", "public") | published("scheduled", date=FUTURE), "--publish")
    importer.run("import", published("pending"))
    importer.run("unpublish", "draft")
    before = importer.states()
    assert counts(importer.run("import", "posts/kept.md", *MISSING)) == {"unchanged": 1, "unpublished": 2}
    assert importer.states() == dict.fromkeys(before, "pending") | {"kept": "published", "draft": "draft"}
    assert importer.values("claim") == dict.fromkeys(before, "withheld") | {"kept": "published"}
    importer.run("publish", "--pending", "--yes")
    assert importer.states()["public"] == "pending"
    importer.run("import", "posts", "--publish")
    assert importer.states() == before | {"pending": "published"}


def test_withheld_article_that_was_published_here_stays_public(importer):
    importer.run("import", withheld("a", "b"))
    importer.run("publish", "a")
    for source in ("posts", "posts/b.md"):
        importer.run("import", source, *MISSING)
        assert importer.states() == {"a": "published", "b": "pending"}


EMPTY = [{"a.csv": "slug,title,body\n"}, ghost(), {"a.xml": wordpress()}, {"a.json": "[]"}]


@pytest.mark.parametrize("files", [*EMPTY, {"a.xml": wordpress({"status": "trash"})}])
def test_empty_source_is_an_error_with_unpublish_missing(importer, save, files):
    save(minimal_json(1))
    assert next(iter(files)) in importer.rejects(files, *MISSING)


def test_stdin_may_be_cut_off_so_it_withholds_nothing(importer, save):
    save(minimal_json(1), minimal_json(2))
    result = importer.articles_command("import", "-", *MISSING, input=json.dumps(minimal_json(1)))
    assert (result.exit_code, set(importer.states().values())) == (2, {"published"})


def test_own_formats_withhold_only_articles_without_an_origin(importer, save):
    """And only if the import contains nothing else. They come back with a record that has a date."""
    save(minimal_json(1), minimal_json(2), minimal_json(3, origin="?"))
    importer.run("import", published("a"), "--publish")
    one = {"own.json": json.dumps(minimal_json(1))}
    assert counts(importer.run("import", one, "posts", *MISSING)) == {"unchanged": 2}
    assert counts(importer.run("import", one, "--unpublish-missing")) == {"unchanged": 1, "unpublished": 1}
    assert importer.states() == {"slug-1": "published", "slug-2": "pending", "slug-3": "published", "a": "published"}
    importer.run("import", {"own.json": json.dumps(minimal_json(2))})
    assert importer.states()["slug-2"] == "published"


def test_unpublish_missing_needs_publish_with_other_systems(importer):
    importer.run("import", published("a", "b"), "--publish")
    result = importer.run("import", "posts/a.md", "--unpublish-missing")
    assert (result.exit_code, "--publish" in result.stderr) == (2, True)
    assert set(importer.states().values()) == {"published"}


def test_mistake_cannot_be_skipped_with_unpublish_missing(importer):
    """The invalid article would be missing."""
    result = importer.run("import", published("a") | {"posts/b.md": post(title="x" * 256)}, *MISSING)
    assert (result.exit_code, "--skip-invalid" in result.stderr) == (1, False)


def test_articles_that_no_source_has_any_longer_are_named(importer, save):
    """They are from before 3.0.0, so nobody knows which source to ask."""
    save(minimal_json(1, origin="?"))
    assert "slug-1" in importer.run("import", published("a"), *MISSING).stderr
    assert importer.states()["slug-1"] == "published"


def test_posts_in_the_trash_are_withheld_if_they_are_stored(importer):
    importer.run("import", {"a.xml": wordpress({}, {})}, "--publish")
    trashed = {"a.xml": wordpress({"status": "trash", "post_id": " 1 "}, {}, {"status": "trash"})}
    assert counts(importer.run("import", trashed)) == {"unchanged": 1, "unpublished": 1}
    assert importer.states() == {"post-1": "pending", "post-2": "published"}
    importer.run("import", {"a.xml": wordpress({}, {})}, "--publish")
    assert importer.states() == {"post-1": "published", "post-2": "published"}


def test_post_in_the_trash_without_a_number_hides_nothing(importer, save):
    save(minimal_json(1))
    importer.run("import", {"a.xml": wordpress({"status": "trash", "post_id": ""}, {})}, *MISSING)
    assert importer.states() == {"slug-1": "published", "post-2": "published"}


@pytest.mark.parametrize(("given", "origin"), [({}, None), ({"origin": "?"}, "?")])
def test_own_record_of_unknown_origin_becomes_an_own_article(importer, save, given, origin):
    """With --unpublish-missing, unless the record says that its origin is unknown."""
    save(minimal_json(1, origin="?"))
    importer.run("import", {"a.json": json.dumps(minimal_json(1) | given)}, "--unpublish-missing")
    assert importer.only().get("origin") == origin


# Imports that stop

TWELVE = [f"a{number}" for number in range(12)]


def table(names, last_cells):
    """Return a CSV file with an article for each name, whose date and statement are `last_cells`."""
    return "".join(f"{name},A,Text,{last_cells}\n" for name in names)


@pytest.mark.parametrize("number", [3, 4])
@pytest.mark.parametrize(("last_cells", "options"), [(None, MISSING), (f"{PAST},yes", []), (f"{FUTURE},no", [])])
def test_import_that_hides_more_than_a_quarter_needs_yes(importer, last_cells, options, number):
    """Because articles are missing, withheld or scheduled."""
    head = "slug,title,body,date,draft\n"
    importer.run("import", {"a.csv": head + table(TWELVE, f"{PAST},no")}, "--publish")
    before = importer.states()
    hidden = table(TWELVE[:number], last_cells) if last_cells else ""
    files = {"a.csv": head + hidden + table(TWELVE[number:], f"{PAST},no")}
    dry_run = importer.run("import", files, *options, "--dry-run")
    assert (dry_run.exit_code, "--yes" in dry_run.stderr) == (0, number == 4)
    result = importer.run("import", files, *options)
    if number == 4:
        assert (result.exit_code, "--yes" in result.stderr) == (1, True)
        assert set(TWELVE[:4]) & set(re.findall(r"\w+", result.stderr))
        assert importer.states() == before
        result = importer.run("import", files, *options, "--yes")
    assert result.exit_code == 0
    assert list(importer.states().values()).count("published") == 12 - number


def test_two_articles_never_need_yes(importer):
    importer.run("import", published("a", "b"), "--publish")
    importer.run("import", withheld("a", "b"))
    assert set(importer.states().values()) == {"pending"}


def test_each_source_has_its_own_limit(importer):
    """A large source does not cover for a small one."""
    importer.run("import", published(*TWELVE), "--publish")
    small = {f"small/b{number}.md": post(date=PAST) for number in range(3)}
    importer.run("import", small, "--source", "small", "--publish")
    drafts = {name: post("draft: true", date=PAST) for name in small}
    assert importer.run("import", drafts, "--source", "small").exit_code == 1


@pytest.mark.parametrize("origin", ["?", None])
def test_hidden_adopted_articles_and_own_records_stop_an_import(importer, save, origin):
    records = [minimal_json(n, slug=f"a{n}", title="A", status="published", origin=origin) for n in range(3)]
    save(*records)
    drafts = {"own.json": json.dumps([record | {"status": "draft"} for record in records])}
    result = importer.run("import", withheld("a0", "a1", "a2") if origin else drafts)
    assert (result.exit_code, set(importer.states().values())) == (1, {"published"})


@pytest.mark.parametrize(("answer", "state"), [("n", "published"), ("y", "pending")])
def test_import_that_would_stop_asks_on_a_terminal(importer, monkeypatch, answer, state):
    importer.run("import", published("a", "b", "c"), "--publish")
    monkeypatch.setattr("commands.support.terminal.can_ask", lambda: True)
    monkeypatch.setattr("commands.import_articles.can_ask", lambda: True)
    invalid = {"posts/d.md": post(title="x" * 256)}
    result = importer.run("import", withheld("a", "b", "c") | invalid, "--skip-invalid", input=answer)
    assert result.exit_code == (state == "published")
    assert result.exit_code or counts(result)["invalid"] == 1
    assert set(importer.states().values()) == {state}


# What the report says


def test_import_says_what_is_pending_even_if_nothing_changes(importer):
    """Including scheduled ones. Anything else is printed only if something changes."""
    files = published("a") | published("b", date=FUTURE) | withheld("draft")
    assert "2 articles" in importer.run("import", files, "--dry-run").stderr.splitlines()[-1]
    assert "draft" in importer.run("import", files).stderr
    first, second = importer.run("import", files, "--customer", "Acme").stderr.splitlines()
    assert "2 pending articles" in first
    assert second.endswith("flask articles publish --pending --customer Acme")
    assert "2 pending articles" not in importer.run("import", {"b.json": json.dumps(minimal_json(1))}).stderr
    renamed = {"posts/a.md": post("slug: renamed", "Text", date=PAST)}
    assert "2 pending articles" in importer.run("import", renamed).stderr
    importer.imports(files)


def test_drafts_that_their_source_publishes_are_named(importer):
    importer.run("import", published("finished"), "--publish")
    importer.run("unpublish", "finished")
    assert importer.run("import", published("finished"), "--publish").stderr == ""
    assert "finished" in importer.run("import", published("finished", "new"), "--publish").stderr
    assert "finished" not in importer.run("import", withheld("finished") | published("newer"), "--publish").stderr
    assert importer.states() == {"finished": "draft", "new": "published", "newer": "published"}


@pytest.mark.parametrize("files", [withheld("a"), published("a", date=FUTURE)])
def test_articles_that_disappear_are_named(importer, files):
    importer.run("import", published("a"), "--publish")
    assert "a" in importer.run("import", files).stderr.split()


# publish --pending


def test_publish_pending_publishes_what_the_source_publishes(importer, save):
    """Articles with a date in the future are scheduled; the count of those that stay pending is printed."""
    save(article_json(1, status="pending", claim="published"), customer="Other")
    importer.run("import", published("a") | published("b", date=FUTURE) | withheld("c"), "--customer=Acme")
    acme = "--customer", "Acme"
    assert importer.run("publish", "--pending", *acme).exit_code == 2
    result = importer.run("publish", "--pending", "--yes", *acme)
    assert (result.exit_code, result.stdout, "1 article" in result.stderr) == (0, "1 published, 1 scheduled\n", True)
    rows = [json.loads(line) for line in importer.run("list", "--json", *acme).stdout.splitlines()]
    assert {row["slug"]: (row["state"], row["publishedAt"]) for row in rows} == {
        "a": ("published", PAST),
        "b": ("scheduled", FUTURE),
        "c": ("pending", PAST),
    }
    assert importer.run("publish", "--pending", *acme).exit_code == 0


def test_publish_pending_leaves_what_was_not_in_its_question(importer, articles, monkeypatch):
    monkeypatch.setattr("commands.support.terminal.can_ask", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_args, **_options: importer.run("import", published("b")))
    importer.run("import", published("a"))
    assert articles("publish", "--pending").stdout == "1 published, 0 scheduled\n"
    assert importer.states() == {"a": "published", "b": "pending"}


def test_publish_pending_keeps_dates_that_were_set_here(importer, save):
    origin = {"origin": "markdown/a", "claim": "published", "claimedAt": OLDER}
    save(minimal_json(1, slug="a", title="A", status="pending", publishedAt=PAST, **origin))
    importer.run("publish", "--pending", "--yes")
    importer.run("import", published("a", date=NEWER))
    assert importer.values("publishedAt") == {"a": PAST}


@pytest.mark.parametrize("arguments", [["--pending", "slug-1"], ["--pending", "--at", "2030-01-01"], []])
def test_publish_takes_either_slugs_or_pending(importer, save, arguments):
    save(minimal_json(1))
    assert importer.run("publish", *arguments, "--yes").exit_code == 2


# Commands that wait

COMMANDS = [["import", "-"], ["publish", "--pending"], ["delete", "a"], ["edit", "a"], ["new", "b"]]
REPLACEMENTS = {"renamed": [("Acme", "New")], "restored": [("Acme", "x"), ("Other", "Acme"), ("x", "Other")]}


@pytest.mark.parametrize("replacement", REPLACEMENTS)
@pytest.mark.parametrize("command", COMMANDS, ids=next(zip(*COMMANDS, strict=True)))
def test_command_that_waits_never_writes_for_another_customer(importer, save, sql, monkeypatch, command, replacement):
    """After a restore, another customer may have the id, and another id the name."""
    record = minimal_json(1, slug="a", status="pending", claim="published", origin="markdown/a")
    save(record, customer="Other")
    save(record)
    before = sql("SELECT * FROM article")

    def replace(*_arguments, **_options):
        for old, new in REPLACEMENTS[replacement]:
            sql("UPDATE customer SET name = ? WHERE name = ?", new, old)
        return True

    def read(spool, articles, report, add=Spool.add):
        add(spool, articles, report)
        replace()

    def edit(filename):
        Path(filename).write_text(Path(filename).read_text().replace("title:", "title: New"))
        replace()

    monkeypatch.setattr("commands.support.terminal.can_ask", lambda: True)
    monkeypatch.setattr("click.confirm", replace)
    monkeypatch.setattr("click.edit", edit)
    if command[0] == "import":
        monkeypatch.setattr(Spool, "add", read)
    new = json.dumps(record | {"title": "New"})
    result = importer.articles_command(*command, "--customer", "Acme", input=new)
    assert (result.exit_code, "Acme" in result.stderr) == (1, True)
    assert sql("SELECT * FROM article") == before
