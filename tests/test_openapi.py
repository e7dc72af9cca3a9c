"""Tests of /openapi.json against the service. tests/integration/test_description.py uses other projects' tools."""

import json
from functools import reduce

import helpers
import pytest
from helpers import (
    ENDPOINTS,
    LISTS,
    PROJECT,
    SITEMAP,
    article_json,
    client_with_key,
    create_application,
    create_key,
    import_articles,
)
from marshmallow import validate

from schemas import ListQuerySchema

FORMS = ("Article", "ArticlePreview", "SitemapEntry")


@pytest.fixture(scope="module")
def client(template, tmp_path_factory):
    """A client whose customer has one article, the one of the document's examples."""
    before = len(helpers.created_databases)
    database = tmp_path_factory.mktemp("openapi") / "articles.db"
    helpers.copy_database(template, database)
    app = create_application(database)
    client = client_with_key(app, create_key(app))
    document = client.get("/openapi.json").get_json()
    (article,), (entry,) = (example(document, path)["data"] for path in (LISTS[0], SITEMAP))
    helpers.save_articles(app, article | {"updatedAt": entry["lastmod"] + "T07:00:00Z"})
    yield client
    helpers.close(app)
    helpers.drop_databases(before)


@pytest.fixture
def document(client):
    return client.get("/openapi.json", headers={"x-api-key": ""}).get_json()


def resolve(document, node):
    """Return a part of the document, with that which it refers to."""
    if "$ref" not in node:
        return node
    return reduce(lambda found, name: found[name], node["$ref"].split("/")[1:], document) | node


def example(document, path):
    return document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["example"]


def test_it_describes_every_endpoint(document):
    assert set(document["paths"]) == {*ENDPOINTS, "/healthz"}
    assert document["servers"][0]["url"] == "."
    ids = [path["get"]["operationId"] for path in document["paths"].values()]
    assert ids == ["getArticleList", "getArticlePreviewList", "getSitemapEntryList", "getHealth"]
    assert document["paths"]["/healthz"]["get"]["security"] == []


def test_every_operation_names_each_status_and_its_headers(document):
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
def test_its_parameters_are_those_that_are_checked(document, path):
    """The limits, choices and defaults of the query schema are in the document, and no others."""
    parameters = [resolve(document, item) for item in document["paths"][path]["get"]["parameters"]]
    described = {item["name"]: resolve(document, item["schema"]) for item in parameters if item["in"] == "query"}
    for name, field in ListQuerySchema().fields.items():
        schema = described.pop(field.data_key or name)
        limits = {"default": field.load_default}
        for validator in field.validators:
            if isinstance(validator, validate.Range):
                limits |= {"minimum": validator.min} | ({"maximum": validator.max} if validator.max else {})
            elif isinstance(validator, validate.Length):
                limits["maxLength"] = validator.max
            elif isinstance(validator, validate.OneOf):
                limits["enum"] = list(validator.choices)
        assert {limit: schema[limit] for limit in schema.keys() - {"$ref", "type", "description", "pattern"}} == limits
    assert described == {}


def test_its_fields_have_the_limits_that_an_import_checks(client, document):
    properties = document["components"]["schemas"]["Article"]["properties"]
    limited = {name: field for name, field in properties.items() if "maxLength" in field}
    assert set(limited) == {"id", "slug"}
    for name, field in limited.items():
        for length, is_valid in ((0, False), (1, True), (field["maxLength"], True), (field["maxLength"] + 1, False)):
            article = article_json(1, **{"slug": "other"} | {name: "x" * length})
            result = import_articles(client.application, article, options=["--dry-run"])
            assert (result.exit_code == 0) == is_valid, (name, length, result.output)
        assert import_articles(client.application, article_json(1, **{name: "a b"})).exit_code == 1


@pytest.mark.parametrize("path", ENDPOINTS)
def test_its_example_is_a_real_response(client, document, path):
    assert client.get(path).get_json() == example(document, path)


def test_its_components_describe_each_key_of_a_response(client, document):
    """Client generators name their types after the schemas."""
    for path, name in zip(ENDPOINTS, FORMS, strict=True):
        described = document["components"]["schemas"][name]
        content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        assert content["schema"] == {"$ref": f"#/components/schemas/{name}List"}
        body = client.get(path).get_json()
        assert list(resolve(document, content["schema"])["properties"]) == list(body)
        assert list(described["properties"]) == list(body["data"][0]) == described["required"]
        assert all(field["type"] and field["description"] for field in described["properties"].values())


def test_every_array_describes_its_items(document):
    """openapi-python-client leaves out what contains an array without them."""

    def check(node):
        if isinstance(node, dict):
            assert node.get("type") != "array" or "items" in node
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            check(child)

    check(document["components"])


