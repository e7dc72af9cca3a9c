"""GET /openapi.json: the OpenAPI description (https://spec.openapis.org/oas/v3.1.1)."""

from pathlib import Path

from flask import Blueprint, Response, request
from werkzeug.wrappers import Response as BaseResponse

blueprint = Blueprint("openapi", __name__)

DESCRIPTION_JSON = Path(__file__).with_suffix(".json").read_bytes()


@blueprint.get("/openapi.json")
def show_description() -> BaseResponse:
    """Return the description. No key is required."""
    response = Response(DESCRIPTION_JSON, content_type="application/json", headers={"Cache-Control": "no-cache"})
    response.add_etag()
    return response.make_conditional(request)
