"""/openapi.json matches the service. tests/integration/test_description.py validates it with third-party tools."""

import json
from functools import reduce

import pytest
from helpers import ENDPOINTS, LISTS, PROJECT, SITEMAP, article_json, import_articles
from marshmallow import missing, validate

from schemas import ListQuerySchema

SCHEMAS = ("Article", "ArticlePreview", "SitemapEntry")


@pytest.fixture
def document(client):
    return client.get("/openapi.json", headers={"x-api-key": ""}).get_json()


@pytest.fixture
def save_example(document, save):
    """Save the article shown in the examples."""
    (article,), (entry,) = (example(document, path)["data"] for path in (LISTS[0], SITEMAP))
    save(article | {"updatedAt": entry["lastmod"] + "T07:00:00Z"})


def resolve(document, node):
    """Return a node with its `$ref` resolved."""
    if not isinstance(node, dict) or "$ref" not in node:
        return node
    return reduce(lambda found, name: found[name], node["$ref"].split("/")[1:], document) | node


def example(document, path):
    return document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["example"]


def test_every_endpoint_is_described(document):
    assert set(document["paths"]) == {*ENDPOINTS, "/healthz"}
    assert document["servers"][0]["url"] == "."
    ids = [path["get"]["operationId"] for path in document["paths"].values()]
    assert ids == ["getArticleList", "getArticlePreviewList", "getSitemapEntryList", "getHealth"]
    assert document["paths"]["/healthz"]["get"]["security"] == []


def test_every_status_and_its_headers_are_described(document):
    headers = {"401": "WWW-Authenticate", "405": "Allow", "503": "Retry-After"}
    for path, item in document["paths"].items():
        operation = item["get"]
        assert operation["summary"]
        assert operation["description"]
        statuses = {"200", "400", "405", "413", "431", "500", "503", "default"}
        assert set(operation["responses"]) == statuses | ({"304", "401"} if path in ENDPOINTS else set())
        for status, response in operation["responses"].items():
            described = resolve(document, response).get("headers", {})
            if status in ("200", "304") and path in ENDPOINTS:
                assert {"ETag", "Vary", "Cache-Control"} <= set(described)
                assert ("Link" in described) == (path in LISTS)
            assert headers.get(status, "") in {*described, ""}


@pytest.mark.parametrize("path", LISTS)
def test_parameters_match_the_query_schema(document, path):
    """Including limits, choices and defaults."""
    parameters = [resolve(document, item) for item in document["paths"][path]["get"]["parameters"]]
    described = {item["name"]: resolve(document, item["schema"]) for item in parameters if item["in"] == "query"}
    for name, field in ListQuerySchema().fields.items():
        schema = described.pop(field.data_key or name)
        limits = {} if field.load_default is missing else {"default": field.load_default}
        for validator in field.validators:
            if isinstance(validator, validate.Range):
                limits |= {"minimum": validator.min} | ({"maximum": validator.max} if validator.max else {})
            elif isinstance(validator, validate.Length):
                limits["maxLength"] = validator.max
            elif isinstance(validator, validate.OneOf):
                limits["enum"] = list(validator.choices)
        assert {limit: schema[limit] for limit in schema.keys() - {"$ref", "type", "description", "pattern"}} == limits
    assert described == {}


def test_field_limits_are_those_of_import(app, key, document):
    properties = document["components"]["schemas"]["Article"]["properties"]
    limited = {name: field for name, field in properties.items() if "maxLength" in field}
    assert set(limited) == {"id", "slug"}
    for name, field in limited.items():
        for length, is_valid in ((0, False), (1, True), (field["maxLength"], True), (field["maxLength"] + 1, False)):
            article = article_json(1, **{"slug": "other"} | {name: "x" * length})
            result = import_articles(app, article, options=["--dry-run"])
            assert (result.exit_code == 0) == is_valid, (name, length, result.output)
        assert import_articles(app, article_json(1, **{name: "a b"})).exit_code == 1


@pytest.mark.parametrize(("path", "name"), list(zip(ENDPOINTS, SCHEMAS, strict=True)))
def test_example_is_a_real_response_and_fully_described(client, document, save_example, path, name):
    """Schema names become type names in generated clients, so they are part of the contract."""
    body = client.get(path).get_json()
    assert body == example(document, path)
    content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
    assert content["schema"] == {"$ref": f"#/components/schemas/{name}List"}
    assert list(resolve(document, content["schema"])["properties"]) == list(body)
    described = document["components"]["schemas"][name]
    assert list(described["properties"]) == list(body["data"][0]) == described["required"]
    assert all(field["type"] and field["description"] for field in described["properties"].values())


PROSE = {"description", "example", "examples", "info", "servers", "summary", "tags"}
LIMITS = {"default", "maximum", "maxLength", "minimum", "pattern"}


def breaking_changes(old, new, documents, where=""):
    """Yield the paths of differences that break clients generated from the old document.

    Prose may change, and so may limits except those of parameters. Everything else must be kept.
    """
    old, new = (resolve(document, node) for document, node in zip(documents, (old, new), strict=True))
    if isinstance(old, dict):
        ignored = PROSE if "/parameters" in where else PROSE | LIMITS
        for name in old.keys() - (set() if where.endswith(("/properties", "/responses")) else ignored):
            if name in new:
                yield from breaking_changes(old[name], new[name], documents, f"{where}/{name}")
            else:
                yield f"{where}/{name}"
        if "security" not in old and new.get("security"):
            yield f"{where}/security"
    elif where.endswith("/parameters"):
        parameters = [
            {resolve(document, item)["name"]: resolve(document, item) for item in items}
            for document, items in zip(documents, (old, new), strict=True)
        ]
        yield from breaking_changes(*parameters, documents, f"{where}/")
        yield from (f"{where}/{name}: required" for name, item in parameters[1].items() if item.get("required"))
    elif isinstance(old, list):
        yield from (f"{where}: {item}" for item in old if item not in new)
        if where.endswith("/security") or (where.endswith("/enum") and "/responses/" in where):
            yield from (f"{where}: {item}" for item in new if item not in old)
    elif old != new:
        yield where


LAST_VERSION = json.loads(max((PROJECT / "tests/data").glob("openapi-*.json")).read_text("utf-8"))


def test_document_is_compatible_with_the_last_version(document):
    assert list(breaking_changes(LAST_VERSION, document, (LAST_VERSION, document))) == []
