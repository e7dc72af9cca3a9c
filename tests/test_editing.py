"""The commands `flask articles export`, `edit` and `delete`, and the mirror with `--unpublish-missing`."""

import json
import signal
import subprocess
import sys
from functools import partial

import pytest
from helpers import (
    LISTS,
    POSTGRESQL,
    SITEMAP,
    application,
    article_json,
    client_with_key,
    create_key,
    database_url,
    import_articles,
    minimal_json,
    read_page,
    run_command,
    run_section,
    section,
    subprocess_args,
    wait_for,
)
from time_machine import travel

from field_types import parse_time_zone

MARKUP = {"@context": "https://schema.org", "@graph": [{"@type": "Thing", "n": 1.0}]}
PUBLISH = read_page("docs/publish")
FUTURE = "2999-01-01T00:00:00.000Z"


def exported(result):
    """Return the records of an export."""
    assert (result.exit_code, result.stderr) == (0, ""), result.exception
    return [json.loads(line) for line in result.stdout.splitlines()]


def stored(sql):
    return sql("SELECT * FROM article ORDER BY id")


def pages(client):
    """Return the bytes of all that the API shows."""
    return [client.get(f"{path}?take=100&orderBy={order}").data for path in LISTS for order in ("title", "views")] + [
        client.get(SITEMAP).data
    ]


EVERY_STATE = (
    article_json(1),
    article_json(2, status="draft"),
    article_json(3, status="draft", publishedAt=None),
    article_json(4, publishedAt=FUTURE),
    article_json(5, metaTitle="Given", metaDesc="", readTime=1.5, schemaMarkup=MARKUP),
    article_json(6, title='Ünï "\\ 漢字', keywords=[], bannerUrl="", category=""),
)


# Export


def test_export_has_every_article_by_id_as_import_takes_it(articles, save):
    save(*reversed(EVERY_STATE))
    records = exported(articles("export"))
    assert records == [{name: value for name, value in article.items() if value is not None} for article in EVERY_STATE]


def test_all_fields_adds_what_is_derived(articles, save, client):
    save(*EVERY_STATE)
    (record,) = exported(articles("export", "slug-1", "--all-fields"))
    shown = {article["id"]: article for article in client.get(LISTS[0]).get_json()["data"]}["id-0001"]
    assert shown.items() <= record.items()
    assert set(record) - set(shown) == {"status", "createdAt", "updatedAt", "views"}


def test_export_moves_everything_to_another_database(app, save, sql, tmp_path, monkeypatch):
    """Runs the commands of docs/publish.md. Imported where it comes from, an export changes nothing."""
    monkeypatch.chdir(tmp_path)
    with travel("2026-02-03T04:05:06Z", tick=False):
        save(*EVERY_STATE, *(minimal_json(number) for number in range(10, 20)), customer="My Site")
    client, before = client_with_key(app, create_key(app, "My Site")), stored(sql)
    _, dry_run, again = run_section(app, PUBLISH, "Change many articles at once")
    assert dry_run == "0 new, 0 changed, 16 unchanged (dry run: nothing was written)\n"
    complete = run_command(app, "articles", "export", "--all-fields").stdout
    assert run_command(app, "articles", "import", "-", input=complete).stdout == again
    assert again == "0 new, 0 changed, 16 unchanged\n"
    assert stored(sql) == before
    with application(tmp_path / "other.db") as other:
        key, _ = run_section(other, PUBLISH, "Move to another machine, or to PostgreSQL")
        assert run_command(other, "articles", "export").stdout == (tmp_path / "all.jsonl").read_text("utf-8")
        assert pages(client_with_key(other, key.strip())) == pages(client)


# Edit


EDITOR = """
import json, pathlib, sys
opened = pathlib.Path(__file__).with_name("opened")
texts, lines = (json.loads(path.read_text()) for path in (opened, opened.with_name("lines")))
file = pathlib.Path(sys.argv[1])
text = file.read_text()
opened.write_text(json.dumps([*texts, text]))
exec("".join(lines[len(texts) :][:1]))
file.write_text(text)
"""


