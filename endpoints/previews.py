"""GET /articles/preview: published articles without their content."""

from flask import Blueprint, Response

from endpoints.lists import answer_list
from schemas import ArticlePreviewSchema

blueprint = Blueprint("previews", __name__)
schema = ArticlePreviewSchema()


@blueprint.get("/articles/preview")
def list_previews() -> Response:
    """List previews of published articles."""
    return answer_list(schema)
