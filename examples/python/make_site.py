"""Write a static site: a page for each article, lists of all and by category and keyword, a feed and a sitemap.xml."""

import re
import sys
from contextlib import suppress
from datetime import datetime
from email.utils import format_datetime
from html import escape
from pathlib import Path
from urllib.parse import quote

from articles import (
    LABELS,
    LANGUAGE,
    SITE,
    SITE_NAME,
    ZONE,
    Article,
    List,
    article_url,
    fetch_all,
    group_articles,
    list_url,
    structured_data,
)

PAGE_SIZE = 50
FEED_SIZE = 20
ICON = "<svg xmlns='http://www.w3.org/2000/svg'><rect width='100%' height='100%' fill='#246'/></svg>"
STYLE = """
body { max-width: 42rem; margin: auto; padding: 1rem; font: 1.125rem/1.6 system-ui, sans-serif; }
body { overflow-wrap: break-word; }
img { max-width: 100%; height: auto; }
.banner { width: 100%; aspect-ratio: 1200 / 630; object-fit: cover; }
pre, table { display: block; overflow-x: auto; }
nav a { display: block; }
"""


def scrollable(html: str) -> str:
    """Make scrollable elements reachable by keyboard."""
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


def render_link(url: str, text: str, rel: str = "") -> str:
    attribute = f' rel="{rel}"' if rel else ""
    return f'<a{attribute} href="{escape(url)}">{escape(text)}</a>'


def render_facts(article: Article) -> str:
    """Return the line with an article's date, in your site's time zone, and its category."""
    published = article["publishedAt"]
    day = datetime.fromisoformat(published).astimezone(ZONE).date()
    links = [render_link(url, name) for url, name in article["categoryLinks"]]
    return " · ".join([f'<time datetime="{published}">{day}</time>', *links])


def render_footer(article: Article, newer: Article | None, older: Article | None) -> str:
    """Return what follows an article's content: its keywords, and links to the articles before and after it."""
    keywords = ", ".join(render_link(url, name, "tag") for url, name in article["keywordLinks"])
    lines = [f"<p>{escape(LABELS['keywords'])}: {keywords}</p>"] if keywords else []
    lines.append("<nav>")
    for other, label, rel in ((newer, "newer", "prev"), (older, "older", "next")):
        if other:
            lines.append(render_link(article_url(other["slug"]), f"{LABELS[label]}: {other['title']}", rel))
    return "\n".join([*lines, "</nav>"])


def render_article(article: Article, newer: Article | None, older: Article | None) -> str:
    banner = escape(article["bannerUrl"])
    head = f"""<meta property="article:published_time" content="{article["publishedAt"]}">
<script type="application/ld+json">{structured_data(article)}</script>
"""
    image = ""
    if banner:
        head += f'<meta property="og:image" content="{banner}">\n'
        image = f'<img class="banner" src="{banner}" alt="" width="1200" height="630">\n'
    body = f"""<p>{render_link(f"{SITE}/", SITE_NAME)}</p>
<h1>{escape(article["title"])}</h1>
<p>{render_facts(article)}</p>
{image}{scrollable(article["contentHtml"])}
{render_footer(article, newer, older)}"""
    return render_page("article", article_url(article["slug"]), article["metaTitle"], article["metaDesc"], body, head)


def render_item(article: Article) -> str:
    """Return an article's entry in a list."""
    return f"<li>{render_link(article_url(article['slug']), article['title'])}<br>{render_facts(article)}</li>\n"


def render_list(group: List) -> dict[str, str]:
    """Return the text of each page of a list by its path, the first page last."""
    starts = range(0, len(group.articles), PAGE_SIZE)
    paths = [f"{group.path or 'page'}/{index + 1}" if index else group.path for index in range(len(starts))]
    files = {}
    for index, (path, start) in enumerate(zip(paths, starts, strict=True)):
        title = f"{group.title}, {LABELS['page']} {index + 1}" if index else group.title
        home = f"<p>{render_link(f'{SITE}/', SITE_NAME)}</p>\n" if path else ""
        items = "".join(map(render_item, group.articles[start : start + PAGE_SIZE]))
        nav = ""
        if index > 0:
            nav += render_link(list_url(paths[index - 1]), LABELS["newer_articles"], "prev")
        if index + 1 < len(paths):
            nav += render_link(list_url(paths[index + 1]), LABELS["older_articles"], "next")
        body = f"{home}<h1>{escape(title)}</h1>\n<ul>\n{items}</ul>\n<nav>{nav}</nav>"
        description = f"{title}, {LABELS['newest_first']}."
        files[f"{path}/index.html".lstrip("/")] = render_page("website", list_url(path), title, description, body)
    return dict(reversed(files.items()))


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
<description>{escape(SITE_NAME)}, {escape(LABELS["newest_first"])}.</description>
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
    """Return the text of each file by its path. Articles come first, so that lists only link to pages that exist."""
    articles, sitemap = fetch_all()
    categories = group_articles(articles, "category", lambda article: [article["category"]])
    keywords = group_articles(articles, "keyword", lambda article: article["keywords"])
    files = {}
    for newer, article, older in zip([None, *articles], articles, [*articles[1:], None], strict=False):
        files[f"articles/{article['slug']}/index.html"] = render_article(article, newer, older)
    for group in (*keywords, *categories, List("", SITE_NAME, articles)):
        files |= render_list(group)
    return files | {"feed.xml": render_feed(articles[:FEED_SIZE]), "sitemap.xml": render_sitemap(sitemap)}


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file atomically. Raises OSError, which names the file, if that fails."""
    new = path.with_name(f"{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(content)
        new.replace(path)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def write_site(site: Path, files: dict[str, str]) -> None:
    """Replace the files that differ, then remove the pages that no longer exist."""
    for name, text in files.items():
        path = site / name
        content = text.encode()
        if not path.is_file() or path.read_bytes() != content:
            replace_file(path, content)
    for folder in ("articles", "page", "category", "keyword"):
        # The longest paths come first, so that category/news/2 is removed before category/news.
        for path in sorted((site / folder).rglob("index.html"), key=lambda path: -len(path.parts)):
            if path.relative_to(site).as_posix() not in files:
                path.unlink()
                with suppress(OSError):  # the folder stays if it is not empty
                    path.parent.rmdir()


if __name__ == "__main__":
    site = Path(*sys.argv[1:] or ["site"])
    try:
        files = render_site()
        write_site(site, files)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    articles = [name for name in files if name.startswith("articles/")]
    print(f"Articles in {site}: {len(articles)}")
