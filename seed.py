"""Demo data: a small magazine about running a website from articles. `python seed.py` writes it."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
from sqlalchemy import delete, func, select

from app import create_app
from auth import hash_key
from commands import echo, params
from commands.customers import remove_customer
from commands.errors import report_errors
from commands.keys import add_key
from commands.lookup import DEMO_CUSTOMER, command_transaction, find_customer, find_or_create_customer
from content.search import fold
from converters.records import number_articles
from models import ApiKey, Article, Customer, db
from schemas import API_PATH
from serving.server import base_url
from settings import load_environment
from transfer.report import ImportReport
from transfer.writer import save_articles

MAX_ARTICLES = 100_000
DRAFTS = 3
FIRST_PUBLICATION = datetime(2023, 10, 2, tzinfo=UTC)
DAYS = 3 * 365
# The fractions of its multiples spread evenly, however many there are.
GOLDEN_RATIO = (5**0.5 - 1) / 2
SCHEDULED_FOR = "2050-01-01T09:00:00Z"  # It is fixed, so that the same run again changes nothing.

TEXTS = Path(__file__).parent / "demo"


def demo_articles(count: int, site: str) -> Iterator[dict[str, Any]]:
    """Yield `count` published articles, then the drafts and the scheduled one, in the import form.

    The first ones are the guides and the articles in other languages. The others retell a guide as the story of a small
    business in a town. The numbers of guides, businesses and towns have no common divisor, so that counting through all
    three at once repeats no combination. An article is the same whatever `count` is. `site` is the URL of the service,
    which serves the banners.
    """
    guides = _read("guides/*.toml")
    plain = guides + _read("world/*.toml")
    trades = tomllib.loads((TEXTS / "trades.toml").read_text("utf-8"))["trades"]
    places = (TEXTS / "places.txt").read_text("utf-8").splitlines()

    def story(number: int) -> dict[str, Any]:
        return _retell(guides[number % len(guides)], trades[number % len(trades)], places[number % len(places)])

    for number in range(1, count + 1):
        text = plain[number - 1] if number <= len(plain) else story(number)
        yield _article(f"demo-{number:06}", number, text, site)
    for number in range(1, DRAFTS + 1):
        draft = _article(f"demo-draft-{number}", number, story(MAX_ARTICLES + number), site)
        yield draft | {"status": "draft", "publishedAt": None, "views": 0}
    scheduled = _article("demo-scheduled", 0, story(MAX_ARTICLES + DRAFTS + 1), site)
    yield scheduled | {"publishedAt": SCHEDULED_FOR, "views": 0}


def _read(pattern: str) -> list[dict[str, Any]]:
    return [tomllib.loads(file.read_text("utf-8")) for file in sorted(TEXTS.glob(pattern))]


def _retell(guide: dict[str, Any], trade: dict[str, Any], place: str) -> dict[str, Any]:
    """Return a guide's text as the story of a small business."""
    title = guide["story"].format(trade=trade["name"], place=place)
    parts = trade["opening"].format(place=place), guide["body"], trade["practice"].format(place=place)
    return {
        "title": title[0].upper() + title[1:],
        "category": guide["category"],
        "keywords": [*guide["keywords"], place],
        "body": "\n".join(part.strip() for part in parts),
    }


def _slug(title: str) -> str:
    """Return a slug for a title, without what is in brackets: a town's name in its own script."""
    return "-".join(re.findall(r"\w+", re.sub(r"\(.*?\)", "", fold(title))))


def _article(id: str, number: int, text: dict[str, Any], site: str) -> dict[str, Any]:
    published_at = FIRST_PUBLICATION + timedelta(
        days=int(number * GOLDEN_RATIO % 1 * DAYS), hours=6 + number % 12, minutes=number * 7 % 60
    )
    banner = text["category"].lower().replace(" ", "-")
    return {
        "id": id,
        "slug": _slug(text["title"]),
        "status": "published",
        "publishedAt": published_at.isoformat(),
        "createdAt": (published_at - timedelta(days=1 + number % 20, hours=number % 5)).isoformat(),
        "updatedAt": (published_at + timedelta(days=number % 3 * (number % 9))).isoformat(),
        "views": 20 + number * 7919 % 4981,
        "bannerUrl": f"{site}/static/banners/{banner}.svg",
        "contentHtml": text["body"].strip(),
    } | {name: text[name] for name in text.keys() - {"body", "story"}}


