"""What imports may publish: other systems' articles stay pending until somebody decides."""

import json

import pytest
from helpers import ENDPOINTS, article_json, import_articles, minimal_json
from importer import ghost, wordpress

EARLIER, PAST = "2025-12-01T08:00:00.000Z", "2026-01-31T09:30:00.000Z"
FUTURE, LATER = "2998-01-01T00:00:00.000Z", "2999-01-01T00:00:00.000Z"


def wordpress_source(says, date, title):
    status = {"published": "publish", "draft": "draft"}[says]
    return {"a.xml": wordpress({"post_name": "a", "status": status, "title": title, "post_date_gmt": date[:19]})}


def ghost_source(says, date, title):
    return ghost({"slug": "a", "status": says, "title": title, "published_at": date})


def markdown_source(says, date, title):
    lines = {"published": f"date: {date}", "draft": f"date: {date}\ndraft: true", "nothing": "tags: x"}
    return {"a.md": f"---\ntitle: {title}\n{lines[says]}\n---\nText\n"}


def csv_source(says, date, title):
    date, draft = {"published": (date, ""), "draft": (date, "yes"), "nothing": ("", "no")}[says]
    return {"a.csv": f"slug,title,body,date,draft\na,{title},Text,{date},{draft}\n"}


SYSTEMS = {
    "WordPress": (wordpress_source, ("published", "draft")),
    "Ghost": (ghost_source, ("published", "draft")),
    "Markdown": (markdown_source, ("published", "draft", "nothing")),
    "CSV": (csv_source, ("published", "draft", "nothing")),
}
# what the source says, its date, and the state of a new article without and with --publish
NEW = [
    ("published", PAST, "pending", "published"),
    ("published", FUTURE, "pending", "scheduled"),
    ("draft", PAST, "draft", "draft"),
    ("draft", FUTURE, "draft", "draft"),
    ("nothing", PAST, "draft", "draft"),
]
# the stored status and date, what the source says, its date, and the state and date without and with --publish
STORED = [
    ("draft", PAST, "published", EARLIER, ("draft", EARLIER), ("draft", EARLIER)),
    ("draft", FUTURE, "published", PAST, ("draft", FUTURE), ("draft", FUTURE)),
    ("pending", PAST, "published", EARLIER, ("pending", EARLIER), ("published", EARLIER)),
    ("pending", PAST, "published", FUTURE, ("pending", FUTURE), ("scheduled", FUTURE)),
    ("pending", FUTURE, "published", PAST, ("pending", FUTURE), ("scheduled", FUTURE)),
    ("published", PAST, "published", EARLIER, ("published", EARLIER), ("published", EARLIER)),
    ("published", EARLIER, "published", PAST, ("published", PAST), ("published", PAST)),
    ("published", PAST, "published", FUTURE, ("scheduled", FUTURE), ("scheduled", FUTURE)),
    ("published", FUTURE, "published", PAST, ("scheduled", FUTURE), ("scheduled", FUTURE)),
    ("published", LATER, "published", FUTURE, ("scheduled", LATER), ("scheduled", LATER)),
    ("published", FUTURE, "published", LATER, ("scheduled", LATER), ("scheduled", LATER)),
    *((status, PAST, "draft", PAST, ("draft", PAST), ("draft", PAST)) for status in ("draft", "pending", "published")),
    ("published", FUTURE, "draft", PAST, ("draft", FUTURE), ("draft", FUTURE)),
    *(("draft", date, "nothing", "", ("draft", date), ("draft", date)) for date in (PAST, FUTURE)),
    *(("pending", date, "nothing", "", ("pending", date), ("pending", date)) for date in (PAST, FUTURE)),
    ("published", PAST, "nothing", "", ("published", PAST), ("published", PAST)),
    ("published", FUTURE, "nothing", "", ("scheduled", FUTURE), ("scheduled", FUTURE)),
]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("is_published", [False, True])
def test_new_article_is_visible_only_with_publish(importer, sql, system, is_published):
    build, statements = SYSTEMS[system]
    for says, date, *states in NEW:
        if says in statements:
            sql("DELETE FROM article")
            result = importer.run("import", build(says, date, "A"), *(["--publish"] if is_published else []))
            assert importer.states() == {"a": states[is_published]}, (says, date, result.stderr)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("is_published", [False, True])
