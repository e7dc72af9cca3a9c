"""What the tables store and refuse, and how texts are folded and searched."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from itertools import product

import pytest
import time_machine
from helpers import ENDPOINTS, LISTS, POSTGRESQL, article_json, create_key, psycopg
from sqlalchemy import Text

from models import article_table
from storage.search import fold

FULL, PREVIEW = LISTS


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("Straße", "strasse"),
        ("ΣΊΣΥΦΟΣ", "σισυφοσ"),
        ("İstanbul", "istanbul"),
        ("ﬁne ①", "fine 1"),
        ("１００％", "100%"),
        ("Łódź", "łodz"),
        ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("\u0301", ""),
        ("😀", "😀"),
    ],
)
def test_fold_ignores_case_accents_and_compatibility_forms(text, folded):
    assert fold(text) == folded


def totals(client, *queries):
    """Return how many articles each of the searches finds."""
    return [client.get(PREVIEW, query_string={"q": q}).get_json()["meta"]["total"] for q in queries]


def test_search_words_are_folded_and_marks_alone_are_no_words(client, save):
    save(article_json(1, title="Tea in the café"), article_json(2, title="Tea"), article_json(3, title="A ´ \u0301"))
    assert totals(client, " Café  CAFE\u3000\u0301 tea ´ \n", "´", "´ \u0301", "TEA ´") == [1, 3, 3, 2]


def test_like_wildcards_in_a_search_are_literal(client, save):
    save(*(article_json(number, title=title) for number, title in enumerate(("50%_\\", "50%", "5_0", "5\\0", "50"))))
    assert totals(client, "50%_\\", "%", "_", "\\", "5%", "5_", "\\_", "\\%", "50") == [1, 2, 2, 2, 0, 1, 0, 0, 3]


def stored_timestamps(sql, columns, table):
    """Return the values of a table's only row, in UTC: text in SQLite, aware datetimes in PostgreSQL."""
    (row,) = sql(f"SELECT {columns} FROM {table}")
    timestamps = [datetime.fromisoformat(str(value)) for value in row]
    return [value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC) for value in timestamps]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("2025-07-01T09:00:00.123999+02:00", "2025-07-01T07:00:00.123Z"),
        ("2025-01-01T00:30:00.999999+14:00", "2024-12-31T10:30:00.999Z"),
        ("2025-07-01T23:59:59Z", "2025-07-01T23:59:59.000Z"),
    ],
)
def test_timestamps_are_stored_in_utc_to_the_millisecond(client, save, sql, given, shown):
    save(article_json(1, publishedAt=given, createdAt=given, updatedAt=given))
    (article,) = client.get(FULL).get_json()["data"]
    assert article["publishedAt"] == shown
    columns = "published_at, created_at, updated_at"
    assert stored_timestamps(sql, columns, "article") == [datetime.fromisoformat(shown)] * 3


def test_times_of_commands_are_stored_to_the_millisecond(app, sql):
    with time_machine.travel(datetime(2027, 1, 30, 12, 0, 0, 123_999, UTC), tick=False):
        create_key(app)
    assert stored_timestamps(sql, "created_at", "api_key") == [datetime(2027, 1, 30, 12, 0, 0, 123_000, UTC)]


@pytest.mark.sqlite
def test_database_is_in_wal_mode(app, sql):
    assert sql("PRAGMA journal_mode") == [("wal",)]


