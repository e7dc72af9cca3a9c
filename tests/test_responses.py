"""What HTTP adds to every response: validators, HEAD, OPTIONS, trailing slashes; health; static files; far pages."""

import pytest
from helpers import ENDPOINTS, LISTS, article_json

FULL, PREVIEW = LISTS


@pytest.mark.parametrize("path", ENDPOINTS)
def test_response_has_a_strong_etag_and_is_private(client, path):
    response = client.get(path)
    assert response.headers["ETag"].startswith('"')
    assert response.headers["Cache-Control"] == "private, no-cache"
    assert response.headers["Vary"] == "Accept-Encoding, x-api-key"
    assert response.content_type == "application/json"


@pytest.mark.parametrize("path", ENDPOINTS)
def test_unchanged_response_is_not_sent_again(client, save, sql, path):
    save(article_json(1))
    etag = client.get(path).headers["ETag"]
    for header in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        unchanged = client.get(path, headers={"If-None-Match": header})
        assert (unchanged.status_code, unchanged.data) == (304, b"")
        assert unchanged.headers["ETag"] == etag
        assert unchanged.headers["Cache-Control"] == "private, no-cache"
        assert unchanged.headers["Vary"] == "Accept-Encoding, x-api-key"
    sql("UPDATE article SET title = 'New', slug = 'new'")
    changed = client.get(path, headers={"If-None-Match": etag})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != etag


@pytest.mark.parametrize("header", ["", '"', "W/", "garbage", '"a', ",,,", '"' * 1000, "\xff"])
def test_malformed_if_none_match_is_ignored(client, header):
    assert client.get(FULL, headers={"If-None-Match": header}).status_code == 200


def test_other_conditions_and_ranges_are_ignored(client):
    for name, value in (
        ("If-Modified-Since", "Wed, 01 Jan 2099 00:00:00 GMT"),
        ("If-Match", '"x"'),
        ("Range", "bytes=0-1"),
        ("Accept", "text/html;q=0"),
        ("Content-Length", "0"),
    ):
        assert client.get(FULL, headers={name: value}).status_code == 200


@pytest.mark.parametrize("path", ENDPOINTS)
def test_head_is_get_without_the_body(client, save, path):
    save(article_json(1))
    for _ in range(2):
        head, got = client.head(path), client.get(path)
        assert (head.status_code, got.status_code) == (200, 200)
        assert head.data == b""
        assert len(got.get_json()["data"]) == 1
        assert dict(head.headers) == dict(got.headers)
        assert client.head(path, headers={"If-None-Match": got.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize("path", ENDPOINTS)
def test_options_needs_no_key(app, path):
    response = app.test_client().options(path)
    assert response.status_code == 200
    assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_trailing_slash_is_accepted(client, path):
    for _ in range(2):
        with_slash, without = client.get(path + "/"), client.get(path)
        assert (with_slash.status_code, without.status_code) == (200, 200)
        assert with_slash.data == without.data


def test_health_needs_no_key(app):
    response = app.test_client().get("/healthz")
    assert (response.status_code, response.get_json()) == (200, {"status": "ok"})
    assert response.headers["Cache-Control"] == "no-store"


def test_demo_banners_are_public_pictures(app):
    with app.test_client().get("/static/banners/writing.svg") as response:
        assert response.status_code == 200
        assert response.content_type.startswith("image/svg+xml")


@pytest.mark.parametrize("path", ["../app.py", "..%2fapp.py", "%00", "banners", "", "/etc/passwd", "banners/%ff.svg"])
def test_no_other_file_is_served(app, path):
    assert app.test_client().get("/static/" + path).status_code == 404
