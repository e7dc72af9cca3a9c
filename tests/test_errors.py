"""Error responses, which all have one form and reveal nothing of the service's inside."""

import json
import re
import sqlite3
from contextlib import closing
from operator import itemgetter

import pytest
from flask import Response
from helpers import (
    ENDPOINTS,
    LISTS,
    POSTGRESQL,
    SITEMAP,
    article_json,
    assert_problem,
    blocks,
    database_name,
    read_page,
    send,
)
from werkzeug.exceptions import HTTPException, ImATeapot, NotFound, TooManyRequests, UnsupportedMediaType


def raise_at(app, path, error):
    """Add a path to an application whose view raises an error."""

    def view():
        raise error

    app.add_url_rule(path, view_func=view)


def test_unknown_path_is_a_404_that_names_the_endpoints(client):
    for path in ("/nowhere", "/api", "/api/public/v1/", "/api/public/v1/articles/1", "/api//public/v1/sitemap"):
        problem = assert_problem(client.get(path), 404)
        assert all(endpoint in problem["detail"] for endpoint in ENDPOINTS), path


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_other_methods_are_a_405_that_allows_three(app, client, path):
    for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE", "BREW", "OPTIONS"):
        response = client.open(path, method=method)
        if method != "OPTIONS":
            assert_problem(response, 405)
        assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}, method
    assert app.test_client().options(path).status_code == 200  # it needs no key


def test_error_of_the_service_reveals_nothing_of_itself(app, client, caplog):
    app.add_url_rule("/failing", view_func=lambda: 1 / 0)
    problem = assert_problem(client.get("/failing"), 500)
    assert "ZeroDivisionError" not in str(problem)
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize(
    ("error", "code", "detail"),
    [
        (TooManyRequests("5 per minute", retry_after=30), "too_many_requests", "5 per minute"),
        (UnsupportedMediaType(), "unsupported_media_type", UnsupportedMediaType.description),
        (ImATeapot(), "im_a_teapot", ImATeapot.description),
        (NotFound("There is no author 7."), "not_found", "There is no author 7."),
    ],
)
def test_error_of_an_extension_keeps_its_status_detail_and_headers(app, client, error, code, detail):
    raise_at(app, "/failing", error)
    response = client.get("/failing")
    problem = assert_problem(response, error.code, code)
    assert problem["detail"] == detail
    assert response.headers.get("Retry-After") == ("30" if error.code == 429 else None)


def test_unknown_status_is_a_problem_too(app, client):
    class Unheard(HTTPException):
        code = 499
        description = "Nobody knows this status."

    raise_at(app, "/failing", Unheard())
    assert assert_problem(client.get("/failing"), 499, "unknown_error")["detail"] == Unheard.description


@pytest.mark.parametrize("kind", [HTTPException, TooManyRequests])  # the first one is what abort(Response) raises
def test_ready_response_of_an_error_is_sent_as_it_is(app, client, kind):
    ready = Response("slow down", status=429, headers={"Retry-After": "7"}, mimetype="text/plain")
    raise_at(app, "/failing", kind(response=ready))
    response = client.get("/failing")
    assert (response.status_code, response.text, response.headers["Retry-After"]) == (429, "slow down", "7")
    assert response.mimetype == "text/plain"


@pytest.mark.parametrize("table", ["article", "api_key", "customer"])
def test_unreadable_database_is_a_503_to_try_again(client, sql, caplog, database, table):
    """The log names the database."""
    name = database_name(database) if POSTGRESQL else str(database)
    paths = (*ENDPOINTS, "/healthz")
    sql(f"ALTER TABLE {table} RENAME TO hidden")
    for path in paths:
        caplog.clear()
        response = client.get(path)
        assert_problem(response, 503)
        assert int(response.headers["Retry-After"]) > 0
        assert re.search(f'{re.escape(name)} cannot be read: .*"?{table}', caplog.text), path
    sql(f"ALTER TABLE hidden RENAME TO {table}")
    assert [client.get(path).status_code for path in paths] == [200] * 4


@pytest.mark.sqlite
def test_unreadable_row_is_a_500_that_pins_no_old_snapshot(client, save, sql, database, caplog):
    """A response that fails halfway leaves no cursor open, whose connection would keep seeing the old snapshot."""
    save(*(article_json(number) for number in range(50)))
    with closing(sqlite3.connect(database)) as other, other:
        other.execute("PRAGMA ignore_check_constraints = ON")
        other.execute("UPDATE article SET updated_at = '2025-12-31 unreadable' WHERE id = 'id-0003'")
    assert "unreadable" not in str(assert_problem(client.get(SITEMAP), 500))
    assert "Traceback" in caplog.text
    sql("UPDATE article SET updated_at = '2025-12-31 00:00:00' WHERE id = 'id-0003'")
    assert client.get(SITEMAP).status_code == 200
    sql("UPDATE api_key SET revoked_at = '2025-01-01 00:00:00'")
    assert client.get(SITEMAP).status_code == 401


RAW_REQUESTS = {
    "missing_key": "GET {0} HTTP/1.0\r\n\r\n",
    "invalid_key": "GET {0} HTTP/1.0\r\nx-api-key: wrong\r\n\r\n",
    "invalid_parameters": "GET {0}?take=0&order=up HTTP/1.0\r\nx-api-key: {1}\r\n\r\n",
    "bad_request": "GET {0} HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "not_found": "GET /api HTTP/1.0\r\n\r\n",
    "method_not_allowed": "POST {0} HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
    "body_too_large": "POST {0} HTTP/1.0\r\nContent-Length: 70000\r\n\r\n",
    "headers_too_large": "GET {0}?" + "x" * 16_384 + " HTTP/1.0\r\n\r\n",
}


def test_documented_errors_are_the_real_ones(site, app, client, sql):
    page = read_page("docs/errors")
    bodies = {
        code: send(site.server, request.format(LISTS[0], site.key).encode()).partition(b"\r\n\r\n")[2]
        for code, request in RAW_REQUESTS.items()
    }
    app.add_url_rule("/failing", view_func=lambda: 1 / 0)
    bodies["internal_error"] = client.get("/failing").data
    sql("ALTER TABLE article RENAME TO hidden")
    bodies["unavailable"] = client.get(SITEMAP).data
    sql("ALTER TABLE hidden RENAME TO article")
    problems = {code: json.loads(body) for code, body in bodies.items()}
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", page, re.MULTILINE)
    assert rows == [(problem["code"], str(problem["status"])) for problem in problems.values()]
    assert [code for code, _ in rows] == list(problems)
    assert json.loads(blocks(page, "json")[0]) == problems["invalid_parameters"]
    described = client.get("/openapi.json").get_json()["components"]
    assert described["schemas"]["ProblemCode"]["enum"] == list(problems)
    for response in described["responses"].values():
        for content in response.get("content", {}).values():
            examples = map(itemgetter("value"), content.get("examples", {}).values())
            for example in [content["example"]] if "example" in content else examples:
                assert example | {"errors": 0} == problems[example["code"]] | {"errors": 0}
    assert all(f"`{code}`" in read_page("README") for code in problems)
