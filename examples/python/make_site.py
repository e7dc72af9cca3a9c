"""Write a static site: a page for each article, a list of all, a feed and a sitemap.xml."""

import os
import sys
from contextlib import suppress
from datetime import datetime
from email.utils import format_datetime
from html import escape
from pathlib import Path
from urllib.parse import quote

from articles import Article, fetch_all, read_url, structured_data

SITE = read_url("SITE", "https://www.example.com")
SITE_NAME = os.environ.get("SITE_NAME") or SITE.split("/")[2]
FEED_SIZE = 20
STYLE = """
body { max-width: 42rem; margin: auto; padding: 1rem; font: 1.125rem/1.6 system-ui, sans-serif; }
body { overflow-wrap: break-word; }
img { max-width: 100%; height: auto; }
pre, table { display: block; overflow-x: auto; }
"""


def article_url(slug: str) -> str:
    return f"{SITE}/articles/{quote(slug, safe='')}/"


def render_time(article: Article) -> str:
    """Return the day (UTC) on which an article was published."""
    published = article["publishedAt"]
    return f'<time datetime="{published}">{published[:10]}</time>'


def render_page(kind: str, url: str, title: str, description: str, body: str, head: str = "") -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<meta name="description" content="{escape(description)}">
<link rel="canonical" href="{escape(url)}">
<link rel="alternate" type="application/rss+xml" title="{escape(SITE_NAME)}" href="{escape(SITE)}/feed.xml">
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


def render_article(article: Article) -> str:
    banner = escape(article["bannerUrl"])
    head = f"""<meta property="article:published_time" content="{article["publishedAt"]}">
<script type="application/ld+json">{structured_data(article)}</script>
"""
    image = ""
    if banner:
        head += f'<meta property="og:image" content="{banner}">\n'
        image = f'<img src="{banner}" alt="" width="1200" height="630">\n'
    body = f"""<p><a href="{escape(SITE)}/">{escape(SITE_NAME)}</a></p>
<h1>{escape(article["title"])}</h1>
<p>{render_time(article)} {escape(article["category"])}</p>
{image}{article["contentHtml"]}"""
    return render_page("article", article_url(article["slug"]), article["metaTitle"], article["metaDesc"], body, head)


def render_item(article: Article) -> str:
    """Return an article's entry in the list."""
    link = f'<a href="{escape(article_url(article["slug"]))}">{escape(article["title"])}</a>'
    return f"<li>{link} {render_time(article)}</li>\n"


def render_list(articles: list[Article]) -> str:
    body = f"<h1>{escape(SITE_NAME)}</h1>\n<ul>\n{''.join(map(render_item, articles))}</ul>"
    return render_page("website", f"{SITE}/", SITE_NAME, SITE_NAME, body)


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
<rss version="2.0">
<channel>
<title>{escape(SITE_NAME)}</title>
<link>{escape(SITE)}/</link>
<description>{escape(SITE_NAME)}</description>
{"".join(map(render_feed_item, articles))}</channel>
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
    """Return the text of each file by its path. Articles come first, so that the list only links to existing pages."""
    articles, sitemap = fetch_all()
    files = {f"articles/{folder_name(article['slug'])}/index.html": render_article(article) for article in articles}
    return files | {
        "index.html": render_list(articles),
        "feed.xml": render_feed(articles[:FEED_SIZE]),
        "sitemap.xml": render_sitemap(sitemap),
    }


def folder_name(slug: str) -> str:
    """Return the slug. Raises OSError if it would leave the folder."""
    if slug in (".", "..") or "\\" in slug:
        raise OSError(f"The slug {slug} cannot be the name of a folder. Rename it.")
    return slug


def replace_file(path: Path, text: str) -> None:
    """Replace a file atomically. Raises OSError, which names the file, if that fails."""
    new = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(text.encode())
        new.replace(path)
    except OSError as error:
        raise OSError(f"Cannot write {path} ({error.strerror}). Check its folder and the disk.") from error


def write_site(site: Path, files: dict[str, str]) -> None:
    """Replace the files, then remove the pages of articles that are no longer published."""
    for name, text in files.items():
        replace_file(site / name, text)
    for page in (site / "articles").glob("*/index.html"):
        if page.relative_to(site).as_posix() not in files:
            page.unlink()
            with suppress(OSError):  # the folder stays if it is not empty
                page.parent.rmdir()


if __name__ == "__main__":
    site = Path(*sys.argv[1:] or ["site"])
    try:
        files = render_site()
        write_site(site, files)
    except OSError as error:
        sys.exit(str(error))
    print(f"Articles in {site}: {sum(name.startswith('articles/') for name in files)}")
