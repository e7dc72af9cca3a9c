"""Compare a site built by an example with the articles of the API."""

import json
import re
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from datetime import datetime
from email.utils import parsedate_to_datetime
from urllib.parse import unquote
from zoneinfo import ZoneInfo

import lxml.html
from helpers import LISTS, SITEMAP, get

SITE = "https://www.example.com/blog"
SITE_NAME = "Tom & Ann’s <café>"
ZONE = ZoneInfo("Europe/Berlin")
SITEMAP_XMLNS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
ATOM_LINK = "{http://www.w3.org/2005/Atom}link"


def fetch_data(server, key, path):
    """Return all items of a list or of the sitemap, by slug."""
    responses = [get(server, f"{path}?take=100&skip={skip}", x_api_key=key) for skip in (0, 100)]
    items = [item for response in responses for item in json.loads(response.body)["data"]]
    return {item.get("slug") or item["url"]: item for item in items}


def parse(path):
    return lxml.html.document_fromstring(path.read_bytes(), parser=lxml.html.HTMLParser(encoding="utf-8"))


def article_url(slug):
    return f"{SITE}/articles/{slug}/"


def assert_head_and_facts(document, *articles):
    """Check that a page links its feed and icon, and shows the date and category of its articles."""
    (feed,) = document.xpath("//link[@type='application/rss+xml']")
    assert (feed.get("title"), feed.get("href")) == (SITE_NAME, f"{SITE}/feed.xml")
    assert document.xpath("//link[@rel='icon']/@href")[0].startswith("data:image/svg+xml,")
    assert document.get("lang") == "en"
    for date, article in zip(document.xpath("//time"), articles, strict=True):
        day = datetime.fromisoformat(article["publishedAt"]).astimezone(ZONE).date().isoformat()
        assert (date.get("datetime"), date.text_content()) == (article["publishedAt"], day)
        assert f" · {article['category']}" in date.getparent().text_content()


def assert_article_page(path, article):
    html, document = path.read_text("utf-8"), parse(path)
    (url,) = document.xpath("//link[@rel='canonical']/@href")
    assert re.fullmatch(r"[!-~]+", url)
    assert unquote(url) == article_url(article["slug"])
    assert html[:15].lower() == "<!doctype html>"
    meta = {tag.get("name") or tag.get("property"): tag.get("content") for tag in document.iter("meta")}
    expected = {
        "viewport": "width=device-width, initial-scale=1",
        "description": article["metaDesc"],
        "og:title": article["metaTitle"],
        "og:description": article["metaDesc"],
        "og:type": "article",
        "og:url": url,
        "article:published_time": article["publishedAt"],
    }
    assert meta.items() >= expected.items()
    assert document.findtext("head/title") == article["metaTitle"]
    assert meta.get("og:image", "") == article["bannerUrl"]
    assert document.xpath("//img[@class='banner']/@src") == [article["bannerUrl"]] * bool(article["bannerUrl"])
    (markup,) = document.xpath("//script[@type='application/ld+json']/text()")
    assert json.loads(markup) == article["schemaMarkup"]
    assert document.xpath("//h1/text()") == [article["title"]]
    assert document.xpath(f"//p/a[@href='{SITE}/']/text()") == [SITE_NAME]
    assert re.sub(r"<(pre|table)\b", r'<\1 tabindex="0"', article["contentHtml"]) in html
    assert_head_and_facts(document, article)
    assert "x" not in document.xpath("//script/text()")


