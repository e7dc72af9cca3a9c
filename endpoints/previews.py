"""GET /articles/preview: published articles without their content."""

from flask import Blueprint, Response

from endpoints.lists import list_response
from schemas import ArticlePreviewSchema

blueprint = Blueprint("previews", __name__)
schema = ArticlePreviewSchema()


@blueprint.get("")
def list_previews() -> Response:
    """Return previews of published articles."""
    return list_response(schema.columns, schema.render)
