"""`flask articles preview`, as a process beside a service."""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import helpers
import pytest
from helpers import ENDPOINTS, LISTS, SITEMAP, Server, article_json, assert_rejected, get, iso, subprocess_args

FUTURE = iso(datetime.now(UTC) + timedelta(days=300))
# as the build of a site does
READ = 'curl --silent --header "x-api-key: $ARTICLES_KEY" --output read.json "$ARTICLES_URL/articles"'


class Preview(Server):
    """A running `flask articles preview` with its temporary files in `folder`."""

    url = r"URL: http://(\S+):(\d+)\nKey: preview\n"

    def __init__(self, database, *arguments):
        self.program = "-m", "flask", "articles", "preview", *arguments
        self.folder = database.parent / "100%20" / "files?"
        self.folder.mkdir(parents=True)
        super().__init__(database, TMPDIR=str(self.folder))

    def read(self, path):
        return json.loads(get(self, path, x_api_key="preview").body)["data"]


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
    articles = running.read(LISTS[0])
    ended = iso(datetime.now(UTC))
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
    assert get(running, LISTS[0], x_api_key=key).status == 401
    assert running.stop(signal.SIGTERM) == 0
    assert [client.get(path).data for path in ENDPOINTS] == before


@pytest.mark.parametrize("blocks", [50, 400])  # too little for the tables, or for the articles
def test_full_temporary_folder_is_not_blamed_on_the_database(key, save, database, tmp_path, blocks):
    save(article_json(1, contentHtml="x" * 1_000_000))
    limit = ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh"]  # 512 bytes each; like a full disk
    arguments = "-m", "flask", "articles", "preview", "--", "true"
    result = subprocess.run(**subprocess_args(database, *arguments, prefix=limit, TMPDIR=str(tmp_path)))
    assert (result.returncode, str(database) in result.stderr) == (1, False)
    assert f"{tmp_path}/articles-preview-" in result.stderr
    assert "disk is full" in result.stderr


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


STATUSES = {signal.SIGINT: 0, signal.SIGTERM: 0, signal.SIGHUP: 129, signal.SIGKILL: -9}


@pytest.mark.slow
@pytest.mark.parametrize("number", STATUSES)
def test_preview_leaves_nothing_behind(key, save, database, preview, number):
    """SIGHUP: the terminal was closed. SIGKILL leaves a folder that only its owner can open."""
    save(article_json(1, status="draft"))
    running = preview()
    assert slugs(running.read(LISTS[0])) == ["slug-1"]
    (folder,) = running.folder.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    open_files = map(os.path.realpath, Path(f"/proc/{running.process.pid}/fd").iterdir())
    assert str(database) not in open_files
    assert running.stop(number) == STATUSES[number]
    assert list(running.folder.iterdir()) == ([folder] if number == signal.SIGKILL else [])
    assert "Traceback" not in running.log()


@pytest.mark.slow
@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 5), (signal.SIGINT, 6)])
def test_preview_waits_for_its_command_when_stopped(key, preview, number, status):
    """SIGTERM is forwarded to the command. SIGINT is not, because a terminal sends it to both."""
    stop = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))"
    code = f"{stop}; print('began', flush=True); time.sleep(2); sys.exit(6)"
    running = preview("--", sys.executable, "-c", code)
    helpers.wait_for(lambda: "began" in running.printed(), running.log)
    assert running.stop(number) == status
    assert list(running.folder.iterdir()) == []
