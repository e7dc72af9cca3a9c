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
from auth import KeyText, add_key, find_or_add_customer, hash_key
from content import save_articles
from database import begin_write, commit_write, create_tables
from errors import Faults, Place, errors_in_one_line
from models import ApiKey, Article, Customer, db
from schemas import json_text
from search import fold
from server import base_url

CUSTOMER = "Demo"
MOST_ARTICLES = 100_000
DRAFTS = 3
FIRST_DAY = datetime(2023, 10, 2, tzinfo=UTC)
DAYS = 3 * 365
GOLDEN_RATIO = (5**0.5 - 1) / 2  # its multiples, less their whole part, spread evenly however many there are
SCHEDULED_FOR = datetime(2050, 1, 1, 9, tzinfo=UTC)  # fixed, so that the same run again changes nothing

TEXTS = Path(__file__).parent / "demo"


def demo_articles(count: int, site: str) -> Iterator[dict[str, Any]]:
    """Give `count` published articles, then the drafts and the scheduled one, as mappings by `Article` column.

    The first ones are the guides and the articles in other languages. The rest tell a guide through one small
    business in one town: guides, businesses and towns are counted through side by side, and as their numbers have no
    common divisor, no combination comes twice. An article is the same whatever `count` is. `site` is the address that
    serves the banners.
    """
    guides = _read("guides/*.toml")
    plain = guides + _read("world/*.toml")
    trades = tomllib.loads((TEXTS / "trades.toml").read_text("utf-8"))["trades"]
    places = (TEXTS / "places.txt").read_text("utf-8").splitlines()

    def story(number: int) -> dict[str, Any]:
        guide, trade = guides[number % len(guides)], trades[number % len(trades)]
        place = places[number % len(places)]
        parts = trade["opening"].format(place=place), guide["body"], trade["practice"].format(place=place)
        return {
            "title": _sentence(guide["story"].format(trade=trade["name"], place=place)),
            "category": guide["category"],
            "keywords": [*guide["keywords"], place],
            "body": "\n".join(part.strip() for part in parts),
        }

    for number in range(1, count + 1):
        text = plain[number - 1] if number <= len(plain) else story(number)
        yield _article(f"demo-{number:06}", number, text, site)
    for number in range(1, DRAFTS + 1):
        draft = _article(f"demo-draft-{number}", number, story(MOST_ARTICLES + number), site)
        yield draft | {"status": "draft", "published_at": None, "views": 0}
    scheduled = _article("demo-scheduled", 0, story(MOST_ARTICLES + DRAFTS + 1), site)
    yield scheduled | {"published_at": SCHEDULED_FOR, "views": 0}


def _read(pattern: str) -> list[dict[str, Any]]:
    return [tomllib.loads(file.read_text("utf-8")) for file in sorted(TEXTS.glob(pattern))]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]


def _slug(title: str) -> str:
    """Make a slug of a title, less what stands in brackets: a town's name in its own script."""
    return "-".join(re.findall(r"\w+", re.sub(r"\(.*?\)", "", fold(title))))


def _article(id: str, number: int, text: dict[str, Any], site: str) -> dict[str, Any]:
    published_at = FIRST_DAY + timedelta(
        days=int(number * GOLDEN_RATIO % 1 * DAYS), hours=6 + number % 12, minutes=number * 7 % 60
    )
    banner = text["category"].lower().replace(" ", "-")
    return {
        "id": id,
        "slug": _slug(text["title"]),
        "status": "published",
        "published_at": published_at,
        "created_at": published_at - timedelta(days=1 + number % 20, hours=number % 5),
        "updated_at": published_at + timedelta(days=number % 3 * (number % 9)),
        "views": 20 + number * 7919 % 4981,
        "title": text["title"],
        "banner_url": f"{site}/static/banners/{banner}.svg",
        "category": text["category"],
        "keywords": json_text(text["keywords"]),
        "content_html": text["body"].strip(),
    } | {name: text[name] for name in ("slug", "read_time") if name in text}


def remove_demo_articles(customer_id: int, after: int) -> int:
    """Delete the published demo articles after number `after`; return how many there were."""
    removed = db.session.execute(
        delete(Article)
        .where(Article.customer_id == customer_id, Article.id.regexp_match("^demo-[0-9]{6}$"))
        .where(Article.id > f"demo-{after:06}")
        .returning(Article.pk)
    )
    return len(removed.all())


def demo_key(customer: Customer, key: str | None) -> str | None:
    """Give the key to show: `key`, added where it is new, or a random one where the customer has none, or None."""
    if not key:
        held = db.session.scalar(select(func.count()).where(ApiKey.customer_id == customer.id))
        return None if held else add_key(customer)[0]
    known = db.session.scalar(select(ApiKey).filter_by(hash=hash_key(key)))
    if known and (known.customer_id != customer.id or known.revoked_at or known.expires_on):
        raise click.BadParameter(
            "this key is another customer's, was revoked, or may expire. Choose another.", param_hint="--key"
        )
    if not known:
        add_key(customer, key)
    return key


@click.command()
@click.option(
    "--articles",
    "count",
    type=click.IntRange(0, MOST_ARTICLES),
    default=120,
    show_default=True,
    help="How many published articles there shall be.",
)
@click.option(
    "--key",
    type=KeyText(),
    envvar="DEMO_KEY",
    help="A key that the demo shall accept (or DEMO_KEY). The first run makes one itself.",
)
@errors_in_one_line()
def main(count: int, key: str | None) -> None:
    """Fill the customer Demo with articles, drafts and a scheduled article. The same run again changes nothing."""
    app = create_app()
    site = base_url(app.config["HOST"], app.config["PORT"] or 8000)  # nobody knows which port 0 will be
    with app.app_context():
        create_tables()
        begin_write()
        customer = find_or_add_customer(CUSTOMER)
        removed = remove_demo_articles(customer.id, after=count)
        faults = Faults()
        saved = save_articles(
            customer, ((Place("the demo", each["id"]), each) for each in demo_articles(count, site)), faults
        )
        faults.raise_any()
        key = demo_key(customer, key)
        commit_write()
    click.echo(
        f"{CUSTOMER} has {count} published articles, {DRAFTS} drafts and 1 scheduled article "
        f"({saved['new']} new, {saved['changed']} changed, {saved['unchanged']} unchanged, {removed} removed)."
    )
    if key:
        click.echo(f"Key: {key}")
    else:
        click.echo(f"Its keys are not shown again. To make another: flask keys create {CUSTOMER}")
    header = shlex.quote(f"x-api-key: {key or 'YOUR_KEY'}")
    click.echo(f'Start the service (python app.py), then:\n  curl -H {header} "{site}/api/public/v1/articles?take=2"')


if __name__ == "__main__":
    main()
