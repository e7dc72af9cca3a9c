"""What the tables store, and the invalid values that their constraints reject."""

import sqlite3
from itertools import product

import pytest
from helpers import LISTS, POSTGRESQL, SITEMAP, article_json, psycopg

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


TIMESTAMP_COLUMNS = "published_at", "created_at", "updated_at"
GRAPH = '{"@context": "https://schema.org", "@graph": []}'
REJECTED = [
    *("status = 'live'", "status = NULL", "published_at = NULL", "title = NULL", "read_time = NULL"),
    *("keywords = 'one, two'", "keywords = '{}'", "authors = '{}'", "schema_markup = '[]'", "schema_markup = '{'"),
    *("id = 'id-0002'", "slug = 'slug-2'", "source = 'ghost', source_key = '2'"),
]
ACCEPTED = [
    *("status = 'draft', published_at = NULL", "status = 'pending', published_at = NULL"),
    "status = 'published', published_at = created_at",
    *("title = ''", "category = ''", "read_time = 999999.5", "id = 'id-0003'"),
    *("source = 'ghost', source_key = '1'", "source = NULL, source_key = NULL", "schema_markup = NULL"),
    *("keywords = '[ \"a\"]'", "authors = '[]'", f"schema_markup = '{GRAPH}'"),
]
if POSTGRESQL:
    BAD_TIMESTAMPS = ["'infinity'", "'-infinity'", "'0001-12-31 BC'", "'10000-01-01 00:00:00+00'"]
    GOOD_TIMESTAMPS = ["'2025-12-31 23:59:59+00'", "'0001-01-01 00:00:00+00'"]
else:
    BAD_TIMESTAMPS = [
        *("'yesterday'", "1700000000", "'2025-01-01T00:00:00Z'", "'2025-01-01 00:00:00+02:00'"),
        *("'2025-02-30 00:00:00'", "'2025-01-01 00:00:00 '", "'0000-12-31 23:59:59.9'", "'10000-01-01 00:00:00'"),
    ]
    GOOD_TIMESTAMPS = ["datetime('now')", "'2024-02-29 12:00:00.999'", "'0001-01-01 00:00:00'"]
REJECTED += map(" = ".join, product(TIMESTAMP_COLUMNS, BAD_TIMESTAMPS))
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
