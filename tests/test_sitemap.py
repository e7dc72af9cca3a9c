"""How a client reads the slugs of all published articles for its sitemap.xml."""

import pytest
from helpers import article_json

SITEMAP = "/api/public/v1/sitemap"


def test_sitemap_has_the_slug_and_the_date_of_each_article(client, save):
    save(article_json(1, slug="tea", publishedAt="2026-01-31T09:30:00Z", updatedAt="2026-02-07T10:00:00Z"))
    assert client.get("/api/public/v1/sitemap").get_json() == {"data": [{"url": "tea", "lastmod": "2026-02-07"}]}


@pytest.mark.parametrize(
    ("published", "lastmod"), [("2026-01-31T09:30:00Z", "2026-01-31"), ("2026-01-31T23:30:00-05:00", "2026-02-01")]
)
def test_lastmod_is_the_utc_date_of_a_later_publication(client, save, published, lastmod):
    save(article_json(1, publishedAt=published, updatedAt="2025-12-24T10:00:00Z"))
    assert client.get(SITEMAP).get_json()["data"][0]["lastmod"] == lastmod


def test_entries_are_ordered_by_slug(client, save):
    save(*(article_json(number, slug=slug) for number, slug in enumerate(["tea", "coffee", "water", "Tea"])))
    assert [entry["url"] for entry in client.get(SITEMAP).get_json()["data"]] == ["Tea", "coffee", "tea", "water"]


def test_sitemap_is_complete_and_ignores_parameters(client, save):
    """It has no drafts or scheduled articles."""
    save(*(article_json(number) for number in range(120)))
    save(article_json(120, status="draft"), article_json(121, publishedAt="2099-01-01T00:00Z"))
    assert len(client.get(SITEMAP + "?take=5&q=x&skip=abc").get_json()["data"]) == 120
