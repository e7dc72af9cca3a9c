"""Articles that another tool wrote and no import would: none breaks a list, a listing, an export or a command."""

import json
import re
from contextlib import closing

import helpers
import orjson
import pytest
from helpers import LISTS, POSTGRESQL, SITEMAP, article_json, minimal_json

from commands.watch import PublishedArticles
from fields import parse_time_zone

FULL, PREVIEWS = LISTS
REPLACED = "\ufffd"  # what bytes that are not UTF-8 become

# slug of an article -> an assignment by another tool
ODD = {
    "relative-banner": "banner_url = '/img/a.jpg'",
    "long-title": f"title = '{'x' * 5000}'",
    "keywords-that-are-no-text": 'keywords = \'[1, null, {}, ["no"], "yes"]\'',
    "deep-keywords": f"keywords = '{'[' * 900}{']' * 900}'",
    "markup-without-a-graph": "schema_markup = '{}'",
    "markup-with-a-script": """schema_markup = '{"@context": "</script>", "@graph": []}'""",
    "graph-with-a-script": """schema_markup = '{"@context":"x","@graph":["</script>"]}'""",
    "deep-markup": f"""schema_markup = '{{"@context": "x", "@graph": {"[" * 900}{"]" * 900}}}'""",
}
if not POSTGRESQL:
    ODD |= {
        f"{column}-not-utf-8": f"{column} = CAST(x'41ff' AS TEXT)"
        for column in ("title", "category", "banner_url", "meta_title", "meta_desc", "content_html", "search_text")
    }
    ODD |= {
        "id-not-utf-8": "id = CAST(x'ff' AS TEXT) || id",
        "slug-not-utf-8": "slug = CAST(x'ff' AS TEXT) || slug",
        "slug-not-utf-8-either": "slug = CAST(x'fe' AS TEXT) || 'slug-not-utf-8'",
        "keywords-not-utf-8": "keywords = CAST(x'5b22ff225d' AS TEXT)",
        "surrogate-keywords": r"""keywords = '["\ud800", "\\ud800", "\ud83d\ude00"]'""",
        "surrogate-markup": r"""schema_markup = '{"@context": "\uDFFF", "@graph": []}'""",
        "keywords-and-a-nul": "keywords = '[]' || char(0) || 'x'",
        "markup-and-a-nul": "schema_markup = '{}' || char(0) || 'x'",
        "views-that-are-text": "views = 'many'",
    }
SHOWN = {"slug-not-utf-8": f"{REPLACED}slug-not-utf-8", "slug-not-utf-8-either": f"{REPLACED}slug-not-utf-8"}
SLUGS = sorted(["plain", *(SHOWN.get(slug, slug) for slug in ODD)])


@pytest.fixture
def odd_articles(save, database):
    """One article for each odd assignment, and one without any."""
    save(*(article_json(number, id=slug, slug=slug) for number, slug in enumerate(["plain", *ODD])))
    with closing(helpers.connect_as_another_tool(database)) as connection, connection:
        connection.execute("BEGIN")
        for slug, assignment in ODD.items():
            connection.execute(f"UPDATE article SET {assignment} WHERE id = '{slug}'")


def slugs(articles):
    return sorted(article["slug"] for article in articles)


@pytest.mark.parametrize("path", [*LISTS, f"{FULL}?orderBy=title", f"{PREVIEWS}?keyword=yes&category=News"])
def test_lists_show_every_article_with_valid_fields(client, odd_articles, path):
    articles = orjson.loads(client.get(path).data)["data"]  # a strict parser
    assert slugs(articles) == (["keywords-that-are-no-text"] if "keyword=" in path else SLUGS)
    for article in articles:
        assert all(isinstance(keyword, str) for keyword in article["keywords"])
        markup = article.get("schemaMarkup", {"@context": "", "@graph": []})
        assert (type(markup["@context"]), type(markup["@graph"])) == (str, list)
        assert "</script" not in str(markup)


