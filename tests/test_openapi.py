"""/openapi.json describes the service. tests/integration/test_description.py checks it with third-party tools."""

from functools import reduce

import pytest
from helpers import ENDPOINTS, LISTS, OPENAPI, SITEMAP
from marshmallow import fields, missing, validate

from schema_fields import Day, Minutes, SchemaMarkup, StringList, Timestamp
from schemas import ArticlePreviewSchema, ArticleSchema, ListQuerySchema, SitemapEntrySchema

# their names become type names in generated clients, so they are part of the contract
SCHEMAS = {"Article": ArticleSchema(), "ArticlePreview": ArticlePreviewSchema(), "SitemapEntry": SitemapEntrySchema()}
JSON_TYPES = {
    fields.String: ("string", None),
    StringList: ("array", None),
    SchemaMarkup: ("object", None),
    Timestamp: ("string", "date-time"),
    Day: ("string", "date"),
    Minutes: ("number", None),
}


def resolve(node, document=OPENAPI):
    """Return a node with its `$ref` resolved."""
    if not isinstance(node, dict) or "$ref" not in node:
        return node
    return reduce(lambda found, name: found[name], node["$ref"].split("/")[1:], document) | node


def content(path):
    return OPENAPI["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]


def fields_by_json_name(schema):
    return {field.data_key or name: field for name, field in schema.fields.items()}


def test_file_is_served_without_a_key(client):
    assert client.get("/openapi.json", headers={"x-api-key": ""}).get_json() == OPENAPI


@pytest.mark.parametrize("path", LISTS)
def test_parameters_match_the_query_schema(path):
    """Including limits, choices and defaults."""
    parameters = [resolve(item) for item in OPENAPI["paths"][path]["get"]["parameters"]]
    described = {item["name"]: resolve(item["schema"]) for item in parameters if item["in"] == "query"}
    expected = fields_by_json_name(ListQuerySchema())
    assert described.keys() == expected.keys()
    for name, field in expected.items():
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


@pytest.mark.parametrize(("name", "schema"), SCHEMAS.items())
def test_fields_match_the_schema(name, schema):
    described = OPENAPI["components"]["schemas"][name]
    expected = {name: JSON_TYPES[type(field)] for name, field in fields_by_json_name(schema).items()}
    properties = described["properties"]
    assert {name: (field["type"], field.get("format")) for name, field in properties.items()} == expected
    assert list(properties) == list(expected) == described["required"]
    assert all(field["description"] and field["examples"] for field in properties.values())


@pytest.mark.parametrize(("path", "name"), list(zip(ENDPOINTS, SCHEMAS, strict=True)))
def test_example_is_a_real_response(client, save, path, name):
    (article,), (entry,) = (content(path)["example"]["data"] for path in (LISTS[0], SITEMAP))
    save(article | {"updatedAt": entry["lastmod"] + "T07:00:00Z"})
    body = client.get(path).get_json()
    assert body == content(path)["example"]
    assert content(path)["schema"] == {"$ref": f"#/components/schemas/{name}List"}
    assert list(resolve(content(path)["schema"])["properties"]) == list(body)
