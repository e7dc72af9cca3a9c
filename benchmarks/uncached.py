"""Time an uncached page against the straightforward implementation, side by side in one process.

    python -m benchmarks.uncached [--articles 10000] [--rounds 100]

The reference is what the libraries' own tutorials lead to: ORM entities, marshmallow's fields, `dump(many=True)`, the
standard library's JSON. Both answer from the same database; their answers are compared before anything is timed. Each
round asks one and then the other, so that a machine that slows down slows both; the figures are medians.

A page is what the view does: query, render, make JSON, and here the ETag too. A request is a page with what both have
in common: Flask's routing and the key check.
"""

import json
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from statistics import median
from time import perf_counter
from typing import Any

import click
from flask import Blueprint, Flask, Response, g, request
from marshmallow import Schema, fields
from sqlalchemy import func, select
from werkzeug.datastructures import Headers
from werkzeug.test import create_environ

from app import create_app
from auth import add_key, check_key, find_or_add_customer
from content import save_articles
from errors import Faults, Place
from models import Article, begin_write, create_tables, db
from schemas import ArticlePreviewSchema

PARAGRAPH = "<p>A paragraph of an article, with a naïve word and a <a href='https://www.example.com/'>link</a>.</p>\n"


class Json(fields.Field[Any]):
    """JSON text, parsed."""

    def _serialize(self, value: str | None, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return json.loads(value or "")


class ReferenceSchema(Schema):
    """The full form, as marshmallow's own fields render it."""

    id = fields.String()
    title = fields.String()
    slug = fields.String()
    banner_url = fields.String(data_key="bannerUrl")
    keywords = Json()
    meta_title = fields.String(data_key="metaTitle")
    meta_desc = fields.String(data_key="metaDesc")
    published_at = fields.DateTime(data_key="publishedAt", format="%Y-%m-%dT%H:%M:%S.000Z")
    category = fields.String()
    read_time = fields.Float(data_key="readTime")
    content_html = fields.String(data_key="contentHtml")
    schema_markup = Json(data_key="schemaMarkup")


class ReferencePreviewSchema(ReferenceSchema):
    """The preview, likewise."""

    class Meta:
        fields = ArticlePreviewSchema.Meta.fields


def reference_page(schema: Schema) -> Response:
    """Answer a list request without a search, in the straightforward way."""
    take, skip = int(request.args["take"]), int(request.args["skip"])
    published = (
        Article.customer_id == g.customer_id,
        Article.status == "published",
        Article.published_at <= datetime.now(UTC),
    )
    total = db.session.scalar(select(func.count()).select_from(Article).where(*published))
    newest = select(Article).where(*published).order_by(Article.published_at.desc(), Article.id.desc())
    articles = db.session.scalars(newest.limit(take).offset(skip)).all()
    meta = {"total": total, "take": len(articles), "skip": skip}
    return Response(json.dumps({"data": schema.dump(articles, many=True), "meta": meta}), mimetype="application/json")


def add_reference(app: Flask) -> None:
    """Serve the reference beside the product, under the same key check."""
    blueprint = Blueprint("reference", __name__, url_prefix="/reference")
    blueprint.before_request(check_key)
    blueprint.add_url_rule("/articles", "full", lambda: reference_page(ReferenceSchema()))
    blueprint.add_url_rule("/articles/preview", "preview", lambda: reference_page(ReferencePreviewSchema()))
    app.register_blueprint(blueprint)


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


def fill(count: int) -> str:
    """Write `count` articles; return a key to them."""
    create_tables()
    begin_write()
    customer = find_or_add_customer("Benchmark")
    save_articles(customer, ((Place("benchmark", str(number)), article(number)) for number in range(count)), Faults())
    key, _ = add_key(customer)
    db.session.commit()
    return key


def timed(view: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    """Give `view` so that each call notes how many milliseconds it took."""

    def timed_view() -> Any:
        began = perf_counter()
        response = view()
        times.append((perf_counter() - began) * 1000)
        return response

    return timed_view


def ask(app: Flask, path: str, key: str) -> bytes:
    """Send one request through the whole application."""
    environ = create_environ(path, query_string="take=50&skip=100", headers=Headers({"x-api-key": key}))
    return b"".join(app.wsgi_app(environ, lambda *_: lambda _: None))


def compare(app: Flask, path: str, key: str, rounds: int) -> None:
    """Check that both give the same JSON, then time them in turn; print the medians and their ratio."""
    paths = "/api/public/v1" + path, "/reference" + path
    if json.loads(ask(app, paths[0], key)) != json.loads(ask(app, paths[1], key)):
        raise click.ClickException(f"The answers to {path} differ.")
    pages: tuple[list[float], list[float]] = [], []
    requests: tuple[list[float], list[float]] = [], []
    for each, times in zip(paths, pages, strict=True):
        endpoint, _ = app.url_map.bind("").match(each)
        app.view_functions[endpoint] = timed(app.view_functions[endpoint], times)
    for _ in range(rounds):
        for each, times in zip(paths, requests, strict=True):
            began = perf_counter()
            ask(app, each, key)
            times.append((perf_counter() - began) * 1000)
    for what, (ours, reference) in (("page", pages), ("request", requests)):
        ratio = median(ours) / median(reference)
        click.echo(f"{path:18} {what:8} {median(ours):8.2f} {median(reference):8.2f} {ratio:8.2f}")


@click.command()
@click.option("--articles", "count", default=10_000, show_default=True)
@click.option("--rounds", default=200, show_default=True)
def main(count: int, rounds: int) -> None:
    """Compare a page of 50 articles of 8 KB with what the straightforward implementation takes."""
    with tempfile.TemporaryDirectory() as folder:
        app = create_app({"DATABASE_URL": f"sqlite:///{folder}/articles.db"})
        add_reference(app)
        with app.app_context():
            key = fill(count)
        click.echo(f"Milliseconds for 50 of {count} articles: this service, the reference, ratio")
        for path in ("/articles", "/articles/preview"):
            compare(app, path, key, rounds)


if __name__ == "__main__":
    main()
