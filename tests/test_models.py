"""What the tables store, and the invalid values that their constraints reject."""

import sqlite3
from datetime import datetime, timedelta, timezone
from itertools import product

import pytest
from helpers import LISTS, POSTGRESQL, SITEMAP, article_json, psycopg
from sqlalchemy import Text

from models import ApiKey, Article, Customer, db

DATABASE_ERROR = psycopg.Error if POSTGRESQL else sqlite3.IntegrityError


@pytest.fixture
def is_rejected(save, sql):
    """Return a function that tells whether the table rejects an assignment to article id-0001."""
    save(article_json(1), article_json(2, source="ghost", sourceKey="2"))

    def is_rejected(assignment):
        try:
            sql(f"UPDATE article SET {assignment} WHERE id = 'id-0001'")
        except DATABASE_ERROR:
            return True
        return False

    return is_rejected


def test_times_are_stored_in_utc_and_in_milliseconds(app, sql):
    """Digits that no response shows would affect the order of articles."""
    moment = datetime(2026, 3, 1, 1, 0, 0, 123_999, timezone(timedelta(hours=2)))
    with app.app_context():
        customer = Customer(name="Acme")
        db.session.add(customer)
        db.session.flush()
        db.session.add(ApiKey(customer_id=customer.id, hash="0" * 64, prefix="0", created_at=moment))
        db.session.commit()
    ((stored,),) = sql("SELECT created_at FROM api_key")
    assert str(stored).startswith("2026-02-28 23:00:00.123")
    assert "999" not in str(stored)


TEXT_COLUMNS = [c.name for c in Article.__table__.columns if isinstance(c.type, Text) and c.name != "status"]
NULLABLE = "schema_markup", "source", "source_key"
RESTRICTED = "keywords", "authors", "schema_markup"
TIMESTAMP_COLUMNS = "published_at", "created_at", "updated_at"
GRAPH = '{"@context": "https://schema.org", "@graph": []}'
REJECTED = [
    *("status = 'live'", "status = NULL", "published_at = NULL", "updated_at = ''"),
    *(f"{column} = NULL" for column in TEXT_COLUMNS if column not in NULLABLE),
    *("keywords = 'one, two'", "keywords = '{}'", "authors = '{}'", "schema_markup = '[]'", "schema_markup = '{'"),
    *("read_time = NULL", "id = 'id-0002'", "slug = 'slug-2'", "source = 'ghost', source_key = '2'"),
    *("text_edited = NULL", "publication_edited = NULL"),
]
ACCEPTED = [
    "status = 'draft', published_at = NULL",
    *("status = 'pending'", "status = 'pending', published_at = NULL"),
    "status = 'published', published_at = created_at",
    *(f"{column} = ''" for column in TEXT_COLUMNS if column not in RESTRICTED),
    *("source = 'ghost', source_key = '1'", *(f"{column} = NULL" for column in NULLABLE)),
    *("keywords = '[]'", "keywords = '[ \"a\"]'", "authors = '[]'", f"schema_markup = '{GRAPH}'"),
    *("read_time = 0", "read_time = 999999.5", "id = 'id-0003'"),
]
if POSTGRESQL:
    BAD_TIMESTAMPS = "'infinity'", "'-infinity'", "'0001-12-31 BC'", "'10000-01-01 00:00:00+00'"
    REJECTED += map(" = ".join, product(TIMESTAMP_COLUMNS, BAD_TIMESTAMPS))
    GOOD_TIMESTAMPS = "'2025-12-31 23:59:59+00'", "'0001-01-01 00:00:00+00'"
else:
    BAD_TIMESTAMPS = [
        *("'yesterday'", "1700000000", "'2025-01-01T00:00:00Z'", "'2025-01-01 00:00:00+02:00'"),
        *("'2025-02-30 00:00:00'", "'2025-01-01 00:00:00 '", "x'323032352d30312d30312030303a30303a3030'"),
        *("'0000-01-01 00:00:00'", "'0000-12-31 23:59:59.9'", "'-0001-01-01 00:00:00'", "'10000-01-01 00:00:00'"),
    ]
    REJECTED += map(" = ".join, product(TIMESTAMP_COLUMNS, BAD_TIMESTAMPS))
    GOOD_TIMESTAMPS = "datetime('now')", "'2025-12-31 23:59:59'", "'2024-02-29 12:00:00.999'", "'0001-01-01 00:00:00'"
ACCEPTED += map(" = ".join, product(TIMESTAMP_COLUMNS, GOOD_TIMESTAMPS))
ACCEPTED += ["created_at = '9999-12-31 23:59:59.999', updated_at = '9999-12-31 23:59:59.999'"]


def test_table_rejects_values_no_endpoint_could_render(is_rejected):
    assert [assignment for assignment in REJECTED if not is_rejected(assignment)] == []


def test_table_accepts_every_value_endpoints_can_render(is_rejected, client, sql):
    for assignment in ACCEPTED:
        assert not is_rejected(assignment), assignment
        sql("UPDATE article SET id = 'id-0001' WHERE slug <> 'slug-2'")
        totals = {len(client.get(path).get_json()["data"]) for path in (LISTS[0], SITEMAP)}
        is_shown = "draft" not in assignment and "pending" not in assignment
        assert totals == {1 + is_shown}, assignment


if POSTGRESQL:
    BAD_KEYS = ["expires_on = 'infinity'", "expires_on = '10000-01-01'", "created_at = '0001-12-31 BC'"]
else:
    BAD_KEYS = ["expires_on = '31.12.2030'", "expires_on = '0000-12-31'"]


@pytest.mark.parametrize("assignment", BAD_KEYS)
def test_table_rejects_keys_no_command_could_list(key, sql, run, assignment):
    with pytest.raises(DATABASE_ERROR):
        sql(f"UPDATE api_key SET {assignment}")
    sql("UPDATE api_key SET expires_on = '2030-12-31'")
    assert "2030-12-31" in run("keys", "list").stdout
