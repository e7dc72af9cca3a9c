"""Articles for the benchmarks, in formats that all versions of the service import."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

PARAGRAPH = '<p>A paragraph of an article, with a naïve word and a <a href="https://www.example.com/">link</a>.</p>\n'
SECTION = """\
## What to do *first*

A paragraph with **strong words**, `code`, a [link](https://www.example.com/) and "quotes" -- over two lines,
as people write it, and with a picture: ![Spring](https://www.example.com/spring.jpg)

- A list with a first item
- and a [second one](https://www.example.com/second)

> A quotation of some length, which somebody may have said.

"""
WORDPRESS_HEAD = """\
<rss xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:wp="http://wordpress.org/export/1.2/">
<channel><wp:wxr_version>1.2</wp:wxr_version><wp:base_blog_url>https://blog.example.com</wp:base_blog_url>
"""


def published_at(number: int) -> datetime:
    """Return when an article was published, which does not follow the order of the numbers."""
    return datetime(2024, 1, 1) + timedelta(minutes=number * 7919 % 1_000_000)


def article_json(number: int) -> dict[str, Any]:
    """Return an article of 8 KB."""
    return {
        "id": f"article-{number:06}",
        "title": f"An article with the number {number}",
        "slug": f"an-article-with-a-slug-{number}",
        "bannerUrl": "https://www.example.com/spring.jpg",
        "keywords": ["menu", "spring"],
        "category": "News",
        "contentHtml": PARAGRAPH * (8192 // len(PARAGRAPH)),
        **dict.fromkeys(("publishedAt", "createdAt", "updatedAt"), f"{published_at(number).isoformat()}Z"),
        "views": number * 31 % 5000,
    }


def write_json_lines(path: Path, count: int) -> None:
    """Write articles to a file as JSON Lines."""
    with path.open("wb") as file:
        file.writelines(orjson.dumps(article_json(number)) + b"\n" for number in range(count))


def write_markdown(folder: Path, count: int) -> None:
    """Write Markdown posts of 5 KB with front matter to a new folder."""
    folder.mkdir()
    for number in range(count):
        front_matter = f"title: Post {number}\ndate: {published_at(number)}\ndescription: A post\ntags: [menu, spring]"
        text = f"---\n{front_matter}\n---\n\n{SECTION * (5000 // len(SECTION))}"
        (folder / f"post-{number}.md").write_text(text, "utf-8")


def write_wordpress(path: Path, count: int) -> None:
    """Write a WordPress export with posts of 5 KB."""
    block = f"<!-- wp:paragraph -->\n{PARAGRAPH}<!-- /wp:paragraph -->\n\n"
    with path.open("w", encoding="utf-8") as file:
        file.write(WORDPRESS_HEAD)
        for number in range(1, count + 1):
            file.write(
                f"<item><title>Post {number}</title><wp:post_id>{number}</wp:post_id><wp:post_type>post</wp:post_type>"
                f"<wp:post_name>post-{number}</wp:post_name><wp:post_date_gmt>{published_at(number)}</wp:post_date_gmt>"
                f"<wp:status>publish</wp:status><link>https://blog.example.com/post-{number}/</link>"
                f"<content:encoded><![CDATA[{block * (5000 // len(block))}]]></content:encoded></item>\n"
            )
        file.write("</channel></rss>\n")
