"""GET /openapi.json: the API's description (https://spec.openapis.org/oas/v3.1.1)."""

from pathlib import Path
from typing import Any

import orjson
from flask import Blueprint, Response

from endpoints.responses import PUBLIC_HEADERS
from field_types import Day, Keywords, Minutes, RenderedField, RowSchema, SchemaMarkup, Text, Timestamp
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

STRING: dict[str, Any] = {"type": "string"}
ARRAY: dict[str, Any] = {"type": "array"}
LINKED_DATA = {"@context": STRING, "@graph": ARRAY | {"items": {}}}
# The JSON Schema of the values that each field type, and those that derive from it, render.
JSON_TYPES: dict[type, dict[str, Any]] = {
    Text: STRING,
    Timestamp: STRING | {"format": "date-time"},
    Day: STRING | {"format": "date"},
    Minutes: {"type": "number", "minimum": 0},
    Keywords: ARRAY | {"items": STRING},
    SchemaMarkup: {"type": "object", "properties": LINKED_DATA, "required": list(LINKED_DATA)},
}


def describe_field(field: RenderedField) -> dict[str, Any]:
    """Return the JSON Schema of a field. Raises TypeError if its class or its metadata does not describe it."""
    json_type = next((JSON_TYPES[base] for base in type(field).__mro__ if base in JSON_TYPES), None)
    metadata: dict[str, Any] = field.metadata.get("openapi", {})
    if not json_type or not metadata:
        raise TypeError(
            f"/openapi.json cannot describe the field {field.name}: add {type(field).__name__} to JSON_TYPES "
            "in endpoints/openapi.py, and the metadata of field_metadata() to the field."
        )
    return json_type | metadata


def _build_description() -> bytes:
    """Return the description, as JSON. Raises TypeError for a field that it cannot describe."""
    document = orjson.loads(DOCUMENT.read_bytes())
    document["info"]["version"] = read_version()
    for path, schema in FORMS.items():
        properties = {key: describe_field(field) for key, field in schema.fields_by_key.items()}
        form = {"type": "object", "properties": properties, "required": list(properties)}
        document["components"]["schemas"][type(schema).__name__.removesuffix("Schema")] = form
        content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        content["example"]["data"] = [schema.example()]
    return orjson.dumps(document)


# It is built when the application starts, so that a field which it cannot describe is noticed then.
DESCRIPTION = _build_description()


@blueprint.get("/openapi.json")
def show_description() -> Response:
    """Return the description. It needs no key."""
    return Response(DESCRIPTION, content_type="application/json", headers=PUBLIC_HEADERS)
