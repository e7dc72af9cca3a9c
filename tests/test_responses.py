"""What HTTP adds to every response: validators, gzip, HEAD, trailing slashes; health; static files; links."""

import gzip
import re
from urllib.parse import urljoin

import pytest
from helpers import ENDPOINTS, LISTS, article_json

FULL, PREVIEW = LISTS


@pytest.mark.parametrize("path", ENDPOINTS)
def test_unchanged_response_is_not_sent_again(client, save, sql, path):
    """Each encoding has its own strong ETag, and both are known to either."""
    save(*(article_json(number) for number in range(50)))
    plain, compressed = client.get(path), client.get(path, headers={"Accept-Encoding": "gzip"})
    tags = plain.headers["ETag"], compressed.headers["ETag"]
    assert tags[0] != tags[1]
    assert (plain.content_type, compressed.content_type) == ("application/json",) * 2
    for tag in (*tags, f"W/{tags[0]}", f'"x", {tags[1]}', "*"):
        for encoding, own in (("", tags[0]), ("gzip", tags[1])):
            unchanged = client.get(path, headers={"If-None-Match": tag, "Accept-Encoding": encoding})
            assert (unchanged.status_code, unchanged.data) == (304, b"")
            assert unchanged.headers["ETag"] == (own if tag == "*" else re.search(r'"\w{9,}(-gzip)?"', tag)[0])
            for response in (plain, compressed, unchanged):
                assert response.headers["Cache-Control"] == "private, no-cache"
                assert response.headers["Vary"] == "Accept-Encoding, x-api-key"
    sql("UPDATE article SET title = 'New', slug = 'new' || id")
    changed = client.get(path, headers={"If-None-Match": tags[0]})
    assert changed.status_code == 200
    assert changed.headers["ETag"] not in tags


def test_gzip_is_sent_if_it_is_allowed_and_pays(client, save):
    save(*(article_json(number) for number in range(50)))
    plain = client.get(FULL)
    assert "Content-Encoding" not in plain.headers
    for header in ("gzip", "x-gzip", "br;q=1.0, gzip;q=0.8, *;q=0.1", "GZIP", "*", "identity;q=0.5, gzip"):
        compressed = client.get(FULL, headers={"Accept-Encoding": header})
        assert compressed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(compressed.data) == plain.data
    for header in ("", "identity", "br", "gzip;q=0", "identity, gzip;q=0.5", "nonsense;;q=x", "*;q=0"):
        assert client.get(FULL, headers={"Accept-Encoding": header}).data == plain.data
    assert "Content-Encoding" not in client.get(FULL + "?q=nothing", headers={"Accept-Encoding": "gzip"}).headers


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz", "/openapi.json"])
def test_head_is_get_without_the_body(client, path):
    head, got = client.head(path), client.get(path)
    assert (head.status_code, head.data, got.status_code) == (200, b"", 200)
    assert dict(head.headers) == dict(got.headers)
    if "ETag" in head.headers:
        assert client.head(path, headers={"If-None-Match": got.headers["ETag"]}).status_code == 304


@pytest.mark.parametrize("path", [*ENDPOINTS, "/healthz"])
def test_trailing_slash_is_accepted(client, path):
    with_slash, without = client.get(path + "/"), client.get(path)
    assert (with_slash.status_code, with_slash.data) == (200, without.data)


def test_health_needs_no_key(app):
    response = app.test_client().get("/healthz")
    assert (response.status_code, response.get_json()) == (200, {"status": "ok"})
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["../app.py", "..%2fapp.py", "%00", "banners", "", "/etc/passwd", "banners/%ff.svg"])
def test_no_other_file_is_served(app, path):
    assert app.test_client().get("/static/" + path).status_code == 404


@pytest.mark.parametrize(
    ("path", "content_type"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/openapi.json", "application/json"),
        ("/static/page/page.css", "text/css; charset=utf-8"),
        ("/static/page/page.js", "text/javascript; charset=utf-8"),
        ("/static/banners/writing.svg", "image/svg+xml; charset=utf-8"),
    ],
)
def test_public_file_is_revalidated_each_time(app, sql, path, content_type):
    client = app.test_client()
    sql("ALTER TABLE article RENAME TO hidden")  # it needs no database
    first = client.get(path, buffered=True)
    assert (first.status_code, first.content_type, first.headers["Cache-Control"]) == (200, content_type, "no-cache")
    unchanged = client.get(path, headers={"If-None-Match": first.headers["ETag"]}, buffered=True)
    assert (unchanged.status_code, unchanged.headers["ETag"]) == (304, first.headers["ETag"])


def follow(client, path, relation):
    """Return the pages from `path` on, by the links of this relation."""
    pages = [client.get(path)]
    while link := re.search(rf'<([^>]*)>; rel="{relation}"', pages[-1].headers.get("Link", "")):
        path = urljoin(path, link[1])
        pages.append(client.get(path))
    return pages


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_next_leads_through_every_article_once(client, save, order):
    save(*(article_json(number, title=f"Tea & {number % 3}", views=number % 4) for number in range(30)))
    for path in (FULL, PREVIEW + "/"):
        query = f"{path}?q=tea+%26&utm=x&order={order}&orderBy=views"
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
        ("?q=nothing&skip=10", None),
    ],
)
def test_links_have_the_parameters_that_matter(client, save, query, link):
    save(*(article_json(number, title=f"Té 1 {number}") for number in range(60)))
    for headers in ({}, {"If-None-Match": "*"}):
        assert client.get(PREVIEW + query, headers=headers).headers.get("Link") == link
