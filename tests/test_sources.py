"""Sources of an import: files, standard input, other instances of the service."""

import json
import os
import pty
import socket
import subprocess
import threading
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from helpers import (
    LISTS,
    article_json,
    json_lines,
    minimal_json,
    subprocess_args,
)

from settings import read_version


@pytest.fixture
def run(articles):
    """Run `flask articles import`; there is one customer, Acme."""
    return partial(articles, "import")


@pytest.fixture
def slugs(sql):
    """Return the slugs of all articles."""
    return lambda: [slug for (slug,) in sql("SELECT slug FROM article ORDER BY slug")]


def error_report(result):
    """Check that an import failed with its own error report, and return it."""
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: Nothing was written. What is wrong:\n")
    return result.stderr


# Files and standard input

LINES = b'{"slug": "a", "title": "", "contentHtml": ""}\n{"slug": "b", "title": "", "contentHtml": ""}'
ITEMS = b"[" + LINES.replace(b"\n", b",") + b"]"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("array.json", ITEMS),
        ("bom.json", b"\xef\xbb\xbf" + ITEMS),
        ("object.json", b'{"meta": {"total": 2}, "data": ' + ITEMS + b"}"),
        ("lines.jsonl", LINES),
        ("UPPER.JSONL", LINES + b"\n"),
        ("windows.jsonl", b"\xef\xbb\xbf" + LINES.replace(b"\n", b"\r\n\r\n") + b"\r\n"),
        ("blank.jsonl", b"\n  \n" + LINES.replace(b"\n", b"\n\t\n\n")),
    ],
)
def test_files_of_every_form_are_read(run, slugs, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert run(tmp_path / name).stdout == "2 new, 0 changed, 0 unchanged (new: 2 draft)\n"
    assert slugs() == ["a", "b"]


def test_several_sources_are_one_import(run, slugs, tmp_path):
    assert run("-", input="\n").stdout == "0 new, 0 changed, 0 unchanged\n"  # which is no error
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text(json.dumps([minimal_json(number)]))
    (tmp_path / "bad.jsonl").write_text("{")
    third = json.dumps(minimal_json(3))
    sources = tmp_path / "1.json", "-", tmp_path / "2.json"
    assert "bad.jsonl, line 1" in error_report(run(*sources, tmp_path / "bad.jsonl", input=third))
    assert slugs() == []
    assert run(*sources, input=third).stdout == "3 new, 0 changed, 0 unchanged (new: 3 published)\n"
    assert slugs() == ["slug-1", "slug-2", "slug-3"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.json", b"", "empty.json: Must be JSON in UTF-8"),
        ("cut.json", b'[{"slug": "a"}, {"sl', "cut.json: Must be JSON in UTF-8"),
        ("lines.json", LINES, "JSON Lines belong in a .jsonl file"),
        ("text.json", b'"text"', "text.json: Must hold an array of articles"),
        ("object.json", b'{"articles": []}', "an object whose data is one"),
        ("data.json", b'{"data": {"slug": "a"}}', "an object whose data is one"),
        ("latin.json", '[\n{"title": "Café"}]'.encode("latin-1"), "latin.json: Must be JSON in UTF-8 ("),
        ("utf16.json", "[]".encode("utf-16"), "UTF-8"),
        ("nan.json", b'[{"views": NaN}]', "JSON in UTF-8 ("),
        ("deep.json", b"[" * 100_000, "JSON in UTF-8 ("),
        ("cut.jsonl", LINES[:-5], "cut.jsonl, line 2: Must be an article in JSON, in UTF-8 (unexpected end"),
        ("array.jsonl", b"\n\n" + ITEMS, "array.jsonl, line 3: Must be an object."),
        (
            "latin.jsonl",
            LINES + '\n{"title": "Café"}'.encode("latin-1"),
            "latin.jsonl, line 3: Must be an article in JSON, in UTF-8 (not UTF-8, byte 15).",
        ),
        ("utf16.jsonl", LINES.decode().encode("utf-16"), "utf16.jsonl, line 1: Must be an article in JSON, in UTF-8 ("),
        ("surrogate.jsonl", b'{"title": "\\ud800"}', "surrogate.jsonl, line 1: Must be an article in JSON"),
        ("deeper.json", b"[7, " + b"[" * 255 + b"]" * 255 + b"]", "deeper.json, article 2: Must not be nested"),
        ("items.json", b'[null, 7, {"slug": "x"}]', "items.json, article 3, slug 'x': contentHtml: Missing."),
    ],
)
def test_invalid_files_are_rejected_with_the_location(run, slugs, tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.json").write_text(json.dumps([minimal_json(1)]))
    message = error_report(run(tmp_path / "good.json", tmp_path / name))
    assert words in message
    assert message.count("\n") <= 6
    assert slugs() == []


def test_arguments_that_are_no_sources_are_wrong_usage(run, tmp_path):
    for source in ("missing.json", "articles.txt", "", "ftp://example.com/a.json", "no-folder", "http:/a"):
        result = run(source)
        assert result.exit_code == 2
        assert "Invalid value for 'SOURCE...'" in result.stderr
    assert run("-", "-").exit_code == 2
    assert run().exit_code == 2


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="/proc/self/mem can be opened, but not read")
def test_file_that_opens_but_cannot_be_read_is_reported(run, slugs, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([minimal_json(1)]))
    for name in ("b.jsonl", "c.json"):
        (tmp_path / name).symlink_to("/proc/self/mem")
        message = error_report(run(tmp_path / "a.json", tmp_path / name))
        assert f"{name}: It cannot be read (Input/output error)." in message
    assert slugs() == []


