"""`flask articles preview`, as a process beside a service."""

import json
import re
import signal
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from helpers import ENDPOINTS, LISTS, SITEMAP, Server, article_json, assert_rejected, get, iso

FUTURE = iso(datetime.now(UTC) + timedelta(days=300))
# as the build of a site does
READ = 'curl --silent --header "x-api-key: $ARTICLES_KEY" --output read.json "$ARTICLES_URL/articles"'


class Preview(Server):
    """A running `flask articles preview`."""

    url = r"URL: http://(\S+):(\d+)\nKey: \S+\n"

    def __init__(self, database, *arguments):
        self.program = "-m", "flask", "articles", "preview", *arguments
        super().__init__(database)
        self.key = re.search(r"^Key: (\S+)$", self.printed() + self.log(), re.MULTILINE)[1]

    def read(self, path):
        return json.loads(get(self, path, x_api_key=self.key).body)["data"]


@pytest.fixture
def preview(database):
    """Start a preview; kill it afterwards."""
    with ExitStack() as stack:

        def preview(*arguments):
            running = Preview(database, *arguments)
            stack.callback(running.process.wait)
            stack.callback(running.process.kill)
            return running

        yield preview


def slugs(articles):
    return [article["slug"] for article in articles]


def test_preview_shows_everything_and_publishes_nothing(client, key, save, preview):
    save(
        article_json(1, views=3),
        article_json(2, views=1, status="draft", publishedAt=None),
        article_json(3, views=2, status="draft", createdAt="2020-01-01T00:00:00.000Z"),
        article_json(4, views=0, publishedAt=FUTURE),
        article_json(5, views=4, status="pending", publishedAt="2024-02-01T00:00:00.000Z"),
    )
    save(article_json(9), customer="Other")
    before = [client.get(path).data for path in ENDPOINTS]
    began = iso(datetime.now(UTC))
    running = preview("--customer", "Acme")
    ended = iso(datetime.now(UTC))
    articles = running.read(LISTS[0])
    assert slugs(articles) == ["slug-4", "slug-3", "slug-2", "slug-1", "slug-5"]
    for article in articles[:3]:
        assert began <= article["publishedAt"] <= ended
        posting = article["schemaMarkup"]["@graph"][0]
        assert posting["datePublished"] == posting["dateModified"] == article["publishedAt"]
        assert posting["publisher"]["name"] == "Acme"
    assert articles[3:4] == json.loads(before[0])["data"]
    assert articles[4]["publishedAt"] == "2024-02-01T00:00:00.000Z"
    for order_by, first in (("views", "slug-4"), ("createdAt", "slug-3"), ("title", "slug-1")):
        assert running.read(f"{LISTS[1]}?orderBy={order_by}&order=asc")[0]["slug"] == first
    assert [entry["lastmod"] for entry in running.read(SITEMAP)] == ["2025-03-01", *[ended[:10]] * 3, "2025-03-01"]
    assert [client.get(path).data for path in ENDPOINTS] == before
    assert running.stop(signal.SIGTERM) == 0


def test_preview_shows_an_edited_draft_at_once(key, save, preview):
    save(article_json(1, status="draft"))
    running = preview()
    before = running.read(LISTS[0])
    save(article_json(1, status="draft", title="Edited"))
    (after,) = running.read(LISTS[0])
    assert (after["title"], after["publishedAt"]) == ("Edited", before[0]["publishedAt"])
    assert running.stop(signal.SIGINT) == 0
    assert "Traceback" not in running.log()


def test_preview_accepts_only_its_key_and_its_own_address(key, save, preview):
    save(article_json(1, status="draft"))
    running, another = preview(), preview()
    for wrong in (key, another.key, "preview", ""):
        assert get(running, LISTS[0], x_api_key=wrong).status == 401
    for host, status in {"127.0.0.1": 200, f"localhost:{running.port}": 200, "evil.example": 400}.items():
        for path in (LISTS[0], "/"):
            assert get(running, path, x_api_key=running.key, Host=host).status == status


def test_only_limits_the_preview_to_the_given_articles(articles, save, tmp_path, monkeypatch):
    save(article_json(1), *(article_json(number, status="draft") for number in (2, 3, 4)), article_json(5))
    only = "--only", "slug-2", "--only", "slug-1", "--only"
    monkeypatch.chdir(tmp_path)
    result = articles("preview", *only, "slug-4", "--", "sh", "-c", f"{READ}; exit 3")
    assert result.exit_code == 3, result.output
    assert slugs(json.loads(Path("read.json").read_text())["data"]) == ["slug-4", "slug-2", "slug-5", "slug-1"]
    assert "Acme (press Ctrl+C to stop)\nURL: http://127.0.0.1:" in result.stderr
    assert_rejected(articles("preview", *only, "nope", "--", "true"), "'nope'")