def assert_lists(site, articles):
    """Check that list pages show all articles in order, 50 per page, and link to each other."""
    articles, last = list(articles), -(-len(articles) // 50)
    assert len([*site.glob("page/*")]) == last - 1
    for number in range(1, last + 1):
        page = parse(site / (f"page/{number}/index.html" if number > 1 else "index.html"))
        shown = articles[(number - 1) * 50 : number * 50]
        assert [unquote(url) for url in page.xpath("//li/a[1]/@href")] == [article_url(item["slug"]) for item in shown]
        assert_head_and_facts(page, *shown)
        (canonical,) = page.xpath("//link[@rel='canonical']/@href")
        assert page.xpath("//meta[@property='og:url']/@content") == [canonical]
        assert canonical.rstrip("/") == (f"{SITE}/page/{number}" if number > 1 else SITE)
        title = f"{SITE_NAME}, page {number}" if number > 1 else SITE_NAME
        assert page.findtext("head/title") == page.findtext(".//h1") == title
        assert len(page.xpath("//a[@rel='prev']")) == (number > 1)
        assert page.xpath("//a[@rel='next']/@href") == [f"{SITE}/page/{number + 1}/"] * (number < last)


def page_at(site, url):
    return parse(site / unquote(url).removeprefix(f"{SITE}/") / "index.html")


def read_list(site, url):
    """Return the slugs on all pages of a list."""
    slugs = []
    while url:
        page = page_at(site, url)
        slugs += [unquote(link).split("/")[-2] for link in page.xpath("//li/a[1]/@href")]
        url = next(iter(page.xpath("//a[@rel='next']/@href")), None)
    return slugs


def assert_groups(site, articles, kind, names_of, links):
    """Check that articles link to the lists of their categories or keywords, and the other way round."""
    slugs_of, url_of = defaultdict(list), {}
    for slug, article in articles.items():
        shown = {link.text: link.get("href") for link in page_at(site, article_url(slug)).xpath(links)}
        assert list(shown) == names_of(article)
        url_of |= shown
        for name in shown:
            slugs_of[name].append(slug)
    assert {name: read_list(site, url) for name, url in url_of.items()} == slugs_of
    for name, url in url_of.items():
        assert page_at(site, url).findtext(".//h1") == f"{kind.title()}: {name}"
        assert re.fullmatch(rf"{SITE}/{kind}/[\w-]+/", unquote(url))
    assert len([*site.glob(f"{kind}/*")]) == len({url.lower() for url in url_of.values()}) == len(slugs_of)


def assert_neighbours(site, articles):
    """Check that each article links to the previous and the next one."""
    slugs = [None, *articles, None]
    for newer, slug, older in zip(slugs, articles, slugs[2:], strict=False):
        page = page_at(site, article_url(slug))
        for rel, neighbour in (("prev", newer), ("next", older)):
            shown = [unquote(url) for url in page.xpath(f"//a[@rel='{rel}']/@href")]
            assert shown == ([article_url(neighbour)] if neighbour else [])


def assert_feed(site, articles):
    channel = ElementTree.parse(site / "feed.xml").getroot()[0]  # noqa: S314
    assert (channel.findtext("title"), channel.findtext("link")) == (SITE_NAME, f"{SITE}/")
    own = {"rel": "self", "type": "application/rss+xml", "href": f"{SITE}/feed.xml"}
    assert channel.find(ATOM_LINK).attrib == own
    for item, article in zip(channel.findall("item"), [*articles][:20], strict=True):
        texts = [item.findtext(name) for name in ("guid", "title", "description")]
        assert texts == [article[name] for name in ("id", "title", "metaDesc")]
        assert unquote(item.findtext("link")) == article_url(article["slug"])
        published = datetime.fromisoformat(article["publishedAt"]).replace(microsecond=0)
        assert parsedate_to_datetime(item.findtext("pubDate")) == published


def read_sitemap(path):
    root = ElementTree.parse(path).getroot()  # noqa: S314
    assert root.tag == f"{SITEMAP_XMLNS}urlset"
    return {unquote(url.findtext(f"{SITEMAP_XMLNS}loc")): url.findtext(f"{SITEMAP_XMLNS}lastmod") for url in root}


def assert_site(site, server, key):
    """Check a site's article pages, lists, feed and sitemap.xml."""
    articles = fetch_data(server, key, LISTS[0])
    assert {path.name for path in site.glob("articles/*")} == articles.keys()
    for slug, article in articles.items():
        assert_article_page(site / "articles" / slug / "index.html", article)
    assert_lists(site, articles.values())
    assert_groups(site, articles, "category", lambda article: [article["category"]], "//p[time]//a")
    assert_groups(site, articles, "keyword", lambda article: article["keywords"], "//a[@rel='tag']")
    assert_neighbours(site, articles)
    assert_feed(site, articles.values())
    entries = fetch_data(server, key, SITEMAP)
    expected = {article_url(slug): entry["lastmod"] for slug, entry in entries.items()}
    assert read_sitemap(site / "sitemap.xml") == expected
    assert len(expected) == 120
