"""GET /openapi.json: the API described by its own schemas (https://spec.openapis.org/oas/v3.1.1)."""

from functools import lru_cache
from typing import Any

import orjson
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Blueprint, Response, request
from marshmallow import missing

import schemas
from auth import MISSING_KEY
from errors import BAD_PARAMETERS, STATUS_DETAILS, render_problem
from field_types import Keywords, SchemaMarkup
from settings import read_version

blueprint = Blueprint("openapi", __name__)

ABOUT = """\
Published articles for your own website. To read everything, raise `skip` by `meta.take` until it reaches `meta.total`.
Within v1, keys may be added to responses; none is renamed, retyped or removed."""
OPTIONS: dict[str, Any] = {
    "info": {"description": ABOUT, "contact": {"name": "The operator of this service"}},
    "servers": [{"url": "/"}],
    "tags": [{"name": "articles", "description": "What is published."}],
}
EXAMPLE = orjson.loads("""{
"id": "0b9f3c51-5d0a-4f5e-9f6b-3d1c6e0f8a21", "title": "Our spring menu", "slug": "spring-menu", "category": "News",
"bannerUrl": "https://www.example.com/spring.jpg", "keywords": ["menu", "spring"], "metaTitle": "Our spring menu",
"metaDesc": "Asparagus is back.", "publishedAt": "2026-03-01T07:00:00.000Z", "readTime": 1,
"contentHtml": "<p>Asparagus is back.</p>",
"schemaMarkup": {"@context": "https://schema.org", "@graph": [{"@type": "BlogPosting"}]},
"url": "spring-menu", "lastmod": "2026-03-02"}""")
ETAG = {"schema": {"type": "string"}, "description": "Send it back as If-None-Match.", "example": '"0b9f3c515d0a"'}
IF_NONE_MATCH = ETAG | {"name": "If-None-Match", "in": "header", "description": "The ETag of the response you have."}


def _object(**properties: Any) -> dict[str, Any]:
    """Return the JSON Schema of an object. Only `errors` may be missing."""
    return {"type": "object", "properties": properties, "required": [name for name in properties if name != "errors"]}


STRING, COUNT = {"type": "string"}, {"type": "integer", "minimum": 0}
STRINGS, SCHEMAS = {"type": "array", "items": STRING}, "#/components/schemas/"
JSON_TEXT = {  # what these fields hold
    Keywords: STRINGS,
    SchemaMarkup: _object(**{"@context": STRING, "@graph": {"type": "array", "items": {}}}),
}
COUNTS = "How many articles match, how many are in this response, and how many come before them."
META = _object(total=COUNT, take=COUNT | {"maximum": 100}, skip=COUNT) | {"description": COUNTS}
ERRORS = {"type": "object", "additionalProperties": STRINGS, "description": "What is wrong with each bad parameter."}
PROBLEM = _object(type=STRING, title=STRING, status=COUNT, detail=STRING, errors=ERRORS)


@blueprint.get("/openapi.json")
def describe_api() -> Response:
    """Return the description. It needs no key."""
    response = Response(description(), content_type="application/json", headers={"Cache-Control": "no-cache"})
    response.add_etag()
    response.make_conditional(request)
    return response


@lru_cache
def description() -> bytes:
    """Return the description, as JSON."""
    plugin = MarshmallowPlugin()
    spec = APISpec("Article Delivery API", read_version(), "3.1.1", [plugin], **OPTIONS)
    spec.components.security_scheme("key", {"type": "apiKey", "in": "header", "name": "x-api-key"})
    spec.components.schema("Meta", META).schema("Problem", PROBLEM).schema("Health", _object(status={"const": "ok"}))
    converter: Any = plugin.converter
    converter.add_attribute_function(lambda _converter, field, **_known: JSON_TEXT.get(type(field), {}))
    query = converter.schema2parameters(schemas.ListQuerySchema(), location="query")
    for name, parameter in zip(("OrderBy", "Order"), query[-2:], strict=True):
        spec.components.schema(name, {"type": "string", "enum": parameter["schema"].pop("enum")})
        parameter["schema"]["$ref"] = SCHEMAS + name
    _add_list(spec, converter, "/articles", schemas.ArticleSchema(), "List articles in full.", query)
    _add_list(spec, converter, "/articles/preview", schemas.ArticlePreviewSchema(), "List articles in short.", query)
    _add_list(spec, converter, "/sitemap", schemas.SitemapEntrySchema(), "List every slug, for sitemap.xml.", [])
    health = _operation("Health", "Check whether articles can be read.", {"status": "ok"}, {})
    spec.path("/healthz", operations={"get": health})
    return orjson.dumps(spec.to_dict())


def _add_list(
    spec: APISpec, converter: Any, path: str, form: schemas.RowSchema, summary: str, query: list[Any]
) -> None:
    """Add an endpoint that lists articles in `form`, whose fields become what a response promises."""
    for field in form.fields.values():
        field.load_default, field.validators = missing, []
    name, item = type(form).__name__.removesuffix("Schema"), converter.fields2jsonschema(form.fields)
    item["required"] = list(item["properties"])
    members: dict[str, Any] = {"data": {"type": "array", "items": {"$ref": SCHEMAS + name}}}
    example: dict[str, Any] = {"data": [{key: EXAMPLE[key] for key in item["properties"]}]}
    responses = {"304": {"description": "You have the current response."}, "401": _problem(401, MISSING_KEY)}
    if query:
        members["meta"], example["meta"] = {"$ref": SCHEMAS + "Meta"}, {"total": 1, "take": 1, "skip": 0}
        responses["400"] = _problem(400, BAD_PARAMETERS, errors={"take": ["Must be a whole number, 1 to 100."]})
    spec.components.schema(name, item).schema(f"{name}List", _object(**members))
    operation = _operation(f"{name}List", summary, example, responses)
    responses["200"]["headers"] = responses["304"]["headers"] = {"ETag": ETAG}
    operation |= {"parameters": [*query, IF_NONE_MATCH], "security": [{"key": []}]}
    spec.path(f"/api/public/v1{path}", operations={"get": operation})


def _operation(schema: str, summary: str, example: dict[str, Any], responses: dict[str, Any]) -> dict[str, Any]:
    """Return an operation with these responses, and those that every operation has."""
    for key, status in (("503", 503), ("default", 500)):
        responses[key] = _problem(status, STATUS_DETAILS[status])
    responses["200"] = _response("Success.", schema, example)
    return {"operationId": f"get{schema}", "description": summary, "tags": ["articles"], "responses": responses}


def _problem(status: int, detail: str, **members: Any) -> dict[str, Any]:
    example = orjson.loads(render_problem(status, detail, **members))
    return _response(example["title"], "Problem", example, "application/problem+json")


def _response(description: str, schema: str, example: Any, media_type: str = "application/json") -> dict[str, Any]:
    return {"description": description, "content": {media_type: {"schema": schema, "example": example}}}