@pytest.fixture
def edit(articles, tmp_path, monkeypatch):
    """Run `flask articles edit` with an editor that runs lines of Python, one a call, on the `text` of its file.

    With `answers`, somebody at a terminal types them after each mistake.
    """
    editor, opened = tmp_path / "editor.py", tmp_path / "opened"
    editor.write_text(EDITOR)

    def edit(slug, *lines, answers=""):
        opened.write_text("[]")
        (tmp_path / "lines").write_text(json.dumps(lines))
        result = articles("edit", slug, input="".join(f"{answer}\n" for answer in answers))
        return result, json.loads(opened.read_text())

    monkeypatch.setenv("EDITOR", f"{sys.executable} {editor}")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    return edit


def other_tool(database, *statements):
    """Return a line of Python that changes the database, which the editor then runs while it is open."""
    url = database_url(database).replace("+psycopg", "")
    module, target = ("psycopg", url) if POSTGRESQL else ("sqlite3", str(database))
    lines = [f"import {module}", f"c = {module}.connect({target!r})", *(f"c.execute({sql!r})" for sql in statements)]
    return "; ".join([*lines, "c.commit(); "])


# Fails if another connection is open: an editor holds none. SQLite changes its mode only then.
NO_OTHER_CONNECTION = (
    "DO $$ BEGIN ASSERT 1 = (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()); END $$"
    if POSTGRESQL
    else "PRAGMA journal_mode = DELETE"
)


def kept_files(tmp_path):
    return list(tmp_path.glob("article-*"))


def test_edit_shows_html_and_imports_what_was_saved(edit, save, client, sql, tmp_path):
    html = '<p class="a">One</p>\n<p>Two</p>'
    save(article_json(1, slug="spring-menu", contentHtml=html), article_json(2))
    line = "text = chr(0xfeff) + text.replace('title: Title 1', 'title: Better').replace('spring-menu', 'new-slug')"
    assert "\nflask articles edit spring-menu\n" in section(PUBLISH, "Fix a typo, rename a slug")
    result, (opened,) = edit("spring-menu", line)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "spring-menu: changed\n", "")
    assert opened.startswith("---\n")
    assert opened.endswith(f"\n---\n{html}\n")
    shown = {article["id"]: article for article in client.get(LISTS[0]).get_json()["data"]}
    assert (shown["id-0001"]["metaTitle"], shown["id-0001"]["slug"]) == ("Better", "new-slug")
    assert shown["id-0002"]["title"] == "Title 2"
    assert kept_files(tmp_path) == []


def test_edit_without_a_change_changes_nothing(edit, save, sql, tmp_path, monkeypatch):
    """An empty or removed file, as in git, and an editor that cannot be started, are no change."""
    save(article_json(1))
    before = stored(sql)
    for line in ("", "text = text.replace(': ', ':   ')", "text = ''", "file.unlink(); raise SystemExit"):
        result, _ = edit("slug-1", line)
        assert (result.exit_code, result.stdout) == (0, "slug-1: unchanged\n")
    monkeypatch.setenv("EDITOR", "no-such-editor")
    result, _ = edit("slug-1")
    assert (result.exit_code, "no-such-editor" in result.stderr) == (1, True)
    assert stored(sql) == before
    assert kept_files(tmp_path) == []


def test_mistakes_are_listed_and_the_editor_opens_again(edit, save, client):
    save(article_json(1))
    result, opened = edit(
        "slug-1",
        "text = text.replace('title: Title 1', 'titel: Edited').replace('views: 1', 'views: one')",
        "text = text.replace('titel: Edited', 'title: Edited: again')",
        "text = text.replace('Edited: again', 'Edited').replace('views: one', 'views: 1').replace('<p>', '<p># ')",
        answers="yy",
    )
    assert (result.exit_code, result.stdout) == (0, "slug-1: changed\n")
    first, second, _ = result.stderr.split("Open the editor again? [Y/n]: ")
    lines = first.splitlines()
    for words in ("titel: Unknown field: leave it out", "title: Missing", "views: 'one' must be a whole number"):
        assert [words in line for line in lines].count(True) == 1, first
    assert len(lines) == 1 + 3
    assert "must be YAML" in second
    assert "title: Edited: again\n" in opened[2]
    assert not any(line.startswith("#") for text in opened for line in text.splitlines())
    (shown,) = client.get(LISTS[0]).get_json()["data"]
    assert (shown["title"], shown["contentHtml"]) == ("Edited", "<p># Content of <em>number</em> 1.</p>")


