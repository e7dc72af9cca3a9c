"""How a client reads the slugs of all published articles for its sitemap.xml.

test_specification.py checks that no article is missing.
"""

from helpers import article_json


def test_sitemap_has_the_slug_and_the_date_of_each_article(client, save):
    save(article_json(1, slug="tea", publishedAt="2026-01-31T09:30:00Z", updatedAt="2026-02-07T10:00:00Z"))
    assert client.get("/api/public/v1/sitemap").get_json() == {"data": [{"url": "tea", "lastmod": "2026-02-07"}]}


def test_entries_are_ordered_by_slug_and_dated_in_utc(client, save):
    """A later publication counts as an update."""
    published = {"tea": "2026-01-31T23:30:00-05:00", "coffee": "2026-01-31T09:30:00Z"}
    for number, slug in enumerate(published):
        save(article_json(number, slug=slug, publishedAt=published[slug], updatedAt="2025-12-24T10:00:00Z"))
    entries = client.get("/api/public/v1/sitemap").get_json()["data"]
    assert [entry["url"] for entry in entries] == ["coffee", "tea"]
    assert [entry["lastmod"] for entry in entries] == ["2026-01-31", "2026-02-01"]