def test_stored_article_never_becomes_visible_by_an_import(importer, sql, system, is_published):
    """Except a pending one with --publish. A draft and a date in the future may be decisions of the operator."""
    build, statements = SYSTEMS[system]
    importer.run("import", build("published", PAST, "A"))
    for number, (status, stored_date, says, date, *expected) in enumerate(STORED):
        if says in statements:
            sql("UPDATE article SET status = ?, published_at = ?", status, stored_date.replace("T", " ").rstrip("Z"))
            source = build(says, date, f"Title {number}")
            result = importer.run("import", source, *(["--publish"] if is_published else []))
            assert "0 new, 1 changed" in result.stdout
            (state,) = importer.states().values()
            assert (state, importer.only()["publishedAt"]) == expected[is_published], (status, stored_date, says, date)


MARKDOWN = {"a.md": markdown_source("published", PAST, "A")["a.md"]}


def test_pending_articles_are_shown_nowhere(importer, client):
    before = [client.get(path).data for path in ENDPOINTS]
    importer.run("import", MARKDOWN)
    assert importer.states() == {"a": "pending"}
    assert [client.get(path).data for path in ENDPOINTS] == before


def test_published_without_a_date_means_now(importer):
    """A pending article gets its date when it is published."""
    importer.run("import", {"a.md": "---\ntitle: A\nstatus: published\n---\n"})
    assert (importer.states(), importer.only().get("publishedAt")) == ({"a": "pending"}, None)
    assert importer.run("import", "a.md", "--publish").stdout.endswith("0 new, 1 changed, 0 unchanged\n")
    assert importer.states() == {"a": "published"}


# The last lines of the report


def last_lines(importer, *arguments):
    """Import; return the lines about pending articles."""
    lines = importer.run("import", *arguments).stderr.splitlines()
    return [line for line in lines if "pending" in line]


def test_import_says_what_is_pending_even_if_nothing_changes(importer):
    """Scheduled ones included; a dry run says what would be pending."""
    files = {f"posts/{n}.md": markdown_source("published", date, n)["a.md"] for n, date in enumerate((PAST, FUTURE))}
    (line,) = last_lines(importer, files, "--dry-run")
    assert line.startswith("2 articles would be pending")
    for options in ([], []):
        first, second = last_lines(importer, files, *options)
        assert first.startswith("2 articles are pending")
        assert second.endswith("flask articles publish --pending")
    assert last_lines(importer, MARKDOWN)[0].startswith("3 articles are pending")
    assert last_lines(importer, MARKDOWN, "--customer", "Acme")[1].endswith("publish --pending --customer Acme")
    assert last_lines(importer, {"b.json": json.dumps(minimal_json(1))}) == []
    assert last_lines(importer, files, "--publish")[0].startswith("1 article is pending")
    assert last_lines(importer, MARKDOWN, "--publish", "--dry-run") == []


def test_articles_that_disappear_are_reported(importer):
    importer.run("import", MARKDOWN, "--publish")
    printed = importer.run("import", markdown_source("draft", PAST, "A")).stderr
    assert printed == "Published until now, but drafts in the source (1): a\n"
    assert importer.states() == {"a": "draft"}


def test_articles_that_are_scheduled_again_are_reported(importer):
    importer.run("import", MARKDOWN, "--publish")
    printed = importer.run("import", markdown_source("published", FUTURE, "A")).stderr
    assert printed.startswith("Published until now")
    assert importer.states() == {"a": "scheduled"}


def test_articles_held_back_are_reported_with_any_change(importer):
    """But not alone, so that a scheduled import remains silent if nothing changes."""
    drafts = {"posts/a.md": markdown_source("draft", PAST, "A")["a.md"]}
    importer.run("import", drafts | {"posts/b.md": markdown_source("published", FUTURE, "B")["a.md"]}, "--publish")
    published = {f"posts/{n}.md": markdown_source("published", PAST, n.upper())["a.md"] for n in "ab"}
    assert importer.run("import", published, "--publish").stderr == ""
    printed = importer.run("import", published | {"posts/c.md": MARKDOWN["a.md"]}, "--publish").stderr
    assert all(line in printed for line in ("Still drafts (1): a.", "Still scheduled for a later time"))
    assert importer.states() == {"a": "draft", "b": "scheduled", "c": "published"}
    again = {"posts/b.md": markdown_source("published", FUTURE, "B")["a.md"], "posts/d.md": MARKDOWN["a.md"]}
    assert "Still scheduled" not in importer.run("import", again, "--publish").stderr


