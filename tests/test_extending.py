"""Applications that others extend or combine, and what they load."""

import subprocess
import sys

import pytest
from flask import g, request
from helpers import (
    ENDPOINTS,
    LISTS,
    PROJECT,
    application,
    article_json,
    client_with_key,
    create_key,
    save_articles,
    titles,
)

PREVIEW = LISTS[1]


@pytest.mark.parametrize("path", ENDPOINTS)
def test_hooks_run_for_hits_misses_and_304s(app, client, save, path):
    save(article_json(1))
    seen = []

    @app.before_request
    def note_request():
        seen.append((request.host, request.args.get("utm")))

    @app.after_request
    def add_header(response):
        value = f"{g.key_owner.name} {request.host}"
        response.headers.add("X-Request", value)  # must not get into the cache
        return response

    first = client.get(path, query_string={"utm": "1"}, headers={"Host": "a.example"})
    hit = client.get(path, query_string={"utm": "2"}, headers={"Host": "b.example"})
    unchanged = client.get(path, headers={"Host": "c.example", "If-None-Match": hit.headers["ETag"]})
    assert seen == [("a.example", "1"), ("b.example", "2"), ("c.example", None)]
    added = [response.headers.getlist("X-Request") for response in (first, hit, unchanged)]
    assert added == [["Acme a.example"], ["Acme b.example"], ["Acme c.example"]]
    assert (hit.data, unchanged.status_code) == (first.data, 304)


@pytest.mark.sqlite
def test_two_applications_share_no_keys_and_no_cache(tmp_path):
    """Their databases are alike and therefore at the same version."""
    with application(tmp_path / "0.db") as first, application(tmp_path / "1.db") as second:
        keys = [create_key(app) for app in (first, second)]
        for number, app in enumerate((first, second)):
            save_articles(app, article_json(number))
        for number, app in [(0, first), (1, second)] * 3:
            assert titles(client_with_key(app, keys[number])) == [f"Title {number}"]
            assert client_with_key(app, keys[1 - number]).get(PREVIEW).status_code == 401


def test_serving_loads_no_converter_and_no_command():
    program = "import sys, app; app.create_app(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True).stdout.split()
    commands = {f"commands.{path.stem}" for path in PROJECT.glob("commands/*.py")} - {"commands.__init__"}
    assert "endpoints.articles" in loaded
    assert not commands.intersection(loaded)
    assert not [name for name in loaded if name.startswith(("converters", "transfer."))]
