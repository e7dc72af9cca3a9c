"""Articles for the benchmarks."""

from datetime import UTC, datetime, timedelta
from typing import Any

from app import create_app
from auth import add_key, find_or_add_customer
from content import save_articles
from database import begin_write, commit_write, create_tables
from errors import Faults, Place

PARAGRAPH = "<p>A paragraph of an article, with a naïve word and a <a href='https://www.example.com/'>link</a>.</p>\n"


def article(number: int) -> dict[str, Any]:
    """Make an article of 8 KB, as a dictionary by `Article` column."""
    moment = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=number * 7919 % 1_000_000)
    return {
        "id": f"article-{number:06}",
        "slug": f"an-article-with-a-slug-{number}",
        "status": "published",
        "published_at": moment,
        "created_at": moment,
        "updated_at": moment,
        "views": number * 31 % 5000,
        "title": f"An article with the number {number}",
        "banner_url": f"https://www.example.com/banners/{number}.jpg",
        "category": "News",
        "keywords": '["one","two","three"]',
        "content_html": PARAGRAPH * (8192 // len(PARAGRAPH)),
    }


def fill(url: str, count: int) -> str:
    """Write `count` articles into the database at `url`; return a key to them."""
    with create_app({"DATABASE_URL": url}).app_context():
        create_tables()
        begin_write()
        customer = find_or_add_customer("Benchmark")
        articles = ((Place("benchmark", str(number)), article(number)) for number in range(count))
        save_articles(customer, articles, Faults())
        key, _ = add_key(customer)
        commit_write()
    return key
