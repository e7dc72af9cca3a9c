"""`flask articles export`, `edit`, `new` and `delete`, and mirrors with `--unpublish-missing`."""

import json
import re
import subprocess
from functools import partial, reduce
from pathlib import Path
from unittest import mock

import helpers
import pytest
from helpers import LISTS, article_json, assert_rejected, client_with_key, run_command, run_section, subprocess_args
from importer import post
from time_machine import travel

from models import db
from schema_fields import parse_time_zone
from storage.new_files import create_new_file

MARKUP = {"@context": "https://schema.org", "@graph": [{"@type": "Thing", "n": 1.0}]}
PUBLISH = helpers.read_page("docs/publish")
FUTURE = "2999-01-01T00:00:00.000Z"


def exported(result):
    """Return the records of a successful export."""
    assert (result.exit_code, result.stderr) == (0, ""), result.exception
    return [json.loads(line) for line in result.stdout.splitlines()]


def stored(sql):
    return sql("SELECT * FROM article ORDER BY id")


EVERY_STATE = (
    article_json(1),
    article_json(2, status="draft"),
    article_json(3, status="draft", publishedAt=None),
    article_json(4, publishedAt=FUTURE),
    article_json(5, metaTitle="Given", metaDesc="", readTime=1.5, schemaMarkup=MARKUP),
    article_json(6, title='Ünï "\\ 漢字', keywords=[], bannerUrl="", category=""),
    article_json(7, status="pending"),
    article_json(8, source="csv", sourceKey="a/b"),
    article_json(9, source="ghost", sourceKey="1", textEdited=True, publicationEdited=True),
)


# Export


def test_export_lists_all_articles_by_id_as_import_reads_them(articles, save, client):
    save(*reversed(EVERY_STATE))
    save(article_json(7), customer="Other")
    acme = "--customer", "Acme"
    records = [{name: value for name, value in article.items() if value is not None} for article in EVERY_STATE]
    assert exported(articles("export", *acme)) == records
    (complete,) = exported(articles("export", "slug-1", "--all-fields", *acme))
    shown = next(article for article in client.get(LISTS[0]).get_json()["data"] if article["slug"] == "slug-1")
    assert complete == records[0] | shown


def test_export_reproduces_everything_in_another_database(app, save, sql, tmp_path, monkeypatch):
    """With the commands of docs/publish.md. Importing an export into its own database changes nothing."""
    monkeypatch.chdir(tmp_path)
    with travel("2026-02-03T04:05:06Z", tick=False):
        save(*EVERY_STATE, customer="My Site")
    client, before = client_with_key(app, helpers.create_key(app, "My Site")), stored(sql)
    _, dry_run, again = run_section(app, PUBLISH, "Change many articles at once")
    assert dry_run == "0 new, 0 changed, 9 unchanged (dry run: nothing was written)\n"
    complete = run_command(app, "articles", "export", "--all-fields").stdout
    assert run_command(app, "articles", "import", "-", input=complete).stdout == again
    assert again == "0 new, 0 changed, 9 unchanged\n"
    assert stored(sql) == before
    with helpers.application(tmp_path / "other.db") as other:
        key, _ = run_section(other, PUBLISH, "Move to another machine, or to PostgreSQL")
        assert run_command(other, "articles", "export").stdout == (tmp_path / "all.jsonl").read_text("utf-8")
        copy = client_with_key(other, key.strip())
        for path in (f"{LISTS[0]}?orderBy=views", f"{LISTS[1]}?orderBy=title", helpers.SITEMAP):
            assert copy.get(path).data == client.get(path).data


def test_export_to_a_file_is_complete_or_absent(importer, save, monkeypatch):
    save(article_json(1, title="Ünï"), article_json(2))
    result = importer.run("export", "--output", "all.jsonl")
    assert (result.exit_code, result.stdout, "2 articles" in result.stderr) == (0, "", True)
    assert Path("all.jsonl").read_text("utf-8") == importer.run("export").stdout
    monkeypatch.setattr("transfer.json_files.dump_json_line", mock.Mock(side_effect=[b"1", OSError(28, "Disk full")]))
    for arguments, status, words in (
        (["--output", "all.jsonl"], 2, "already exists"),
        (["--output", "new.jsonl", "nowhere"], 1, "nowhere"),
        (["--output", "missing/new.jsonl"], 1, "missing/new.jsonl (No such file"),
        (["--output", "new.jsonl"], 1, "(Disk full)"),
    ):
        assert_rejected(importer.run("export", *arguments), words, status=status)
    assert [path.name for path in (*importer.folder.glob("*.jsonl"), *importer.folder.glob("*.tmp"))] == ["all.jsonl"]


