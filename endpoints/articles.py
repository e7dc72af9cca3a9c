"""GET /articles: published articles in full."""

from collections.abc import Iterable, Sequence
from typing import Any

from flask import Blueprint, Response, g

from endpoints.lists import list_response
from schemas import StoredArticleSchema
from storage.structured_data import fill_schema_markup

blueprint = Blueprint("articles", __name__)
schema = StoredArticleSchema()


@blueprint.get("/articles")
def list_articles() -> Response:
    """Return published articles in full."""
    return list_response(schema.columns, _render)


def _render(rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
    records = schema.render(rows)
    fill_schema_markup(records, g.customer.name)
    for record in records:
        del record["updatedAt"]
    return records
