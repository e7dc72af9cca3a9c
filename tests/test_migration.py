"""Upgrades of databases of earlier versions, by commands and by a restore."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Barrier
from typing import Any

import helpers
import pytest
from flask import Flask
from helpers import ENDPOINTS, LISTS, POSTGRESQL, client_with_key, close, run_command, run_sql, wait_for
from sqlalchemy import event

from app import create_app
from models import db
from storage import database as storage_database
from storage.database import prepare_database
from storage.tables import TABLES_VERSION
from storage.versions import CHANGES

VERSIONS = helpers.PROJECT / "tests" / "versions"
ENGINE = "postgresql" if POSTGRESQL else "sqlite"
SCRIPTS = {int(path.name.split(".")[0]): path.read_text("utf-8") for path in VERSIONS.glob(f"*.{ENGINE}.sql")}
ARTICLES = json.loads((VERSIONS / "2.json").read_text("utf-8"))["data"]  # a version may add fields, but change none
KEY = "version-2-key"
DATABASE_ERROR = helpers.psycopg.Error if POSTGRESQL else sqlite3.IntegrityError
of_each_version = pytest.mark.parametrize("version", range(2, TABLES_VERSION))
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
    """Create a database of an earlier version, run a script on it, and return an application."""
    app = helpers.create_application(database)

    def older(version: int, script: str = "") -> Flask:
        execute_script(database, SCRIPTS[version] + script)
        return app

    yield older
    close(app)


def assert_same_articles(body: bytes) -> None:
    sent = json.loads(body)["data"]
    assert [new | old for new, old in zip(sent, ARTICLES, strict=True)] == sent


@of_each_version
def test_upgraded_database_sends_the_same_articles(older, sql, version, template):
    app = older(version)
    result = run_command(app, "keys", "list")
    assert (result.exit_code, result.stdout) == (0, "1\tSöhne & <Co>\tver…\t2026-01-31\tnever\tactive\n")
    assert re.search(rf"Upgraded the tables in .+ from version {version} to {TABLES_VERSION}\.\n", result.stderr)
    assert set(sql(SCHEMA)) == set(run_sql(template, SCHEMA))
    assert_same_articles(client_with_key(app, KEY).get(LISTS[0]).data)
    assert sql("SELECT id FROM article WHERE schema_markup IS NOT NULL") == [("a-3",)]
    assert sql("SELECT number FROM tables_version") == [(TABLES_VERSION,)]
    exported = run_command(app, "articles", "export", "--all-fields")
    again = run_command(app, "articles", "import", "-", input=exported.stdout)
    assert again.stdout == "0 new, 0 changed, 5 unchanged\n"


def without_order(schema: list[tuple[object, ...]]) -> set[frozenset[str]]:
    """Return the schema regardless of the order and the generated names of constraints."""
    return {
        frozenset(re.sub(r"_check\d+$", "_check", line.strip(" ,")) for line in "\n".join(map(str, row)).split("\n"))
        for row in schema
    }


def test_schema_is_that_of_the_current_version(database, sql, template):
    """If this fails, the tables have changed, and CHANGES needs another version."""
    unreleased = re.split(r"^## \[\d", helpers.read_page("CHANGELOG"), maxsplit=1, flags=re.MULTILINE)[0]
    if TABLES_VERSION not in SCRIPTS and f"tables change to version {TABLES_VERSION}" in unreleased:
        pytest.skip("A release adds the dump.")
    execute_script(database, SCRIPTS[TABLES_VERSION])
    assert without_order(sql(SCHEMA)) == without_order(run_sql(template, SCHEMA))
    app = helpers.create_application(database)
    assert run_command(app, "keys", "list").stderr == ""
    assert_same_articles(client_with_key(app, KEY).get(LISTS[0]).data)
    close(app)


def test_stored_articles_get_an_unknown_origin(older, sql):
    """Statuses and dates stay. A pending article was published by its source."""
    app = older(5, "UPDATE article SET status = 'pending' WHERE id = 'a-1';")
    assert run_command(app, "articles", "list").exit_code == 0
    rows = sql("SELECT id, status, claim FROM article ORDER BY id")
    others = [(id, "published", None) for id in ("a-2", "a-3")]
    assert rows == [("a-1", "pending", "published"), *others, ("a-4", "draft", None), ("a-5", "published", None)]
    assert sql("SELECT DISTINCT origin, claimed_at, edited FROM article") == [("?", None, False)]


@pytest.mark.parametrize(("version", "expected"), [(2, [(2, 2), (3, 3)]), (4, [(3, 4), (4, 5)])])
def test_ids_of_customers_and_keys_are_never_reused(older, sql, version, expected):
    """A key id in the log must stay unique. The database of version 4 once had a customer 2 and keys 2 and 3."""
    app, ids = older(version), []
    for name in ("First", "Second"):
        helpers.create_key(app, name)
        ids += sql("SELECT max(customer_id), max(id) FROM api_key")
        assert run_command(app, "customers", "delete", name, "--yes").exit_code == 0
    assert ids == expected


@pytest.mark.sqlite
def test_upgrade_preserves_foreign_tables_and_views(older, sql):
    app = older(
        3,
        "CREATE TABLE comment (text TEXT, customer_id INTEGER REFERENCES customer (id) ON DELETE CASCADE);"
        "CREATE VIEW title AS SELECT title FROM article;"
        "INSERT INTO comment VALUES ('Nice', 1);",
    )
    assert run_command(app, "articles", "list").exit_code == 0
    joined = sql("SELECT text, name FROM comment JOIN customer ON customer.id = customer_id")
    assert joined == [("Nice", "Söhne & <Co>")]
    ((table,),) = sql("SELECT sql FROM sqlite_schema WHERE name = 'comment'")
    assert "REFERENCES customer (id)" in table
    assert len(sql("SELECT title FROM title")) == 5


@pytest.mark.sqlite
@of_each_version
def test_backup_of_an_earlier_version_is_upgraded(older, run, client, database, version):
    older_backup = database.with_name("older.db")
    execute_script(older_backup, SCRIPTS[version])
    before = older_backup.read_bytes()
    result = run("database", "restore", older_backup, "--yes")
    assert result.exit_code == 0
    assert f"the copy of {older_backup} from version {version} to {TABLES_VERSION}." in result.stderr
    client.environ_base["HTTP_X_API_KEY"] = KEY
    assert_same_articles(client.get(LISTS[0]).data)
    assert older_backup.read_bytes() == before


IGNORE_CHECKS = "" if POSTGRESQL else "PRAGMA ignore_check_constraints = ON;"
UNCHECKED = f"{IGNORE_CHECKS} UPDATE article SET schema_markup_generated = (1 = 0), {{}} WHERE pk IN (3, 4)"
INVALID_ARTICLE = "the article given of Söhne & <Co> ("
REJECTED = [
    (2, "UPDATE tables_version SET number = 1", f"only supports versions 2 to {TABLES_VERSION}"),
    (2, "DROP TABLE tables_version", "tables of another program"),
    (2, "DROP TABLE article", ": article."),
    (TABLES_VERSION - 1, "DROP TABLE article", ": article."),
    # version 2 had fewer constraints on PostgreSQL; on SQLite another tool can disable them
    (2, UNCHECKED.format("keywords = '{}'"), INVALID_ARTICLE),
    (2, UNCHECKED.format("schema_markup = '[]'"), INVALID_ARTICLE),
]
if POSTGRESQL:
    VIEW = "CREATE VIEW note AS SELECT schema_markup_generated FROM article"
    REJECTED += [(2, UNCHECKED.format("keywords = 'x'"), "the tables (invalid input syntax for type json")]
    REJECTED += [(2, VIEW, "view note depends on column schema_markup_generated of table article")]
    REFUSE = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''Keys are frozen''; END'"
    ON_UPDATE = "CREATE TRIGGER refuse BEFORE UPDATE ON api_key EXECUTE FUNCTION refuse()"
    REJECTED += [(2, f"{REFUSE}; {ON_UPDATE}", "the tables (Keys are frozen")]
else:
    REJECTED += [(5, "ALTER TABLE article ADD COLUMN note TEXT", "column note of article")]
    REJECTED += [(2, UNCHECKED.format("title = x'ff00'"), INVALID_ARTICLE)]
    REJECTED += [(3, f"{IGNORE_CHECKS} UPDATE api_key SET prefix = x'ff00'", "the key 1 (")]


@pytest.mark.parametrize(("version", "script", "reason"), REJECTED)
def test_impossible_upgrade_changes_nothing(older, sql, version, script, reason):
    """The message names the version, the table, the row, the column or the view that prevents it."""
    app = older(version, f"{script};")
    before = set(sql(SCHEMA))
    for _ in range(2):
        helpers.assert_rejected(run_command(app, "articles", "list"), reason)
    assert set(sql(SCHEMA)) == before
    assert sql("SELECT count(*) FROM customer") == [(1,)]


def test_version_may_rename_and_drop_columns(older, sql, template, monkeypatch):
    app = older(
        3,
        "ALTER TABLE article RENAME COLUMN category TO section; UPDATE article SET section = 'Teas';"
        "ALTER TABLE article ADD COLUMN note TEXT;",
    )
    table = "article" if POSTGRESQL else "old_article"
    changes = [f"ALTER TABLE {table} RENAME COLUMN section TO category", f"ALTER TABLE {table} DROP COLUMN note"]
    monkeypatch.setitem(CHANGES[4], ENGINE, changes + CHANGES[4][ENGINE])
    assert run_command(app, "keys", "list").exit_code == 0
    assert sql("SELECT DISTINCT category FROM article") == [("Teas",)]
    assert set(sql(SCHEMA)) == set(run_sql(template, SCHEMA))


# 1,200 articles, as version 4 wrote them
DONT_PANIC = """
    INSERT INTO article (pk, customer_id, id, slug, status, published_at, created_at, updated_at, views, title,
      folded_title, search_text, banner_url, category, keywords, meta_title, meta_desc, read_time, content_html)
    WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1200)
    SELECT 100 + n, 1, 'b-' || n, 'added-' || n, 'published', '2025-03-01 00:00:00', '2025-03-01 00:00:00',
      '2025-03-01 00:00:00', 0, 'Don’t panic', 'don’t panic', 'don’t panic\nadded-' || n, '', 'Added',
      '[]', '', '', 1, '<p>Added</p>' FROM numbers;
