"""Compare a site built by an example with the articles of the API."""

import json
import xml.etree.ElementTree as ElementTree
from urllib.parse import unquote

import lxml.html
from helpers import LISTS, SITEMAP, get

SITE = "https://www.example.com/blog"
SITE_NAME = "Tom & Ann’s <café>"
SITEMAP_XMLNS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def assert_site(site, server, key):
    """Check a site's article pages, list, feed and sitemap.xml."""
    articles = fetch_data(server, key, LISTS[0])
    assert {path.name for path in site.glob("articles/*")} == {article["slug"] for article in articles}
    for article in articles:
        assert_article(site, article)
    home = read_document(site / "index.html")
    assert home.findtext("head/title") == home.findtext(".//h1") == SITE_NAME
    assert [unquote(url) for url in home.xpath("//li/a/@href")] == [article_url(item["slug"]) for item in articles]
    channel = ElementTree.parse(site / "feed.xml").getroot()[0]  # noqa: S314
    assert [item.findtext("guid") for item in channel.findall("item")] == [item["id"] for item in articles[:20]]
    expected = {article_url(entry["url"]): entry["lastmod"] for entry in fetch_data(server, key, SITEMAP)}
    assert read_sitemap(site) == expected


def fetch_data(server, key, path):
    """Return all items of a list or of the sitemap."""
    responses = [get(server, f"{path}?take=100&skip={skip}", x_api_key=key) for skip in (0, 100)]
    return [item for response in responses[: 1 if path == SITEMAP else 2] for item in json.loads(response.body)["data"]]


def article_url(slug):
    return f"{SITE}/articles/{slug}/"


def read_document(path):
    return lxml.html.document_fromstring(path.read_bytes(), parser=lxml.html.HTMLParser(encoding="utf-8"))


def assert_article(site, article):
    path = site / f"articles/{article['slug']}/index.html"
    page, html = read_document(path), path.read_text("utf-8")
    (url,) = page.xpath("//link[@rel='canonical']/@href")
    assert url.isascii()
    assert unquote(url) == article_url(article["slug"])
    assert html[:15].lower() == "<!doctype html>"
    assert page.xpath("//meta[@name='description']/@content") == [article["metaDesc"]]
    (markup,) = page.xpath("//script[@type='application/ld+json']/text()")
    assert json.loads(markup) == article["schemaMarkup"]
    assert "x" not in page.xpath("//script/text()")
    assert page.findtext("head/title") == article["metaTitle"]
    assert page.xpath("//h1/text()") == [article["title"]]
    assert article["contentHtml"] in html
    assert page.findtext(".//time") == article["publishedAt"][:10]


def read_sitemap(site):
    """Return the days of the articles in a sitemap.xml by their URLs."""
    root = ElementTree.parse(site / "sitemap.xml").getroot()  # noqa: S314
    assert root.tag == f"{SITEMAP_XMLNS}urlset"
    days = {unquote(url[0].text): url.findtext(f"{SITEMAP_XMLNS}lastmod") for url in root}
    return {url: day[:10] for url, day in days.items() if url.startswith(f"{SITE}/articles/")}
