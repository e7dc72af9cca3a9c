"""What HTTP adds to every response: validators, HEAD, OPTIONS, trailing slashes; health; static files; far pages."""

import gzip
import re
from itertools import product
from urllib.parse import urljoin

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


@pytest.mark.parametrize(
    "path", ["/", "/openapi.json", "/static/page/page.css", "/static/page/page.js", "/static/banners/writing.svg"]
)
def test_public_file_is_compressed_and_has_an_etag_per_encoding(app, sql, path):
    client = app.test_client()
    sql("ALTER TABLE article RENAME TO hidden")  # it needs no database
    plain = client.get(path, headers={"Accept-Encoding": "gzip;q=0"})
    for encoding in ("gzip", "x-gzip", "br, X-GZip;q=0.1"):
        zipped = client.get(path, headers={"Accept-Encoding": encoding})
        assert zipped.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(zipped.data) == plain.data
        assert len(zipped.data) == int(zipped.headers["Content-Length"]) < len(plain.data) / 2
    etags = {response.headers["ETag"] for response in (plain, zipped)}
    assert len(etags) == 2
    for response, etag in product((plain, zipped), etags):
        assert response.headers["Vary"] == "Accept-Encoding"
        assert response.headers["Cache-Control"] == "no-cache"
        unchanged = client.get(path, headers={"If-None-Match": etag})
        assert (unchanged.status_code, unchanged.headers["ETag"], unchanged.data) == (304, etag, b"")
    head = client.head(path, headers={"Range": "bytes=0-1"})
    assert (head.status_code, head.content_length, head.data) == (200, len(plain.data), b"")


def links(response):
    """Return the references of a Link header by their relations."""
    return {
        name: reference for reference, name in re.findall(r'<([^>]*)>; rel="(\w+)"', response.headers.get("Link", ""))
    }


def follow(client, path, relation):
    """Return the pages from `path` on, by the links of this relation."""
    pages = [client.get(path)]
    while relation in links(pages[-1]):
        path = urljoin(path, links(pages[-1])[relation])
        pages.append(client.get(path))
    return pages


@pytest.mark.parametrize(("order_by", "order"), [("title", "asc"), ("views", "desc"), ("views", "asc")])
def test_next_leads_through_every_article_once(client, save, order_by, order):
    save(*(article_json(number, title=f"Tea & {number % 3}", views=number % 4) for number in range(30)))
    for path in (FULL, PREVIEW + "/"):
        query = f"{path}?q=tea+%26&utm=x&order={order}&orderBy={order_by}"
        whole = client.get(f"{query}&take=100").get_json()["data"]
        pages = follow(client, f"{query}&take=7", "next")
        assert [article for page in pages for article in page.get_json()["data"]] == whole
        assert (len(pages), len(whole)) == (5, 30)
        back = follow(client, f"{query}&take=7&skip=28", "prev")
        assert [page.data for page in back] == [page.data for page in reversed(pages)]


@pytest.mark.parametrize(
    ("query", "link"),
    [
        ("", '<?take=50&skip=50>; rel="next"'),
        ("?utm=x&q=t%C3%A9+1&q=2", '<?q=t%C3%A9+1&take=50&skip=50>; rel="next"'),
        (
            "?skip=10&order=asc&take=%2B5",
            '<?take=5&order=asc&skip=15>; rel="next", <?take=5&order=asc&skip=5>; rel="prev"',
        ),
        ("?skip=7&take=50", '<?take=50&skip=57>; rel="next", <?take=50&skip=0>; rel="prev"'),
        ("?skip=50", '<?take=50&skip=0>; rel="prev"'),
        ("?skip=109", '<?take=50&skip=59>; rel="prev"'),
        ("?skip=110", None),
        ("?take=60", None),
    ],
)
def test_links_have_the_parameters_that_matter(client, save, query, link):
    save(*(article_json(number, title=f"Té 1 {number}") for number in range(60)))
    for method, _ in product(("GET", "HEAD"), range(2)):
        response = client.open(PREVIEW + query, method=method)
        assert response.headers.get("Link") == link
        conditional = client.open(PREVIEW + query, method=method, headers={"If-None-Match": "*"})
        assert conditional.headers.get("Link") == link


def test_empty_list_has_no_links(client):
    assert "Link" not in client.get(FULL + "?skip=10").headers
