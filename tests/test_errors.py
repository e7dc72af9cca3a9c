"""Error responses, which all have one form and reveal nothing of the service's inside."""

import re

import pytest
from helpers import ENDPOINTS, SITEMAP, assert_problem


def test_unknown_path_is_a_404_that_names_the_endpoints(client):
    for path in ("/nowhere", "/api", "/api/public/v1/", "/api/public/v1/articles/1", "/api//public/v1/sitemap"):
        problem = assert_problem(client.get(path), 404)
        assert all(endpoint in problem["detail"] for endpoint in ENDPOINTS), path


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_other_methods_are_a_405_that_allows_three(client, path):
    for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW"):
        response = client.open(path, method=method)
        assert_problem(response, 405)
        assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}, method


def test_error_of_the_service_reveals_nothing_of_itself(app, client, caplog):
    app.add_url_rule("/failing", view_func=lambda: 1 / 0)
    problem = assert_problem(client.get("/failing"), 500)
    assert "ZeroDivisionError" not in str(problem)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("table", ["article", "api_key", "customer"])
def test_unreadable_database_is_a_503_to_try_again(client, sql, caplog, table):
    paths = (*ENDPOINTS, "/healthz")
    sql(f"ALTER TABLE {table} RENAME TO hidden")
    for path in paths:
        caplog.clear()
        response = client.get(path)
        assert_problem(response, 503)
        assert int(response.headers["Retry-After"]) > 0
        assert re.search(f'The database cannot be read: .*"?{table}', caplog.text), path
    sql(f"ALTER TABLE hidden RENAME TO {table}")
    assert [client.get(path).status_code for path in paths] == [200] * 4


def test_hostile_host_header_is_no_server_error(client):
    for host in ("[::1", "a b", "é", "x" * 5000, "", "a/b", "\x7f"):
        assert client.get(SITEMAP, headers={"Host": host}).status_code in (200, 400), host
