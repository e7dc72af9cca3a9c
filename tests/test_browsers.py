"""CORS, security headers and the page's CSP. tests/integration/test_page.py uses a real browser."""

from urllib.parse import urljoin

import pytest
from helpers import ENDPOINTS, LISTS, application, client_with_key

ORIGIN = "https://www.example.com"
ORIGINS = [ORIGIN, "http://localhost:3000", "http://[::1]:8080", "capacitor://localhost"]
OTHER_ORIGINS = [None, "https://evil.example", "http://www.example.com", "https://www.example.com.evil.example", "null"]
PREFLIGHT = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "x-api-key,authorization"}


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
        assert (response.status_code, cors_headers(response)) == (200, {})
    assert cors_headers(client.options(LISTS[0], headers={"Origin": ORIGIN, **PREFLIGHT})) == {}
    assert client.options("/nowhere", headers={"Origin": ORIGIN, **PREFLIGHT}).status_code == 404


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
    for origin in (*ORIGINS, *OTHER_ORIGINS):
        response = cors_client.get(path, headers=headers | ({"Origin": origin} if origin else {}))
        assert response.status_code == status
        assert response.headers.get("Access-Control-Allow-Origin") == (origin if origin in ORIGINS else None)
        assert ("ETag, Link, Retry-After" in cors_headers(response).values()) == (origin in ORIGINS)
        assert response.headers["Vary"] == ("Accept-Encoding, x-api-key, " if status in (200, 304) else "") + "Origin"


def test_preflight_succeeds_on_every_path_without_a_key(cors_client):
    for path in (*ENDPOINTS, "/healthz", "/", "/nowhere"):
        response = cors_client.options(path, headers={"Origin": ORIGIN, "x-api-key": "", **PREFLIGHT})
        assert response.status_code == 200, path
        headers = cors_headers(response)
        assert headers["Access-Control-Allow-Origin"] == ORIGIN
        assert headers["Access-Control-Allow-Headers"] == PREFLIGHT["Access-Control-Request-Headers"]
        assert headers["Access-Control-Allow-Methods"] == "GET, HEAD"
        assert cors_headers(cors_client.options(path, headers={"Origin": OTHER_ORIGINS[1], **PREFLIGHT})) == {}


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz", "/openapi.json", "/nowhere"])
def test_responses_have_security_headers(client, path):
    headers = client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"


def test_missing_slash_below_a_path_is_added(client):
    response = client.open(environ_overrides={"SCRIPT_NAME": "/content", "PATH_INFO": ""})
    assert response.status_code == 308
    assert urljoin("https://www.example.com/content", response.location) == "https://www.example.com/content/"
    with_slash = client.open(environ_overrides={"SCRIPT_NAME": "/content", "PATH_INFO": "/"}, buffered=True)
    assert with_slash.status_code == 200
