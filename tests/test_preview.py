"""`flask articles preview`, as a process beside a running service."""

import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from helpers import (
    ENDPOINTS,
    LISTS,
    SITEMAP,
    article_json,
    get,
    iso,
    run_command,
    save_articles,
    subprocess_args,
    wait_for,
)

# prints all slugs, as read by the build of a site
READ = """
import json, os, urllib.request
url, headers = os.environ["ARTICLES_URL"] + "/articles", {"x-api-key": os.environ["ARTICLES_KEY"]}
request = urllib.request.Request(url, headers=headers)
print([article["slug"] for article in json.load(urllib.request.urlopen(request))["data"]])
"""
FUTURE = iso(datetime.now(UTC) + timedelta(days=300))


def preview_args(database, *arguments, **environment):
    return subprocess_args(database, "-m", "flask", "articles", "preview", *arguments, **environment)


class Preview:
    """A running `flask articles preview` with its temporary files in `folder`."""

    host = "127.0.0.1"

    def __init__(self, database, folder, *arguments):
        self.folder, self.printed = folder, folder.parent / "printed"
        folder.mkdir()
        args = preview_args(database, *arguments, TMPDIR=str(folder))
        with self.printed.open("w") as printed:
            self.process = subprocess.Popen(**args | {"stdout": printed, "stderr": printed})

    def wait_for(self, pattern):
        return wait_for(lambda: re.search(pattern, self.printed.read_text()), self.printed.read_text, 20)

    @property
    def port(self):
        return int(self.wait_for(r"URL: http://127\.0\.0\.1:(\d+)\nKey: preview\n")[1])

    def read(self, path):
        return json.loads(get(self, path, x_api_key="preview").body)["data"]

    def stop(self, number):
        self.process.send_signal(number)
        return self.process.wait(timeout=20)


@pytest.fixture
def preview(tmp_path):
    """Start previews; kill them afterwards."""
    started = []

    def preview(database, *arguments):
        started.append(Preview(database, tmp_path / "temporary", *arguments))
        return started[-1]

    yield preview
    for process in (running.process for running in started if running.process.poll() is None):
        process.kill()
        process.wait()


def run_preview(database, *arguments):
    return subprocess.run(**preview_args(database, *arguments), timeout=60)


def test_preview_shows_everything_and_publishes_nothing(site, preview):
    site.save(
        article_json(1, views=3),
        article_json(2, views=1, status="draft", publishedAt=None),
        article_json(3, views=2, status="draft", createdAt="2020-01-01T00:00:00.000Z"),
        article_json(4, views=0, publishedAt=FUTURE),
    )
    save_articles(site.app, article_json(9), customer=f"Not {site.customer}")
    before = [site.get(path).body for path in ENDPOINTS]
    began = iso(datetime.now(UTC))
    running = preview(site.server.database, "--customer", site.customer)
    articles = running.read(LISTS[0])
    ended = iso(datetime.now(UTC))
    assert [article["slug"] for article in articles] == ["slug-4", "slug-3", "slug-2", "slug-1"]
    for article in articles[:3]:
        assert began <= article["publishedAt"] <= ended
        posting = article["schemaMarkup"]["@graph"][0]
        assert posting["datePublished"] == posting["dateModified"] == article["publishedAt"]
        assert posting["publisher"]["name"] == site.customer
    assert articles[3:] == json.loads(before[0])["data"]
    for order_by, first in (("views", "slug-4"), ("createdAt", "slug-3"), ("title", "slug-1")):
        assert running.read(f"{LISTS[1]}?orderBy={order_by}&order=asc")[0]["slug"] == first
    assert [entry["lastmod"] for entry in running.read(SITEMAP)] == ["2025-03-01", *[ended[:10]] * 3]
    assert get(running, LISTS[0], x_api_key=site.key).status == 401
    assert running.stop(signal.SIGTERM) == 0
    assert [site.get(path).body for path in ENDPOINTS] == before
    assert run_command(site.app, "articles", "list", "--customer", site.customer).stdout.count("draft\t") == 2


def test_only_limits_the_preview_to_the_given_articles(site):
    site.save(article_json(1), *(article_json(number, status="draft") for number in (2, 3, 4)))
    own = "--customer", site.customer
    named = "--only", "slug-2", "--only", "slug-4", "--only", "slug-1"
    result = run_preview(site.server.database, *own, *named, "--", sys.executable, "-c", READ)
    assert (result.returncode, result.stdout) == (0, "['slug-4', 'slug-2', 'slug-1']\n")
    assert f"{site.customer} (Ctrl+C stops)\nURL: http://127.0.0.1:" in result.stderr
    unknown = run_command(site.app, "articles", "preview", *own, "--only", "slug-2", "--only", "nope", "--", "true")
    assert (unknown.exit_code, "no article with the slug 'nope'" in unknown.stderr) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        (["sh", "-c", "exit 3"], 3, ""),
        (["sh", "-c", "kill -9 $$"], 137, ""),
        (["no-such-program"], 127, "Error: There is no program 'no-such-program'."),
        (["{}/empty"], 127, "empty' cannot be started (Exec format error).\n"),
    ],
)
def test_preview_exits_with_the_status_of_its_command(key, database, tmp_path, command, status, message):
    (tmp_path / "empty").touch(0o755)
    result = run_preview(database, "--", *(word.format(tmp_path) for word in command))
    assert (result.returncode, message in result.stderr, "Traceback" in result.stderr) == (status, True, False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_preview_leaves_nothing_behind(key, save, database, preview, number, status):
    """SIGHUP: the terminal was closed. SIGKILL leaves a folder that only its owner can open."""
    save(article_json(1, status="draft"))
    running = preview(database)
    assert len(running.read(LISTS[0])) == 1
    (folder,) = running.folder.iterdir()
    assert folder.stat().st_mode & 0o777 == 0o700
    open_files = map(os.path.realpath, Path(f"/proc/{running.process.pid}/fd").iterdir())
    assert str(database) not in open_files
    assert running.stop(number) == status
    assert list(running.folder.iterdir()) == ([folder] if number == signal.SIGKILL else [])
    assert "Traceback" not in running.printed.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_preview_waits_for_its_command_when_stopped(key, database, preview, number):
    """SIGTERM is forwarded to the command. SIGINT is not, because a terminal sends it to both."""
    stop = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))"
    code = f"{stop}; print('began', flush=True); time.sleep(2); sys.exit(6)"
    running = preview(database, "--", sys.executable, "-c", code)
    running.wait_for("began")
    assert running.stop(number) == (5 if number == signal.SIGTERM else 6)
    assert list(running.folder.iterdir()) == []
