"""/openapi.json matches the service. tests/integration/test_description.py validates it with third-party tools."""

import json
import re
from functools import reduce

import pytest
from helpers import ENDPOINTS, EXAMPLE, LISTS, PROJECT, SITEMAP
from marshmallow import missing, validate

from errors import PROBLEMS
from schemas import ArticleImportSchema, ListQuerySchema

SCHEMAS = ("Article", "ArticlePreview", "SitemapEntry")


@pytest.fixture
def document(client):
    return client.get("/openapi.json", headers={"x-api-key": ""}).get_json()


def resolve(document, node):
    """Return a node with its `$ref` resolved."""
    if not isinstance(node, dict) or "$ref" not in node:
        return node
    return reduce(lambda found, name: found[name], node["$ref"].split("/")[1:], document) | node


def content(document, path):
    return document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]


def test_every_endpoint_is_described(document):
    operations = {path: item["get"] for path, item in document["paths"].items()}
    ids = ["getArticleList", "getArticlePreviewList", "getSitemapEntryList", "getHealth"]
    assert operations.keys() == {*ENDPOINTS, "/healthz"}
    assert [operation["operationId"] for operation in operations.values()] == ids
    assert all(operation["summary"] and operation["description"] for operation in operations.values())
    assert operations["/healthz"]["security"] == []
    assert document["servers"][0]["url"] == "."


def test_every_status_is_described(document):
    statuses = {"200", "default"} | {str(status) for status in PROBLEMS} - {"404"}  # no operation returns 404
    for path, item in document["paths"].items():
        assert item["get"]["responses"].keys() == (statuses | {"304"} if path in ENDPOINTS else statuses - {"401"})


@pytest.mark.parametrize("path", LISTS)
def test_parameters_match_the_query_schema(document, path):
    """Including limits, choices and defaults."""
    parameters = [resolve(document, item) for item in document["paths"][path]["get"]["parameters"]]
    described = {item["name"]: resolve(document, item["schema"]) for item in parameters if item["in"] == "query"}
    fields = {field.data_key or name: field for name, field in ListQuerySchema().fields.items()}
    assert described.keys() == fields.keys()
    for name, field in fields.items():
        limits = {} if field.load_default is missing else {"default": field.load_default}
        for validator in field.validators:
            if isinstance(validator, validate.Range):
                limits |= {"minimum": validator.min, "maximum": validator.max}
            elif isinstance(validator, validate.Length):
                limits["maxLength"] = validator.max
            elif isinstance(validator, validate.OneOf):
                limits["enum"] = list(validator.choices)
        ignored = {"$ref", "type", "description", "pattern"}
        assert {limit: value for limit, value in described[name].items() if limit not in ignored} == limits


def test_field_limits_are_those_of_import(document):
    properties = document["components"]["schemas"]["Article"]["properties"]
    limits = {name: field["maxLength"] for name, field in properties.items() if "maxLength" in field}
    assert limits.keys() == {"id", "slug"}
    for name, limit in limits.items():
        assert not ArticleImportSchema().validate(EXAMPLE | {name: "x" * limit})
        assert name in ArticleImportSchema().validate(EXAMPLE | {name: "x" * (limit + 1)})


@pytest.mark.parametrize(("path", "name"), list(zip(ENDPOINTS, SCHEMAS, strict=True)))
def test_example_is_a_real_response_and_fully_described(client, document, save, path, name):
    """Schema names become type names in generated clients, so they are part of the contract."""
    (article,), (entry,) = (content(document, path)["example"]["data"] for path in (LISTS[0], SITEMAP))
    save(article | {"updatedAt": entry["lastmod"] + "T07:00:00Z"})
    body = client.get(path).get_json()
    assert body == content(document, path)["example"]
    assert content(document, path)["schema"] == {"$ref": f"#/components/schemas/{name}List"}
    assert list(resolve(document, content(document, path)["schema"])["properties"]) == list(body)
    described = document["components"]["schemas"][name]
    assert list(described["properties"]) == list(body["data"][0]) == described["required"]
    assert all(field["type"] and field["description"] for field in described["properties"].values())


PROSE = {"description", "example", "examples", "info", "servers", "summary", "tags"}
LIMITS = {"default", "maximum", "maxLength", "minimum", "pattern"}
LAST_VERSION = json.loads(max((PROJECT / "tests/data").glob("openapi-*.json")).read_text("utf-8"))


def promises(document, node, where=""):
    """Yield, as paths, everything that generated clients depend on, which excludes prose and limits of fields."""
    node = resolve(document, node)
    if where.endswith("/parameters") and isinstance(node, list):
        node = {item["name"]: item for item in (resolve(document, item) for item in node)}
    yield where
    if isinstance(node, dict):
        ignored = PROSE if "/parameters" in where else PROSE | LIMITS
        for name in node.keys() - (set() if where.endswith(("/properties", "/responses")) else ignored):
            yield from promises(document, node[name], f"{where}/{name}")
    else:
        yield from (f"{where}: {value}" for value in (node if isinstance(node, list) else [node]))


# additions that would break clients of the last version
ADDITIONS = re.compile(r"(?P<to>.*)(/security: .*|/parameters/.*/required: True)|(?P<values>.*/responses/.*/enum): .*")


def test_document_is_compatible_with_the_last_version(document):
    old, new = set(promises(LAST_VERSION, LAST_VERSION)), set(promises(document, document))
    assert old - new == set()
    added = [match for match in map(ADDITIONS.fullmatch, new - old) if match]
    assert [match[0] for match in added if {match["to"], match["values"]} & old] == []
