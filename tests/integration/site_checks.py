"""Compare a site built by an example with the articles of the API."""

import json
import re
import xml.etree.ElementTree as ElementTree
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


def assert_site(site, server, key):
    """Check a site's article pages, lists, feed and sitemap.xml."""
    articles = fetch_data(server, key, LISTS[0])
    assert {path.name for path in site.glob("articles/*")} == {article["slug"] for article in articles}
    for newer, article, older in zip([None, *articles], articles, [*articles[1:], None], strict=False):
        assert_article(site, article, newer, older)
    assert_list(site, f"{SITE}/", SITE_NAME, articles)
    assert_groups(site, articles, "Category", lambda article: [article["category"]], "//p[time]//a")
    assert_groups(site, articles, "Keyword", lambda article: article["keywords"], "//a[@rel='tag']")
    assert_feed(site, articles[:20])
    expected = {article_url(entry["url"]): entry["lastmod"] for entry in fetch_data(server, key, SITEMAP)}
    assert read_sitemap(site) == expected


def fetch_data(server, key, path):
    """Return all items of a list or of the sitemap."""
    responses = [get(server, f"{path}?take=100&skip={skip}", x_api_key=key) for skip in (0, 100)]
    return [item for response in responses for item in json.loads(response.body)["data"]]


def article_url(slug):
    return f"{SITE}/articles/{slug}/"


def page_at(site, url):
    """Return the page of a URL."""
    path = site / unquote(url).removeprefix(f"{SITE}/") / "index.html"
    return lxml.html.document_fromstring(path.read_bytes(), parser=lxml.html.HTMLParser(encoding="utf-8"))


def links(page, path):
    return [unquote(url) for url in page.xpath(f"{path}/@href")]


def assert_article(site, article, newer, older):
    page = page_at(site, article_url(article["slug"]))
    html = (site / f"articles/{article['slug']}/index.html").read_text("utf-8")
    (url,) = page.xpath("//link[@rel='canonical']/@href")
    assert re.fullmatch(r"[!-~]+", url)
    assert unquote(url) == article_url(article["slug"])
    assert html[:15].lower() == "<!doctype html>"
    meta = {tag.get("name") or tag.get("property"): tag.get("content") for tag in page.iter("meta")}
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
    assert meta.get("og:image", "") == article["bannerUrl"]
    assert page.xpath("//img[@class='banner']/@src") == [article["bannerUrl"]] * bool(article["bannerUrl"])
    (markup,) = page.xpath("//script[@type='application/ld+json']/text()")
    assert json.loads(markup) == article["schemaMarkup"]
    assert "x" not in page.xpath("//script/text()")
    assert page.findtext("head/title") == article["metaTitle"]
    assert page.xpath("//h1/text()") == [article["title"]]
    assert page.xpath(f"//p/a[@href='{SITE}/']/text()") == [SITE_NAME]
    assert re.sub(r"<(pre|table)\b", r'<\1 tabindex="0"', article["contentHtml"]) in html
    assert_head_and_facts(page, [article])
    for rel, neighbour in (("prev", newer), ("next", older)):
        assert links(page, f"//a[@rel='{rel}']") == ([article_url(neighbour["slug"])] if neighbour else [])


def assert_head_and_facts(page, articles):
    """Check that a page links its feed and icon, and shows the date and category of its articles."""
    (feed,) = page.xpath("//link[@type='application/rss+xml']")
    assert (feed.get("title"), feed.get("href")) == (SITE_NAME, f"{SITE}/feed.xml")
    assert page.xpath("//link[@rel='icon']/@href")[0].startswith("data:image/svg+xml,")
    assert page.get("lang") == "en"
    for date, article in zip(page.xpath("//time"), articles, strict=True):
        day = datetime.fromisoformat(article["publishedAt"]).astimezone(ZONE).date().isoformat()
        assert (date.get("datetime"), date.text_content()) == (article["publishedAt"], day)
        assert f" · {article['category']}" in date.getparent().text_content()


def assert_list(site, url, title, articles):
    """Check the pages of a list: 50 articles on each, and links to the previous and the next page."""
    newer = None
    for start in range(0, len(articles), 50):
        page, shown = page_at(site, url), articles[start : start + 50]
        assert links(page, "//li/a[1]") == [article_url(article["slug"]) for article in shown]
        assert_head_and_facts(page, shown)
        heading = f"{title}, page {start // 50 + 1}" if newer else title
        assert page.findtext("head/title") == page.findtext(".//h1") == heading
        (canonical,) = links(page, "//link[@rel='canonical']")
        assert canonical.rstrip("/") == url.rstrip("/")
        assert [unquote(url) for url in page.xpath("//meta[@property='og:url']/@content")] == [canonical]
        assert links(page, "//a[@rel='prev']") == ([newer] if newer else [])
        newer, url = url, next(iter(links(page, "//a[@rel='next']")), None)
    assert url is None


def assert_groups(site, articles, kind, names_of, path):
    """Check that articles link to the lists of their categories or keywords, and the lists themselves."""
    url_of, articles_of = {}, {}
    for article in articles:
        shown = {
            link.text: unquote(link.get("href")) for link in page_at(site, article_url(article["slug"])).xpath(path)
        }
        assert list(shown) == names_of(article)
        url_of |= shown
        for name in shown:
            articles_of.setdefault(name, []).append(article)
    for name, url in url_of.items():
        assert_list(site, url, f"{kind}: {name}", articles_of[name])
    folders = {path.name.lower() for path in site.glob(f"{kind.lower()}/*")}
    assert folders == {url.lower().split("/")[-2] for url in url_of.values()}
    assert len(folders) == len(url_of)


def assert_feed(site, articles):
    channel = ElementTree.parse(site / "feed.xml").getroot()[0]  # noqa: S314
    assert (channel.findtext("title"), channel.findtext("link")) == (SITE_NAME, f"{SITE}/")
    own = {"rel": "self", "type": "application/rss+xml", "href": f"{SITE}/feed.xml"}
    assert channel.find(ATOM_LINK).attrib == own
    for item, article in zip(channel.findall("item"), articles, strict=True):
        texts = [item.findtext(name) for name in ("guid", "title", "description")]
        assert texts == [article[name] for name in ("id", "title", "metaDesc")]
        assert unquote(item.findtext("link")) == article_url(article["slug"])
        published = datetime.fromisoformat(article["publishedAt"]).replace(microsecond=0)
        assert parsedate_to_datetime(item.findtext("pubDate")) == published


def read_sitemap(site):
    """Return the days of the articles in a sitemap.xml by their URLs."""
    root = ElementTree.parse(site / "sitemap.xml").getroot()  # noqa: S314
    assert root.tag == f"{SITEMAP_XMLNS}urlset"
    days = {unquote(url[0].text): url.findtext(f"{SITEMAP_XMLNS}lastmod") for url in root}
    return {url: day[:10] for url, day in days.items() if url.startswith(f"{SITE}/articles/")}
