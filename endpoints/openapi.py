"""GET /openapi.json: the OpenAPI description (https://spec.openapis.org/oas/v3.1.1)."""

from pathlib import Path
from typing import Any

import orjson
from flask import Blueprint, Response, request
from marshmallow import Schema, fields
from werkzeug.wrappers import Response as BaseResponse

from fields import Day, Minutes, SchemaMarkup, StringList, Timestamp
from schemas import API_PATH, ArticlePreviewSchema, ArticleSchema, SitemapEntrySchema
from settings import __version__

blueprint = Blueprint("openapi", __name__)

# everything except the version and what the marshmallow schemas describe
TEMPLATE_FILE = Path(__file__).with_suffix(".json")
SCHEMAS: dict[str, Schema] = {
    f"{API_PATH}/articles": ArticleSchema(),
    f"{API_PATH}/articles/preview": ArticlePreviewSchema(),
    f"{API_PATH}/sitemap": SitemapEntrySchema(),
}

STRING: dict[str, Any] = {"type": "string"}
ARRAY: dict[str, Any] = {"type": "array"}
LINKED_DATA = {"@context": STRING, "@graph": ARRAY | {"items": {}}}
# field class -> JSON Schema of its output; also applies to subclasses
JSON_TYPES: dict[type, dict[str, Any]] = {
    fields.String: STRING,
    Timestamp: STRING | {"format": "date-time"},
    Day: STRING | {"format": "date"},
    Minutes: {"type": "number", "minimum": 0},
    StringList: ARRAY | {"items": STRING},
    SchemaMarkup: {"type": "object", "properties": LINKED_DATA, "required": list(LINKED_DATA)},
}


def describe_field(field: fields.Field[Any]) -> dict[str, Any]:
    """Return the JSON Schema of a field. Raises TypeError if its class is not in JSON_TYPES or it has no metadata."""
    json_type = next((JSON_TYPES[base] for base in type(field).__mro__ if base in JSON_TYPES), None)
    metadata: dict[str, Any] = field.metadata.get("openapi", {})
    if not json_type or not metadata:
        raise TypeError(
            f"/openapi.json cannot describe the field {field.name}: add {type(field).__name__} to JSON_TYPES "
            "in endpoints/openapi.py, and give the field metadata from field_metadata()."
        )
    return json_type | metadata


def fields_by_json_name(schema: Schema) -> dict[str, fields.Field[Any]]:
    """Return a schema's fields by their JSON names."""
    return {field.data_key or name: field for name, field in schema.fields.items()}


def example(schema: Schema) -> dict[str, Any]:
    """Return an example of a schema's output."""
    return {name: field.metadata["openapi"]["examples"][0] for name, field in fields_by_json_name(schema).items()}


def _build_description() -> bytes:
    document = orjson.loads(TEMPLATE_FILE.read_bytes())
    document["info"]["version"] = __version__
    for path, schema in SCHEMAS.items():
        properties = {name: describe_field(field) for name, field in fields_by_json_name(schema).items()}
        described = {"type": "object", "properties": properties, "required": list(properties)}
        document["components"]["schemas"][type(schema).__name__.removesuffix("Schema")] = described
        content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        content["example"]["data"] = [example(schema)]
    return orjson.dumps(document)


DESCRIPTION_JSON = _build_description()  # built on import, so that a field without a description fails early


@blueprint.get("/openapi.json")
def show_description() -> BaseResponse:
    """Return the description. No key is required."""
    response = Response(DESCRIPTION_JSON, content_type="application/json", headers={"Cache-Control": "no-cache"})
    response.add_etag()
    return response.make_conditional(request)
