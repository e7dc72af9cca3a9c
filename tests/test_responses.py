"""What HTTP adds to every answer: validators, HEAD, OPTIONS, trailing slashes; health; static files."""

import pytest
from conftest import ENDPOINTS, LISTS, article


@pytest.mark.parametrize("path", ENDPOINTS)
def test_an_answer_has_a_strong_etag_and_may_be_kept_by_its_client_alone(client, path):
    answer = client.get(path)
    assert answer.headers["ETag"].startswith('"')
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers["Vary"] == "Accept-Encoding, x-api-key"
    assert answer.content_type == "application/json"


@pytest.mark.parametrize("path", ENDPOINTS)
def test_what_the_client_has_is_not_sent_again_until_it_changes(client, save, sql, path):
    save(article(1))
    etag = client.get(path).headers["ETag"]
    for header in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        again = client.get(path, headers={"If-None-Match": header})
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == etag
        assert again.headers["Cache-Control"] == "private, no-cache"
        assert again.headers["Vary"] == "Accept-Encoding, x-api-key"
    sql("UPDATE article SET title = 'New', slug = 'new'")
    changed = client.get(path, headers={"If-None-Match": etag})
    assert changed.status_code == 200
    assert changed.headers["ETag"] != etag


@pytest.mark.parametrize("header", ["", '"', "W/", "garbage", '"a', ",,,", '"' * 1000, "\xff"])
def test_a_malformed_if_none_match_is_as_good_as_none(client, header):
    assert client.get(LISTS[0], headers={"If-None-Match": header}).status_code == 200


def test_other_conditions_and_ranges_are_ignored(client):
    for name, value in (
        ("If-Modified-Since", "Wed, 01 Jan 2099 00:00:00 GMT"),
        ("If-Match", '"x"'),
        ("Range", "bytes=0-1"),
        ("Accept", "text/html;q=0"),
        ("Content-Length", "0"),
    ):
        assert client.get(LISTS[0], headers={name: value}).status_code == 200


@pytest.mark.parametrize("path", ENDPOINTS)
def test_head_is_get_without_the_body(client, save, path):
    save(article(1))
    head, got = client.head(path), client.get(path)
    assert head.status_code == 200
    assert head.data == b""
    assert dict(head.headers) == dict(got.headers)
    assert client.head(path, headers={"If-None-Match": got.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize("path", ENDPOINTS)
def test_options_needs_no_key(app, path):
    answer = app.test_client().options(path)
    assert answer.status_code == 200
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_a_trailing_slash_is_accepted(client, path):
    assert client.get(path + "/").data == client.get(path).data


def test_health_needs_no_key(app):
    answer = app.test_client().get("/healthz")
    assert (answer.status_code, answer.get_json()) == (200, {"status": "ok"})
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_demos_banners_are_pictures_that_anybody_may_see(app):
    with app.test_client().get("/static/banners/writing.svg") as answer:
        assert answer.status_code == 200
        assert answer.content_type.startswith("image/svg+xml")


@pytest.mark.parametrize("path", ["../app.py", "..%2fapp.py", "%00", "banners", "", "/etc/passwd", "banners/%ff.svg"])
def test_no_other_file_is_served(app, path):
    assert app.test_client().get("/static/" + path).status_code == 404
