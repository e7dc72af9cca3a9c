"""Write a static site of all articles: lists, a page for each article, a feed and a sitemap.xml."""

import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import format_datetime
from html import escape
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen
from zoneinfo import ZoneInfo

for name in ("ARTICLES_URL", "ARTICLES_KEY", "SITE"):
    if not os.environ.get(name):
        sys.exit(f"Set the environment variable {name}.")
API, KEY, SITE = os.environ["ARTICLES_URL"], os.environ["ARTICLES_KEY"], os.environ["SITE"].rstrip("/")
SITE_NAME = os.environ.get("SITE_NAME") or urlsplit(SITE).netloc
ZONE_NAME = os.environ.get("SITE_TIMEZONE") or "UTC"
ZONE = UTC if ZONE_NAME == "UTC" else ZoneInfo(ZONE_NAME)  # ZoneInfo needs data that Windows lacks.
LANGUAGE = "en"
PAGE_SIZE = 50
FEED_SIZE = 20
ICON = "<svg xmlns='http://www.w3.org/2000/svg'><rect width='100%' height='100%' fill='#246'/></svg>"
STYLE = """
body { max-width: 42rem; margin: auto; padding: 1rem; font: 1.125rem/1.6 system-ui, sans-serif; }
body { overflow-wrap: break-word; }
img { max-width: 100%; height: auto; }
.banner { width: 100%; aspect-ratio: 1200 / 630; object-fit: cover; }
pre, table { display: block; overflow-x: auto; }
"""

Article = dict[str, Any]


def article_url(slug: str) -> str:
    return f"{SITE}/articles/{quote(slug, safe='')}/"


def list_url(number: int) -> str:
    return f"{SITE}/page/{number}/" if number > 1 else f"{SITE}/"


def fetch_json(path: str, **query: Any) -> dict[str, Any]:
    request = Request(f"{API}/{path}?{urlencode(query)}", headers={"x-api-key": KEY})
    try:
        with urlopen(request, timeout=60) as response:
            body: dict[str, Any] = json.load(response)
            return body
    except HTTPError as error:
        is_problem = error.headers.get_content_type() == "application/problem+json"
        reason = json.load(error)["detail"] if is_problem else error.reason
        raise OSError(f"{error.code} {reason}") from error


def fetch_articles(**query: Any) -> Iterator[Article]:
    """Yield every article that matches the query, or every article, the newest first."""
    skip, total = 0, 1
    while skip < total:
        page = fetch_json("articles", **query, take=100, skip=skip)
        yield from page["data"]
        skip += page["meta"]["take"]
        total = page["meta"]["total"] if page["data"] else 0


def fetch_article(slug: str) -> Article | None:
    """Return the article with this slug, or None. Other servers of this API may ignore the filter, so compare."""
    return next((article for article in fetch_articles(slug=slug) if article["slug"] == slug), None)


def structured_data(article: Article) -> str:
    """Return an article's structured data with its URL and yours, as JSON that is safe inside a script element."""
    markup = article["schemaMarkup"]
    for node in markup["@graph"]:
        if isinstance(node, dict) and re.search(r"(Article|Posting)\b", str(node.get("@type"))):
            node.setdefault("mainEntityOfPage", article_url(article["slug"]))
            if isinstance(node.get("author"), dict):
                node["author"].setdefault("url", f"{SITE}/")
    return json.dumps(markup, ensure_ascii=False).replace("<", "\\u003c")


def scrollable(html: str) -> str:
    """Return content in which the keyboard reaches what scrolls."""
    return re.sub(r"<(pre|table)(?=[\s>])", r'<\1 tabindex="0"', html)


def render_page(kind: str, url: str, title: str, description: str, body: str, head: str = "") -> str:
    return f"""<!doctype html>
<html lang="{LANGUAGE}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<meta name="description" content="{escape(description)}">
<link rel="canonical" href="{escape(url)}">
<link rel="alternate" type="application/rss+xml" title="{escape(SITE_NAME)}" href="{escape(SITE)}/feed.xml">
<link rel="icon" href="data:image/svg+xml,{quote(ICON)}">
<meta property="og:type" content="{kind}">
<meta property="og:url" content="{escape(url)}">
<meta property="og:title" content="{escape(title)}">
<meta property="og:description" content="{escape(description)}">
{head}<style>{STYLE}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def render_facts(article: Article) -> str:
    """Return the line with an article's date, in your site's time zone, and its category."""
    published = article["publishedAt"]
    day = datetime.fromisoformat(published).astimezone(ZONE).date()
    return " · ".join(filter(None, [f'<time datetime="{published}">{day}</time>', escape(article["category"])]))


def render_article(article: Article) -> str:
    title, banner = escape(article["title"]), escape(article["bannerUrl"])
    head = f"""<meta property="article:published_time" content="{article["publishedAt"]}">