@pytest.mark.parametrize("answers", ["", "n"])
def test_text_that_is_not_imported_is_kept(edit, articles, save, sql, tmp_path, answers):
    save(article_json(1))
    before = stored(sql)
    mistake = "text = text.replace('Title 1', 'My precious words').replace('bannerUrl: ', 'bannerUrl: x')"
    result, opened = edit("slug-1", mistake, answers=answers)
    assert (result.exit_code, result.stdout, len(opened)) == (1, "", 1)
    assert "'slug-1': bannerUrl: " in result.stderr
    (file,) = kept_files(tmp_path)
    assert result.stderr.index(f"Your text is kept in {file}.") > result.stderr.index("Error: ")
    assert f" To import it: flask articles import {file}\n" in result.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert stored(sql) == before
    file.write_text(file.read_text().replace("bannerUrl: x", "bannerUrl: "))
    assert articles("import", file).stdout == "0 new, 1 changed, 0 unchanged\n"
    assert sql("SELECT title FROM article") == [("My precious words",)]


def test_edit_keeps_the_id_and_takes_times_of_the_sites_zone(app, edit, save, sql, articles, monkeypatch):
    monkeypatch.setitem(app.config, "TIMEZONE", parse_time_zone("Europe/Berlin"))
    save(article_json(1))
    result, _ = edit("slug-1", "text = text.replace('id-0001', 'other')")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "id: Must stay 'id-0001'." in result.stderr
    line = "import re; text = re.sub('publishedAt: .*', 'publishedAt: 2027-07-01 08:00', text)"
    assert edit("slug-1", line + ".replace('id: id-0001', '').replace('slug-1', 'new')")[0].exit_code == 0
    (record,) = exported(articles("export"))
    assert [record[name] for name in ("id", "slug", "publishedAt")] == ["id-0001", "new", "2027-07-01T06:00:00.000Z"]


RENAME = "UPDATE article SET slug = '{}' WHERE slug = '{}'"
CONFLICTS = [
    ["UPDATE article SET status = 'draft' WHERE slug = 'slug-1'"],
    ["DELETE FROM article WHERE slug = 'slug-1'"],
    [RENAME.format("moved", "slug-1"), RENAME.format("slug-1", "slug-2")],
]


@pytest.mark.parametrize("statements", CONFLICTS)
def test_edit_of_what_changed_meanwhile_is_refused(edit, save, database, sql, tmp_path, statements):
    save(article_json(1), article_json(2))
    other = other_tool(database, NO_OTHER_CONNECTION, *statements)
    result, opened = edit("slug-1", other + "text = text.replace('Title 1', 'Mine')", answers="y")
    assert (result.exit_code, result.stdout, len(opened)) == (1, "", 1)
    assert "To import your text as it is would undo that." in result.stderr
    (file,) = kept_files(tmp_path)
    assert f"To import it: flask articles import {file}\n" in result.stderr
    assert "title: Mine\n" in file.read_text()
    assert ("Mine",) not in sql("SELECT title FROM article")


@pytest.mark.sqlite
def test_edit_keeps_the_text_if_the_database_is_gone(edit, save, database, tmp_path):
    save(article_json(1))
    lose = f"import pathlib; [file.unlink() for file in pathlib.Path({str(tmp_path)!r}).glob('articles.db*')]; "
    result, _ = edit("slug-1", lose + "text = text.replace('Title 1', 'Mine')")
    assert (result.exit_code, "which does not exist" in result.stderr) == (1, True)
    (file,) = kept_files(tmp_path)
    assert "title: Mine\n" in file.read_text()
    assert not database.exists()


