"""Articles for the benchmarks, and databases that hold them, filled by the service's own commands."""

import os
import subprocess
import sys
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import orjson

from benchmarks.measure import PROJECT
from schemas import ArticleSchema

CUSTOMER = "Benchmark"
PARAGRAPH = "<p>A paragraph of an article, with a naïve word and a <a href='https://www.example.com/'>link</a>.</p>\n"
DESCRIPTION = (
    "A paragraph of an article, with a naïve word and a link. A paragraph of an article, with a naïve word and a link. "
    "A paragraph of an article, with a naïve"
)


def full_article(number: int) -> dict[str, Any]:
    """Return an article of 8 KB, with all fields of the API's full form."""
    published_at = datetime(2024, 1, 1) + timedelta(minutes=number * 7919 % 1_000_000)
    article = ArticleSchema().example() | {
        "id": f"article-{number:06}",
        "title": f"An article with the number {number}",
        "slug": f"an-article-with-a-slug-{number}",
        "bannerUrl": f"https://www.example.com/banners/{number}.jpg",
        "keywords": ["one", "two", "three"],
        "metaTitle": f"An article with the number {number}",
        "metaDesc": DESCRIPTION,
        "publishedAt": f"{published_at:%Y-%m-%dT%H:%M:%S}.000Z",
        "readTime": 4,
        "contentHtml": PARAGRAPH * (8192 // len(PARAGRAPH)),
    }
    return article | {"schemaMarkup": schema_markup(article)}


def schema_markup(article: dict[str, Any]) -> dict[str, Any]:
    """Return structured data as the service derives it from the article."""
    organization = {"@type": "Organization", "name": CUSTOMER}
    posting = {
        "@type": "BlogPosting",
        "headline": article["title"],
        "description": article["metaDesc"],
        "keywords": article["keywords"],
        "articleSection": article["category"],
        "timeRequired": "PT4M",
        "dateModified": article["publishedAt"],
        "author": organization,
        "publisher": organization,
        "image": [article["bannerUrl"]],
        "datePublished": article["publishedAt"],
    }
    return {"@context": "https://schema.org", "@graph": [posting]}


def importable_article(number: int) -> dict[str, Any]:
    """Return an article with all fields that an import accepts."""
    article = full_article(number)
    published_at = article["publishedAt"]
    return article | {"createdAt": published_at, "updatedAt": published_at, "views": number * 31 % 5000}


def write_json_lines(path: Path, articles: Iterable[dict[str, Any]]) -> None:
    """Write articles to a file as JSON Lines."""
    with path.open("wb") as file:
        file.writelines(orjson.dumps(article) + b"\n" for article in articles)


def run_flask(url: str, *arguments: str, project: Path = PROJECT, stdin: str = "", timeout: float | None = None) -> str:
    """Run one of the service's commands on the database at the URL, and return what it prints.

    Raises click.ClickException if it fails, and subprocess.TimeoutExpired if it had to be killed after `timeout`
    seconds.
    """
    result = subprocess.run(
        [sys.executable, "-m", "flask", *arguments],
        cwd=project,
        env=os.environ | {"DATABASE_URL": url},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    if result.returncode:
        raise click.ClickException(f"flask {' '.join(arguments)} failed: {result.stderr.strip()}")
    return result.stdout.strip()


def fill_database(url: str, count: int, project: Path = PROJECT) -> str:
    """Create a customer with `count` articles in the database at the URL, and return the customer's API key.

    `project` is the checkout whose commands do it.
    """
    key = run_flask(url, "keys", "create", CUSTOMER, project=project)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "articles.jsonl"
        write_json_lines(path, map(importable_article, range(count)))
        run_flask(url, "articles", "import", str(path), project=project)
    return key
