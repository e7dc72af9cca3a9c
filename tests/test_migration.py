"""Upgrades of databases of earlier versions, by commands and by a restore."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

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
    psycopg,
    run_command,
    run_sql,
)
from sqlalchemy import Column, Integer, Table

from models import db
from storage import migration

VERSIONS = PROJECT / "tests" / "versions"
ENGINE = "postgresql" if POSTGRESQL else "sqlite"
SCRIPTS = {version: (VERSIONS / f"{version}.{ENGINE}.sql").read_text("utf-8") for version in (2, 3)}
RESPONSE = (VERSIONS / "2.json").read_bytes()  # the same in versions 1.0.0 and 1.1.0
KEY = "version-2-key"
of_each_version = pytest.mark.parametrize("version", SCRIPTS)

# tables, constraints and indexes, regardless of the order of creation
SCHEMA = (
    """
    SELECT table_name, ordinal_position, column_name, data_type, column_default, is_nullable, collation_name
      FROM information_schema.columns WHERE table_schema = 'public'
    UNION SELECT conname, 0, pg_get_constraintdef(oid), '', '', '', '' FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace
    UNION SELECT indexname, 0, indexdef, '', '', '', '' FROM pg_indexes WHERE schemaname = 'public'
    UNION SELECT sequencename, 0, data_type::text, '', '', '', '' FROM pg_sequences
    """
    if POSTGRESQL
    else "SELECT type, name, tbl_name, sql FROM sqlite_schema"
)


def execute_script(database: Path, script: str) -> None:
    if POSTGRESQL:
        with psycopg.connect(database_url(database).replace("+psycopg", "")) as connection:
            connection.execute(script)
    else:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.executescript(script)


@pytest.fixture
def older(database: Path) -> Iterator[Callable[..., Flask]]:
    """Create a database of an earlier version, run a script on it, and return an application."""
    app = create_application(database)

    def older(version: int, script: str = "") -> Flask:
        execute_script(database, SCRIPTS[version] + script)
        return app

    yield older
    close(app)


@of_each_version
def test_upgraded_database_sends_the_same_responses(older, sql, version, template):
    app = older(version)
    result = run_command(app, "keys", "list")
    assert (result.exit_code, result.stdout) == (0, "1\tSöhne & <Co>\tver…\t2026-01-31\tnever\tactive\n")
    assert re.search(rf"Upgraded the tables in .+ from version {version} to 4\.\n", result.stderr)
    assert set(sql(SCHEMA)) == set(run_sql(template, SCHEMA))
    assert client_with_key(app, KEY).get(LISTS[0]).data == RESPONSE
    assert sql("SELECT id FROM article WHERE schema_markup IS NOT NULL") == [("a-3",)]
    assert sql("SELECT number FROM tables_version") == [(4,)]
    exported = run_command(app, "articles", "export", "--all-fields")
    again = run_command(app, "articles", "import", "-", input=exported.stdout)
    assert again.stdout == "0 new, 0 changed, 5 unchanged\n"


def without_order(schema: list[tuple[object, ...]]) -> set[frozenset[str]]:
    """Return the schema regardless of the order and the generated names of constraints."""
    return {
        frozenset(re.sub(r"_check\d+$", "_check", line.strip(" ,")) for line in "\n".join(map(str, row)).split("\n"))
        for row in schema
    }


def test_schema_is_that_of_version_4(database, sql, template):
    """If this fails, the tables have changed and TABLES_VERSION must be increased."""
    execute_script(database, (VERSIONS / f"4.{ENGINE}.sql").read_text("utf-8"))
    assert without_order(sql(SCHEMA)) == without_order(run_sql(template, SCHEMA))
    app = create_application(database)
    assert run_command(app, "keys", "list").stderr == ""
    assert client_with_key(app, KEY).get(LISTS[0]).data == RESPONSE
    close(app)


@pytest.mark.parametrize(("version", "expected"), [(2, [(2, 2), (3, 3)]), (3, [(3, 4), (4, 5)])])
def test_ids_of_customers_and_keys_are_never_reused(older, sql, version, expected):
    """A key id in the log must stay unique even after keys and customers are deleted.

    The database of version 3 once had a customer 2 and keys 2 and 3.
    """
    app, ids = older(version), []
    for name in ("First", "Second"):
        create_key(app, name)
        ids += sql("SELECT max(customer_id), max(id) FROM api_key")
        assert run_command(app, "customers", "delete", name, "--yes").exit_code == 0
    assert ids == expected


@pytest.mark.sqlite
def test_upgrade_preserves_rows_of_foreign_tables(older, sql):
    app = older(
        3,
        "CREATE TABLE comment (text TEXT, customer_id INTEGER REFERENCES customer (id) ON DELETE CASCADE);"
        "INSERT INTO comment VALUES ('Nice', 1);",
    )
    assert run_command(app, "articles", "list").exit_code == 0
    joined = sql("SELECT text, name FROM comment JOIN customer ON customer.id = customer_id")
    assert joined == [("Nice", "Söhne & <Co>")]
    ((table,),) = sql("SELECT sql FROM sqlite_schema WHERE name = 'comment'")
    assert "REFERENCES customer (id)" in table


@pytest.mark.sqlite
@of_each_version
def test_backup_of_an_earlier_version_is_upgraded(older, run, client, database, version):
    older_backup = database.with_name("older.db")
    execute_script(older_backup, SCRIPTS[version])
    before = older_backup.read_bytes()
    result = run("database", "restore", older_backup, "--yes")
    assert result.exit_code == 0
    assert f"the copy of {older_backup} from version {version} to 4." in result.stderr
    client.environ_base["HTTP_X_API_KEY"] = KEY
    assert client.get(LISTS[0]).data == RESPONSE
    assert older_backup.read_bytes() == before


UNCHECKED = ("" if POSTGRESQL else "PRAGMA ignore_check_constraints = ON;") + (
    "UPDATE article SET schema_markup_generated = (1 = 0), {} WHERE pk IN (3, 4)"
)
REJECTED = [
    (2, "UPDATE tables_version SET number = 1", "version 1, but this release only supports versions 2 to 4"),
    (2, "DROP TABLE tables_version", "tables of another program"),
    *((version, "DROP TABLE article", ": article.") for version in SCRIPTS),
    *((version, "ALTER TABLE article ADD COLUMN note TEXT", "column note of article") for version in SCRIPTS),
    # version 2 had fewer constraints on PostgreSQL; on SQLite another tool can disable them
    (2, UNCHECKED.format("keywords = '{}'"), "row of article ("),
    (2, UNCHECKED.format("schema_markup = '[]'"), "row of article ("),
    (2, UNCHECKED.format("updated_at = 'infinity'" if POSTGRESQL else "title = x'ff00'"), "row of article ("),
]


@pytest.mark.parametrize(("version", "script", "reason"), REJECTED)
def test_impossible_upgrade_changes_nothing(older, sql, version, script, reason):
    """For example, if the database is from before 1.0.0, or if the upgrade would drop a column."""
    app = older(version, f"{script};")
    before = set(sql(SCHEMA))
    for _ in range(2):
        result = run_command(app, "articles", "list")
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert reason in result.stderr
    assert set(sql(SCHEMA)) == before
    assert sql("SELECT count(*) FROM customer") == [(1,)]


def test_renamed_and_dropped_columns_are_upgraded(older, sql, monkeypatch):
    app = older(
        3,
        "ALTER TABLE article RENAME COLUMN category TO section; UPDATE article SET section = 'Teas';"
        "ALTER TABLE article ADD COLUMN note TEXT;",
    )
    monkeypatch.setitem(migration.RENAMED, 4, {"article.section": "category"})
    monkeypatch.setitem(migration.DROPPED, 4, {"article.note"})
    assert run_command(app, "keys", "list").exit_code == 0
    assert sql("SELECT DISTINCT category FROM article") == [("Teas",)]


def test_new_table_is_empty_after_an_upgrade(older, sql):
    app = older(3)
    table = Table("tag", db.metadata, Column("id", Integer, primary_key=True))
    try:
        assert run_command(app, "keys", "list").exit_code == 0
    finally:
        db.metadata.remove(table)
    assert sql("SELECT count(*) FROM tag") == [(0,)]
