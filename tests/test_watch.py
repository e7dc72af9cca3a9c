"""The command `flask articles watch`: with a clock of the test's own, and as a process beside a running service."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import Result
from helpers import SITEMAP, article_json, create_key, iso, subprocess_args, wait_for
from time_machine import travel

from commands import watch as module

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class Watch:
    """Runs `flask articles watch` on a clock that ticks once per poll. Stands in for the command's `time` module."""

    def __init__(self, articles: Callable[..., Result]) -> None:
        self.articles = articles
        self.seconds = 0
        self.starts: list[int] = []  # seconds at which COMMAND was started

    def run(
        self,
        events: Mapping[int, Callable[[], Any]],
        *options: str,
        until: int = 30,
        takes: int = 0,
        statuses: Any = (),
        ends_with: int = 0,
    ) -> str:
        """Watch, calling each event at its second; return what is printed. COMMAND exits with `statuses` first."""
        self.events, self.until, self.takes, self.statuses = events, until, takes, iter(statuses)
        with travel(NOW, tick=False) as self.clock:
            result = self.articles("watch", *options, "--", "true")
        assert (result.exit_code, result.stdout) == (ends_with, ""), result.output
        return result.stderr

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        for _ in range(max(1, int(seconds))):
            self.seconds += 1
            self.clock.shift(1)
            if event := self.events.get(self.seconds):
                event()
            if self.seconds == self.until:
                sys.exit()  # as on SIGTERM

    @contextmanager
    def start_program(self, _command: tuple[str, ...], **_options: Any) -> Iterator[SimpleNamespace]:
        self.starts.append(self.seconds)
        end, status = self.seconds + self.takes, next(self.statuses, 0)
        yield SimpleNamespace(poll=lambda: None if self.seconds < end else status, returncode=status)


@pytest.fixture
def watch(articles, save, monkeypatch):
    """A watch of Acme, which has one published article."""
    save(article_json(1))
    watch = Watch(articles)
    monkeypatch.setattr(module, "time", watch)
    monkeypatch.setattr(module, "start_program", watch.start_program)
    monkeypatch.setattr(module, "stop_quietly_on_signals", lambda: None)
    return watch


def test_visible_change_runs_the_command_soon(watch, save):
    """A scheduled article is a change when it is due."""
    scheduled = article_json(5, publishedAt=iso(NOW + timedelta(seconds=60)))
    saved = {5: article_json(2), 10: article_json(3), 11: article_json(4), 20: scheduled}
    printed = watch.run({second: partial(save, article) for second, article in saved.items()}, until=70)
    assert watch.starts == [7, 12, 62]
    assert printed == "Watching the articles of Acme (press Ctrl+C to stop)\n"


def test_changes_that_follow_each_other_share_a_run(watch, sql):
    watch.run({second: partial(sql, "UPDATE article SET title = ?", str(second)) for second in range(5, 20)})
    assert watch.starts == [7, 10, 13, 16, 19]


def test_invisible_changes_do_not_run_the_command(watch, app, save):
    events = {
        2: lambda: save(article_json(1, views=1_000_000)),
        3: lambda: save(article_json(2, status="draft")),
        4: lambda: save(article_json(9), customer="Other"),
        5: lambda: create_key(app),
    }
    watch.run(events)
    assert watch.starts == []


def test_failing_command_runs_again_after_a_minute(watch):
    printed = watch.run({}, "--now", until=200, statuses=(1, 1, 0))
    assert watch.starts == [3, 65, 127]
    assert [line.split()[0] for line in printed.splitlines()] == ["Watching", "true", "true"]


@pytest.mark.parametrize(("changed", "started"), [(6, 10), (12, 14)])
def test_change_during_or_after_a_failure_is_not_kept_waiting(watch, save, changed, started):
    watch.run({changed: partial(save, article_json(2))}, "--now", takes=5, statuses=[1])
    assert watch.starts == [3, started]


def test_change_reverted_during_a_run_causes_another_run(watch, sql):
    statuses = {4: "draft", 5: "published"}
    events = {at: partial(sql, "UPDATE article SET status = ?", status) for at, status in statuses.items()}
    watch.run(events, "--now", takes=5)
    assert watch.starts == [3, 10]


@pytest.mark.sqlite
def test_watch_waits_for_a_missing_or_empty_database(watch, save, database, tmp_path):
    renamed = database.rename(tmp_path / "renamed.db")
    events = {3: lambda: renamed.rename(database), 6: lambda: database.rename(renamed)}
    events |= {9: events[3], 10: lambda: save(article_json(2)), 15: lambda: os.truncate(database, 0)}
    printed = watch.run(events)
    assert [line.split()[0] for line in printed.splitlines()] == ["Waiting", "Watching", "Waiting", "Waiting"]
    assert watch.starts == [12]
    assert database.stat().st_size == 0  # with new tables, the service would reject every key


def test_everything_that_the_api_shows_runs_the_command(watch, sql):
    """Structured data contains the site and the authors; lists may be ordered by `createdAt`."""
    changes = [f"UPDATE article SET {name} = '[]'" for name in ("authors", "keywords")]
    changes.append("""UPDATE article SET schema_markup = '{"@graph": []}'""")
    changes.append("UPDATE article SET created_at = '2020-01-01 00:00:00'")
    changes.append("UPDATE customer SET site = 'https://x.example/{slug}'")
    watch.run({5 * number: partial(sql, change) for number, change in enumerate(changes, start=1)})
    assert watch.starts == [7, 12, 17, 22, 27]


def test_watch_ends_if_its_customer_is_gone(watch, sql):
    printed = watch.run({3: lambda: sql("UPDATE customer SET name = 'Other'")}, ends_with=1)
    assert "There is no customer 'Acme'" in printed
    assert watch.starts == []


COMMAND = """
import json, sys, time, urllib.request
request = urllib.request.Request(sys.argv[1], headers={"x-api-key": sys.argv[2]})
with open(sys.argv[3], "a", buffering=1) as file:
    print(*[entry["url"] for entry in json.load(urllib.request.urlopen(request))["data"]], file=file)
    time.sleep(1)
    print("ended", file=file)
"""


def test_command_sees_the_change_and_survives_a_signal(site, tmp_path):
    """A terminal sends SIGINT to the process group, but it must not reach the command."""
    site.save(article_json(1))
    built, url = tmp_path / "built", f"http://{site.server.host}:{site.server.port}{SITEMAP}"
    command = sys.executable, "-c", COMMAND, url, site.key, str(built)
    arguments = "-m", "flask", "articles", "watch", "--customer", site.customer, "--", *command
    process = subprocess.Popen(**subprocess_args(site.server.database, *arguments), process_group=0)
    try:
        assert process.stderr.readline() == f"Watching the articles of {site.customer} (press Ctrl+C to stop)\n"
        site.save(article_json(2))
        wait_for(lambda: built.exists() and built.read_text(), lambda: "no run", 25)
        os.killpg(process.pid, signal.SIGINT)
        assert process.communicate(timeout=20) == ("", "")
    finally:
        process.kill()
    assert (process.returncode, built.read_text()) == (0, "slug-1 slug-2\nended\n")