def test_what_a_crashing_editor_has_saved_is_kept(edit, save, sql, tmp_path):
    save(article_json(1))
    before = stored(sql)
    result, _ = edit("slug-1", "file.write_text(text.replace('Title 1', 'Mine')); raise SystemExit(1)")
    assert (result.exit_code, result.stdout) == (1, "")
    (file,) = kept_files(tmp_path)
    assert f"Your text is kept in {file}." in result.stderr
    assert "title: Mine\n" in file.read_text()
    assert stored(sql) == before


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_what_is_saved_after_a_signal_is_kept(save, key, database, sql, tmp_path, number, status):
    """The signal ends `flask`, and not the editor."""
    save(article_json(1))
    folder = tmp_path / "temporary"
    folder.mkdir()
    (tmp_path / "editor.py").write_text(
        "import os, pathlib, signal, sys, time\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        f"os.kill(os.getppid(), {number:d})\n"
        "time.sleep(1)\n"
        "file = pathlib.Path(sys.argv[1])\n"
        "file.write_text(file.read_text().replace('Title 1', 'Mine'))\n"
    )
    editor = f"{sys.executable} {tmp_path / 'editor.py'}"
    args = subprocess_args(database, "-m", "flask", "articles", "edit", "slug-1", TMPDIR=str(folder), EDITOR=editor)
    result = subprocess.run(**args, timeout=30)
    assert (result.returncode, result.stdout) == (status, "")
    (file,) = folder.iterdir()
    assert f"Your text is kept in {file}." in result.stderr
    wait_for(lambda: "title: Mine\n" in file.read_text(), file.read_text)
    assert sql("SELECT title FROM article") == [("Title 1",)]


# Delete


def test_delete_removes_the_named_articles_of_its_customer(app, articles, save, sql):
    save(*(article_json(number) for number in range(1, 5)), article_json(5, slug="spring-menu"))
    save(article_json(1), customer="Other")
    deleted = articles("delete", "slug-1", "slug-3", "slug-1", "--yes", "--customer", "Acme")
    assert (deleted.exit_code, deleted.stdout) == (0, "Deleted 2 articles.\n")
    assert articles("delete", "slug-2", "--yes", "--customer", "Other").exit_code == 1
    assert run_command(app, "customers", "delete", "Other", "--yes").stdout.startswith("Deleted Other (articles: 1,")
    assert run_section(app, PUBLISH, "Delete") == ["Deleted 1 article.\n"]
    assert sql("SELECT slug FROM article ORDER BY slug") == [("slug-2",), ("slug-4",)]


# The mirror


def test_unpublish_missing_makes_drafts_of_what_no_source_has(app, articles, save, sql):
    save(article_json(1), article_json(2), article_json(3, publishedAt=FUTURE), article_json(4, status="draft"))
    save(article_json(1), customer="Other")
    options = "--unpublish-missing", "--customer", "Acme"
    summary = "0 new, 0 changed, 1 unchanged, 1 unpublished"
    dry = import_articles(app, article_json(1), options=(*options, "--dry-run"))
    assert dry.stdout.splitlines() == ["slug-2: status", f"{summary} (dry run: nothing was written)"]
    assert import_articles(app, article_json(1), options=options).stdout == f"{summary}\n"
    states = "SELECT article.id, status FROM article JOIN customer ON customer.id = customer_id WHERE name = 'Acme'"
    rows = dict(sql(states))
    assert rows == {"id-0001": "published", "id-0002": "draft", "id-0003": "published", "id-0004": "draft"}
    assert import_articles(app, article_json(1), options=options).stdout.endswith(" 0 unpublished\n")


def test_article_that_comes_back_is_published_again(app, save, sql):
    """Only with the option: else a nightly import would publish what the owner has unpublished."""
    save(article_json(1), article_json(2))
    again = article_json(2, status=None)
    import_articles(app, article_json(1), options=["--unpublish-missing"])
    import_articles(app, again)
    assert dict(sql("SELECT id, status FROM article"))["id-0002"] == "draft"
    import_articles(app, article_json(1, status=None), again, options=["--unpublish-missing"])
    assert dict(sql("SELECT id, status FROM article")) == {"id-0001": "published", "id-0002": "published"}


