"""Error responses: all are problem documents, and none reveals internals."""

import json
import re

import pytest
from helpers import ENDPOINTS, LISTS, SITEMAP, article_json, assert_problem, blocks, read_page
from sqlalchemy import make_url, text
from werkzeug.exceptions import TooManyRequests

from models import db
from schemas import SORT_COLUMNS


def response_to(app, client, error):
    """Return the response of a view that raises the error."""

    def view():
        raise error

    app.add_url_rule("/failing", view_func=view)
    return client.get("/failing")


@pytest.mark.parametrize("path", ["/nowhere", "/api/public/v1/articles/1", "/api//public/v1/sitemap"])
def test_unknown_path_is_a_404_that_names_the_endpoints(client, path):
    problem = assert_problem(client.get(path), 404)
    assert all(endpoint in problem["detail"] for endpoint in ENDPOINTS)


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_three_methods_are_allowed_and_options_needs_no_key(app, client, path):
    options = app.test_client().options(path)
    others = [client.open(path, method=method) for method in ("POST", "PUT", "DELETE", "TRACE", "BREW")]
    for response in others:
        assert_problem(response, 405)
    assert options.status_code == 200
    for response in (options, *others):
        assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_internal_error_is_logged_but_not_revealed(app, client, caplog):
    assert "secret" not in str(assert_problem(response_to(app, client, ZeroDivisionError("secret")), 500))
    assert "ZeroDivisionError: secret" in caplog.text


def test_extension_error_keeps_status_detail_and_headers(app, client):
    response = response_to(app, client, TooManyRequests("5 per minute", retry_after=30))
    assert assert_problem(response, 429, "too_many_requests")["detail"] == "5 per minute"
    assert response.headers["Retry-After"] == "30"


def paths():
    """Paths that together read every column that requests need."""
    orders = [f"{LISTS[1]}?orderBy={name}" for name in SORT_COLUMNS]
    return [*ENDPOINTS, *orders, *(f"{LISTS[1]}?{name}=x" for name in ("q", "slug", "category", "keyword"))]


@pytest.mark.parametrize("table", db.metadata.tables)
def test_health_is_a_503_exactly_if_an_endpoint_is(app, client, save, sql, caplog, table):
    """As in a database of an earlier version, from which a table or a column is missing."""
    save(article_json(1))
    name = make_url(app.config["DATABASE_URL"]).database
    missing = [f"ALTER TABLE {table} RENAME TO hidden; ALTER TABLE hidden RENAME TO {table}"]
    for column in db.metadata.tables[table].columns:
        rename = f"ALTER TABLE {table} RENAME"
        missing.append(f"{rename} {column.name} TO hidden; {rename} hidden TO {column.name}")
    for hide, show in (statements.split("; ") for statements in missing):
        sql(hide)
        found = set()
        for path in paths():
            caplog.clear()
            response = client.get(path)
            found.add(response.status_code)
            if response.status_code != 200:
                assert_problem(response, 503, "unavailable")
                assert int(response.headers["Retry-After"]) > 0
                assert name in caplog.text, path
        assert client.get("/healthz").status_code == max(found), hide
        sql(show)
    assert {client.get(path).status_code for path in (*paths(), "/healthz")} == {200}


@pytest.mark.parametrize("statement", ["SELECT title FORM article", "SELECT title FROM article WHERE titel = 'x'"])
def test_mistake_in_a_statement_is_a_500(app, client, statement):
    """Trying again would not help."""
    app.add_url_rule("/mistake", view_func=lambda: db.session.execute(text(statement)))
    assert_problem(client.get("/mistake"), 500)


# The documents


def test_every_error_has_the_documented_code_and_status(app, client, sql):
    anonymous = app.test_client()
    app.add_url_rule("/failing", view_func=lambda: 1 / 0)
    responses = {
        "missing_key": anonymous.get(LISTS[0]),
        "invalid_key": anonymous.get(LISTS[0], headers={"x-api-key": "wrong"}),
        "invalid_parameters": client.get(f"{LISTS[0]}?take=0&order=up"),
        "bad_request": client.get(LISTS[0], headers={"Upgrade": "websocket", "Connection": "upgrade"}),
        "not_found": client.get("/api"),
        "method_not_allowed": client.post(LISTS[0]),
        "internal_error": client.get("/failing"),
    }
    sql("ALTER TABLE article RENAME TO hidden")
    responses["unavailable"] = client.get(SITEMAP)
    assert [response.get_json()["code"] for response in responses.values()] == list(responses)
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|", read_page("docs/api"), re.MULTILINE)
    assert dict(rows) == {code: str(response.status_code) for code, response in responses.items()}
    assert json.loads(blocks(read_page("docs/api"), "json")[0]) == responses["invalid_parameters"].get_json()
    described = client.get("/openapi.json").get_json()["components"]["schemas"]["ProblemCode"]
    assert described["enum"] == list(responses)
