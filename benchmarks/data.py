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
DERIVED = ("metaTitle", "metaDesc", "readTime", "schemaMarkup")


def article_json(number: int) -> dict[str, Any]:
    """Return an article of 8 KB with all fields that an import accepts, but for what the service derives."""
    published_at = datetime(2024, 1, 1) + timedelta(minutes=number * 7919 % 1_000_000)
    moment = f"{published_at:%Y-%m-%dT%H:%M:%S}.000Z"
    article = ArticleSchema().example() | {
        "id": f"article-{number:06}",
        "title": f"An article with the number {number}",
        "slug": f"an-article-with-a-slug-{number}",
        "bannerUrl": f"https://www.example.com/banners/{number}.jpg",
        "keywords": ["one", "two", "three"],
        "contentHtml": PARAGRAPH * (8192 // len(PARAGRAPH)),
        **dict.fromkeys(("publishedAt", "createdAt", "updatedAt"), moment),
        "views": number * 31 % 5000,
    }
    return {name: value for name, value in article.items() if name not in DERIVED}


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
        write_json_lines(path, map(article_json, range(count)))
        run_flask(url, "articles", "import", str(path), project=project)
    return key
