"""`python seed.py`: demo data, a small magazine about running a website from articles."""

import shlex
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from sqlalchemy import delete, func, select

from app import create_app
from auth import add_key, hash_key
from commands.support import params
from commands.support.command_errors import report_errors
from commands.support.session import command_session
from commands.support.terminal import echo, format_article_count
from converters.slugs import slug_from_title
from models import ApiKey, Article, Customer, db
from schemas import API_PATH
from serving.listener import base_url
from settings import load_environment
from storage.customer_rows import DEMO_CUSTOMER, create_customer, delete_customer, find_customer
from transfer.imports import import_records

MAX_ARTICLES = 100_000
DRAFT_COUNT = 3
FIRST_REPEAT = datetime(2023, 10, 2, tzinfo=UTC)
REPEAT_DAYS = 970
FIRST_ORIGINAL = FIRST_REPEAT + timedelta(days=REPEAT_DAYS)
ORIGINAL_DAYS = 125
GOLDEN_RATIO = (5**0.5 - 1) / 2  # fractional parts of its multiples are evenly distributed, for any count
SCHEDULED_FOR = "2050-01-01T09:00:00Z"  # fixed, so that running the script again changes nothing

DEMO_FOLDER = Path(__file__).parent / "demo"
# A service with the default settings serves these pictures. Elsewhere, the page at / leaves them out.
BANNERS = "http://127.0.0.1:8000/static/banners/"

PUBLISHED_IDS = "^demo-[0-9]{6}$"
ALL_IDS = "^demo-([0-9]{6}|draft-[0-9]|scheduled)$"


def demo_articles(count: int) -> Iterator[dict[str, Any]]:
    """Yield `count` published articles, then the drafts and the scheduled one, as input for `ArticleImportSchema`.

    Once all texts have been used, they are repeated, with earlier dates and with a number in title and slug. An
    article does not depend on `count`.
    """
    texts = _read("published/*.toml")
    for number in range(1, count + 1):
        times_used, position = divmod(number - 1, len(texts))
        text = _renumber(texts[position], times_used + 1) if times_used else texts[position]
        yield _article(f"demo-{number:06}", number, text, is_repeat=times_used > 0)
    for number, text in enumerate(_read("unpublished/draft-*.toml"), start=1):
        draft = _article(f"demo-draft-{number}", number, text)
        yield draft | {"status": "draft", "publishedAt": None, "views": 0}
    (text,) = _read("unpublished/scheduled.toml")
    scheduled = _article("demo-scheduled", 0, text)
    yield scheduled | {"publishedAt": SCHEDULED_FOR, "views": 0}


def _read(pattern: str) -> list[dict[str, Any]]:
    texts = [tomllib.loads(file.read_text("utf-8")) for file in sorted(DEMO_FOLDER.glob(pattern))]
    return [{"slug": slug_from_title(text["title"])} | text for text in texts]


def _renumber(text: dict[str, Any], number: int) -> dict[str, Any]:
    return text | {"title": f"{text['title']} ({number})", "slug": f"{text['slug']}-{number}"}


def _article(id: str, number: int, text: dict[str, Any], is_repeat: bool = False) -> dict[str, Any]:
    published_at = _publication_time(number, is_repeat)
    banner = text["category"].lower().replace(" ", "-")
    return {
        "id": id,
        "status": "published",
        "publishedAt": published_at.isoformat(),
        "createdAt": (published_at - timedelta(days=1 + number % 20, hours=number % 5)).isoformat(),
        "updatedAt": (published_at + timedelta(days=number % 3 * (number % 9))).isoformat(),
        "views": 20 + number * 7919 % 4981,
        "bannerUrl": f"{BANNERS}{banner}.svg",
        "contentHtml": text["body"].strip(),
    } | {name: text[name] for name in text.keys() - {"body"}}


def _publication_time(number: int, is_repeat: bool) -> datetime:
    """Return a distinct time for each number, between 06:00 and 18:00 UTC."""
    first_day, days = (FIRST_REPEAT, REPEAT_DAYS) if is_repeat else (FIRST_ORIGINAL, ORIGINAL_DAYS)
    minutes_of_day = 12 * 60
    day, minute = divmod(int(number * GOLDEN_RATIO % 1 * days * minutes_of_day), minutes_of_day)
    return first_day + timedelta(days=day, hours=6, minutes=minute)


