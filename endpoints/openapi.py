"""GET /openapi.json: the API's description (https://spec.openapis.org/oas/v3.1.1)."""

from pathlib import Path

import orjson
from flask import Blueprint, Response

from endpoints.responses import PUBLIC_HEADERS
from field_types import RowSchema
from schemas import API_PATH, ArticlePreviewSchema, ArticleSchema, SitemapEntrySchema
from settings import read_version

blueprint = Blueprint("openapi", __name__)

# All of the description but the version, and the forms below with their examples.
DOCUMENT = Path(__file__).with_suffix(".json")
FORMS: dict[str, RowSchema] = {
    f"{API_PATH}/articles": ArticleSchema(),
    f"{API_PATH}/articles/preview": ArticlePreviewSchema(),
    f"{API_PATH}/sitemap": SitemapEntrySchema(),
}


def _describe_api() -> bytes:
    """Return the description, as JSON. Raises KeyError for a field without the metadata of `field_metadata`."""
    document = orjson.loads(DOCUMENT.read_bytes())
    document["info"]["version"] = read_version()
    for path, schema in FORMS.items():
        properties = {key: field.json_schema | field.metadata["openapi"] for key, field in schema.fields_by_key.items()}
        form = {"type": "object", "properties": properties, "required": list(properties)}
        document["components"]["schemas"][type(schema).__name__.removesuffix("Schema")] = form
        content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        content["example"]["data"] = [schema.example()]
    return orjson.dumps(document)


# It is built when the application starts, so that a field which it cannot describe is noticed then.
DESCRIPTION = _describe_api()


@blueprint.get("/openapi.json")
def describe_api() -> Response:
    """Return the description. It needs no key."""
    return Response(DESCRIPTION, content_type="application/json", headers=PUBLIC_HEADERS)
