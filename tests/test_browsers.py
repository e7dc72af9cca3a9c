"""CORS, security headers and the page's CSP. tests/integration/test_page.py uses a real browser."""

from urllib.parse import urljoin

import pytest
from helpers import ENDPOINTS, LISTS, application, client_with_key

ORIGIN = "https://www.example.com"
ORIGINS = [ORIGIN, "http://localhost:3000", "http://[::1]:8080"]
OTHER_ORIGINS = ["https://evil.example", "http://www.example.com", "https://www.example.com.evil.example"]
OTHER_ORIGINS += ["https://wwwxexample.com", "null", "*", "http://1:80"]


@pytest.fixture
def cors_client(app, key, database):
    """A client of an application whose CORS_ORIGINS are `ORIGINS`."""
    with application(database, CORS_ORIGINS=ORIGINS) as app:
        yield client_with_key(app, key)


def cors_headers(response):
    return {name: value for name, value in response.headers.items() if name.startswith("Access-Control-")}


def test_no_origin_is_allowed_by_default(client):
    for path in ENDPOINTS:
        response = client.get(path, headers={"Origin": ORIGIN})
        assert response.status_code == 200
        assert cors_headers(response) == {}
        assert response.headers["Vary"] == "Accept-Encoding, x-api-key"
    preflight = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}
    assert cors_headers(client.options(LISTS[0], headers=preflight)) == {}
    assert client.options("/nowhere", headers=preflight).status_code == 404


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        *((path, {}, 200) for path in ENDPOINTS),
        (LISTS[0], {"If-None-Match": "*"}, 304),
        (LISTS[0] + "?take=0", {}, 400),
        (LISTS[0], {"x-api-key": "wrong"}, 401),
        ("/nowhere", {}, 404),
    ],
)
def test_only_allowed_origins_can_read_responses(cors_client, path, headers, status):
    for origin in (*ORIGINS, *OTHER_ORIGINS, None):
        response = cors_client.get(path, headers=headers | ({"Origin": origin} if origin else {}))
        assert response.status_code == status
        assert response.headers.get("Access-Control-Allow-Origin") == (origin if origin in ORIGINS else None)
        if origin in ORIGINS:
            assert response.headers["Access-Control-Expose-Headers"] == "ETag, Link, Retry-After"
        if status in (200, 304):
            assert response.headers["Vary"] == "Accept-Encoding, x-api-key, Origin"


def test_preflight_succeeds_on_every_path_without_a_key(cors_client):
    preflight = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key,if-none-match"}
    for path in (*ENDPOINTS, "/healthz", "/openapi.json", "/", "/nowhere", "/static/none", "/api/public/v2/articles"):
        response = cors_client.options(path, headers={"Origin": ORIGIN, "x-api-key": "", **preflight})
        assert response.status_code == 200, path
        headers = cors_headers(response)
        assert headers["Access-Control-Allow-Origin"] == ORIGIN
        assert headers["Access-Control-Allow-Headers"] == "x-api-key, If-None-Match, Accept, Content-Type"
        assert set(headers["Access-Control-Allow-Methods"].split(", ")) == {"GET", "HEAD"}
        rejected = cors_client.options(path, headers={"Origin": "https://evil.example", **preflight})
        assert cors_headers(rejected) == {}


def test_responses_have_security_headers(cors_client):
    for path in (*ENDPOINTS, "/healthz", "/openapi.json", "/nowhere"):
        response = cors_client.get(path)
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_page_loads_only_the_services_own_files(cors_client):
    response = cors_client.get("/", buffered=True)
    assert response.content_type == "text/html; charset=utf-8"
    (policy,) = response.headers.getlist("Content-Security-Policy")
    assert "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'" in policy
    assert "unsafe" not in policy
    for name in ("page.css", "page.js"):
        assert f'"static/page/{name}"' in response.get_data(as_text=True)
        with cors_client.get(f"/static/page/{name}") as asset:
            assert asset.status_code == 200


def test_missing_slash_below_a_path_is_added(client):
    response = client.open(environ_overrides={"SCRIPT_NAME": "/content", "PATH_INFO": ""})
    assert response.status_code == 308
    assert urljoin("https://www.example.com/content", response.location) == "https://www.example.com/content/"
    assert (
        client.open(environ_overrides={"SCRIPT_NAME": "/content", "PATH_INFO": "/"}, buffered=True).status_code == 200
    )