def schema_breaks(old, new, old_document, new_document, where, *, is_request=False):
    """Yield where a schema differs so that clients of the old one fail."""
    old, new = resolve(old_document, old), resolve(new_document, new)
    kept = ["type", "format", "const"] + ["default", "minimum", "maximum", "maxLength", "pattern"] * is_request
    yield from (f"{where}: {name}" for name in kept if old.get(name) != new.get(name))
    before, after = set(old.get("enum", ())), set(new.get("enum", ()))
    if before and not (before <= after if is_request else after <= before):
        yield f"{where}: enum"
    if not set(old.get("required", ())) <= set(new.get("required", ())):
        yield f"{where}: required"
    parts = [(name, part, new.get("properties", {}).get(name)) for name, part in old.get("properties", {}).items()]
    parts += [(name, old[name], new.get(name)) for name in ("items", "additionalProperties") if name in old]
    for name, part, new_part in parts:
        if new_part is None:
            yield f"{where}.{name}: removed"
        else:
            yield from schema_breaks(part, new_part, old_document, new_document, f"{where}.{name}")


def operation_breaks(old, new, old_document, new_document, where):
    """Yield where an operation differs so that clients of the old one fail."""
    if old["operationId"] != new["operationId"]:
        yield f"{where}: operationId"
    if new.get("security") not in (old.get("security"), []):
        yield f"{where}: security"
    before, after = (
        {part["name"]: part for part in (resolve(document, item) for item in operation.get("parameters", ()))}
        for document, operation in ((old_document, old), (new_document, new))
    )
    yield from (f"{where}: {name}" for name in before.keys() - after.keys())
    yield from (f"{where}: {name} is required" for name, part in after.items() if part.get("required"))
    for name in before.keys() & after.keys():
        schemas = before[name]["schema"], after[name]["schema"]
        yield from schema_breaks(*schemas, old_document, new_document, f"{where} {name}", is_request=True)
    for status, response in old["responses"].items():
        old_response = resolve(old_document, response)
        new_response = resolve(new_document, new["responses"].get(status, {}))
        if not old_response.get("headers", {}).keys() <= new_response.get("headers", {}).keys():
            yield f"{where} {status}: headers"
        for media_type, content in old_response.get("content", {}).items():
            new_content = new_response.get("content", {}).get(media_type, {"schema": {}})
            schemas = content["schema"], new_content["schema"]
            yield from schema_breaks(*schemas, old_document, new_document, f"{where} {status}")


def breaking_changes(old, new):
    """Return where a document differs from an older one so that clients made from that fail."""
    found = [f"{name}: removed" for name in old["components"]["schemas"].keys() - new["components"]["schemas"].keys()]
    for path, item in old["paths"].items():
        if path in new["paths"]:
            found += operation_breaks(item["get"], new["paths"][path]["get"], old, new, path)
        else:
            found.append(f"{path}: removed")
    return found


LAST_VERSION = json.loads(max((PROJECT / "tests/data").glob("openapi-*.json")).read_text("utf-8"))


def test_clients_of_the_last_version_still_work(document):
    assert breaking_changes(LAST_VERSION, document) == []


BREAKS = {
    "path": lambda paths, components: paths.pop(SITEMAP),
    "operation": lambda paths, components: paths[SITEMAP]["get"].update(operationId="getSitemap"),
    "key": lambda paths, components: paths["/healthz"]["get"].update(security=[{"key": []}]),
    "status": lambda paths, components: paths[SITEMAP]["get"]["responses"].pop("401"),
    "header": lambda paths, components: components["responses"]["304"]["headers"].pop("ETag"),
    "schema": lambda paths, components: components["schemas"].pop("Order"),
    "field": lambda paths, components: components["schemas"]["Article"]["properties"].pop("slug"),
    "optional": lambda paths, components: components["schemas"]["Meta"]["required"].remove("total"),
    "type": lambda paths, components: components["schemas"]["Article"]["properties"]["readTime"].update(type="string"),
    "items": lambda paths, components: components["schemas"]["Article"]["properties"]["keywords"].pop("items"),
    "choice": lambda paths, components: components["schemas"]["OrderBy"]["enum"].remove("views"),
    "limit": lambda paths, components: components["parameters"]["take"]["schema"].update(maximum=50),
    "default": lambda paths, components: components["parameters"]["order"]["schema"].update(default="asc"),
    "parameter": lambda paths, components: components["parameters"]["q"].update(name="search"),
    "required": lambda paths, components: components["parameters"]["q"].update(required=True),
}


@pytest.mark.parametrize("name", BREAKS)
def test_breaking_change_would_be_noticed(document, name):
    BREAKS[name](document["paths"], document["components"])
    try:
        assert breaking_changes(LAST_VERSION, document) != []
    except KeyError:
        assert name == "schema"  # others refer to it
