"""Every error has one shape, and no error tells what is inside."""

import re

import pytest
from conftest import ENDPOINTS, SITEMAP, assert_problem


@pytest.mark.parametrize(
    "path", ["/nowhere", "/api", "/api/public/v1/", "/api/public/v1/articles/1", "/api//public/v1/sitemap"]
)
def test_an_unknown_path_is_a_404_that_names_the_endpoints(client, path):
    problem = assert_problem(client.get(path), 404)
    assert all(endpoint in problem["detail"] for endpoint in ENDPOINTS)


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_other_methods_are_a_405_that_allows_three(client, path, method):
    answer = client.open(path, method=method)
    assert_problem(answer, 405)
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_a_fault_of_the_service_tells_nothing_of_itself(app, client, monkeypatch, caplog):
    monkeypatch.setattr("endpoints.sitemap.published_slugs", lambda: 1 / 0)
    problem = assert_problem(client.get(SITEMAP), 500)
    assert "ZeroDivisionError" not in str(problem)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_a_database_that_cannot_be_read_is_a_503_to_try_again(client, sql, path, caplog):
    sql("ALTER TABLE article RENAME TO hidden")
    answer = client.get(path)
    assert_problem(answer, 503)
    assert int(answer.headers["Retry-After"]) > 0
    assert re.search('The database cannot be read: .*"?article', caplog.text)
    sql("ALTER TABLE hidden RENAME TO article")
    assert client.get(path).status_code == 200


def test_a_hostile_host_header_is_no_fault(client):
    for host in ("[::1", "a b", "é", "x" * 5000, "", "a/b", "\x7f"):
        assert client.get(SITEMAP, headers={"Host": host}).status_code in (200, 400)
