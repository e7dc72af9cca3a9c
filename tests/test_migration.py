"""The upgrade of a database of 3.0.0 (schema version 6), by commands and by a restore."""

import re
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import helpers
import pytest
from flask import Flask
from helpers import LISTS, POSTGRESQL, client_with_key, close, run_command, run_sql, wait_for

from storage.database_setup import prepare_database
from storage.tables import SCHEMA_VERSION

VERSIONS = helpers.PROJECT / "tests" / "versions"
DUMP = (VERSIONS / f"6.{'postgresql' if POSTGRESQL else 'sqlite'}.sql").read_text("utf-8")
ARTICLES = (VERSIONS / "6.json").read_bytes()  # what 3.0.0 sent
KEY = "version-6-key"
only_postgresql = pytest.mark.skipif(not POSTGRESQL, reason="only for PostgreSQL")

# tables, constraints and indexes, regardless of the order of creation and of gaps that dropped columns left
SCHEMA = (
    """
    SELECT table_name, column_name, data_type, column_default, is_nullable, collation_name
      FROM information_schema.columns WHERE table_schema = 'public'
    UNION SELECT conname, pg_get_constraintdef(oid), '', '', '', '' FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace
    UNION SELECT indexname, indexdef, '', '', '', '' FROM pg_indexes WHERE schemaname = 'public'
    UNION SELECT sequencename, data_type::text, '', '', '', '' FROM pg_sequences
    """
    if POSTGRESQL
    else "SELECT type, name, tbl_name, sql FROM sqlite_schema"
)


def execute_script(database: Path, script: str) -> None:
    if POSTGRESQL:
        with helpers.psycopg.connect(helpers.database_url(database).replace("+psycopg", "")) as connection:
            connection.execute(script)
    else:
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.executescript(script)


@pytest.fixture
def older(database: Path) -> Iterator[Callable[..., Flask]]:
    """Create a database of 3.0.0, run a script on it, and return an application."""
    app = helpers.create_application(database)

    def older(script: str = "") -> Flask:
        execute_script(database, DUMP + script)
        return app

    yield older
    close(app)


def test_upgraded_database_sends_the_same_bytes(older, sql, template):
    app = older()
    result = run_command(app, "keys", "list")
    assert (result.exit_code, result.stdout) == (0, "1\tSöhne & <Co>\tver…\t2026-01-31\tnever\tactive\n")
    assert re.search(rf"Upgraded the tables in .+ from version 6 to {SCHEMA_VERSION}\.\n", result.stderr)
    assert set(sql(SCHEMA)) == set(run_sql(template, SCHEMA))
    assert client_with_key(app, KEY).get(LISTS[0]).data == ARTICLES
    exported = run_command(app, "articles", "export", "--all-fields")
    again = run_command(app, "articles", "import", "-", input=exported.stdout)
    assert again.stdout == "0 new, 0 changed, 13 unchanged\n"
    helpers.create_key(app, "Next")  # the database once had a customer 2 and a key 2, whose ids are not reused
    assert sql("SELECT max(customer_id), max(id) FROM api_key") == [(3, 3)]


# the articles in the dump: slug -> status, source, key, whether the text and the publication are yours
UPGRADED = {
    "own": ("published", None, None, False, False),
    "own-draft": ("draft", None, None, False, True),
    "unknown": ("published", None, None, False, False),
    "agreed": ("published", "wordpress:example.com/blog", "17", False, False),
    "edited": ("published", "markdown", "2026/menu", True, False),
    "waiting": ("pending", "csv", "waiting", False, False),
    "withheld": ("draft", "csv", "withheld", False, False),
    "hidden-here": ("draft", "csv", "hidden-here", False, True),
    "published-here": ("published", "csv", "published-here", False, True),
    "scheduled": ("published", "ghost", "1", False, False),
    "scheduled-here": ("published", "ghost", "2", False, True),
    "dated-here": ("published", "ghost", "3", False, True),
    "pending-dated-here": ("pending", "ghost", "4", False, True),
}


def test_upgrade_says_what_is_yours(older, sql):
    """It counts that, and the articles whose source is unknown."""
    script = "UPDATE article SET published_at = NULL WHERE slug = 'pending-dated-here';"  # differs from the source's
    printed = run_command(older(script), "articles", "list").stderr
    columns = "slug, status, source, source_key, text_edited, publication_edited"
    rows = {slug: (*row, bool(text), bool(date)) for slug, *row, text, date in sql(f"SELECT {columns} FROM article")}
    assert rows == UPGRADED
    assert re.search("publication of 5 and the text of 1 ", printed)
    assert re.search("^1 article.*3.0.0", printed, re.MULTILINE)


@pytest.mark.sqlite
def test_backup_of_the_previous_version_is_upgraded(older, run, client, database):
    older_backup = database.with_name("older.db")
    execute_script(older_backup, DUMP)
    before = older_backup.read_bytes()
    result = run("database", "restore", older_backup, "--yes")
    assert result.exit_code == 0
    assert f"from version 6 to {SCHEMA_VERSION}." in result.stderr
    client.environ_base["HTTP_X_API_KEY"] = KEY
    assert client.get(LISTS[0]).data == ARTICLES
    assert older_backup.read_bytes() == before


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("UPDATE tables_version SET number = 5", "Install 3.0.0 first"),
        (f"UPDATE tables_version SET number = {SCHEMA_VERSION + 1}", f"version {SCHEMA_VERSION + 1}"),
        ("DROP TABLE tables_version", "tables of another program"),
        ("DROP TABLE article", ": article."),
    ],
)
def test_impossible_upgrade_changes_nothing(older, sql, script, words):
    """The message names the version or the table."""
    app = older(f"{script};")
    before = set(sql(SCHEMA))
    for _ in range(2):
        helpers.assert_rejected(run_command(app, "articles", "list"), words)
    assert set(sql(SCHEMA)) == before
    assert sql("SELECT count(*) FROM customer") == [(1,)]


def open_tables(app: Flask) -> list[str]:
    """Upgrade the tables if necessary, in any thread; return the messages about it."""
    with app.app_context():
        return prepare_database()


WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


@only_postgresql
@pytest.mark.parametrize("began_with", ["SELECT 1 FROM customer", "LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE"])
def test_upgrade_waits_for_earlier_transactions(older, database, began_with):
    """They can still read every table: if the upgrade moved it into another file, they would see it empty."""
    app = older()
    file = "SELECT pg_relation_filenode('article'::regclass)"
    before = run_sql(database, file)
    with ThreadPoolExecutor(1) as pool, closing(helpers.connect_as_another_tool(database)) as other:
        other.execute(began_with)
        upgrade = pool.submit(open_tables, app)
        wait_for(lambda: run_sql(database, WAITING) == [(1,)], lambda: "The upgrade does not wait.", 60)
        for table in ("customer", "api_key", "article"):
            assert other.execute(f"SELECT 1 FROM {table}").fetchall()
        other.rollback()
        assert "Upgraded" in upgrade.result()[0]
    assert run_sql(database, file) == before
