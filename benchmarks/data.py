"""Articles for the benchmarks, and databases filled with them using the service's own commands."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from benchmarks.servers import PROJECT, run_flask
from endpoints.openapi import example
from schemas import ArticleSchema

CUSTOMER = "Benchmark"
PARAGRAPH = "<p>A paragraph of an article, with a naïve word and a <a href='https://www.example.com/'>link</a>.</p>\n"
DERIVED = ("metaTitle", "metaDesc", "readTime", "schemaMarkup")


def article_json(number: int) -> dict[str, Any]:
    """Return an 8 KB article with every field that an import accepts, except those that the service derives."""
    moment = datetime(2024, 1, 1) + timedelta(minutes=number * 7919 % 1_000_000)
    article = example(ArticleSchema()) | {
        "id": f"article-{number:06}",
        "title": f"An article with the number {number}",
        "slug": f"an-article-with-a-slug-{number}",
        "contentHtml": PARAGRAPH * (8192 // len(PARAGRAPH)),
        **dict.fromkeys(("publishedAt", "createdAt", "updatedAt"), f"{moment.isoformat()}Z"),
        "views": number * 31 % 5000,
    }
    return {name: value for name, value in article.items() if name not in DERIVED}


def write_json_lines(path: Path, articles: Iterable[dict[str, Any]]) -> None:
    """Write articles to a file as JSON Lines."""
    with path.open("wb") as file:
        file.writelines(orjson.dumps(article) + b"\n" for article in articles)


def fill_database(url: str, source: Path, project: Path = PROJECT) -> str:
    """Create a customer, import articles from `source`, and return the customer's API key.

    `url` is the database, and `project` the checkout whose commands are used.
    """
    key = run_flask(url, "keys", "create", CUSTOMER, project=project)
    run_flask(url, "articles", "import", str(source), project=project)
    return key
