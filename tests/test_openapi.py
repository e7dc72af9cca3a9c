"""The description of the API, against what the service does. tests/integration asks others' tools about it."""

import pytest
from conftest import ENDPOINTS, LISTS, article

from endpoints.openapi import EXAMPLE
from schemas import ListQuerySchema


@pytest.fixture
def document(client):
    return client.get("/openapi.json", headers={"x-api-key": ""}).get_json()


def test_it_describes_every_endpoint(document):
    assert set(document["paths"]) == {*ENDPOINTS, "/healthz"}
    assert document["openapi"].startswith("3.1")


def test_it_can_be_kept_and_asked_about_again(client):
    etag = client.get("/openapi.json").headers["ETag"]
    assert client.get("/openapi.json", headers={"If-None-Match": etag}).status_code == 304


@pytest.mark.parametrize("path", LISTS)
def test_each_parameter_has_its_range(document, path):
    described = {each["name"]: each["schema"] for each in document["paths"][path]["get"]["parameters"]}
    assert set(described) == {field.data_key or name for name, field in ListQuerySchema().fields.items()}
    assert described["take"] == {"type": "integer", "minimum": 1, "maximum": 100, "default": 50}
    assert described["skip"] == {"type": "integer", "minimum": 0, "default": 0}
    assert described["order"]["enum"] == ["asc", "desc"]
    assert described["q"]["maxLength"] == 200


@pytest.mark.parametrize("path", ENDPOINTS)
def test_its_example_is_an_answer_of_the_service(client, save, document, path):
    save(
        article(
            1,
            **{name: value for name, value in EXAMPLE.items() if name != "changed_at"},
            updated_at=EXAMPLE["changed_at"],
        )
    )
    example = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["example"]
    assert client.get(path).get_json() == example


def test_its_components_have_the_keys_of_answers_with_a_type_and_words(client, save, document):
    save(article(1))
    for path, name in zip(ENDPOINTS, ("Article", "ArticlePreview", "SitemapEntry"), strict=True):
        described = document["components"]["schemas"][name]
        (data,) = client.get(path).get_json()["data"]
        assert list(described["properties"]) == list(data) == described["required"]
        assert all(each["type"] and each["description"] for each in described["properties"].values())


@pytest.mark.parametrize(("status", "query"), [(400, "?take=0"), (401, "")])
def test_its_examples_of_errors_are_answers_of_the_service(client, key, document, status, query):
    headers = {"x-api-key": "" if status == 401 else key}
    example = document["paths"][LISTS[0]]["get"]["responses"][str(status)]["content"]["application/problem+json"]
    assert client.get(LISTS[0] + query, headers=headers).get_json() == example["example"]
