"""The README is true: its commands, variables, fields and examples are those of the code."""

import http.client
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from conftest import ENDPOINTS, LISTS, PROJECT, article, url_of

from app import SettingsSchema, create_app, read_settings
from models import Base
from schemas import SORT_COLUMNS, ArticleImportSchema, ArticlePreviewSchema, ArticleSchema, ListQuerySchema

README = (PROJECT / "README.md").read_text("utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def section(title):
    return re.split(r"^#+ ", README.split(f"# {title}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def names_in_table(text):
    """Give the names in code style in the first column of a table."""
    return [name for row in re.findall(r"^\| ([^|]*) \|", text, re.MULTILINE) for name in re.findall(r"`(.*?)`", row)]


def test_the_first_screen_has_both_commands_and_a_request():
    first_screen = "\n".join(README.splitlines()[:30])
    serve, ask, test = re.findall(r"```sh\n(.*?)\n```", first_screen, re.DOTALL)
    install = "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt && "
    assert serve == install + ".venv/bin/python seed.py --key demo-key && .venv/bin/python app.py"
    assert test == install + ".venv/bin/python -m pytest"
    assert ask.startswith("curl ")


def test_its_request_is_answered_after_its_commands(database, start, monkeypatch):
    """Seed and serve as the README does, on a port of the test's own, and send the request as printed."""
    serve, ask, _ = blocks("sh")[:3]
    seed = re.search(r"python (seed\.py .*?) &&", serve)[1]
    monkeypatch.setenv("DATABASE_URL", url_of(database))
    subprocess.run([sys.executable, *shlex.split(seed)], cwd=PROJECT, check=True, capture_output=True)
    server = start()
    _, option, header, url = shlex.split(ask)
    assert (option, url[:21]) == ("-H", "http://127.0.0.1:8000")
    connection = http.client.HTTPConnection(server.host, server.port)
    connection.request("GET", url[21:], headers=dict([header.split(": ")]))
    answer = json.load(connection.getresponse())
    connection.close()
    assert answer["meta"] == {"total": 120, "take": 3, "skip": 0}


def test_it_lists_each_setting_with_its_default():
    rows = re.findall(r"^\| `([A-Z_]+)` \| `?([^`|]*?)`? \|", section("Settings"), re.MULTILINE)
    assert [name for name, _ in rows] == list(SettingsSchema().fields)
    assert dict(rows) == {name: str(value or "none") for name, value in read_settings({}).items()}


def test_it_lists_each_endpoint():
    assert set(names_in_table(section("Endpoints"))) >= {*ENDPOINTS, "/healthz"}


def test_it_lists_each_parameter_with_its_default():
    rows = re.findall(r"^\| `(\w+)` \| (?:`([^`]*)`|none) \|", section("Endpoints"), re.MULTILINE)
    schema = ListQuerySchema()
    assert [name for name, _ in rows] == [field.data_key or name for name, field in schema.fields.items()]
    assert [default for _, default in rows] == [str(field.load_default) for field in schema.fields.values()]
    assert all(f"`{name}`" in section("Endpoints") for name in SORT_COLUMNS)


def test_it_lists_each_field():
    full = [field.data_key or name for name, field in ArticleSchema().fields.items()]
    table = section("Endpoints").split("A full article:")[1].split("A preview has")[0]
    assert names_in_table(table) == full
    sentence = re.search(r"A preview has (.*?)\.", section("Endpoints"), re.DOTALL)[1]
    preview = [field.data_key or name for name, field in ArticlePreviewSchema().fields.items()]
    assert re.findall(r"`(\w+)`", sentence) == preview


def test_its_example_of_an_error_is_what_the_service_answers(client):
    example = section("Errors").split("```json\n")[1].split("```")[0]
    assert client.get(LISTS[0] + "?take=0").get_json() == json.loads(example)


def test_its_loop_reads_every_article_once(app, save, server, key):
    save(*(article(number) for number in range(230)))
    (code,) = blocks("python")
    names = {}
    exec(code, names)  # noqa: S102
    articles = names["read_articles"](f"http://{server.host}:{server.port}", key)
    assert [each["id"] for each in articles] == [f"id-{number:04}" for number in range(229, -1, -1)]


def test_its_loop_ends_where_there_is_nothing(app, server, key):
    (code,) = blocks("python")
    names = {}
    exec(code, names)  # noqa: S102
    assert names["read_articles"](f"http://{server.host}:{server.port}", key) == []


@pytest.fixture
def run_lines(app, database, tmp_path):
    """Run a section's shell commands, each of which must succeed, in the test's folder; give what each printed."""
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "FLASK_APP": str(PROJECT / "app.py"),
        "DATABASE_URL": url_of(database),
    }

    def run_lines(title, replace=()):
        printed = []
        for line in section(title).split("```sh\n")[1].split("```")[0].splitlines():
            for old, new in replace:
                line = line.replace(old, new)
            result = subprocess.run(  # noqa: S602
                line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
            )
            assert result.returncode == 0, result.stderr
            printed.append(result.stdout)
        return printed

    return run_lines


def test_its_key_commands_work(run_lines):
    run_lines("Keys")


def test_its_daily_work_works(run_lines, server, key, tmp_path):
    """Import the README's example in each way that it names, then publish, schedule and unpublish it."""
    example = section("Your articles").split("```json\n")[1].split("```")[0]
    (tmp_path / "articles.json").write_text(example)
    line = json.dumps(json.loads(example)[0])
    (tmp_path / "articles.jsonl").write_text(line)
    for month in ("january", "february"):
        (tmp_path / f"{month}.jsonl").write_text(line.replace("spring-menu", month))
    there = [("https://other.example.com", f"http://{server.host}:{server.port}"), ("ITS_KEY", key)]
    assert run_lines("Your articles", there) == [
        "1 new, 0 changed, 0 unchanged\n",
        "2 new, 0 changed, 0 unchanged\n",
        "0 new, 0 changed, 1 unchanged\n",
        "0 new, 0 changed, 3 unchanged\n",
    ]
    listed, draft, published, scheduled = run_lines("Publish, schedule, unpublish")
    assert "published\t2026-03-01T07:00:00.000Z\tspring-menu\tOur spring menu\n" in listed
    assert draft == "spring-menu: draft\n"
    assert published == "spring-menu: published since 2026-03-01T07:00:00.000Z\n"
    assert scheduled == "spring-menu: scheduled for 2030-03-01T07:00:00.000Z\n"


def test_it_lists_each_field_of_an_import():
    known = {field.data_key or name for name, field in ArticleImportSchema().fields.items()}
    assert {name for name in names_in_table(section("Your articles")) if not name.startswith((".", "-"))} == known


def test_its_other_commands_exist():
    assert set(re.findall(r"python -m ([\w.]+)", README)) == {
        "benchmarks.imports",
        "benchmarks.inside",
        "benchmarks.served",
        "benchmarks.soak",
        "pytest",
    }
    commands = create_app().cli.commands
    for group, command in re.findall(r"flask (\w+) (\w+)", README):
        assert command in commands[group].commands


@pytest.mark.sqlite
def test_its_backup_can_be_restored(save, sql, tmp_path):
    """Back up while another connection holds changes in the log, lose the articles, restore."""
    save(article(1))
    backup, restore = (next(block for block in blocks("sh") if word in block) for word in ("VACUUM", "cp backup.db"))
    (tmp_path / "instance").mkdir()
    live = tmp_path / "instance" / "articles.db"
    sql(f"VACUUM INTO '{live}'")
    writer = sqlite3.connect(live, isolation_level=None)
    writer.execute("PRAGMA journal_mode = WAL")
    writer.execute("UPDATE article SET title = 'In the log'")
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    subprocess.run(backup, shell=True, cwd=tmp_path, env=environment, check=True)  # noqa: S602
    writer.execute("DELETE FROM article")
    writer.close()
    subprocess.run(restore, shell=True, cwd=tmp_path, check=True)  # noqa: S602
    with closing(sqlite3.connect(live)) as restored:
        assert restored.execute("SELECT title FROM article").fetchall() == [("In the log",)]
        assert restored.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize("table", ["customer", "api_key", "article"])
def test_it_names_the_tables(table):
    assert table in Base.metadata.tables
    assert f"`{table}`" in section("Operations")


def test_it_names_each_file_at_the_top():
    named = set(names_in_table(section("Where things are")))
    there = {path.name + "/" * path.is_dir() for path in PROJECT.iterdir() if path.suffix == ".py" or path.is_dir()}
    assert named == {name for name in there if not name.startswith((".", "__")) and name != "instance/"}