@pytest.mark.slow
def test_closed_standard_input_is_reported(key, database):
    close_stdin = ["sh", "-c", 'exec "$@" <&-', "sh"]
    result = subprocess.run(
        **subprocess_args(database, "-m", "flask", "articles", "import", "-", prefix=close_stdin), check=False
    )
    assert result.returncode == 1
    assert result.stderr == "Error: Nothing was written. What is wrong:\nstandard input: It is closed.\n"


@pytest.mark.slow
def test_terminal_shows_progress_and_a_file_does_not(run, database, tmp_path):
    (tmp_path / "a.jsonl").write_text(json_lines(map(minimal_json, range(1000))))
    command = subprocess_args(database, "-m", "flask", "articles", "import", str(tmp_path / "a.jsonl"))
    terminal, stderr = pty.openpty()
    subprocess.run(**command | {"stderr": stderr}, check=True)
    os.close(stderr)
    shown = b""
    with os.fdopen(terminal, "rb", buffering=0) as output, suppress(OSError):  # which is how a terminal ends
        while chunk := output.read(10_000):
            shown += chunk
    assert b"Importing" in shown
    assert b" 1000" in shown
    again = run(tmp_path / "a.jsonl")
    assert (again.stdout, again.stderr) == ("0 new, 0 changed, 1000 unchanged\n", "")


# Another instance


