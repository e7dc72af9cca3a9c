"""Databases of earlier versions: the first command, the service and a restore upgrade their tables."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from helpers import (
    LISTS,
    POSTGRESQL,
    PROJECT,
    client_with_key,
    close,
    create_application,
    create_key,
    database_url,
    get,
    psycopg,
    run_command,
)

VERSIONS = PROJECT / "tests" / "versions"
VERSION_2 = (VERSIONS / f"2.{'postgresql' if POSTGRESQL else 'sqlite'}.sql").read_text("utf-8")
RESPONSE_2 = (VERSIONS / "2.json").read_bytes()  # of version 2 itself, for these articles
VERSION_1 = """
    ALTER TABLE article RENAME COLUMN schema_markup_generated TO markup_is_made;
    ALTER TABLE api_key RENAME COLUMN prefix TO first_characters;
    UPDATE tables_version SET number = 1;
"""
KEY = "version-2-key"


def execute_script(database: Path, script: str) -> None:
    if POSTGRESQL:
        with psycopg.connect(database_url(database).replace("+psycopg", "")) as connection:
            connection.execute(script)
    else:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.executescript(script)


@pytest.fixture
def older(database: Path) -> Iterator[Callable[[str], Flask]]:
    """Create a database of version 2 that a script then changes; return the application on it."""
    with ExitStack() as stack:

        def older(script: str = "") -> Flask:
            execute_script(database, VERSION_2 + script)
            app = create_application(database)
            stack.callback(close, app)
            return app

        yield older


def given(sql: Callable[..., list[Any]]) -> list[str]:
    """Return the ids of the articles whose structured data is stored."""
    return [id for (id,) in sql("SELECT id FROM article WHERE schema_markup IS NOT NULL ORDER BY id")]


def test_upgraded_database_gives_the_same_responses(older, sql):
    app = older()
    result = run_command(app, "keys", "list")
    assert (result.exit_code, result.stdout) == (0, "1\tSöhne & <Co>\tver…\t2026-01-31\tnever\tactive\n")
    client = client_with_key(app, KEY)
    assert client.get(LISTS[0]).data == RESPONSE_2
    assert given(sql) == ["a-3"]
    assert sql("SELECT number FROM tables_version") == [(3,)]
    exported = run_command(app, "articles", "export", "--all-fields")
    again = run_command(app, "articles", "import", "-", input=exported.stdout)
    assert again.stdout == "0 new, 0 changed, 5 unchanged\n"


def test_upgraded_structured_data_follows_its_article(older, sql):
    app = older()
    client = client_with_key(app, KEY)
    assert run_command(app, "customers", "rename", "Söhne & <Co>", "Bolt").stdout.startswith("Renamed ")
    assert run_command(app, "articles", "publish", "tea", "--at", "2020-01-01T00:00:00Z").exit_code == 0
    sql("UPDATE article SET title = 'Coffee' WHERE id = 'a-1'")
    graph = client.get(LISTS[0]).get_json()["data"][-1]["schemaMarkup"]["@graph"][0]
    assert (graph["headline"], graph["publisher"]["name"]) == ("Coffee", "Bolt")
    assert graph["datePublished"] == "2020-01-01T00:00:00.000Z"


def test_structured_data_of_other_tools_outlives_the_upgrade(older, sql):
    """What counts is whether it is just what would be generated, not what version 2 has noted about it."""
    recipe = '{"@context": "https://schema.org", "@graph": [{"@type": "Recipe"}]}'
    app = older(
        f"UPDATE article SET schema_markup = '{recipe}' WHERE id = 'a-2';"
        "UPDATE article SET schema_markup_generated = (1 = 0);"
        "UPDATE article SET schema_markup_generated = (1 = 1) WHERE id = 'a-2';"
    )
    assert run_command(app, "articles", "list").exit_code == 0
    assert given(sql) == ["a-2", "a-3"]


@pytest.mark.sqlite
def test_upgrade_keeps_the_references_of_others(older, sql):
    app = older(
        "CREATE TABLE comment (text TEXT, customer_id INTEGER REFERENCES customer (id) ON DELETE CASCADE);"
        "INSERT INTO comment VALUES ('Nice', 1);"
        "CREATE VIEW names AS SELECT name FROM customer;"
        "CREATE TRIGGER ignored INSTEAD OF INSERT ON names BEGIN SELECT 1; END;"
    )
    assert run_command(app, "articles", "list").exit_code == 0
    assert sql("SELECT text, name FROM comment JOIN customer ON customer.id = customer_id") == [
        ("Nice", "Söhne & <Co>")
    ]
    sql("INSERT INTO names VALUES ('Nobody')")
    ((table,),) = sql("SELECT sql FROM sqlite_schema WHERE name = 'comment'")
    assert "REFERENCES customer (id)" in table


@pytest.mark.slow
def test_service_upgrades_an_older_database(older, start, sql):
    older()
    server = start()
    assert get(server, LISTS[0], **{"x-api-key": KEY}).body == RESPONSE_2
    assert sql("SELECT number FROM tables_version") == [(3,)]


@pytest.mark.sqlite
def test_backup_of_an_earlier_version_is_upgraded(older, run, client, database):
    older_backup = database.with_name("older.db")
    execute_script(older_backup, VERSION_2)
    before = older_backup.read_bytes()
    assert run("database", "restore", older_backup, "--yes").exit_code == 0
    client.environ_base["HTTP_X_API_KEY"] = KEY
    assert client.get(LISTS[0]).data == RESPONSE_2
    assert older_backup.read_bytes() == before


@pytest.mark.parametrize("script", [VERSION_1, f"{VERSION_1} DROP TABLE tables_version;"])
def test_database_from_before_1_0_0_is_refused(older, sql, script):
    app = older(script)
    for _ in range(2):
        result = run_command(app, "articles", "list")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == (
            "Error: A version of this service before 1.0.0 made the database. Upgrade to version 1.0.0 first: install "
            "it, and start it once.\n"
        )
    assert sql("SELECT count(first_characters) FROM api_key") == [(1,)]


def test_ids_of_customers_and_keys_are_never_used_again(older, sql):
    """A line of the log means one key, also after customers and their keys are deleted."""
    app = older()
    ids = []
    for name in ("First", "Second"):
        create_key(app, name)
        ids += sql(
            "SELECT customer.id, api_key.id FROM api_key JOIN customer ON customer_id = customer.id WHERE name = ?",
            name,
        )
        assert run_command(app, "customers", "delete", name, "--yes").exit_code == 0
    assert ids == [(2, 2), (3, 3)]


SQLITE_DAMAGE = ["keywords = 'oops'", "keywords = '{}'", "schema_markup = '{}'", "updated_at = 'yesterday'"]
POSTGRESQL_DAMAGE = ["keywords = 'oops'", "keywords = '[1]'", "schema_markup = '{}'", "updated_at = 'infinity'"]


@pytest.mark.parametrize("assignment", POSTGRESQL_DAMAGE if POSTGRESQL else SQLITE_DAMAGE)
def test_article_that_cannot_be_upgraded_changes_nothing(older, sql, assignment):
    ignore = "" if POSTGRESQL else "PRAGMA ignore_check_constraints = ON;"
    app = older(f"{ignore} UPDATE article SET {assignment} WHERE pk IN (3, 4);")
    for _ in range(2):
        result = run_command(app, "articles", "list")
        assert (result.exit_code, result.stdout) == (1, "")
        assert re.fullmatch(r"Error: A row cannot be upgraded \(.+\). Correct it, and try again.\n", result.stderr)
    assert sql("SELECT number FROM tables_version") == [(2,)]


@pytest.mark.sqlite
def test_upgrade_keeps_triggers_views_and_indexes_of_others(older, sql):
    names = {"changes", "titles", "by_title"}
    app = older(
        "CREATE VIEW titles AS SELECT title FROM article;"
        "CREATE TABLE log (title); CREATE INDEX by_title ON article (title);"
        "CREATE TRIGGER changes AFTER UPDATE ON article BEGIN INSERT INTO log VALUES (new.title); END;"
    )
    assert run_command(app, "articles", "unpublish", "tea").exit_code == 0
    assert {name for (name,) in sql("SELECT name FROM sqlite_schema")} >= names
    assert sql("SELECT title FROM log") == [("Tea",)]
    assert len(sql("SELECT * FROM titles")) == 5