"""


def test_upgrade_makes_typographic_characters_searchable(older, sql):
    """In every batch of articles. On PostgreSQL, articles that stay the same are not written."""
    app = older(4, DONT_PANIC)
    versions = "SELECT ctid FROM article WHERE id LIKE 'a-%' ORDER BY pk" if POSTGRESQL else "SELECT 1"
    before = sql(versions)
    assert run_command(app, "keys", "list").exit_code == 0
    for slug in ("added-1", "added-777", "added-1200"):
        found = client_with_key(app, KEY).get(f"{LISTS[1]}?q=don't+{slug}&orderBy=createdAt&order=asc").get_json()
        assert slug in [article["slug"] for article in found["data"]]
    assert sql("SELECT DISTINCT folded_title FROM article WHERE category = 'Added'") == [("don't panic",)]
    assert sql(versions) == before


@pytest.mark.sqlite
def test_text_that_is_not_utf8_survives_an_upgrade(older, sql):
    app = older(4, "UPDATE article SET title = CAST(x'ff41' AS TEXT) WHERE pk = 1;")
    assert run_command(app, "keys", "list").exit_code == 0
    assert sql("SELECT hex(title), folded_title FROM article WHERE pk = 1") == [("FF41", "\ufffda")]


if POSTGRESQL:
    EARLY, LATE, LATE_DAY = "'0044-03-15 BC'", "'294276-12-31'", "'5874897-12-31'"
else:
    EARLY, LATE, LATE_DAY = "'0000-12-31 23:59:59.5'", "'9999-12-31 23:59:59.999'", "'9999-12-31'"


@pytest.mark.parametrize("version", [2, 4])  # version 3 rejected them
def test_times_outside_the_years_of_python_are_moved(older, sql, version):
    app = older(
        version,
        f"{IGNORE_CHECKS} UPDATE article SET published_at = {EARLY}, created_at = {EARLY} WHERE pk = 1;"
        f"UPDATE article SET updated_at = {LATE} WHERE pk = 2;"
        f"UPDATE api_key SET created_at = {EARLY}, expires_on = {LATE_DAY};",
    )
    result = run_command(app, "keys", "list")
    assert result.stdout == "1\tSöhne & <Co>\tver…\t0001-01-01\t9999-12-31\tactive\n"
    _, article, *_, key = result.stderr.splitlines()
    assert "published_at, created_at of the article tea of Söhne & <Co>" in article
    assert "of the key 1" in key
    client = client_with_key(app, KEY)
    dates = {article["slug"]: article["publishedAt"] for article in client.get(LISTS[0]).get_json()["data"]}
    assert dates["tea"] == "0001-01-01T00:00:00.000Z"
    assert client.get(helpers.SITEMAP).get_json()["data"][1]["lastmod"] == "9999-12-31"
    with pytest.raises(DATABASE_ERROR):
        sql(f"UPDATE article SET updated_at = {EARLY}")


# what an operator may have added to the tables on PostgreSQL
ADDITIONS = """
    CREATE VIEW titles AS SELECT slug, title, published_at FROM article;
    CREATE INDEX article_by_banner ON article (banner_url);
    CREATE FUNCTION touch() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN new; END';
    CREATE TRIGGER touched BEFORE UPDATE ON article FOR EACH ROW EXECUTE FUNCTION touch();
    CREATE CONSTRAINT TRIGGER later AFTER UPDATE ON article DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION touch();
    ALTER TABLE article ADD COLUMN note text DEFAULT 'mine', ADD CONSTRAINT short CHECK (length(slug) < 99) NOT VALID;
    COMMENT ON TABLE article IS 'Ours';
    COMMENT ON COLUMN article.title IS 'Shown';
    GRANT SELECT ON article, titles TO PUBLIC;
