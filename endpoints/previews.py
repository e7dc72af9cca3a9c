"""GET /articles/preview: published articles without their content."""

from flask import Blueprint

from endpoints.caching import Rendered, cached
from endpoints.lists import PARAMETERS, render_list
from schemas import ArticlePreviewSchema

blueprint = Blueprint("previews", __name__)
schema = ArticlePreviewSchema(many=True)


@blueprint.get("")
@cached(*PARAMETERS)
def list_previews() -> Rendered:
    """Return previews of published articles."""
    return render_list(tuple(schema.fields), schema.dump)