def test_new_file_never_replaces_one_that_has_just_appeared(tmp_path):
    target = tmp_path / "all.jsonl"
    with pytest.raises(FileExistsError), create_new_file(target):
        target.write_text("Theirs")
    assert target.read_text() == "Theirs"


# Edit


@pytest.fixture
def run_editor(articles, tmp_path, monkeypatch):
    """Run a command on a terminal, with a function as the editor; return the result and the opened texts.

    The function maps the text of the file to the saved one, or to None to remove the file.
    """
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("commands.support.editor.can_ask", lambda: True)

    def run(command, change=None):
        opened = []

        def editor(filename):
            opened.append(Path(filename).read_text())
            text = change(opened[-1])
            Path(filename).unlink() if text is None else Path(filename).write_text(text)

        monkeypatch.setattr("click.edit", editor)
        return articles(*command), opened

    return run


@pytest.fixture
def edit(run_editor):
    """Run `flask articles edit`."""
    return lambda slug, change: run_editor(["edit", slug], change)


def replace(*pairs):
    """Return an editor that replaces text."""
    return lambda text: reduce(lambda before, pair: before.replace(*pair), pairs, text)


MINE = replace(("Title 1", "Mine"))


def saved_text(result, tmp_path):
    """Return the text of the saved file, which the command names."""
    (file,) = tmp_path.glob("article-*")
    assert file.stat().st_mode & 0o777 == 0o600
    assert result.exit_code == 1
    assert f": flask articles import {file}\n" in result.stderr
    return file.read_text()


def test_edit_opens_html_and_imports_the_saved_text(edit, save, client, tmp_path):
    html = '<p class="a">One</p>\n<p>Two</p>'
    save(article_json(1, slug="spring-menu", contentHtml=html), article_json(2))
    assert "\nflask articles edit spring-menu\n" in helpers.section(PUBLISH, "Edit an article")
    change = replace(("title: Title 1", "title: Better"), ("spring-menu", "new-slug"))
    result, (opened,) = edit("spring-menu", lambda text: f"\ufeff{change(text)}")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "new-slug: title, slug (was spring-menu)" in result.stdout
    assert opened.startswith("---\n")
    assert opened.endswith(f"\n---\n{html}\n")
    second, first = client.get(LISTS[0]).get_json()["data"]
    assert [first["metaTitle"], first["slug"], second["title"]] == ["Better", "new-slug", "Title 2"]
    assert list(tmp_path.glob("article-*")) == []


@pytest.mark.parametrize("change", [replace(), lambda _: "", lambda _: None])
def test_editor_without_a_change_changes_nothing(run_editor, save, sql, tmp_path, change):
    """An empty or removed file is not a change, as in git."""
    save(article_json(1))
    before = stored(sql)
    for command in (["edit", "slug-1"], ["new", "a"]):
        result, _ = run_editor(command, change)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout in ("Nothing was changed.\n", "0 new, 0 changed, 1 unchanged\n")
    assert (stored(sql), list(tmp_path.glob("article-*"))) == (before, [])


def test_editor_that_does_not_start_is_a_one_line_error(articles, save, monkeypatch, tmp_path):
    save(article_json(1))
    monkeypatch.setattr("commands.support.editor.can_ask", lambda: True)
    monkeypatch.setenv("VISUAL", "no-such-editor")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert_rejected(articles("edit", "slug-1"), "EDITOR")
    assert list(tmp_path.glob("article-*")) == []


@pytest.mark.parametrize("command", [["edit", "slug-1"], ["new"], ["new", "b"]])
def test_editor_without_a_terminal_is_refused_at_once(articles, save, monkeypatch, command):
    save(article_json(1))
    monkeypatch.setattr("click.edit", mock.Mock(side_effect=AssertionError))
    assert_rejected(articles(*command), "terminal", "import", status=2)


def test_text_that_was_not_imported_is_saved(edit, articles, save, sql, tmp_path):
    save(article_json(1))
    before = stored(sql)
    result, opened = edit("slug-1", replace(("Title 1", "My precious words"), ("bannerUrl: ", "bannerUrl: x")))
    assert (result.stdout, len(opened)) == ("", 1)
    assert "bannerUrl: " in result.stderr
    text = saved_text(result, tmp_path)
    assert stored(sql) == before
    (tmp_path / "article.html").write_text(text.replace("bannerUrl: x", "bannerUrl: "))
    assert articles("import", tmp_path / "article.html").exit_code == 0
    assert sql("SELECT title FROM article") == [("My precious words",)]


def test_saved_text_of_a_new_article_can_be_imported(run_editor, importer, tmp_path):
    text = saved_text(run_editor(["new"], lambda text: WRITE(text).replace("views: 0", "views: x"))[0], tmp_path)
    importer.run("import", {"mine.md": text.replace("views: x", "views: 0")})
    assert importer.states() == {"it-s-spring": "draft"}


