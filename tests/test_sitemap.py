"""The sitemap endpoint."""

import sqlite3
from contextlib import closing

import pytest
from helpers import SITEMAP, article_json, assert_problem, minimal_json


def test_sitemap_has_no_limit(client, save):
    save(*(minimal_json(number) for number in range(1234)))
    assert len(client.get(SITEMAP).get_json()["data"]) == 1234


@pytest.mark.sqlite
def test_unreadable_row_does_not_pin_an_old_snapshot(client, save, sql, database, caplog):
    """A response that fails halfway leaves no cursor open, whose connection would keep seeing the old snapshot."""
    save(*(article_json(number) for number in range(50)))
    with closing(sqlite3.connect(database)) as other, other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        other.execute("UPDATE article SET updated_at = '2025-12-31 unreadable' WHERE id = 'id-0003'")
    problem = assert_problem(client.get(SITEMAP), 500)
    assert "unreadable" not in str(problem)
    assert "Traceback" in caplog.text
    sql("UPDATE article SET updated_at = '2025-12-31 00:00:00' WHERE id = 'id-0003'")
    assert client.get(SITEMAP).status_code == 200
    sql("UPDATE api_key SET revoked_at = '2025-01-01 00:00:00'")
    assert client.get(SITEMAP).status_code == 401