@pytest.fixture
def refusal(database, save):
    """Return the error with which the table refuses an assignment to an article, or None; either is undone."""
    save(article_json(1), article_json(2))

    def refusal(assignment):
        with closing(sqlite3.connect(database, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            try:
                connection.execute(f"UPDATE article SET {assignment} WHERE id = 'id-0001'")
            except sqlite3.IntegrityError as error:
                return error
            finally:
                connection.execute("ROLLBACK")
        return None

    return refusal


TEXT_COLUMNS = [c.name for c in article_table.columns if isinstance(c.type, Text) and c.name != "status"]
TIMESTAMP_COLUMNS = "published_at", "created_at", "updated_at"
SQLITE_TIMESTAMPS = "datetime('now')", "'2025-12-31 23:59:59'", "'2024-02-29 12:00:00.999'"
BAD_TIMESTAMPS = [
    "1700000000",
    "'2025-01-01T00:00:00Z'",
    "'2025-01-01 00:00:00+02:00'",
    "'2025-02-30 00:00:00'",
    "'2025-01-01 00:00:00 '",
    "'2025-01-01 00:00:00.1 +00:00'",
    "'2025-01-01 00:00:00Z'",
    "'0000-01-01 00:00:00'",
]


@pytest.mark.sqlite
def test_table_refuses_what_no_endpoint_could_render(refusal):
    assignments = [
        "status = 'live'",
        "status = NULL",
        "published_at = NULL",
        "created_at = 'yesterday'",
        "updated_at = ''",
        *map(" = ".join, product(TIMESTAMP_COLUMNS, BAD_TIMESTAMPS)),
        *(f"{column} = x'41'" for column in TEXT_COLUMNS),
        *(f"{column} = NULL" for column in TEXT_COLUMNS if column != "schema_markup"),
        "keywords = '[]' || char(0) || 'x'",
        "keywords = 'one, two'",
        "keywords = '{}'",
        "schema_markup = '[]'",
        "schema_markup = '{'",
        "schema_markup = '{}'",
        """schema_markup = '{"@context": "https://schema.org"}'""",
        """schema_markup = '{"@context": "https://schema.org", "@graph": {}}'""",
        """schema_markup = '{"@graph": []}'""",
        """schema_markup = '{"@context": 1, "@graph": []}'""",
        """schema_markup = '{"@context": "https://schema.org", "@graph": []}' || char(0)""",
        "read_time = 'five'",
        "read_time = -1",
        "read_time = 9e999",
        "read_time = 1000000",
        "read_time = NULL",
        "id = 'id-0002'",
        "slug = 'slug-2'",
    ]
    assert [assignment for assignment in assignments if not refusal(assignment)] == []


@pytest.mark.sqlite
def test_table_accepts_what_endpoints_can_render(refusal):
    assignments = [
        "status = 'draft'",
        "status = 'draft', published_at = NULL",
        *map(" = ".join, product(TIMESTAMP_COLUMNS, SQLITE_TIMESTAMPS)),
        *(f"{column} = ''" for column in TEXT_COLUMNS if column not in ("keywords", "schema_markup")),
        "keywords = '[]'",
        "schema_markup = NULL",
        """schema_markup = '{"@context": "https://schema.org", "@graph": []}'""",
        "read_time = 0",
        "read_time = 999999.5",
        "id = 'id-0003'",
        "slug = 'slug-3'",
    ]
    assert [assignment for assignment in assignments if refusal(assignment)] == []


@pytest.mark.sqlite
@pytest.mark.parametrize("moment", SQLITE_TIMESTAMPS)
def test_timestamps_as_sqlite_writes_them_can_be_served(client, save, sql, moment):
    save(article_json(1))
    sql(f"UPDATE article SET published_at = {moment}, updated_at = {moment}, created_at = {moment}")
    for path in ENDPOINTS:
        assert len(client.get(path).get_json()["data"]) == 1


@pytest.mark.sqlite
def test_names_and_hashes_are_unique(key, sql):
    columns = "customer_id, hash, prefix, created_at"
    for table, names in (("customer", "name"), ("api_key", columns)):
        with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
            sql(f"INSERT INTO {table} ({names}) SELECT {names} FROM {table}")


@pytest.mark.skipif(not POSTGRESQL, reason="SQLite's checks are above")
def test_table_of_postgresql_refuses_what_sqlite_does(save, sql):
    save(article_json(1))
    graph = '{"@context": "https://schema.org", "@graph": []}'
    for assignment in (
        "keywords = 'oops'",
        "keywords = '{}'",
        "keywords = '[1]'",
        "keywords = '[[]]'",
        "schema_markup = '{'",
        """schema_markup = '{"@context": 1, "@graph": []}'""",
        """schema_markup = '{"@context": "https://schema.org"}'""",
        *map(" = ".join, product(TIMESTAMP_COLUMNS, ("'infinity'", "'-infinity'", "'10000-01-01'"))),
    ):
        with pytest.raises(psycopg.Error):
            sql(f"UPDATE article SET {assignment}")
    for assignment in ("keywords = '[ \"a\"]'", f"schema_markup = '{graph}'", "schema_markup = NULL"):
        sql(f"UPDATE article SET {assignment}")
