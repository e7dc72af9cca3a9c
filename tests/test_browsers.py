"""What browsers are told: who may ask from another origin, what a page may do. tests/integration has a real one."""

import pytest
from click import ClickException
from conftest import ENDPOINTS, LISTS, make_key, url_of

from app import create_app, read_settings
from database import create_tables

ORIGIN = "https://www.example.com"


@pytest.fixture
def client(database):
    app = create_app(
        {"DATABASE_URL": url_of(database), "CORS_ORIGINS": [ORIGIN, "http://localhost:3000", "http://[::1]:80"]}
    )
    with app.app_context():
        create_tables()
    client = app.test_client()
    client.environ_base["HTTP_X_API_KEY"] = make_key(app, "Acme")
    return client


def cors_headers(answer):
    return {name: value for name, value in answer.headers.items() if name.startswith("Access-Control-")}


def test_no_origin_is_allowed_unless_it_is_named(app, key):
    for path in ENDPOINTS:
        answer = app.test_client().get(path, headers={"x-api-key": key, "Origin": ORIGIN})
        assert answer.status_code == 200
        assert cors_headers(answer) == {}
        assert "Origin" not in answer.headers["Vary"]


@pytest.mark.parametrize("origin", [ORIGIN, "http://localhost:3000", "http://[::1]:80"])
def test_a_named_origin_may_read_answers_and_their_etag(client, origin):
    for path in (*ENDPOINTS, ENDPOINTS[0] + "?take=0", "/nowhere"):
        answer = client.get(path, headers={"Origin": origin})
        assert cors_headers(answer) == {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": "ETag",
        }


@pytest.mark.parametrize("headers", [{"x-api-key": "wrong"}, {"x-api-key": ""}])
def test_a_refusal_can_be_read_too(client, headers):
    answer = client.get(LISTS[0], headers=headers | {"Origin": ORIGIN})
    assert answer.status_code == 401
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://www.example.com",
        "https://www.example.com.evil.example",
        "null",
        "*",
        "http://1:80",
    ],
)
def test_another_origin_is_not_allowed(client, origin):
    answer = client.get(LISTS[0], headers={"Origin": origin})
    assert origin != answer.headers.get("Access-Control-Allow-Origin")
    assert answer.headers["Vary"] == "Accept-Encoding, x-api-key, Origin"


def test_every_answer_varies_by_origin(client):
    for headers in ({}, {"Origin": ORIGIN}, {"If-None-Match": "*"}):
        assert "Origin" in client.get(LISTS[0], headers=headers).headers["Vary"]


def test_a_preflight_needs_no_key(client):
    asks = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key,if-none-match"}
    for path in ENDPOINTS:
        answer = client.options(path, headers={"Origin": ORIGIN, "x-api-key": "", **asks})
        assert answer.status_code == 200
        headers = cors_headers(answer)
        assert headers["Access-Control-Allow-Origin"] == ORIGIN
        assert set(headers["Access-Control-Allow-Headers"].lower().split(", ")) == {"x-api-key", "if-none-match"}
        assert set(headers["Access-Control-Allow-Methods"].split(", ")) == {"GET", "HEAD"}


def test_origins_are_separated_by_commas():
    given = f"{ORIGIN}, http://localhost:3000,http://[::1]:8080"
    assert read_settings({"CORS_ORIGINS": given})["CORS_ORIGINS"] == [
        ORIGIN,
        "http://localhost:3000",
        "http://[::1]:8080",
    ]


@pytest.mark.parametrize(
    "given", ["*", "www.example.com", ORIGIN + "/", "https://WWW.example.com", "https://*.example.com", ","]
)
def test_what_is_no_origin_is_refused(given):
    with pytest.raises(ClickException, match=r"CORS_ORIGINS: Must be origins as in https://www\.example\.com"):
        read_settings({"CORS_ORIGINS": given})


def test_answers_are_for_programs(client):
    for path in (*ENDPOINTS, "/healthz", "/openapi.json", "/nowhere"):
        answer = client.get(path)
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_the_page_is_made_of_what_the_service_has(client):
    answer = client.get("/")
    assert answer.content_type == "text/html; charset=utf-8"
    (policy,) = answer.headers.getlist("Content-Security-Policy")
    assert "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'" in policy
    assert "unsafe" not in policy
    for name in ("page.css", "page.js"):
        assert f'"/static/page/{name}"' in answer.get_data(as_text=True)
        with client.get(f"/static/page/{name}") as asset:
            assert asset.status_code == 200
