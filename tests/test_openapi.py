"""Tests of /openapi.json against the service. tests/integration/test_description.py uses other projects' tools."""

from functools import reduce

import helpers
import pytest
from helpers import ENDPOINTS, LISTS, SITEMAP, client_with_key, create_application, create_key

from schemas import ListQuerySchema


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
    """Return a part of the document, or that which it refers to."""
    if "$ref" not in node:
        return node
    return reduce(lambda found, name: found[name], node["$ref"].split("/")[1:], document)


def example(document, path, status=200, media_type="application/json"):
    content = resolve(document, document["paths"][path]["get"]["responses"][str(status)])["content"][media_type]
    return content["example"] if "example" in content else example_of(document, content["schema"])


def example_of(document, schema):
    """Return an example of a schema, from those of its parts."""
    schema = resolve(document, schema)
    if "examples" in schema:
        return schema["examples"][0]
    if schema["type"] == "array":
        return [example_of(document, schema["items"])]
    if schema["type"] == "integer":
        return 1
    return {name: example_of(document, part) for name, part in schema["properties"].items()}


def test_it_describes_every_endpoint(document):
    assert set(document["paths"]) == {*ENDPOINTS, "/healthz"}
    assert document["openapi"].startswith("3.1")


def test_it_has_an_etag_for_conditional_requests(client):
    etag = client.get("/openapi.json").headers["ETag"]
    assert client.get("/openapi.json", headers={"If-None-Match": etag}).status_code == 304


@pytest.mark.parametrize("path", LISTS)
def test_its_parameters_have_their_ranges(document, path):
    parameters = document["paths"][path]["get"]["parameters"]
    parameters = [resolve(document, item) for item in parameters]
    described = {item["name"]: resolve(document, item["schema"]) for item in parameters if item["in"] == "query"}
    assert set(described) == {field.data_key or name for name, field in ListQuerySchema().fields.items()}
    assert described["take"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}
    assert described["skip"] == {"type": "integer", "minimum": 0, "default": 0}
    assert described["order"]["enum"] == ["asc", "desc"]
    assert described["q"]["maxLength"] == 200


@pytest.mark.parametrize("path", ENDPOINTS)
def test_its_example_is_a_real_response(client, document, path):
    assert client.get(path).get_json()["data"] == example(document, path)["data"]


def test_its_components_describe_each_key_of_a_response(client, document):
    for path, name in zip(ENDPOINTS, ("Article", "ArticlePreview", "SitemapEntry"), strict=True):
        described = document["components"]["schemas"][name]
        (data,) = client.get(path).get_json()["data"]
        assert list(described["properties"]) == list(data) == described["required"]
        assert all(field["type"] and field["description"] for field in described["properties"].values())


@pytest.mark.parametrize(("status", "query"), [(400, "?take=0"), (401, "")])
def test_its_examples_of_errors_are_real_responses(client, document, status, query):
    headers = {"x-api-key": ""} if status == 401 else {}
    expected = example(document, LISTS[0], status, "application/problem+json")
    assert client.get(LISTS[0] + query, headers=headers).get_json() == expected


def test_operation_ids_are_in_one_style(document):
    ids = [path["get"]["operationId"] for path in document["paths"].values()]
    assert ids == ["getArticleList", "getArticlePreviewList", "getSitemapEntryList", "getHealth"]


@pytest.mark.parametrize("path", ENDPOINTS)
def test_conditional_requests_are_described(document, path):
    operation = document["paths"][path]["get"]
    parameters = [resolve(document, item) for item in operation["parameters"]]
    assert [item["name"] for item in parameters if item["in"] == "header"] == ["If-None-Match"]
    assert all("ETag" in resolve(document, operation["responses"][status])["headers"] for status in ("200", "304"))


def test_responses_are_named_schemas(client, document):
    """Client generators name their types after them."""
    for path, name in zip(ENDPOINTS, ("ArticleList", "ArticlePreviewList", "SitemapEntryList"), strict=True):
        content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        assert content["schema"] == {"$ref": f"#/components/schemas/{name}"}
        assert list(resolve(document, content["schema"])["properties"]) == list(client.get(path).get_json())
    assert {"Meta", "Problem", "Health", "Order", "OrderBy"} <= set(document["components"]["schemas"])


def test_every_array_describes_its_items(document):
    """openapi-python-client leaves out what contains an array without them."""

    def check(node):
        if isinstance(node, dict):
            assert node.get("type") != "array" or "items" in node
        for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            check(child)

    check(document["components"])
