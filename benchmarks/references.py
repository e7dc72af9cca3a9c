"""Reference servers for the benchmarks. Each runs on waitress with default settings, on the port given by PORT.

    PORT=8001 python -m benchmarks.references flask|straightforward FOLDER

`flask` returns, from a bare view, the content of the file in FOLDER with the name of the path. `straightforward`
serves the articles from the database in FOLDER the way the libraries' tutorials teach it: ORM entities, a count query,
marshmallow's own fields, `dump(many=True)`, `jsonify`, and a query for the key of every request.
"""

import json
import os
import sys
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from flask import Flask, Response, jsonify, request
from marshmallow import Schema, fields
from sqlalchemy import func, select
from waitress import serve

from benchmarks.measure import API
from fields import Keywords, Minutes, SchemaMarkup, Timestamp
from models import ApiKey, Article, db
from schemas import ArticlePreviewSchema, ArticleSchema


class Json(fields.Field[Any]):
    """A field that parses JSON text."""

    def _serialize(self, value: str | None, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return json.loads(value or "")


# field class of the service -> marshmallow's equivalent
PLAIN_FIELDS: dict[type, Any] = {
    Keywords: Json,
    SchemaMarkup: Json,
    Minutes: fields.Float,
    Timestamp: partial(fields.DateTime, format="%Y-%m-%dT%H:%M:%S.000Z"),
}


def plain(schema: Schema) -> Schema:
    """Return the schema with marshmallow's own fields instead of the service's."""
    own_fields = {
        name: PLAIN_FIELDS.get(type(field), fields.String)(data_key=field.data_key)
        for name, field in schema.fields.items()
    }
    return Schema.from_dict(own_fields)()


def list_page(schema: Schema) -> Response:
    """Return a page of published articles, newest first."""
    hashed = sha256(request.headers["x-api-key"].encode()).hexdigest()
    key = db.session.scalars(select(ApiKey).filter_by(hash=hashed)).one()
    take, skip = request.args.get("take", 50, type=int), request.args.get("skip", 0, type=int)
    published = (
        Article.customer_id == key.customer_id,
        Article.status == "published",
        Article.published_at <= datetime.now(UTC),
    )
    total = db.session.scalar(select(func.count()).select_from(Article).where(*published))
    newest = select(Article).where(*published).order_by(Article.published_at.desc(), Article.id.desc())
    articles = db.session.scalars(newest.limit(take).offset(skip)).all()
    return jsonify(data=schema.dump(articles, many=True), meta={"total": total, "take": len(articles), "skip": skip})


def straightforward(folder: Path) -> Flask:
    """Return the straightforward implementation of both lists."""
    app = Flask(__name__)
    app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{folder}/straightforward.db"
    db.init_app(app)
    app.add_url_rule(f"{API}/articles", "full", lambda: list_page(plain(ArticleSchema())))
    app.add_url_rule(f"{API}/articles/preview", "preview", lambda: list_page(plain(ArticlePreviewSchema())))
    return app


def bare_flask(folder: Path) -> Flask:
    """Return an application with one view per file, which returns the file's content."""
    app = Flask(__name__)
    for file in folder.glob("*.json"):
        view = partial(Response, file.read_bytes(), mimetype="application/json")
        app.add_url_rule(f"/{file.stem}", file.stem, view)
    return app


if __name__ == "__main__":
    create = {"flask": bare_flask, "straightforward": straightforward}[sys.argv[1]]
    serve(create(Path(sys.argv[2])), host="127.0.0.1", port=int(os.environ["PORT"]), _quiet=True)
