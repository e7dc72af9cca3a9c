"""Reference servers for the benchmarks. Each runs on waitress with default settings, on the port given by PORT.

    PORT=8001 python -m benchmarks.references flask|straightforward FOLDER

`flask` returns the files full.json, previews.json and sitemap.json in FOLDER from bare views. `straightforward` serves
the articles in articles.json the way the libraries' tutorials teach it: ORM entities, a count query, marshmallow's own
fields, `dump(many=True)`, `jsonify`, and a query for the key of every request. It imports nothing from the service, so
a change to the service cannot change it.
"""

import os
import sys
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from flask import Flask, Response, jsonify, request
from flask_sqlalchemy import SQLAlchemy
from marshmallow import Schema, fields
from sqlalchemy import JSON, Index, func, select
from sqlalchemy.orm import Mapped, mapped_column
from waitress import serve

from benchmarks.measure import PAGES

KEY = "benchmark"
db = SQLAlchemy()


class ApiKey(db.Model):  # type: ignore[name-defined, misc]
    """A customer's key."""

    customer_id: Mapped[int] = mapped_column(primary_key=True)
    hash: Mapped[str] = mapped_column(unique=True)


class Article(db.Model):  # type: ignore[name-defined, misc]
    """A published article."""

    id: Mapped[str] = mapped_column(primary_key=True)
    customer_id: Mapped[int]
    title: Mapped[str]
    slug: Mapped[str]
    banner_url: Mapped[str]
    keywords: Mapped[list[str]] = mapped_column(JSON)
    meta_title: Mapped[str]
    meta_desc: Mapped[str]
    published_at: Mapped[datetime]
    category: Mapped[str]
    read_time: Mapped[float]
    content_html: Mapped[str]
    schema_markup: Mapped[dict[str, Any]] = mapped_column(JSON)

    __table_args__ = (Index("newest", "customer_id", "published_at", "id"),)


class ArticleSchema(Schema):
    """The full article."""

    id = fields.String()
    title = fields.String()
    slug = fields.String()
    banner_url = fields.String(data_key="bannerUrl")
    keywords = fields.List(fields.String())
    meta_title = fields.String(data_key="metaTitle")
    meta_desc = fields.String(data_key="metaDesc")
    published_at = fields.DateTime(data_key="publishedAt", format="%Y-%m-%dT%H:%M:%S.000Z")
    category = fields.String()
    read_time = fields.Float(data_key="readTime")
    content_html = fields.String(data_key="contentHtml")
    schema_markup = fields.Dict(data_key="schemaMarkup")


PREVIEW = ("title", "slug", "banner_url", "published_at", "read_time", "category", "keywords")


def list_page(schema: Schema) -> Response:
    """Return a page of published articles, newest first."""
    hashed = sha256(request.headers["x-api-key"].encode()).hexdigest()
    key = db.session.scalars(select(ApiKey).filter_by(hash=hashed)).one()
    take, skip = request.args.get("take", 50, type=int), request.args.get("skip", 0, type=int)
    published = (Article.customer_id == key.customer_id, Article.published_at <= datetime.now(UTC))
    total = db.session.scalar(select(func.count()).select_from(Article).where(*published))
    newest = select(Article).where(*published).order_by(Article.published_at.desc(), Article.id.desc())
    articles = db.session.scalars(newest.limit(take).offset(skip)).all()
    return jsonify(data=schema.dump(articles, many=True), meta={"total": total, "take": len(articles), "skip": skip})


def straightforward(folder: Path) -> Flask:
    """Return the straightforward implementation of both lists."""
    app = Flask(__name__)
    app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{folder}/straightforward.db"
    db.init_app(app)
    articles: list[dict[str, Any]] = ArticleSchema(many=True).load(
        orjson.loads((folder / "articles.json").read_bytes())
    )
    with app.app_context():
        db.create_all()
        db.session.add(ApiKey(customer_id=1, hash=sha256(KEY.encode()).hexdigest()))
        db.session.add_all(Article(customer_id=1, **article) for article in articles)
        db.session.commit()
    app.add_url_rule(PAGES["full"], "full", lambda: list_page(ArticleSchema()))
    app.add_url_rule(PAGES["previews"], "previews", lambda: list_page(ArticleSchema(only=PREVIEW)))
    return app


def bare_flask(folder: Path) -> Flask:
    """Return an application whose views return the files' contents."""
    app = Flask(__name__)
    for page, path in PAGES.items():
        view = partial(Response, (folder / f"{page}.json").read_bytes(), mimetype="application/json")
        app.add_url_rule(path, page, view)
    return app


if __name__ == "__main__":
    create = {"flask": bare_flask, "straightforward": straightforward}[sys.argv[1]]
    serve(create(Path(sys.argv[2])), host="127.0.0.1", port=int(os.environ["PORT"]), _quiet=True)