def test_edit_keeps_the_id_and_uses_the_time_zone(app, edit, save, articles, monkeypatch):
    monkeypatch.setitem(app.config, "TIMEZONE", parse_time_zone("Europe/Berlin"))
    save(article_json(1, publishedAt=FUTURE))
    result, _ = edit("slug-1", replace(("id-0001", "other")))
    assert result.exit_code == 1
    assert "id: Cannot be changed. Set it back to 'id-0001'" in result.stderr
    assert "--skip-invalid" not in result.stderr
    removed = replace(("id: id-0001\n", ""), ("views: ", "view: "))
    assert "Restore these fields: id, views." in edit("slug-1", removed)[0].stderr
    change = replace((FUTURE, "2027-07-01 08:00"), ("slug-1", "new"))
    assert edit("slug-1", change)[0].exit_code == 0
    (record,) = exported(articles("export"))
    assert [record[name] for name in ("id", "slug", "publishedAt")] == ["id-0001", "new", "2027-07-01T06:00:00.000Z"]


CONFLICTS = [  # statements, and what the message says has happened
    ("UPDATE article SET status = 'draft'", "changed"),
    ("UPDATE article SET slug = 'x'", "changed"),
    ("DELETE FROM article", "deleted"),
]


@pytest.mark.parametrize(("statement", "conflict"), CONFLICTS)
def test_edit_is_rejected_if_the_article_has_changed(app, edit, save, sql, tmp_path, statement, conflict):
    save(article_json(1))

    def change(text):
        with app.app_context():
            assert db.engine.pool.checkedout() == 0  # no transaction while the editor is open
        sql(statement)
        return MINE(text)

    result, opened = edit("slug-1", change)
    assert (result.stdout, len(opened), conflict in result.stderr) == ("", 1, True)
    assert "title: Mine\n" in saved_text(result, tmp_path)
    assert ("Mine",) not in sql("SELECT title FROM article")


def test_article_with_its_own_markup_can_be_edited(edit, save, sql):
    save(article_json(1, schemaMarkup=MARKUP))
    assert edit("slug-1", MINE)[0].exit_code == 0
    assert sql("SELECT title FROM article") == [("Mine",)]


def test_edit_keeps_the_views_that_were_counted_since(edit, save, sql):
    save(article_json(1))
    result, _ = edit("slug-1", lambda text: sql("UPDATE article SET views = 7") or MINE(text))
    assert result.stdout.startswith("slug-1: title")
    assert sql("SELECT title, views FROM article") == [("Mine", 7)]


def test_imports_leave_edits_alone_until_they_are_given_back(edit, importer):
    importer.imports({"a.md": post(text="One")})
    assert edit("a", replace())[0].stderr == ""
    assert "text" in edit("a", replace(("title: A", "title: Mine")))[0].stderr
    assert "publication" in edit("a", replace(("status: published", "status: draft")))[0].stderr
    assert edit("a", replace(("<p>One</p>", "<p>Own</p>")))[0].stderr == ""
    importer.run("import", {"a.md": post(text="Two")}, "--publish")
    assert (importer.only()["title"], importer.only()["contentHtml"]) == ("Mine", "<p>Own</p>\n")
    result, _ = edit("a", replace(("textEdited: true", "textEdited: false")))
    assert (result.stdout.startswith("a: textEdited\n"), result.stderr) == (True, "")
    importer.run("import", "a.md", "--publish")
    assert (importer.only()["title"], importer.states()) == ("A", {"a": "draft"})
    edit("a", replace(("publicationEdited: true", "publicationEdited: false")))
    importer.run("import", "a.md", "--publish")
    assert importer.states() == {"a": "published"}


# New

WRITE = replace(
    ("title:", "title: It's spring"),
    ("keywords: []", "keywords: [menu]"),
    ("views: 0\n---\n", "views: 0\n---\n**Hi**"),
)


def test_new_article_is_a_draft_with_the_slug_of_its_title(run_editor, importer, client):
    result, (opened,) = run_editor(["new"], WRITE)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "it-s-spring: new\n1 new, 0 changed, 0 unchanged (new: 1 draft)\n"
    assert opened.startswith("---\ntitle:\nslug:\nstatus: draft\n")
    article = importer.only()
    assert [article[name] for name in ("title", "keywords", "contentHtml")] == [
        "It's spring",
        ["menu"],
        "<p><strong>Hi</strong></p>\n",
    ]
    assert "source" not in article
    published = replace(("title:", "title: A"), ("status: draft", "status: published"))
    result, (opened,) = run_editor(["new", "[menu"], published)
    assert (result.stdout.splitlines()[0], "slug: '[menu'\n" in opened) == ("[menu: new", True)
    assert [article["slug"] for article in client.get(LISTS[0]).get_json()["data"]] == ["[menu"]
    assert list(importer.folder.glob("article-*")) == []


