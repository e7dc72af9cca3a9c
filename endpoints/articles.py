"""GET /articles: published articles in full."""

from typing import Any

from flask import Blueprint, g
from orjson import Fragment

from content.structured_data import Publisher, generate_schema_markup
from endpoints.caching import Document, cached
from endpoints.lists import LIST_PARAMETERS, render_list
from schema_fields import SchemaMarkup
from schemas import RESPONSE_COLUMNS, ArticleSchema

blueprint = Blueprint("articles", __name__)


class RenderedSchemaMarkup(SchemaMarkup):
    """An article's structured data, generated from its other columns unless it is stored."""

    def _serialize(self, value: str | None, attr: str | None, obj: Any, **kwargs: Any) -> Fragment:
        if value:
            return Fragment(value)
        return Fragment(generate_schema_markup(obj, Publisher(g.key_owner.name, g.key_owner.site)))


class RenderedArticleSchema(ArticleSchema):
    """The full article, as the endpoint returns it."""

    schema_markup = RenderedSchemaMarkup(data_key="schemaMarkup")


schema = RenderedArticleSchema(many=True)


@blueprint.get("")
@cached(*LIST_PARAMETERS)
def list_articles() -> Document:
    """Return published articles in full."""
    return render_list(RESPONSE_COLUMNS, schema.dump)
