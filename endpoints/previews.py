"""GET /articles/preview: published articles without their content."""

from flask import Blueprint

from endpoints.caching import Document, cached
from endpoints.lists import LIST_PARAMETERS, render_list
from schemas import ArticlePreviewSchema

blueprint = Blueprint("previews", __name__)
schema = ArticlePreviewSchema(many=True)


@blueprint.get("")
@cached(*LIST_PARAMETERS)
def list_previews() -> Document:
    """Return previews of published articles."""
    return render_list(tuple(schema.fields), schema.dump)
