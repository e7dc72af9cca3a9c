"""GET /openapi.json: the API described by its own schemas (https://spec.openapis.org/oas/v3.1.1)."""

from functools import lru_cache
from http import HTTPStatus
from typing import Any

import orjson
from apispec import APISpec
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Blueprint, Response, request
from marshmallow import fields

from auth import NO_KEY
from connections import LIMITS
from errors import BAD_PARAMETERS, DETAILS
from schemas import (
    ArticlePreviewSchema,
    ArticleSchema,
    Day,
    Keywords,
    ListQuerySchema,
    Minutes,
    RowSchema,
    SchemaMarkup,
    SitemapEntrySchema,
    Text,
    Timestamp,
    WholeNumber,
    read_timestamp,
)

blueprint = Blueprint("openapi", __name__)

ABOUT = """\
Published articles for your own website. To read everything, raise `skip` by `meta.take` until it reaches `meta.total`.
Within v1, keys may be added to answers; none is renamed, retyped or removed."""
EXAMPLE = {
    "id": "0b9f3c51-5d0a-4f5e-9f6b-3d1c6e0f8a21",
    "title": "Our spring menu",
    "slug": "spring-menu",
    "banner_url": "https://www.example.com/spring.jpg",
    "keywords": '["menu", "spring"]',
    "meta_title": "Our spring menu",
    "meta_desc": "Asparagus is back.",
    "published_at": read_timestamp("2026-03-01T07:00:00Z"),
    "category": "News",
    "read_time": 1.0,
    "content_html": "<p>Asparagus is back.</p>",
    "schema_markup": '{"@context": "https://schema.org", "@graph": [{"@type": "BlogPosting"}]}',
    "changed_at": read_timestamp("2026-03-02T07:00:00Z"),
}
# What the fields of schemas.py look like in JSON.
FIELDS: dict[type, dict[str, Any]] = {
    Text: {"type": "string"},
    Keywords: {"type": "array", "items": {"type": "string"}},
    SchemaMarkup: {
        "type": "object",
        "properties": {"@context": {"type": "string"}, "@graph": {"type": "array"}},
        "required": ["@context", "@graph"],
    },
    Timestamp: {"type": "string", "format": "date-time"},
    Day: {"type": "string", "format": "date"},
    Minutes: {"type": "number", "minimum": 0},
}
META = {
    "type": "object",
    "properties": {
        "total": {"type": "integer", "minimum": 0, "description": "How many articles match."},
        "take": {"type": "integer", "minimum": 0, "maximum": 100, "description": "How many are in this answer."},
        "skip": {"type": "integer", "minimum": 0, "description": "How many were left out from the start."},
    },
    "required": ["total", "take", "skip"],
}
HEALTH = {"type": "object", "properties": {"status": {"const": "ok"}}, "required": ["status"]}
PROBLEM = {
    "type": "object",
    "description": "What is wrong, in the form of RFC 9457.",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What to do about it."},
        "errors": {
            "type": "object",
            "description": "What is wrong with each bad parameter.",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    },
    "required": ["type", "title", "status", "detail"],
}

# What is given with each status.
EXAMPLES = DETAILS | {
    400: "The request's head cannot be read.",
    401: NO_KEY,
    413: f"exceeds max_body of {LIMITS['max_request_body_size']}",
    431: f"exceeds max_header of {LIMITS['max_request_header_size']}",
}
HEADERS = {
    401: ("WWW-Authenticate", "Names the header of the key."),
    405: ("Allow", "The methods there are."),
    503: ("Retry-After", "Seconds."),
}


@blueprint.get("/openapi.json")
def describe_api() -> Response:
    """Describe the API, to anyone."""
    response = Response(description(), content_type="application/json", headers={"Cache-Control": "no-cache"})
    response.add_etag()
    response.make_conditional(request)
    return response


