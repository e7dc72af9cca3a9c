"""GET /openapi.json: the API's description (https://spec.openapis.org/oas/v3.1.1)."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
from flask import Blueprint, Response

from endpoints.responses import PUBLIC_HEADERS
from field_types import Day, Keywords, Minutes, SchemaMarkup, Text, Timestamp
from schemas import API_PATH, ArticlePreviewSchema, ArticleSchema, RowSchema, SitemapEntrySchema
from settings import read_version

blueprint = Blueprint("openapi", __name__)

DOCUMENT = Path(__file__).with_suffix(".json")  # all but the version, and the forms below with their examples
FORMS = {
    f"{API_PATH}/articles": ArticleSchema(),
    f"{API_PATH}/articles/preview": ArticlePreviewSchema(),
    f"{API_PATH}/sitemap": SitemapEntrySchema(),
}
STRING: dict[str, Any] = {"type": "string"}
ARRAY: dict[str, Any] = {"type": "array"}
LINKED_DATA = {"@context": STRING, "@graph": ARRAY | {"items": {}}}
JSON_TYPES: dict[type, dict[str, Any]] = {
    Text: STRING,
    Timestamp: STRING | {"format": "date-time"},
    Day: STRING | {"format": "date"},
    Minutes: {"type": "number", "minimum": 0},
    Keywords: ARRAY | {"items": STRING},
    SchemaMarkup: {"type": "object", "properties": LINKED_DATA, "required": list(LINKED_DATA)},
}


@blueprint.get("/openapi.json")
def describe_api() -> Response:
    """Return the description. It needs no key."""
    return Response(description(), content_type="application/json", headers=PUBLIC_HEADERS)


@lru_cache
def description() -> bytes:
    """Return the description, as JSON."""
    document = orjson.loads(DOCUMENT.read_bytes())
    document["info"]["version"] = read_version()
    for path, schema in FORMS.items():
        document["components"]["schemas"][type(schema).__name__.removesuffix("Schema")] = _describe(schema)
        response = document["paths"][path]["get"]["responses"]["200"]
        response["content"]["application/json"]["example"]["data"] = [schema.example()]
    return orjson.dumps(document)


def _describe(schema: RowSchema) -> dict[str, Any]:
    """Return the JSON Schema of a form, whose fields are all in every response."""
    properties = {
        field.data_key or name: JSON_TYPES[type(field)] | field.metadata["openapi"]
        for name, field in schema.fields.items()
    }
    return {"type": "object", "properties": properties, "required": list(properties)}