def remove_demo_articles(customer_id: int, after: int) -> int:
    """Delete the published demo articles after number `after`, and return their number."""
    later = Article.id.regexp_match("^demo-[0-9]{6}$"), Article.id > f"demo-{after:06}"
    statement = delete(Article).where(Article.customer_id == customer_id, *later)
    return db.session.connection().execute(statement).rowcount


def remove_demo() -> str:
    """Delete the customer Demo, its articles and its keys; return a line that says how many."""
    with command_transaction():
        customer = find_customer(DEMO_CUSTOMER)
        if customer:
            return remove_customer(customer)
    return f"There is no customer {DEMO_CUSTOMER}: nothing to delete."


def demo_key(customer: Customer, key: str | None) -> str | None:
    """Return `key`, which is added if it is new, or a random key if the customer has none, or None."""
    if not key:
        key_count = db.session.scalar(select(func.count()).where(ApiKey.customer_id == customer.id))
        return None if key_count else add_key(customer)[0]
    known = db.session.scalar(select(ApiKey).filter_by(hash=hash_key(key)))
    if known and (known.customer_id != customer.id or known.revoked_at or known.expires_on):
        raise click.BadParameter("this key is taken, revoked or may expire. Choose another.", param_hint="--key")
    if not known:
        add_key(customer, key)
    return key


def write_demo(count: int, key: str | None, site: str) -> tuple[str | None, bool]:
    """Write the demo, and print how much changed; return its key if it is known, and whether the customer is new."""
    with command_transaction(create=True):
        customer, is_new = find_or_create_customer(DEMO_CUSTOMER)
        removed = remove_demo_articles(customer.id, after=count)
        saved = save_articles(customer, number_articles("the demo", demo_articles(count, site)), ImportReport())
        key = demo_key(customer, key)
        # This is printed before the commit: a key that cannot be printed must not become valid.
        click.echo(
            f"{DEMO_CUSTOMER} has {count} published articles, {DRAFTS} drafts and 1 scheduled article "
            f"({saved['new']} new, {saved['changed']} changed, {saved['unchanged']} unchanged, {removed} removed)."
        )
        if key:
            click.echo(f"Key: {key}")
        else:
            click.echo(f"Its keys are not shown again. To create another: flask keys create {DEMO_CUSTOMER}")
    return key, is_new


@click.command()
@click.option("--articles", type=click.IntRange(0, MAX_ARTICLES), default=120, help="Published ones (default 120).")
@click.option(
    "--key",
    type=params.api_key,
    default=lambda: load_environment().get("DEMO_KEY"),
    help="A key for the demo (or DEMO_KEY). The first run creates a random one.",
)
@click.option("--remove", is_flag=True, help="Delete the customer Demo, its articles and its keys.")
@report_errors()
def main(articles: int, key: str | None, remove: bool) -> None:
    """Fill the customer Demo with articles, drafts and a scheduled article. The same run again changes nothing."""
    app = create_app()
    site = base_url(app.config["HOST"], app.config["PORT"] or 8000)  # 0 will be another port each time
    with app.app_context():
        if remove:
            echo(remove_demo())
            return
        key, is_new = write_demo(articles, key, site)
    if is_new:
        click.echo(f"New customer: {DEMO_CUSTOMER}", err=True)
    header = shlex.quote(f"x-api-key: {key or 'YOUR_KEY'}")
    click.echo(f'Start the service (python app.py), then:\n  curl -H {header} "{site}{API_PATH}/articles?take=2"')


if __name__ == "__main__":
    main()
