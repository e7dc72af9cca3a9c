"""The sitemap listing."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from conftest import PAST, SITEMAP, article


def test_it_lists_every_published_slug_in_order(client, save):
    save(
        *(article(number, slug=slug) for number, slug in enumerate(["b", "a", "Z", "é", "東京", "a-1"])),
        article(90, slug="draft", status="draft"),
        article(91, slug="scheduled", published_at=datetime.now(UTC) + timedelta(hours=1)),
    )
    save(article(1, slug="other"), customer="Other")
    answer = client.get(SITEMAP).get_json()
    assert list(answer) == ["data"]
    assert [entry["url"] for entry in answer["data"]] == ["Z", "a", "a-1", "b", "é", "東京"]


def test_it_has_no_limit(client, save):
    save(*(article(number) for number in range(1234)))
    assert len(client.get(SITEMAP).get_json()["data"]) == 1234


def test_lastmod_is_the_utc_day_of_the_later_of_update_and_publication(client, save):
    save(
        article(1, slug="a", published_at=PAST, updated_at=PAST + timedelta(days=40)),
        article(2, slug="b", published_at=PAST + timedelta(days=3), updated_at=PAST),
        article(3, slug="c", published_at=datetime.fromisoformat("2025-06-01T23:30:00-03:00"), updated_at=PAST),
    )
    assert client.get(SITEMAP).get_json()["data"] == [
        {"url": "a", "lastmod": "2025-04-10"},
        {"url": "b", "lastmod": "2025-03-04"},
        {"url": "c", "lastmod": "2025-06-02"},
    ]


def test_it_takes_no_parameters_and_minds_none(client, save):
    save(article(1))
    assert client.get(SITEMAP + "?take=0&skip=x&q=none").data == client.get(SITEMAP).data


def test_a_customer_without_articles_has_an_empty_one(client):
    assert client.get(SITEMAP).get_json() == {"data": []}


@pytest.mark.sqlite
def test_a_row_that_cannot_be_read_pins_no_old_state(client, save, sql, database):
    """An answer that fails half-way must leave no cursor open: its connection would go on seeing what was then."""
    save(*(article(number) for number in range(50)))
    with closing(sqlite3.connect(database)) as other, other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        other.execute("UPDATE article SET updated_at = '2025-12-31 unreadable' WHERE id = 'id-0003'")
    assert client.get(SITEMAP).status_code == 500
    sql("UPDATE article SET updated_at = '2025-12-31 00:00:00' WHERE id = 'id-0003'")
    assert client.get(SITEMAP).status_code == 200
    sql("UPDATE api_key SET revoked_at = '2025-01-01 00:00:00'")
    assert client.get(SITEMAP).status_code == 401
