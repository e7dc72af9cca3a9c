"""GET /articles: published articles in full."""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, g

from endpoints.lists import list_response
from schemas import ArticleSchema
from storage.structured_data import fill_schema_markup

blueprint = Blueprint("articles", __name__)
schema = ArticleSchema()
COLUMNS = (*schema.columns, "updated_at")  # Structured data is generated from the time of the update, too.


@blueprint.get("")
def list_articles() -> Response:
    """Return published articles in full."""
    return list_response(COLUMNS, _render)


def _render(rows: Sequence[Any]) -> list[dict[str, Any]]:
    records = schema.render(rows)
    fill_schema_markup(records, [row.updated_at for row in rows], g.customer.name)
    return records