<script type="application/ld+json">{structured_data(article)}</script>
"""
    body = f"""<p><a href="{escape(SITE)}/">Articles</a></p>
<h1>{title}</h1>
<p>{render_facts(article)}</p>
"""
    if banner:
        head = f'<meta property="og:image" content="{banner}">\n{head}'
        body += f'<img class="banner" src="{banner}" alt="" width="1200" height="630">\n'
    body += scrollable(article["contentHtml"])
    return render_page("article", article_url(article["slug"]), article["metaTitle"], article["metaDesc"], body, head)


def render_item(article: Article) -> str:
    """Return an article's entry in a list."""
    url, title = escape(article_url(article["slug"])), escape(article["title"])
    return f'<li><a href="{url}">{title}</a><br>{render_facts(article)}</li>\n'


def render_list(articles: list[Article], number: int, last: int) -> str:
    items = "".join(render_item(article) for article in articles)
    links = [(number - 1, "prev", "Newer articles"), (number + 1, "next", "Older articles")]
    nav = [f'<a rel="{rel}" href="{escape(list_url(to))}">{text}</a>\n' for to, rel, text in links if 1 <= to <= last]
    title = "Articles" if number == 1 else f"Articles, page {number}"
    body = f"<h1>{title}</h1>\n<ul>\n{items}</ul>\n<nav>\n{''.join(nav)}</nav>"
    return render_page("website", list_url(number), title, "All our articles, the newest first.", body)


def render_feed_item(article: Article) -> str:
    return f"""<item>
<title>{escape(article["title"])}</title>
<link>{escape(article_url(article["slug"]))}</link>
<guid isPermaLink="false">{escape(article["id"])}</guid>
<pubDate>{format_datetime(datetime.fromisoformat(article["publishedAt"]))}</pubDate>
<description>{escape(article["metaDesc"])}</description>
</item>
"""


def render_feed(articles: list[Article]) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">
<channel>
<title>{escape(SITE_NAME)}</title>
<link>{escape(SITE)}/</link>
<atom:link rel="self" type="application/rss+xml" href="{escape(SITE)}/feed.xml"/>
<description>All our articles, the newest first.</description>
{"".join(render_feed_item(article) for article in articles)}</channel>
</rss>
"""


def render_sitemap(entries: list[dict[str, str]]) -> str:
    urls = [
        f"<url><loc>{escape(article_url(entry['url']))}</loc><lastmod>{entry['lastmod']}</lastmod></url>\n"
        for entry in entries
    ]
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
{"".join(urls)}</urlset>
"""


def render_site() -> dict[str, str]:
    """Return the text of each file by its path. Articles come first, so that lists name only pages that exist."""
    articles, entries = list(fetch_articles()), fetch_json("sitemap")["data"]
    files = {f"articles/{article['slug']}/index.html": render_article(article) for article in articles}
    last = max(1, -(-len(articles) // PAGE_SIZE))
    for number in range(last, 0, -1):
        path = f"page/{number}/index.html" if number > 1 else "index.html"
        files[path] = render_list(articles[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], number, last)
    return files | {"feed.xml": render_feed(articles[:FEED_SIZE]), "sitemap.xml": render_sitemap(entries)}


def write_site(site: Path, files: dict[str, str]) -> None:
    """Replace the files that differ, each atomically, then remove the pages that no longer exist."""
    for name, text in files.items():
        path, content = site / name, text.encode()
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f"{path.name}.new")
            new.write_bytes(content)
            new.replace(path)
    for folder in (*site.glob("articles/*"), *site.glob("page/*")):
        if f"{folder.relative_to(site).as_posix()}/index.html" not in files:
            shutil.rmtree(folder)


if __name__ == "__main__":
    try:
        write_site(Path(*sys.argv[1:] or ["site"]), render_site())
    except (HTTPException, OSError, ValueError) as error:
        sys.exit(f"{API}: {error}")