@pytest.fixture
def remote():
    """Serve a stand-in for another instance; `respond` maps a query and a key to a status, headers and a body.

    The first of `sitemaps` is the response of its sitemap, until the next one takes its place; without any it is a 404.
    """
    servers = []

    def remote(respond, sitemaps=((404, {}, b"{}"),)):
        sitemaps = list(sitemaps)

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                remote.user_agents.add(self.headers["User-Agent"])
                query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
                if urlsplit(self.path).path.endswith("/sitemap"):
                    status, headers, body = sitemaps.pop(0) if len(sitemaps) > 1 else sitemaps[0]
                else:
                    status, headers, body = respond(query, self.headers["x-api-key"])
                self.send_response(status)
                for name, value in ({"Content-Length": str(len(body))} | headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        return f"http://127.0.0.1:{server.server_port}{LISTS[0]}"

    remote.user_agents = set()
    yield remote
    for server in servers:
        server.shutdown()
        server.server_close()


def page(articles, total):
    """Return a response of the articles endpoint."""
    return 200, {}, json.dumps({"data": articles, "meta": {"total": total}}).encode()


def page_of(articles, query):
    skip, take = int(query["skip"]), int(query["take"])
    return page(articles[skip : skip + take], len(articles))


def test_another_instance_is_paged_through_with_its_key(run, remote, slugs):
    requests = []

    def respond(query, key):
        requests.append((query, key))
        return page_of([minimal_json(number) for number in range(250)], query)

    url = remote(respond) + "?q=caf%C3%A9&take=7&empty="
    assert run(url, "--key", "secret").stdout == "250 new, 0 changed, 0 unchanged (new: 250 published)\n"
    assert len(slugs()) == 250
    assert [(int(query["skip"]), query["take"], key) for query, key in requests] == [
        (skip, "100", "secret") for skip in (0, 100, 200)
    ]
    assert all(
        (query["orderBy"], query["order"], query["q"]) == ("publishedAt", "asc", "café") for query, _ in requests
    )


def test_source_key_can_come_from_the_environment(run, remote):
    keys = []
    url = remote(lambda _query, key: keys.append(key) or page([], 0))
    assert run(url).exit_code == 0
    assert run(url, env={"SOURCE_API_KEY": "from-there"}).exit_code == 0
    assert run(url, "--key", "given", env={"SOURCE_API_KEY": "from-there"}).exit_code == 0
    assert keys == [None, "from-there", "given"]
    assert remote.user_agents == {f"article-delivery-api/{read_version()}"}
    invalid = run(url, env={"SOURCE_API_KEY": "two\nlines"})
    assert invalid.exit_code == 2
    assert "two" not in invalid.stderr
    assert len(keys) == 3


@pytest.mark.parametrize(
    ("response", "words"),
    [
        ((401, {}, b'{"detail": "..."}'), "It does not accept the key. Set its key with --key or SOURCE_API_KEY."),
        ((503, {}, b'{"detail": "Try again."}'), "It responds with 503: Try again."),
        (
            (400, {}, b'{"detail": "Bad.", "errors": {"q": ["Too long."]}}'),
            "with 400: Bad. {'q': ['Too long.']}",
        ),
        ((500, {}, b'{"detail": "\\u001b[2J\\n%s"}' % (b"x" * 9999)), "It responds with 500:  [2J xxx"),
        ((302, {"Location": "/else"}, b""), "/else. Use that URL."),
        ((200, {"Content-Type": "application/json"}, b'{"data": [{"slug'), "The response is not whole."),
        ((404, {}, b"<html>"), "It responds with 404 Not Found. Check that the URL is"),
        ((500, {"Content-Length": "99"}, b"{"), "It responds with 500 Internal Server Error."),
        ((301, {"Location": "https://b.example/articles"}, b""), "It redirects to https://b.example/articles. Use"),
        ((200, {"Content-Type": "text/html; charset=utf-8"}, b"<html>"), "The response is text/html, not JSON. Check"),
        ((200, {}, b"[]"), "Check the URL."),
        ((200, {}, b'{"data": []}'), "Check the URL."),
        ((200, {}, b'{"data": {}, "meta": {"total": 1}}'), "Check the URL."),
        ((200, {}, b'{"data": [], "meta": {"total": "1"}}'), "Check the URL."),
        ((200, {"Content-Length": "1000"}, b'{"data": ['), "The response was cut off. Import them again."),
        ((200, {"Transfer-Encoding": "chunked", "Content-Length": ""}, b"9\r\n{"), "cut off"),
    ],
)
def test_other_responses_of_an_instance_are_reported(run, remote, slugs, response, words):
    url = remote(lambda _query, _key: response)
    message = error_report(run(url, color=True))
    assert f"\n{url}: " in message
    assert words in message
    assert "\x1b" not in message
    assert len(message) < 600
    assert message.count("\n") == 2
    assert slugs() == []


def sitemap(day):
    """Return a response of the sitemap endpoint."""
    return 200, {}, json.dumps({"data": [{"url": "slug-1", "lastmod": day}]}).encode()


@pytest.mark.parametrize(
    ("sitemaps", "words"),
    [
        ([(401, {}, b"{}")], "does not accept the key"),
        ([(500, {}, b"{}")], "It responds with 500"),
        ([(200, {}, b"<html>")], "not JSON"),
        ([(200, {}, b'{"data": [1]}')], "sitemap"),
        ([sitemap("2026-02-01"), sitemap("2026-02-02")], "changed while they were read"),
    ],
)
def test_sitemap_that_is_none_or_changes_fails_the_import(run, remote, slugs, sitemaps, words):
    url = remote(lambda query, _key: page_of([minimal_json(1)], query), sitemaps)
    assert words in error_report(run(url))
    assert slugs() == []


@pytest.mark.parametrize(
    ("later", "words"),
    [
        (page([minimal_json(100)], 151), "changed while they were read"),
        (page([], 150), "changed while they were read"),
        ((200, {"Content-Length": "1000"}, b"{"), "The response was cut off."),
    ],
)
def test_later_page_that_fails_or_differs_leaves_nothing(run, remote, slugs, later, words):
    first = page([minimal_json(number) for number in range(100)], 150)
    url = remote(lambda query, _key: first if query["skip"] == "0" else later)
    assert words in error_report(run(url))
    assert slugs() == []


def test_url_that_cannot_be_reached_is_reported(run):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    refused = error_report(run(f"http://127.0.0.1:{port}/"))
    assert "cannot be reached ([Errno 111] Connection refused)" in refused
    for url in (
        "https://no-such-host.invalid/articles",
        "http://",
        "http://[::1",
        "http://127.0.0.1:99999/",
        "http://a b/",
        "https://\u00fc@/",
        f"http://127.0.0.1:{port}{LISTS[0]}?x=.jsonl",  # ends as a file does
    ):
        assert "It cannot be reached" in error_report(run(url)), url


def test_articles_endpoint_of_an_instance_is_found(run, site):
    site.save(article_json(1))
    base = f"http://{site.server.host}:{site.server.port}"
    for number, path in enumerate(("", "/", "/api/public/v1", "/api/public/v1/articles/", "/api/public/v1/sitemap")):
        result = run(base + path, "--key", site.key)
        assert result.stdout.startswith("0 new, 0 changed, 1" if number else "1 new, 0 changed, 0"), path
    assert "does not accept the key" in error_report(run(base, "--key", "wrong"))
    assert "It responds with 404: Nothing is here." in error_report(run(f"{base}/blog", "--key", site.key))
