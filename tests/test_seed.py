"""The demo data."""

import json
import re
import subprocess
from collections import Counter
from datetime import UTC, datetime
from html.parser import HTMLParser
from itertools import islice, pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from conftest import LISTS, PROJECT, SITEMAP, program, url_of

import seed
from app import create_app


@pytest.fixture
def run(database, monkeypatch):
    """Run `python seed.py` on the test's database."""
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    return lambda *arguments: CliRunner().invoke(seed.main, arguments)


@pytest.fixture
def get(run):
    """Ask the service on the seeded database with the key "demo"."""
    return lambda path: create_app().test_client().get(path, headers={"x-api-key": "demo"}).get_json()


def content_of(sql):
    return sql("SELECT * FROM article ORDER BY pk"), sql("SELECT id, hash FROM api_key"), sql("SELECT * FROM customer")


def test_the_first_run_makes_120_articles_and_a_key_that_works(run, database):
    result = run()
    assert result.exit_code == 0
    assert "120 published articles, 3 drafts and 1 scheduled article (124 new" in result.output
    key = re.search(r"^Key: ([A-Za-z0-9_-]{43})$", result.output, re.MULTILINE)[1]
    assert f"curl -H 'x-api-key: {key}' \"http://127.0.0.1:8000/api/public/v1/articles?take=2\"" in result.output
    answer = create_app().test_client().get(LISTS[0], headers={"x-api-key": key})
    assert answer.get_json()["meta"] == {"total": 120, "take": 50, "skip": 0}


def test_the_curl_line_has_the_settings_host_and_port(run, monkeypatch):
    monkeypatch.setenv("HOST", "::")
    monkeypatch.setenv("PORT", "9000")
    assert "http://[::1]:9000/api/public/v1/articles" in run("--key", "it's").output
    assert "'x-api-key: it'\"'\"'s'" in run("--key", "it's").output  # as a shell needs it


def test_a_key_can_be_given_where_no_list_of_processes_shows_it(run, get, monkeypatch):
    monkeypatch.setenv("DEMO_KEY", "demo")
    assert "Key: demo\n" in run().output
    assert get(LISTS[0])["meta"]["total"] == 120


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is a disk without room")
def test_an_output_that_cannot_be_written_is_told(database):
    with open("/dev/full", "w") as full:
        result = subprocess.run(**program(database, "seed.py") | {"stdout": full})
    assert result.returncode == 1
    assert result.stderr == "Error: The output cannot be written (No space left on device).\n"


def test_the_same_run_again_changes_nothing(run, sql):
    run("--key", "demo")
    before = content_of(sql)
    again = run("--key", "demo")
    assert "0 new, 0 changed, 124 unchanged, 0 removed" in again.output
    without_key = run()
    assert "flask keys create Demo" in without_key.output
    assert content_of(sql) == before


def test_another_number_adds_or_removes_demo_articles_alone(run, sql, get, save):
    run("--articles", "30", "--key", "demo")
    thirty = content_of(sql)[0]
    from conftest import article

    save(article(1, id="mine"), article(2, id="demo-mine"), article(3, id="demo-00004x"), customer="Demo")
    assert "20 new" in run("--articles", "50").output
    assert get(LISTS[0])["meta"]["total"] == 53
    assert "20 removed" in run("--articles", "30").output
    assert get(LISTS[0])["meta"]["total"] == 33
    assert content_of(sql)[0][: len(thirty)] == thirty
    run("--articles", "0")
    assert sorted(each["id"] for each in get(LISTS[0])["data"]) == ["demo-00004x", "demo-mine", "mine"]


def test_it_is_the_same_on_every_machine(run, sql, database):
    run("--articles", "40")
    first = content_of(sql)[0]
    for file in database.parent.glob("articles.db*"):
        file.unlink()
    run("--articles", "40")
    assert content_of(sql)[0] == first


def test_another_key_is_added(run, get, sql):
    run("--key", "first")
    run("--key", "demo")
    assert get(SITEMAP)["data"]
    assert sql("SELECT count(*) FROM api_key") == [(2,)]


