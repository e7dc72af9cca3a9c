"""GET /articles: published articles in full."""

from flask import Blueprint, Response

from endpoints.lists import answer_list
from schemas import ArticleSchema

blueprint = Blueprint("articles", __name__)
schema = ArticleSchema()


@blueprint.get("/articles")
def list_articles() -> Response:
    """List published articles in full."""
    return answer_list(schema)
