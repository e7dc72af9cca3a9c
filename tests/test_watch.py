"""The command `flask articles watch`, as a process beside a running service."""

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from helpers import (
    SITEMAP,
    article_json,
    assert_one_is_below,
    create_key,
    import_articles,
    iso,
    run_command,
    run_sql,
    save_articles,
    subprocess_args,
    wait_for,
)

QUIET = 3  # seconds after which no further run is expected


class Watch:
    """A running `flask articles watch` whose command appends a line per run to a file."""

    def __init__(self, database: Path, folder: Path, *arguments: str) -> None:
        self.output, self.log = folder / "built", folder / "watch.log"
        self.output.touch()
        args = subprocess_args(database, "-m", "flask", "articles", "watch", *arguments)
        with self.log.open("w") as log:
            self.process = subprocess.Popen(**args | {"stdout": log, "stderr": log}, process_group=0)

    def wait_for_log(self, words: str, count: int = 1) -> None:
        wait_for(lambda: self.log.read_text().count(words) >= count, self.log.read_text, seconds=20)

    def runs(self) -> list[str]:
        return self.output.read_text().splitlines()

    def wait_for_runs(self, count: int) -> list[str]:
        wait_for(lambda: len(self.runs()) >= count, lambda: f"{self.runs()} {self.log.read_text()}", seconds=25)
        return self.runs()


@pytest.fixture
def watch(tmp_path):
    """Start a watch and wait until it is ready."""
    started = []

    def watch(database, *arguments, words="Watching the articles of "):
        started.append(Watch(database, tmp_path, *arguments))
        started[-1].wait_for_log(words)
        return started[-1]

    yield watch
    for watched in started:
        watched.process.terminate()
        assert watched.process.wait(timeout=20) == 0


def append(tmp_path, *lines):
    """Return a command that runs lines of Python, which print to `file`."""
    code = "\n".join([f"file = open({str(tmp_path / 'built')!r}, 'a')", *lines])
    return "--", sys.executable, "-c", code


@pytest.fixture
def build(site, tmp_path):
    """A command that reads all slugs from the service, as the build of a static site would."""
    url = f"http://{site.server.host}:{site.server.port}{SITEMAP}"
    request = f"request = urllib.request.Request({url!r}, headers={{'x-api-key': {site.key!r}}})"
    read = "print(*[entry['url'] for entry in json.load(urllib.request.urlopen(request))['data']], file=file)"
    return "--customer", site.customer, *append(tmp_path, "import json, urllib.request", request, read)


def test_command_sees_each_change(site, watch, build):
    database = site.server.database
    site.save(article_json(1))
    watched = watch(database, *build)
    assert watched.log.read_text() == f"Watching the articles of {site.customer} (Ctrl+C stops)\n"
    site.save(article_json(2))
    assert watched.wait_for_runs(1) == ["slug-1 slug-2"]

    def seconds_to_run() -> float:
        """Change an article as another tool would, and return the time until the run."""
        began, count = time.monotonic(), len(watched.runs())
        own = "id = 'id-0001' AND customer_id = (SELECT id FROM customer WHERE name = ?)"
        run_sql(database, f"UPDATE article SET slug = ? WHERE {own}", f"moved-{count}", site.customer)
        assert watched.wait_for_runs(count + 1)[count:] == [f"moved-{count} slug-2"]
        return time.monotonic() - began

    assert_one_is_below(8, seconds_to_run)  # ten seconds only during continuous changes


@pytest.mark.slow
def test_only_visible_changes_run_the_command(site, watch, build):
    """Changes in quick succession cause one run. A scheduled article causes another when it is due."""
    site.save(article_json(1), article_json(2, status="draft"))
    watched = watch(site.server.database, *build)
    site.save(article_json(2, status="draft", title="Another"), article_json(3, status="draft"))
    site.save(article_json(1, views=1_000_000))
    create_key(site.app, site.customer)
    import_articles(site.app, article_json(1))
    save_articles(site.app, article_json(9), customer=f"Not {site.customer}")
    time.sleep(QUIET)
    assert watched.runs() == []
    for number in range(2, 7):
        site.save(article_json(number))
    shown = " ".join(f"slug-{number}" for number in range(1, 7))
    assert watched.wait_for_runs(1) == [shown]
    site.save(article_json(7, publishedAt=iso(datetime.now(UTC) + timedelta(seconds=QUIET))))
    assert watched.wait_for_runs(2) == [shown, f"{shown} slug-7"]


@pytest.mark.slow
def test_failing_or_missing_command_is_retried(key, database, watch, tmp_path):
    program = tmp_path / "build.sh"
    program.write_text(f"#!/bin/sh\necho x >> {tmp_path}/built\nexit 1\n")
    program.chmod(0o755)
    watched = watch(database, "--now", "--", str(program))
    watched.wait_for_log(f"{program} failed with exit status 1. Next attempt in 10 seconds.\n")
    renamed = program.rename(tmp_path / "renamed")
    watched.wait_for_log("Next attempt in 20 seconds.\n")
    renamed.write_text(renamed.read_text().replace("exit 1", "exit 0"))
    renamed.rename(program)
    assert watched.wait_for_runs(2) == ["x", "x"]
    assert watched.log.read_text().count("\n") == 3


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stop_waits_for_the_command_and_exits_with_0(key, database, watch, tmp_path, number):
    """A terminal sends SIGINT to the process group, but it must not reach the command."""
    lines = "import time", "print('began', file=file, flush=True)", "time.sleep(2)", "print('ended', file=file)"
    watched = watch(database, "--now", *append(tmp_path, *lines))
    watched.wait_for_runs(1)
    os.killpg(watched.process.pid, number)
    assert watched.process.wait(timeout=20) == 0
    assert watched.runs() == ["began", "ended"]


@pytest.mark.slow
@pytest.mark.sqlite
def test_watch_waits_for_a_missing_or_empty_database(app, key, save, database, watch, tmp_path):
    save(article_json(1))
    renamed = database.rename(tmp_path / "renamed.db")
    watched = watch(database, *append(tmp_path, "print('x', file=file)"), words="Waiting")
    renamed.rename(database)
    watched.wait_for_log("Watching the articles of Acme")
    assert watched.runs() == []
    database.rename(renamed)
    watched.wait_for_log("Waiting", 2)
    renamed.rename(database)
    save(article_json(2))
    assert watched.wait_for_runs(1) == ["x"]
    os.truncate(database, 0)
    watched.wait_for_log("Waiting", 3)
    assert database.stat().st_size == 0  # with new tables, the service would reject every key


@pytest.mark.slow
def test_change_reverted_during_a_run_causes_another_run(app, key, save, sql, database, watch, tmp_path):
    save(article_json(1))
    lines = "import time", "print('x', file=file, flush=True)", "time.sleep(3)"
    watched = watch(database, "--now", *append(tmp_path, *lines))
    watched.wait_for_runs(1)
    for status in ("draft", "published"):
        sql("UPDATE article SET status = ?", status)
        time.sleep(1)
    watched.wait_for_runs(2)
    time.sleep(QUIET)
    assert len(watched.runs()) == 2


@pytest.mark.slow
def test_watch_follows_a_renamed_customer(app, key, save, database, watch, tmp_path):
    save(article_json(1))
    watched = watch(database, *append(tmp_path, "print('x', file=file)"))
    create_key(app, "Other")
    run_command(app, "customers", "rename", "Acme", "New")
    assert watched.wait_for_runs(1) == ["x"]  # the name is part of structured data
    save(article_json(2), customer="New")
    assert watched.wait_for_runs(2) == ["x", "x"]
    assert "Waiting" not in watched.log.read_text()
