"""HTTP behaviour of all responses: validators, gzip, HEAD, trailing slashes; health checks; static files."""

import gzip

import pytest
from helpers import ENDPOINTS, article_json

FULL = ENDPOINTS[0]
each_endpoint = pytest.mark.parametrize("path", ENDPOINTS)


@pytest.fixture
def large(save):
    """Enough articles for responses to be compressed."""
    save(*(article_json(number) for number in range(50)))


@each_endpoint
def test_etag_of_either_encoding_matches_until_a_change(client, large, sql, path):
    plain = client.get(path).headers["ETag"]
    compressed = client.get(path, headers={"Accept-Encoding": "gzip"}).headers["ETag"]
    assert plain != compressed
    matches = {plain: plain, compressed: compressed, f"W/{plain}": plain, f'"x", {compressed}': compressed}
    for encoding, etag in (("", plain), ("gzip", compressed)):
        for tag, expected in (matches | {"*": etag}).items():
            response = client.get(path, headers={"If-None-Match": tag, "Accept-Encoding": encoding})
            assert (response.status_code, response.data, response.headers["ETag"]) == (304, b"", expected), tag
            assert response.headers["Cache-Control"] == "private, no-cache"
            assert response.headers["Vary"] == "Accept-Encoding, x-api-key"
    sql("UPDATE article SET title = 'New', slug = 'new' || id")
    changed = client.get(path, headers={"If-None-Match": f"{plain}, {compressed}"})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != plain
    assert changed.headers["Cache-Control"] == "private, no-cache"
    assert changed.headers["Vary"] == "Accept-Encoding, x-api-key"


GZIP = "gzip", "X-GZip", "br, gzip;q=0.8, *;q=0.1", "*", "identity;q=0.5, gzip"
NOT_GZIP = "", "br", "gzip;q=0", "identity, gzip;q=0.5", "nonsense;;q=x", "*;q=0"


def test_gzip_is_used_if_the_client_accepts_it(client, large):
    plain = client.get(FULL).data
    for accepted in (*GZIP, *NOT_GZIP):
        response = client.get(FULL, headers={"Accept-Encoding": accepted})
        assert response.headers.get("Content-Encoding") == ("gzip" if accepted in GZIP else None), accepted
        assert (gzip.decompress(response.data) if accepted in GZIP else response.data) == plain


def test_small_response_is_not_compressed(client):
    assert "Content-Encoding" not in client.get(FULL, headers={"Accept-Encoding": "gzip"}).headers


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz", "/openapi.json"])
def test_head_is_get_without_the_body(client, path):
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.data) == (200, b"")
    assert dict(head.headers) | {"Date": ""} == dict(get.headers) | {"Date": ""}


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_trailing_slash_is_accepted(client, path):
    response = client.get(path + "/")
    assert (response.status_code, response.data) == (200, client.get(path).data)


def test_health_needs_no_key(app):
    response = app.test_client().get("/healthz")
    assert (response.status_code, response.get_json()) == (200, {"status": "ok"})
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["../app.py", "%00", "banners", "/etc/passwd"])
def test_no_other_file_is_served(app, path):
    assert app.test_client().get("/static/" + path).status_code == 404
