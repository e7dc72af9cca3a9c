"""An owner's week, with the commands of docs/publish.md as they are printed there, beside a running service."""

import json
import os
import re
import shlex
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from helpers import (
    LISTS,
    PROJECT,
    SITEMAP,
    client_with_key,
    close,
    create_application,
    create_key,
    database_url,
    get,
    json_lines,
    minimal_json,
    run_command,
    run_line,
)

PAGE = (PROJECT / "docs/publish.md").read_text("utf-8")


def lines(title):
    """Return the commands of a section."""
    section = PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.search(r"```sh\n(.*?)```", section, re.DOTALL)[1].splitlines()


@pytest.fixture
def week(app, server, tmp_path, monkeypatch):
    """Return functions that run a line, and that read the slugs, titles and bytes that the site is sent."""
    monkeypatch.chdir(tmp_path)
    key = create_key(app, "My Site")
    articles = [minimal_json(number) for number in range(3)] + [
        minimal_json(3, slug="spring-menu", title="Our spring mneu")
    ]
    imported = run_command(app, "articles", "import", "-", input=json_lines(articles))
    assert imported.stdout == "4 new, 0 changed, 0 unchanged (new: 4 published)\n"

    def shown(key=key):
        return [get(server, f"{path}?take=100", x_api_key=key).body for path in (*LISTS, SITEMAP)]

    return partial(run_line, app), shown, key


def titles(shown):
    return {article["slug"]: article["title"] for article in json.loads(shown()[0])["data"]}


def test_a_day_of_publishing_editing_and_deleting(week, tmp_path):
    run, shown, _ = week
    commands = lines("Publish, schedule, unpublish")
    listed, unpublished, published, scheduled = [(run(line), "spring-menu" in titles(shown)) for line in commands]
    assert "published\t2026-01-31T09:30:00.000Z\tspring-menu\tOur spring mneu" in listed[0]
    assert unpublished == ("spring-menu: draft\n", False)
    assert published == ("spring-menu: published since 2026-01-31T09:30:00.000Z\n", True)
    replaced = "(replaces 2026-01-31T09:30:00.000Z)"
    assert scheduled == (f"spring-menu: scheduled for 2030-03-01T07:00:00.000Z {replaced}\n", False)
    run("flask articles publish spring-menu --at 2026-01-31T09:30:00Z")

    editor = tmp_path / "editor.py"
    for old, new in (("mneu", "menu"), ("slug: spring-menu", "slug: menu-2026")):
        editor.write_text(
            "import pathlib, sys\nfile = pathlib.Path(sys.argv[1])\n"
            f"file.write_text(file.read_text().replace({old!r}, {new!r}))\n"
        )
        (line,) = lines("Fix a typo, rename a slug")
        assert run(line, EDITOR=f"{sys.executable} {editor}", VISUAL="") == "spring-menu: changed\n"
    assert titles(shown)["menu-2026"] == "Our spring menu"
    (article,) = [article for article in json.loads(shown()[0])["data"] if article["slug"] == "menu-2026"]
    assert article["metaTitle"] == article["schemaMarkup"]["@graph"][0]["headline"] == "Our spring menu"
    assert article["id"] == "id-0003"
    assert b'{"url":"menu-2026","lastmod":"%s"}' % str(datetime.now(UTC).date()).encode() in shown()[2]

    (line,) = lines("Delete")
    run(line.replace("spring-menu", "slug-1"))
    assert set(titles(shown)) == {"slug-0", "slug-2", "menu-2026"}


@pytest.mark.slow
def test_export_moves_to_another_machine(week, tmp_path):
    run, shown, _ = week
    _, dry_run, again = map(run, lines("Change many articles at once"))
    assert dry_run == "0 new, 0 changed, 4 unchanged (dry run: nothing was written)\n"
    assert again == "0 new, 0 changed, 4 unchanged\n"
    other = create_application(tmp_path / "other.db")
    key, imported = (run_line(other, line) for line in lines("Move to another machine, or to PostgreSQL"))
    assert imported == "4 new, 0 changed, 0 unchanged (new: 4 published)\n"
    client = client_with_key(other, key.strip())
    assert [client.get(f"{path}?take=100").data for path in (*LISTS, SITEMAP)] == shown()
    close(other)


@pytest.mark.slow
def test_mirror_equals_its_source(week, server, tmp_path):
    _, shown, key = week
    mirror = create_application(tmp_path / "mirror.db")
    client = client_with_key(mirror, create_key(mirror, "My Site"))
    (line,) = lines("Mirror another instance")
    line = line.replace("https://other.example.com", f"http://{server.host}:{server.port}").replace("ITS_KEY", key)
    run_line(mirror, line)
    assert [client.get(f"{path}?take=100").data for path in (*LISTS, SITEMAP)] == shown()
    close(mirror)


@pytest.mark.slow
def test_site_is_built_for_a_scheduled_article(week, app, server, database, tmp_path):
    run, _, key = week
    (line,) = lines("Build a static site when it should be")
    url = f"http://{server.host}:{server.port}{SITEMAP}"
    script = tmp_path / "build.py"
    script.write_text(
        "import sys, urllib.request\n"
        f"request = urllib.request.Request({url!r}, headers={{'x-api-key': {key!r}}})\n"
        f"open({str(tmp_path / 'sitemap.json')!r}, 'wb').write(urllib.request.urlopen(request).read())\n"
    )
    arguments = shlex.split(line.replace("npm run build", f"{sys.executable} {script}"))[1:]
    environment = os.environ | {"DATABASE_URL": database_url(database)}
    command = [sys.executable, "-m", "flask", "--app", str(PROJECT / "app.py"), *arguments]
    watch = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert watch.stderr.readline() == "Watching the articles of My Site (Ctrl+C stops)\n"
    due = datetime.now(UTC) + timedelta(seconds=2)
    run(f"flask articles publish spring-menu --at {due:%Y-%m-%dT%H:%M:%SZ}")
    deadline = datetime.now(UTC) + timedelta(seconds=15)
    built = tmp_path / "sitemap.json"
    while not (built.exists() and b"spring-menu" in built.read_bytes()):
        assert datetime.now(UTC) < deadline
    watch.terminate()
    assert watch.wait(timeout=10) == 0
    watch.stderr.close()