def delete_articles(customer: Customer, ids: str, after: str = "") -> int:
    """Delete the customer's articles whose ids match a pattern and come after an id. Returns how many there were."""
    is_deleted = Article.customer_id == customer.id, Article.id.regexp_match(ids), Article.id > after
    return db.session.connection().execute(delete(Article).where(*is_deleted)).rowcount


def remove_demo() -> str:
    """Delete the demo's articles and, if the customer has no others, the customer. Returns a summary to print."""
    with command_session(writes=True):
        customer = find_customer(DEMO_CUSTOMER)
        if not customer:
            return f"Nothing to delete: there is no customer {DEMO_CUSTOMER}."
        deleted = format_article_count(delete_articles(customer, ALL_IDS))
        left = db.session.scalar(select(func.count()).where(Article.customer_id == customer.id))
        if left:
            return f"Deleted {deleted}. {DEMO_CUSTOMER} keeps its keys and {format_article_count(left)} of yours."
        delete_customer(customer)
        return f"Deleted {DEMO_CUSTOMER} and {deleted}."


def ensure_demo_key(customer: Customer, key: str | None) -> str | None:
    """Return `key`, added if it is new. Without `key`, add a random one, or return None if the customer has a key."""
    if not key:
        key_count = db.session.scalar(select(func.count()).where(ApiKey.customer_id == customer.id))
        return None if key_count else add_key(customer)[0]
    existing = db.session.scalar(select(ApiKey).filter_by(hash=hash_key(key)))
    if not existing:
        add_key(customer, key)
    elif existing.customer_id != customer.id or existing.revoked_at or existing.expires_on:
        reason = "This key belongs to another customer, was revoked, or expires."
        raise click.BadParameter(f"{reason} Choose another.", param_hint="'--key'")
    return key


def write_demo(count: int, key: str | None) -> str | None:
    """Write the demo, and print a summary and the key. Returns the key, or None if it cannot be shown again."""
    with command_session(writes=True, create=True):
        customer = find_customer(DEMO_CUSTOMER) or create_customer(DEMO_CUSTOMER)
        removed = delete_articles(customer, PUBLISHED_IDS, after=f"demo-{count:06}")
        saved = import_records(customer, demo_articles(count))
        key = ensure_demo_key(customer, key)
        # Print before the commit, so that no key becomes valid without having been shown.
        click.echo(
            f"{DEMO_CUSTOMER} has {count} published articles, {DRAFT_COUNT} drafts and 1 scheduled article "
            f"({saved['new']} new, {saved['changed']} changed, {saved['unchanged']} unchanged, {removed} removed)."
        )
        if key:
            click.echo(f"Key: {key}")
        else:
            click.echo("Keys are shown only once. To add another: python seed.py --key KEY")
    return key


@click.command()
@click.option("--articles", type=click.IntRange(0, MAX_ARTICLES), default=120, help="Published articles (default 120).")
@click.option(
    "--key",
    metavar="KEY",
    type=params.api_key,
    default=lambda: load_environment().get("DEMO_KEY"),
    help="API key for the demo, or set DEMO_KEY. By default, the first run creates a random one.",
)
@click.option("--remove", is_flag=True, help="Delete what this script has created.")
def main(articles: int, key: str | None, remove: bool) -> None:
    """Create the customer Demo with articles, drafts and a scheduled article, or restore them."""
    app = create_app()
    with app.app_context(), report_errors():
        if remove:
            echo(remove_demo())
            return
        key = write_demo(articles, key)
        service_url = base_url(app.config["HOST"], app.config["PORT"] or 8000)  # 0 is a different port each time
        header = shlex.quote(f"x-api-key: {key or 'YOUR_KEY'}")
        request = f'curl -H {header} "{service_url}{API_PATH}/articles?take=2"'
        click.echo(f"Start the service (python app.py), then:\n  {request}")


if __name__ == "__main__":
    main()