@lru_cache
def description() -> bytes:
    """Give the description, as JSON."""
    plugin = MarshmallowPlugin(schema_name_resolver=lambda schema: type(schema).__name__.removesuffix("Schema"))
    spec = APISpec(
        title="Article Delivery API",
        version="1.0.0",
        openapi_version="3.1.1",
        info={"description": ABOUT},
        plugins=[plugin],
        servers=[{"url": "/"}],
        security=[{"key": []}],
    )
    converter: Any = plugin.converter
    converter.add_attribute_function(lambda _converter, field, **_known: _json_schema(field))
    spec.components.security_scheme("key", {"type": "apiKey", "in": "header", "name": "x-api-key"})
    spec.components.schema("Problem", PROBLEM)
    for path, schema, summary in (
        ("/articles", ArticleSchema(), "List articles in full"),
        ("/articles/preview", ArticlePreviewSchema(), "List previews of articles"),
        ("/sitemap", SitemapEntrySchema(), "List every slug, for sitemap.xml"),
    ):
        spec.path(f"/api/public/v1{path}", operations={"get": _operation(schema, summary)})
    answers = {"200": _answer("The database can be read.", HEALTH, {"status": "ok"})} | _errors(
        400, 405, 413, 431, 500, 503
    )
    health = {"operationId": "checkHealth", "summary": "Tell whether the database can be read", "security": []}
    spec.path("/healthz", operations={"get": health | {"responses": answers}})
    document = spec.to_dict()
    for name, component in document["components"]["schemas"].items():
        if name != "Problem":
            _describe_output(component)
    return orjson.dumps(document)


def _describe_output(component: dict[str, Any]) -> None:
    """Turn what describes a schema for what comes in into what the service promises of its answers."""
    del component["additionalProperties"]  # a later version may have more
    component["required"] = list(component["properties"])  # no key of an answer is ever left out
    for described in component["properties"].values():
        for keyword in ("default", "pattern"):
            described.pop(keyword, None)


def _json_schema(field: fields.Field[Any]) -> dict[str, Any]:
    """Give what JSON Schema has to say of the project's own fields."""
    if isinstance(field, WholeNumber):
        return {"type": "integer", "minimum": field.minimum} | (
            {} if field.maximum is None else {"maximum": field.maximum}
        )
    return FIELDS.get(type(field), {})


def _operation(schema: RowSchema, summary: str) -> dict[str, Any]:
    """Describe the operation that answers with a list in the form of `schema`."""
    example: dict[str, Any] = {"data": schema.render([[EXAMPLE[column] for column in schema.columns]])}
    properties: dict[str, Any] = {"data": {"type": "array", "items": schema}}
    operation: dict[str, Any] = {"operationId": summary.partition(",")[0].title().replace(" ", ""), "summary": summary}
    if not isinstance(schema, SitemapEntrySchema):
        example["meta"] = {"total": 1, "take": 1, "skip": 0}
        properties["meta"] = META
        operation["parameters"] = [{"in": "query", "schema": ListQuerySchema}]
    body = {"type": "object", "properties": properties, "required": list(properties)}
    answer = _answer("The published articles.", body, orjson.loads(orjson.dumps(example)))
    answer["headers"] = _header("ETag", "To be sent back as If-None-Match.")
    unchanged = {
        "description": "Nothing has changed since the answer that If-None-Match names.",
        "headers": answer["headers"],
    }
    errors = _errors(400, 401, 405, 413, 431, 500, 503, parameters="parameters" in operation)
    return operation | {"responses": {"200": answer, "304": unchanged} | errors}


def _answer(description: str, schema: Any, example: Any, kind: str = "application/json") -> dict[str, Any]:
    return {"description": description, "content": {kind: {"schema": schema, "example": example}}}


def _header(name: str, description: str) -> dict[str, Any]:
    return {name: {"description": description, "schema": {"type": "string"}}}


def _errors(*statuses: int, parameters: bool = False) -> dict[str, Any]:
    """Describe the error answers with these statuses, as the service gives them; some are about parameters."""
    answers = {}
    for status in statuses:
        title, detail = HTTPStatus(status).phrase, EXAMPLES[status]
        problem: dict[str, Any] = {"type": "about:blank", "title": title, "status": status, "detail": detail}
        if status == 400 and parameters:
            problem |= {"detail": BAD_PARAMETERS, "errors": {"take": ["Must be a whole number, 1 to 100."]}}
        answers[str(status)] = _answer(title, "Problem", problem, "application/problem+json")
        if status in HEADERS:
            answers[str(status)]["headers"] = _header(*HEADERS[status])
    return answers