def test_new_refuses_a_slug_that_exists(run_editor, save, sql):
    """Even if somebody else uses the slug while the editor is open."""
    save(article_json(1))
    before = stored(sql)
    result, opened = run_editor(["new", "slug-1"])
    assert (result.exit_code, "'slug-1'" in result.stderr, opened) == (1, True, [])
    slug = replace(("slug:", "slug: slug-1"))
    result, _ = run_editor(["new", "--customer", "Acme"], lambda text: slug(WRITE(text)))
    assert (result.stdout, "'slug-1'" in result.stderr) == ("", True)
    assert re.search(r": flask articles import \S+\.md --customer Acme$", result.stderr, re.MULTILINE)
    assert stored(sql) == before
    assert run_editor(["new", "a b"])[0].exit_code == 2


# Delete


def test_delete_removes_articles_of_one_customer_only(app, articles, save, sql):
    save(*(article_json(number) for number in range(1, 5)), article_json(5, slug="spring-menu"))
    save(article_json(1), customer="Other")
    deleted = articles("delete", "slug-1", "slug-3", "slug-1", "--yes", "--customer", "Acme")
    assert (deleted.exit_code, deleted.stdout) == (0, "Deleted 2 articles.\n")
    assert articles("delete", "slug-2", "--yes", "--customer", "Other").exit_code == 1
    assert run_command(app, "customers", "delete", "Other", "--yes").stdout == "Deleted Other.\n"
    assert run_section(app, PUBLISH, "Delete") == ["Deleted 1 article.\n"]
    assert sql("SELECT slug FROM article ORDER BY slug") == [("slug-2",), ("slug-4",)]


def test_delete_warns_of_articles_that_imports_bring_back(articles, save):
    save(article_json(1, source="ghost", sourceKey="1"), article_json(2))
    warnings = [articles("delete", slug).stderr for slug in ("slug-1", "slug-2")]
    assert [re.findall("slug-1|unpublish", warning) for warning in warnings] == [["slug-1", "unpublish"], []]


# The mirror


def test_unpublish_missing_needs_an_unfiltered_list(save, sql, articles):
    save(article_json(1))
    for query, name in (("take=5&%71=x", "q"), ("category=", "category")):
        result = articles("import", f"http://127.0.0.1:1/articles?{query}", "--unpublish-missing")
        assert_rejected(result, f"Remove {name} ")
    assert sql("SELECT status FROM article") == [("published",)]


def test_mirror_stays_identical_to_its_source(app, articles, client, site):
    """Articles are unpublished, renamed and edited between two imports."""
    url = f"http://{site.server.host}:{site.server.port}"
    page = PUBLISH.replace("https://other.example.com", url).replace("ITS_KEY", site.key)

    def assert_equal():
        for path in (f"{path}?orderBy={order}" for path in LISTS for order in ("publishedAt", "title")):
            copy, original = client.get(path), site.get(path)
            assert (copy.data, copy.headers["ETag"]) == (original.body, original.headers["ETag"]), path

    site.save(*(article_json(number) for number in range(1, 6)))
    (first,) = run_section(app, page, "Mirror another instance")
    assert first.startswith("5 new, 0 changed, 0 unchanged")
    assert_equal()
    edited = article_json(3, title="Edited", updatedAt=None)
    site.save(article_json(1, status="draft"), article_json(2, slug="renamed"), edited)
    (second,) = run_section(app, page, "Mirror another instance")
    assert second.endswith("\n0 new, 2 changed, 2 unchanged, 1 unpublished\n")
    assert_equal()


@pytest.mark.slow
@pytest.mark.sqlite
def test_export_of_100_mb_needs_less_than_1_gb(key, database, tmp_path):
    measure = (  # getrusage includes the parent process
        "import pathlib, runpy, sys; sys.argv = sys.argv[1:]\n"
        "try: runpy.run_module('flask', run_name='__main__')\n"
        "finally: print(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    flask = partial(subprocess_args, database, "-c", measure, "flask", "articles")
    file = tmp_path / "all.jsonl"
    file.write_text(helpers.json_lines(article_json(n, contentHtml="<p>Soup</p>" * 1000) for n in range(10_000)))
    assert file.stat().st_size > 100_000_000
    for arguments in (
        ["import", str(file)],
        ["import", str(file)],
        ["export", "--output", str(tmp_path / "new.jsonl")],
    ):
        result = subprocess.run(**flask(*arguments))
        assert result.returncode == 0, result.stderr
        assert int(result.stderr.split()[-1]) < 1_000_000, arguments  # KB
