"""`flask articles preview`, as a process beside a service."""

import json
import re
import signal
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from helpers import (
    ENDPOINTS,
    LISTS,
    SITEMAP,
    Server,
    article_json,
    assert_rejected,
    get,
    iso,
    subprocess_args,
    wait_for,
)

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
    save(article_json(1, status="draft", title="Edited"), article_json(2, status="draft"))
    after = running.read(f"{LISTS[0]}?order=asc")
    assert [article["title"] for article in before + after] == ["Title 1", "Edited", "Title 2"]
    assert after[0]["publishedAt"] == before[0]["publishedAt"]
    assert running.stop(signal.SIGINT) == 0
    assert "Traceback" not in running.log()


def test_preview_accepts_only_its_key_and_its_own_address(key, save, preview):
    save(article_json(1, status="draft"))
    running, another = preview(), preview()
    for wrong in (key, another.key, "preview", ""):
        assert get(running, LISTS[0], x_api_key=wrong).status == 401
    hosts = {"127.0.0.1": 200, f"localhost:{running.port}": 200, "evil.example": 400, f"[::1]:{running.port}": 400}
    for host, status in hosts.items():
        for path in (LISTS[0], "/"):
            assert get(running, path, x_api_key=running.key, Host=host).status == status


def test_preview_ends_access_if_its_customer_is_deleted(run, key, save, preview):
    save(article_json(1))
    running = preview()
    assert run("customers", "delete", "Acme", "--yes").exit_code == 0
    assert get(running, LISTS[0], x_api_key=running.key).status == 401


def test_only_limits_the_preview_to_the_given_articles(articles, save, tmp_path, monkeypatch):
    save(article_json(1), *(article_json(number, status="draft") for number in (2, 3, 4)))
    only = "--only", "slug-2", "--only", "slug-1", "--only"
    monkeypatch.chdir(tmp_path)
    result = articles("preview", *only, "slug-4", "--", "sh", "-c", f"{READ}; exit 3")
    assert result.exit_code == 3, result.output
    assert slugs(json.loads(Path("read.json").read_text())["data"]) == ["slug-4", "slug-2", "slug-1"]
    assert "Acme (press Ctrl+C to stop)\nURL: http://127.0.0.1:" in result.stderr
    assert_rejected(articles("preview", *only, "nope", "--", "true"), "'nope'")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        (["sh", "-c", "kill -9 $$"], 137, ""),
        (["no-such-program"], 127, "'no-such-program'"),
        (["{}/empty"], 127, "empty' cannot be started"),
    ],
)
def test_preview_exits_with_the_status_of_its_command(key, database, tmp_path, command, status, message):
    (tmp_path / "empty").touch(0o755)
    arguments = "-m", "flask", "articles", "preview", "--", *(word.format(tmp_path) for word in command)
    result = subprocess.run(**subprocess_args(database, *arguments))
    assert (result.returncode, message in result.stderr, "Traceback" in result.stderr) == (status, True, False)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 5), (signal.SIGINT, 6)])
def test_preview_waits_for_its_command_when_stopped(key, preview, number, status):
    """SIGTERM is forwarded to the command. SIGINT is not, because a terminal sends it to both."""
    stop = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))"
    code = f"{stop}; print('began', flush=True); time.sleep(2); sys.exit(6)"
    running = preview("--", sys.executable, "-c", code)
    wait_for(lambda: "began" in running.printed(), running.log)
    assert running.stop(number) == status