# publish --pending


def test_publish_pending_publishes_articles_as_they_are_stored(importer, save):
    """Corrections included; articles with a date in the future are scheduled."""
    save(article_json(1), customer="Other")
    files = {f"posts/{n}.md": markdown_source("published", date, n)["a.md"] for n, date in enumerate((PAST, FUTURE))}
    importer.run("import", files | {"posts/draft.md": markdown_source("draft", PAST, "A")["a.md"]}, "--customer=Acme")
    acme = "--customer", "Acme"
    assert importer.run("publish", "--pending", *acme).exit_code == 2
    result = importer.run("publish", "--pending", "--yes", *acme)
    assert (result.exit_code, result.stdout) == (0, "1 published, 1 scheduled\n")
    rows = [json.loads(line) for line in importer.run("list", "--json", *acme).stdout.splitlines()]
    assert {row["slug"]: (row["state"], row["publishedAt"]) for row in rows} == {
        "0": ("published", PAST),
        "1": ("scheduled", FUTURE),
        "draft": ("draft", PAST),
    }
    assert importer.run("publish", "--pending", "--yes", *acme).stdout == "No articles are pending.\n"


def test_publish_pending_asks_on_a_terminal(importer, articles, monkeypatch):
    monkeypatch.setattr("commands.support.terminal.can_ask", lambda: True)
    importer.run("import", MARKDOWN)
    for answer, state in (("n", "pending"), ("y", "published")):
        result = articles("publish", "--pending", input=answer)
        assert "publishes 1 article and schedules 0" in result.stderr
        assert importer.states() == {"a": state}


def test_publish_pending_leaves_what_was_not_in_its_question(importer, articles, monkeypatch):
    monkeypatch.setattr("commands.support.terminal.can_ask", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_args, **_options: importer.run("import", {"b.md": MARKDOWN["a.md"]}))
    importer.run("import", MARKDOWN)
    assert articles("publish", "--pending").stdout == "1 published, 0 scheduled\n"
    assert importer.states() == {"a": "published", "b": "pending"}


@pytest.mark.parametrize("arguments", [["--pending", "slug-1"], ["--pending", "--at", "2030-01-01"], []])
def test_publish_takes_either_slugs_or_pending(importer, save, arguments):
    save(minimal_json(1))
    assert importer.run("publish", *arguments, "--yes").exit_code == 2


# This service's own formats


def test_json_states_the_status_itself(importer, app, key):
    """With --publish too."""
    articles = [minimal_json(1), minimal_json(2, publishedAt=None), minimal_json(3, status="pending")]
    articles += [minimal_json(4, status="pending", publishedAt=FUTURE)]
    result = import_articles(app, *articles, options=["--publish"])
    assert result.stdout == "4 new, 0 changed, 0 unchanged (new: 1 published, 2 pending, 1 draft)\n"
    assert list(importer.states().values()) == ["draft", "pending", "pending", "published"]
    assert importer.run("list", "--state", "pending").stdout.count("\n") == 2
    exported = importer.run("export").stdout
    assert importer.articles_command("import", "-", input=exported).stdout == "0 new, 0 changed, 4 unchanged\n"
    assert importer.run("unpublish", "slug-3").exit_code == 0
    assert importer.states()["slug-3"] == "draft"


def test_unpublish_missing_needs_publish_with_other_systems(importer, save):
    save(article_json(1))
    importer.run("export", "--folder", "own")
    other = importer.run("import", MARKDOWN, "--unpublish-missing")
    assert (other.exit_code, "--publish" in other.stderr, importer.states()) == (2, True, {"slug-1": "published"})
    assert importer.run("import", "own", "--unpublish-missing").exit_code == 0
    assert importer.run("import", "a.md", "--unpublish-missing", "--publish").exit_code == 0
    assert importer.states() == {"a": "published", "slug-1": "draft"}
    assert importer.run("import", "own", "a.md", "--unpublish-missing", "--publish").exit_code == 0


def test_draft_that_returns_stays_a_draft(importer):
    """Even with both options: somebody may have unpublished it."""
    importer.run("import", MARKDOWN, "--publish")
    assert importer.run("unpublish", "a").exit_code == 0
    importer.run("import", MARKDOWN, "--publish", "--unpublish-missing")
    assert importer.states() == {"a": "draft"}