def test_a_key_that_cannot_be_used_is_refused_and_nothing_is_written(run, sql, app):
    from conftest import make_key

    make_key(app, "Other", key="taken")
    make_key(app, "Demo", key="revoked")
    app.test_cli_runner().invoke(args=["keys", "revoke", "2"])
    for key in ("taken", "revoked", "", "two words", "é", "x" * 201, "a\nb"):
        result = run("--key", key)
        assert (result.exit_code, result.exception.__class__) == (2, SystemExit)
        assert "--key" in result.output
    assert sql("SELECT count(*) FROM article") == [(0,)]


@pytest.mark.parametrize("number", ["-1", "100001", "many", "1.5"])
def test_a_number_of_articles_out_of_range_is_refused(run, number):
    result = run("--articles", number)
    assert result.exit_code == 2
    assert "--articles" in result.output


def test_drafts_and_the_scheduled_article_show_nowhere(run, sql, get):
    run("--articles", "10", "--key", "demo")
    hidden = {slug for (slug,) in sql("SELECT slug FROM article WHERE id LIKE 'demo-draft-%' OR id = 'demo-scheduled'")}
    assert len(hidden) == 4
    assert not hidden & {each["slug"] for each in get(LISTS[1])["data"]}
    assert not hidden & {each["url"] for each in get(SITEMAP)["data"]}
    assert get(LISTS[1])["meta"]["total"] == len(get(SITEMAP)["data"]) == 10


@pytest.fixture(scope="module")
def demo():
    return list(seed.demo_articles(120, "http://127.0.0.1:8000"))


def test_a_hundred_thousand_articles_have_distinct_titles_and_slugs():
    titles, slugs, ids = set(), set(), set()
    for each in seed.demo_articles(seed.MOST_ARTICLES, ""):
        titles.add(each["title"])
        slugs.add(each["slug"])
        ids.add(each["id"])
        assert not re.search(r"[\s/?#]", each["slug"])
        assert len(each["slug"]) <= 200
    assert len(titles) == len(slugs) == len(ids) == seed.MOST_ARTICLES + seed.DRAFTS + 1


def test_a_larger_demo_begins_like_a_smaller_one(demo):
    assert list(islice(seed.demo_articles(1000, "http://127.0.0.1:8000"), 120)) == demo[:120]


def test_the_dates_fill_three_years_and_none_is_to_come(demo):
    published = sorted(each["published_at"] for each in demo[:120])
    assert (published[-1] - published[0]).days > 2.9 * 365
    assert max((later - earlier).days for earlier, later in pairwise(published)) < 30
    assert all(each["created_at"] < each["published_at"] <= each["updated_at"] for each in demo[:120])
    assert max(each["updated_at"] for each in demo) < datetime(2026, 11, 1, tzinfo=UTC)


class Elements(HTMLParser):
    """Collects an HTML text's elements, and fails where they are not nested."""

    def __init__(self, html):
        super().__init__()
        self.seen, self.open = Counter(), []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.seen[tag] += 1
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_each_article_reads_as_one(demo):
    for each in demo:
        elements = Elements(each["content_html"]).seen
        assert elements["p"] >= 4, each["id"]
        assert elements["h2"] >= 2, each["id"]
        assert not elements.keys() & {"h1", "script", "style", "img", "iframe"}
        assert 4 <= len(json.loads(each["keywords"])) <= 8
        assert 10 <= len(each["title"]) <= 120
    assert sum("<table" in each["content_html"] or "<blockquote" in each["content_html"] for each in demo) > 60
    assert sum("<ul" in each["content_html"] or "<ol" in each["content_html"] for each in demo) > 60


def test_there_are_several_scripts_and_every_category_has_its_banner(demo):
    titles = "".join(each["title"] for each in demo)
    assert all(re.search(pattern, titles) for pattern in ("[À-ž]", "[α-ω]", "[а-я]", "[一-龯]", "[ا-ي]"))
    assert {each["banner_url"] for each in demo} == {
        f"http://127.0.0.1:8000/static/banners/{file.name}" for file in (PROJECT / "static/banners").iterdir()
    }
    assert len({each["category"] for each in demo}) == 8


def test_no_text_could_break_out_of_the_page_that_its_graph_is_put_into(run, sql):
    run()
    for (markup,) in sql("SELECT schema_markup FROM article"):
        assert not re.search(r"</script|<!--", markup, re.IGNORECASE)
        assert json.loads(markup)["@graph"][0]["@type"] == "BlogPosting"
