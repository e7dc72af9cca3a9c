"""GET /articles: published articles in full."""

from typing import Any

from flask import Blueprint
from orjson import Fragment

from auth import current_access
from content.structured_data import generate_schema_markup, stored_schema_markup
from endpoints.caching import Document, cached
from endpoints.lists import LIST_PARAMETERS, render_list
from fields import SchemaMarkup
from schemas import ArticleSchema

blueprint = Blueprint("articles", __name__)


class RenderedSchemaMarkup(SchemaMarkup):
    """An article's structured data, generated from its other columns unless it is stored."""

    def _serialize(self, value: str | None, attr: str | None, obj: Any, **kwargs: Any) -> Fragment:
        stored = stored_schema_markup(value) if value else None
        return Fragment(stored or generate_schema_markup(obj, current_access().owner.name))


class RenderedArticleSchema(ArticleSchema):
    """The full article, as the endpoint returns it."""

    schema_markup = RenderedSchemaMarkup(data_key="schemaMarkup")


schema = RenderedArticleSchema(many=True)
COLUMNS = (*schema.fields, "updated_at")  # updated_at: for structured data


@blueprint.get("")
@cached(*LIST_PARAMETERS)
def list_articles() -> Document:
    """Return published articles in full."""
    return render_list(COLUMNS, schema.dump)