"""
LIST_ADDITIONS = """
    SELECT 'view', viewname, definition FROM pg_views WHERE viewname = 'titles'
    UNION SELECT 'index', indexname, indexdef FROM pg_indexes WHERE indexname = 'article_by_banner'
    UNION SELECT 'trigger', tgname, tgenabled::text FROM pg_trigger WHERE NOT tgisinternal
    UNION SELECT 'constraint', conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conname = 'short'
    UNION SELECT 'comment', description, objsubid::text FROM pg_description WHERE objoid = 'article'::regclass
    UNION SELECT 'grants', relname, relacl::text FROM pg_class WHERE relname IN ('article', 'titles')
    UNION SELECT 'file', relname, pg_relation_filenode(oid)::text FROM pg_class WHERE relname = 'article'
    UNION SELECT 'note', note, '' FROM article
"""


@only_postgresql
@pytest.mark.parametrize("version", [2, 4])
def test_additions_of_operators_survive(older, sql, version):
    """The table stays in the same file: if it were rewritten, requests that began earlier would see it empty."""
    app = older(version, f"{ADDITIONS} UPDATE article SET updated_at = '10000-01-01' WHERE pk = 5;")
    before = sql(LIST_ADDITIONS)
    assert len(before) == 11
    assert "Upgraded" in run_command(app, "keys", "list").stderr
    assert sorted(sql(LIST_ADDITIONS)) == sorted(before)
    assert sql("SELECT count(*) FROM titles") == [(5,)]


def open_tables(app: Flask) -> list[str]:
    """Upgrade the tables if necessary, in any thread; return the messages about it."""
    with app.app_context():
        return prepare_database()


def is_waiting(database: Path, number: int) -> Callable[[], bool]:
    """Return a function that tells whether at least this number of connections wait for a lock."""
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    return lambda: run_sql(database, waiting)[0][0] >= number


@only_postgresql
def test_requests_during_an_upgrade_wait_for_it(older, database, monkeypatch):
    """No valid key is rejected, and no list is empty, with a warm cache or a cold one.

    The requests begin after the upgrade has locked the tables. All but those for cached lists wait until it commits.
    """
    app = older(max(SCRIPTS))
    run_command(app, "keys", "list")  # requests need the columns of the current version
    monkeypatch.setitem(CHANGES, TABLES_VERSION + 1, {ENGINE: ["ALTER TABLE article ADD COLUMN note TEXT"]})
    for module in ("tables", "database"):
        monkeypatch.setattr(f"storage.{module}.TABLES_VERSION", TABLES_VERSION + 1)
    patient = f"{helpers.database_url(database)}?options=-c%20lock_timeout%3D60s"
    services = [create_app({"DATABASE_URL": patient}) for _ in range(2)]
    warm = client_with_key(services[0], KEY)
    paths = (*ENDPOINTS, "/healthz")
    expected = [warm.get(path).data for path in paths]
    assert_same_articles(expected[0])
    with ThreadPoolExecutor(9) as pool, closing(helpers.connect_as_another_tool(database)) as other:
        other.execute("SELECT number FROM tables_version FOR UPDATE")  # the upgrade writes it last
        upgrade = pool.submit(open_tables, app)
        wait_for(is_waiting(database, 1), lambda: "The upgrade does not wait.", 60)
        requests = [pool.submit(client_with_key(service, KEY).get, path) for service in services for path in paths]
        wait_for(is_waiting(database, 1 + len(requests) - len(ENDPOINTS)), lambda: "The requests do not wait.", 60)
        other.rollback()
        assert [request.result().data for request in requests] == expected * 2
        assert "Upgraded" in upgrade.result()[0]
    for service in services:
        close(service)


@only_postgresql
@pytest.mark.parametrize("began_with", ["SELECT 1 FROM customer", "LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE"])
def test_upgrade_waits_for_earlier_transactions(older, database, began_with):
    """They can still read every table, like a request or a command."""
    app = older(4)
    with ThreadPoolExecutor(1) as pool, closing(helpers.connect_as_another_tool(database)) as other:
        other.execute(began_with)
        upgrade = pool.submit(open_tables, app)
        wait_for(is_waiting(database, 1), lambda: "The upgrade does not wait.", 60)
        for table in ("customer", "api_key", "article"):
            assert other.execute(f"SELECT 1 FROM {table}").fetchall()
        other.rollback()
        assert "Upgraded" in upgrade.result()[0]


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_requests_read_the_tables_in_the_order_of_locks(app, client, path):
    """If a request and an upgrade locked them in different orders, PostgreSQL would abort one of the two."""
    statements: list[str] = []
    with app.app_context():
        event.listen(db.engine, "before_cursor_execute", lambda _connection, _cursor, sql, *_: statements.append(sql))
    assert client.get(path).status_code == 200
    read = re.findall(r"(?:FROM|JOIN) (\w+)", " ".join(statements))
    assert list(dict.fromkeys(read)) == ["customer", "api_key", "article"]


def test_only_one_of_two_processes_upgrades(older, database, sql, monkeypatch):
    """Both have found the tables outdated before either begins to upgrade them."""
    apps, barrier = [older(4), helpers.create_application(database)], Barrier(2)
    begin = storage_database.write_options

    def begin_together(writes: str) -> dict[str, Any]:
        barrier.wait(20)
        return begin(writes)

    monkeypatch.setattr(storage_database, "write_options", begin_together)
    first, second = sorted(helpers.call_concurrently(open_tables, apps))
    assert first == []
    assert f"from version 4 to {TABLES_VERSION}" in second[0]
    assert sql("SELECT number FROM tables_version") == [(TABLES_VERSION,)]
    close(apps[1])
