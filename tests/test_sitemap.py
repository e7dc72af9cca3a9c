"""The sitemap endpoint."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from helpers import PAST, SITEMAP, article_json, assert_problem, iso, minimal_json


def test_sitemap_lists_every_published_slug_in_order(client, save):
    save(
        *(article_json(number, slug=slug) for number, slug in enumerate(["b", "a", "Z", "é", "東京", "a-1"])),
        article_json(90, slug="draft", status="draft"),
        article_json(91, slug="scheduled", publishedAt=iso(datetime.now(UTC) + timedelta(hours=1))),
    )
    save(article_json(1, slug="other"), customer="Other")
    body = client.get(SITEMAP).get_json()
    assert list(body) == ["data"]
    assert [entry["url"] for entry in body["data"]] == ["Z", "a", "a-1", "b", "é", "東京"]


def test_sitemap_has_no_limit(client, save):
    save(*(minimal_json(number) for number in range(1234)))
    assert len(client.get(SITEMAP).get_json()["data"]) == 1234


def test_lastmod_is_the_utc_day_of_the_later_date(client, save):
    """The dates are those of the update and the publication."""
    save(
        article_json(1, slug="a", publishedAt=iso(PAST), updatedAt=iso(PAST + timedelta(days=40))),
        article_json(2, slug="b", publishedAt=iso(PAST + timedelta(days=3)), updatedAt=iso(PAST)),
        article_json(3, slug="c", publishedAt="2025-06-01T23:30:00-03:00", updatedAt=iso(PAST)),
        article_json(4, slug="d", publishedAt="2025-07-01T23:30:00Z", updatedAt=iso(PAST)),
    )
    assert client.get(SITEMAP).get_json()["data"] == [
        {"url": "a", "lastmod": "2025-04-10"},
        {"url": "b", "lastmod": "2025-03-04"},
        {"url": "c", "lastmod": "2025-06-02"},
        {"url": "d", "lastmod": "2025-07-01"},
    ]


def test_sitemap_ignores_parameters(client, save):
    save(article_json(1))
    assert client.get(SITEMAP + "?take=0&skip=x&q=none").data == client.get(SITEMAP).data


def test_sitemap_of_a_customer_without_articles_is_empty(client):
    assert client.get(SITEMAP).get_json() == {"data": []}


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
