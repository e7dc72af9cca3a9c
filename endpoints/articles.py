"""GET /articles: published articles in full."""

from flask import Blueprint, Response

from endpoints.lists import list_response
from schemas import ArticleSchema

blueprint = Blueprint("articles", __name__)
schema = ArticleSchema()


@blueprint.get("/articles")
def list_articles() -> Response:
    """Return published articles in full."""
    return list_response(schema)