def test_unpublish_missing_needs_articles_and_whole_sources(app, save, sql, articles):
    save(article_json(1))
    for result, words in (
        (import_articles(app, options=["--unpublish-missing"]), "contain no articles"),
        (articles("import", "http://127.0.0.1:1/articles?take=5&%71=x", "--unpublish-missing"), "Remove q"),
        (import_articles(app, {"title": "Without a slug"}, options=["--unpublish-missing"]), "slug: "),
    ):
        assert (result.exit_code, result.stdout, words in result.stderr) == (1, "", True), result.stderr
    assert sql("SELECT status FROM article") == [("published",)]


def test_mirror_equals_its_source_over_three_nights(app, articles, client, site):
    """The source unpublishes, renames and edits in between; pages and sitemap keep the same bytes."""
    source = partial(run_command, site.app, "articles")
    url = f"http://{site.server.host}:{site.server.port}"
    command = f"{url}{LISTS[0]}", "--key", site.key, "--unpublish-missing"
    page = PUBLISH.replace("https://other.example.com", url).replace("ITS_KEY", site.key)
    owner = "--customer", site.customer

    def assert_equal():
        orders = [f"?orderBy={name}&order={order}" for name in ("publishedAt", "title") for order in ("asc", "desc")]
        for path in (SITEMAP, *(f"{path}{order}" for path in LISTS for order in orders)):
            copy, original = client.get(path), site.get(path)
            assert (copy.data, copy.headers["ETag"]) == (original.body, original.headers["ETag"]), path

    with travel("2026-03-01T22:00:00Z"):
        site.save(*(article_json(number, updatedAt=f"2026-02-0{number}T12:00:00Z") for number in range(1, 6)))
    (first,) = run_section(app, page, "Mirror another instance")
    assert first.startswith("5 new, 0 changed, 0 unchanged, 0 unpublished")
    assert_equal()

    assert source("unpublish", "slug-1", *owner).exit_code == 0
    (record,) = exported(source("export", "slug-2", *owner))
    with travel("2026-03-02T23:59:00Z"):
        import_articles(site.app, record | {"slug": "renamed"}, customer=site.customer)
        import_articles(site.app, article_json(3, title="Edited", updatedAt=None), customer=site.customer)
    assert articles("import", *command).stdout == "0 new, 2 changed, 2 unchanged, 1 unpublished\n"
    assert_equal()

    assert source("publish", "slug-1", *owner).exit_code == 0
    with travel("2026-03-02T23:59:30Z"):  # the same day again
        import_articles(site.app, article_json(3, title="Edited again", updatedAt=None), customer=site.customer)
    assert source("delete", "slug-4", "--yes", *owner).exit_code == 0
    with travel("2026-03-05T00:05:00Z"):
        assert articles("import", *command).stdout == "0 new, 2 changed, 2 unchanged, 1 unpublished\n"
    assert_equal()
    assert articles("import", *command).stdout == "0 new, 0 changed, 4 unchanged, 0 unpublished\n"


@pytest.mark.slow
@pytest.mark.sqlite
def test_export_of_all_articles_stays_under_250_mb(database, tmp_path):
    """More than 300 MB, exported and imported again: all are unchanged."""
    run = partial(subprocess.run, check=True)
    run(**subprocess_args(database, "seed.py", "--articles", "40000"))
    measure = (  # getrusage would count the memory of the process that started it, too
        "import pathlib, runpy, sys; sys.argv = sys.argv[1:]\n"
        "try: runpy.run_module('flask', run_name='__main__')\n"
        "finally: print(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    file = tmp_path / "all.jsonl"
    with file.open("w") as output:
        args = subprocess_args(database, "-c", measure, "flask", "articles", "export") | {"stdout": output}
        exported = run(**args)
    args = subprocess_args(database, "-c", measure, "flask", "articles", "import", str(file), "--customer", "Demo")
    imported = run(**args)
    assert imported.stdout == "0 new, 0 changed, 40004 unchanged\n"
    for result in (exported, imported):
        assert int(result.stderr) < 250_000  # KB
