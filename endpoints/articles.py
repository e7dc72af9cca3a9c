"""GET /articles: published articles in full."""

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, g
from orjson import Fragment
from sqlalchemy import RowMapping

from content.structured_data import generate_schema_markup
from endpoints.caching import Document, cached
from endpoints.lists import PARAMETERS, render_list
from schemas import ArticleSchema

blueprint = Blueprint("articles", __name__)
schema = ArticleSchema()
COLUMNS = (*schema.fields, "updated_at")  # updated_at: for structured data


@blueprint.get("")
@cached(*PARAMETERS)
def list_articles() -> Document:
    """Return published articles in full."""
    return render_list(COLUMNS, _dump)


def _dump(rows: Sequence[RowMapping]) -> list[dict[str, Any]]:
    articles: list[dict[str, Any]] = schema.dump(rows, many=True)
    for article, row in zip(articles, rows, strict=True):
        if article["schemaMarkup"] is None:
            article["schemaMarkup"] = Fragment(generate_schema_markup(row, g.customer.name))
    return articles