def test_usable_parts_of_odd_values_are_shown(client, odd_articles):
    articles = {article["id"]: article for article in client.get(FULL).get_json()["data"]}
    assert articles["relative-banner"]["bannerUrl"] == "/img/a.jpg"
    assert articles["keywords-that-are-no-text"]["keywords"] == ["yes"]
    assert articles["markup-without-a-graph"]["schemaMarkup"]["@graph"][0]["@type"] == "BlogPosting"
    if not POSTGRESQL:
        assert articles["title-not-utf-8"]["title"] == f"A{REPLACED}"
        assert articles["keywords-not-utf-8"]["keywords"] == [REPLACED]
        assert articles["surrogate-keywords"]["keywords"] == [REPLACED, "\\ud800", "\U0001f600"]
        assert articles["surrogate-markup"]["schemaMarkup"] == {"@context": REPLACED, "@graph": []}


def test_commands_and_sitemap_have_every_article(client, articles, odd_articles, tmp_path):
    assert sorted(entry["url"] for entry in client.get(SITEMAP).get_json()["data"]) == SLUGS
    for command in (["export"], ["export", "--all-fields"], ["list", "--json"]):
        printed = articles(*command)
        assert printed.exit_code == 0, printed.output
        assert slugs(map(orjson.loads, printed.stdout.splitlines())) == SLUGS
    assert articles("list").stdout.count("\n") == len(SLUGS)
    assert articles("export", "--folder", tmp_path / "site").exit_code == 0
    assert len(list((tmp_path / "site").iterdir())) == len(SLUGS)


def test_articles_can_be_edited(articles, odd_articles, monkeypatch):
    """Except for those that a slug cannot name, and for values that the author has to correct first."""
    monkeypatch.setenv("EDITOR", "sed -i s/^title:.*/title:\\ Edited/")
    for slug in {"plain", *ODD} - {*SHOWN, "id-not-utf-8", "relative-banner", "banner_url-not-utf-8"}:
        result = articles("edit", slug)
        assert (result.exit_code, result.stdout) == (0, f"{slug}: changed\n"), result.output
    assert "bannerUrl: '/img/a.jpg'" in articles("edit", "relative-banner").stderr


def test_publish_and_unpublish_take_an_odd_article(articles, odd_articles):
    names = [slug for slug in ODD if slug not in SHOWN]
    assert articles("unpublish", *names).exit_code == 0
    assert articles("publish", *names, "--at", "2030-01-01").exit_code == 0


@pytest.mark.parametrize("zone", ["America/Los_Angeles", "Pacific/Kiritimati"])
def test_dates_at_the_ends_of_the_range_work_in_any_zone(app, articles, save, monkeypatch, tmp_path, zone):
    """0001-01-01 is .NET's default date. The commands print dates in TIMEZONE."""
    monkeypatch.setitem(app.config, "TIMEZONE", parse_time_zone(zone))
    save(minimal_json(1, publishedAt="0001-01-01T00:00:00Z"), minimal_json(2, publishedAt="9999-12-31T23:59:59Z"))
    for arguments in (["list"], ["export"], ["export", "--folder", tmp_path / "new"], ["edit", "slug-1"]):
        monkeypatch.setenv("EDITOR", "true")
        result = articles(*arguments)
        assert result.exit_code == 0, result.output
    for moment in ("2030-01-01", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "0001-01-01"):
        assert articles("publish", "slug-1", "slug-2", "--at", moment).exit_code == 0


def test_preview_has_every_article(articles, odd_articles, tmp_path):
    """Of two slugs that differ only in bytes that are not UTF-8, it has one, and reports the other."""
    articles("unpublish", "plain", "long-title")
    read = f'curl --silent --header "x-api-key: $ARTICLES_KEY" --output {tmp_path}/read.json "$ARTICLES_URL/sitemap"'
    result = articles("preview", "--", "sh", "-c", read)
    assert (result.exit_code, bool(re.search("left out.*: 1\n", result.stderr))) == (0, not POSTGRESQL)
    assert {entry["url"] for entry in json.loads((tmp_path / "read.json").read_text())["data"]} == set(SLUGS)


def test_watch_reads_every_article(app, key, odd_articles):
    with app.app_context():
        published = PublishedArticles("Acme")
        assert published.refresh()
        assert not published.is_unavailable


@pytest.mark.sqlite
def test_backup_of_odd_articles_can_be_restored(run, client, odd_articles, tmp_path):
    before = client.get(FULL).data
    assert run("database", "backup", tmp_path / "backup.db").exit_code == 0
    assert run("database", "restore", tmp_path / "backup.db", "--yes").exit_code == 0
    assert client.get(FULL).data == before
