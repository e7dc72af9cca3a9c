"""Import sources: files, folders, standard input, and other instances."""

import json
import os
import re
import socket
import subprocess
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest
from helpers import LISTS, PROJECT, article_json, minimal_json, subprocess_args, write_files
from importer import error_lines


@pytest.fixture
def run(articles, tmp_path, monkeypatch):
    """Run `flask articles import` in the test's folder; the only customer is Acme."""
    monkeypatch.chdir(tmp_path)
    return partial(articles, "import")


@pytest.fixture
def errors(run, articles):
    """Run an import that must fail and write nothing; return the lines of its error report."""

    def errors(*arguments, **options):
        result = run(*arguments, **options)
        assert isinstance(result.exception, SystemExit)
        assert articles("list").stdout == ""
        return error_lines(result)

    return errors


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
def test_json_and_json_lines_are_read_in_every_layout(run, articles, name, content):
    Path(name).write_bytes(content)
    assert run(name).stdout == "2 new, 0 changed, 0 unchanged (new: 2 draft)\n"
    assert {line.split("\t")[2] for line in articles("list").stdout.splitlines()} == {"a", "b"}


def test_empty_import_is_not_an_error(run):
    result = run("-", input="\n")
    assert (result.exit_code, result.stdout) == (0, "0 new, 0 changed, 0 unchanged\n")


def test_several_sources_are_one_import(run, errors, tmp_path):
    files = {f"{number}.json": json.dumps([minimal_json(number)]) for number in (1, 2)}
    write_files(tmp_path, files | {"b.jsonl": "{"})
    sources, third = ("1.json", "-", "2.json"), json.dumps(minimal_json(3))
    (line,) = errors(*sources, "b.jsonl", input=third)
    assert line.startswith("b.jsonl, line 1")
    assert run(*sources, input=third).stdout == "3 new, 0 changed, 0 unchanged (new: 3 published)\n"


WORDPRESS, GHOST = ((PROJECT / "tests/data" / name).read_text("utf-8") for name in ("wordpress.xml", "ghost.json"))
DOCTYPE = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><rss><channel>&b;</channel></rss>'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"", ": Must be JSON ("),
        ("a.json", b'[{"slug": "a"}, {"sl', ": Must be JSON ("),
        ("a.json", LINES, "JSON Lines belong in a .jsonl file"),
        ("a.json", '"text"', ": Must hold an article, an array of articles, or an object whose data is one."),
        ("a.json", '{"articles": []}', ": Must hold an article"),
        ("a.json", '{"data": {"x": "a"}}', ": Must hold an article"),
        ("a.json", '[\n{"title": "Café"}]'.encode("latin-1"), ": Must be text in UTF-8: byte 15 of line 2 is not."),
        ("a.json", "[]".encode("utf-16"), ": Must be text in UTF-8: byte 1 of line 1 is not."),
        ("a.json", '[{"views": NaN}]', ": Must be JSON ("),
        ("a.json", "[" * 100_000, ": Must be JSON ("),
        ("a.json", "[" + "[" * 255 + "]" * 255 + "]", ", article 1: Must be an object."),
        ("a.json", ITEMS[:-1] + b', {"slug": "x", "title": ""}]', ", article 3, slug 'x': contentHtml: Missing"),
        ("a.json", '{"slug": "x", "title": ""}', ", article 1, slug 'x': contentHtml: Missing"),
        ("a.jsonl", LINES[:-5], ", line 2: Must be JSON (unexpected end"),
        ("a.jsonl", b"\n\n" + ITEMS, ", line 3: Must be an object."),
        ("a.jsonl", "{}".encode("utf-16"), ", line 1: Must be text in UTF-8: byte 1 of line 1 is not."),
        ("a.jsonl", '"Café"'.encode("latin-1"), ", line 1: Must be text in UTF-8: byte 5 of line 1 is not."),
        ("a.jsonl", '{"title": "\\ud800"}', ", line 1: Must be JSON ("),
        ("a.xml", DOCTYPE, ": It declares a document type"),
        ("a.xml", DOCTYPE.encode("utf-16"), ": It declares a document type"),
        ("a.xml", WORDPRESS[:-30], "line 217, column 83: unclosed token. The export is incomplete."),
        ("a.xml", WORDPRESS.replace("<link>", "<link>&nbsp;"), ": Must be XML: line 11, column 8: undefined entity"),
        ("a.xml", "<rss><channel/></rss>", ": Must be a WordPress export (WXR)"),
        ("a.xml", "", "line 1, column 1: no element found. The export is incomplete."),
        ("a.xml", '<?xml version="1.0" encoding="Shift_JIS"?><rss/>', ": Must be a WordPress export, in XML ("),
        ("a.xml", '<?xml version="1.0" encoding="unknown"?><rss/>', ": Must be a WordPress export, in XML ("),
        ("a.json", GHOST.replace('"<p>Text</p>"', "null", 1), ", post 63f0b1c2d3e4f5a6b7c8d902 'Second': The export"),
        ("a.json", '{"db": [{"data": {"posts": [{}]}}]}', ": Must be an export of Ghost 3 or newer: its table tags"),
        ("a.json", '{"db": []}', ": Must hold an article"),
        ("a.csv", "title,body\nÄ".encode("cp1252"), ": Must be text in UTF-8: byte 1 of line 2 is not."),
        ("a.csv", "title\n".encode("utf-16"), ": Must be text in UTF-8: byte 1 of line 1 is not."),
        ("a.csv", "title,body\n\nc,d,e", ", row 3: A row must have no more cells than the header, which has 2."),
        ("a.csv", 'body,title\na,"b\nc', ": line 3: Must be CSV (unexpected end of data)."),
        ("a.csv", "Titel,body\nA,x", ": The header must name title and contentHtml. It names Titel, body."),
        (
            "a.csv",
            "slug,title,body,Date\n\na,A,x,3/1/2026",
            ", row 3, slug 'a': Date: '3/1/2026' must be a date such as 2026-03-01, 01.03.2026,",
        ),
        ("a.csv", "slug,title,body,views\na,A,x,many", ", row 2, slug 'a': views: 'many' must be"),
        ("a.csv", "slug,title,body,readTime\na,A,x,1e999", ", row 2, slug 'a': readTime: '1e999' must be a number"),
        ("a/b.html", "---\ntitle: A\nslug: b\nreadTime: 1e999\n---\n", ", slug 'b': readTime: '1e999'"),
        ("a/b.html", "---\ntitle: x\n", ": An article file must begin with front matter between two lines ---."),
        ("a/b.html", "---\ntitle: Menu: x\n---\n", ": line 2: The front matter must be YAML (mapping values are not"),
        ("a/b.html", "---\na: b\nslug: !!python/name:os y\n---\n", ": line 3: The front matter must not use tags"),
        ("a/b.html", "---\na: &a [x]\nb: [*a, *a]\n---\n", ": line 2: The front matter must not use tags, anchors"),
        ("a/b.html", f"---\na: {'[' * 5000}\n---\n", ": line 2: The front matter must not use tags"),
        ("a/b.html", "---\n- a\n---\n", ": The front matter must have fields"),
        ("a/b.html", "---\n? [a]\n: b\n---\n", ": line 2: The front matter must be YAML (found unhashable key)."),
        ("a/b.html", b"---\na: b\n---\n\xff", ": Must be text in UTF-8: byte 1 of line 4 is not."),
        ("a/b.html", "---\ntitle: x\ncontentHtml: y\n---\n", ": contentHtml belongs below the front matter."),
        ("a/b.md", "---\ntitle: A\ntags: [a]\ntags: [b]\n---\n", ": line 4: 'tags' appears twice."),
        ("a/b.md", "---\ntitle: A\nimage:\n  src: a\n  alt: b\n  src: c\n---\n", ": line 6: 'src' appears twice."),
        ("a/b.md", "---\ntitle: A\nx: [{y: 1, y: 2}]\n---\n", ": line 3: 'y' appears twice."),
        ("a/b.html", "---\ntitle: A\nslug: b\nslug: c\n---\n", ": line 4: 'slug' appears twice."),
        ("a.csv", "", ": The first row must name the columns"),
        ("a.csv", "title,body\rA,x\r", ": Its lines must end with LF or CR LF, not CR."),
        ("a.csv", "title,body\n☕ 🎉,x", ", row 2: slug: The title '☕ 🎉' has no letter or digit"),
        ("a/b.md", "---\nslug: b\n---\n", ", slug 'b': title: Missing"),
        ("a/b.md", "+++\ntitle = a\n+++\n", ": The front matter must be TOML (Invalid value (at line 2, column 9))."),
    ],
)
def test_error_in_a_file_is_reported_with_its_location(errors, tmp_path, name, content, message):
    write_files(tmp_path, {name: content, "good.md": "---\ntitle: A\n---\n"})
    (line,) = errors("good.md", name.partition("/")[0])
    assert line.startswith(name)
    assert message in line


@pytest.mark.parametrize("files", [{}, {"a/b.md": "Just text"}, {"a/b.txt": "---\ntitle: A\n---\n"}, {"a/b.jpg": ""}])
def test_folder_without_articles_is_an_error(errors, tmp_path, files):
    (tmp_path / "a").mkdir()
    write_files(tmp_path, files)
    (line,) = errors("a")
    assert line.startswith("a: ")
    assert ".md, .markdown or .html" in line


def test_invalid_files_of_a_folder_can_be_skipped(run, tmp_path):
    broken = {"a/1.md": "---\ntitle: x\n", "a/2.md": "---\ntitle: [\n---\n", "4.md": "---\ntitle: x\n"}
    write_files(tmp_path, broken | {"a/3.md": "---\ntitle: A\n---\n", "b.csv": "title,body\nB,x\nC,x,y\n"})
    result = run("a", "4.md", "b.csv", "--skip-invalid")
    assert result.stdout == "2 new, 0 changed, 0 unchanged, 4 invalid (new: 2 draft)\n"
    assert all(place in result.stderr for place in ("a/1.md", "a/2.md", "4.md", "b.csv, row 3"))
    write_files(tmp_path, {"broken.xml": "<rss>"})
    assert run("a", "broken.xml", "--skip-invalid").exit_code == 1


def test_site_is_suggested_for_relative_urls_where_it_helps(run, tmp_path):
    """--site resolves URLs of converted sources, but not those in JSON."""
    article = minimal_json(1, contentHtml='<a href="/about">x</a>')
    write_files(tmp_path, {"a.json": json.dumps(article), "b.csv": 'slug,title,body\nb,B,"<a href=""/about"">x</a>"\n'})
    assert "--site" not in run("a.json", "--dry-run").stderr
    assert "relative" in run("a.json", "--dry-run", "--site", "https://www.example.com").stderr
    assert "--site" in run("b.csv", "--dry-run").stderr
    assert "relative" not in run("b.csv", "--dry-run", "--site", "https://www.example.com").stderr


def test_errors_of_all_sources_are_reported_in_one_run(errors, tmp_path):
    write_files(
        tmp_path, {"a/1.md": "---\ntitle: x\n", "a/2.md": "---\ntitle: [\n---\n", "a/3.md": "---\ntitle: A\n---\n"}
    )
    write_files(tmp_path, {"b.csv": "title,body\nB,\n", "c.xml": DOCTYPE, "d.jsonl": "{}"})
    write_files(tmp_path, {"e.json": "{", "f.jsonl": "[]"})
    lines = errors("a", "b.csv", "c.xml", "d.jsonl", "e.json", "f.jsonl", "http://[::1/")
    sources = [re.split("[,:]", line)[0] for line in lines]
    assert sorted(set(sources)) == ["a/1.md", "a/2.md", "b.csv", "c.xml", "d.jsonl", "e.json", "f.jsonl", "http"]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc/self/mem, which opens but cannot be read")
def test_unreadable_files_are_reported(errors):
    """Named pipes, circular links, and files that open but cannot be read."""
    Path("a").mkdir()
    os.mkfifo("a/pipe.md")
    Path("a/loop.md").symlink_to("loop.md")
    Path("a/folder").symlink_to(".")
    os.mkfifo("pipe.csv")
    for name in ("b.jsonl", "c.json"):
        Path(name).symlink_to("/proc/self/mem")
    assert errors("a", "pipe.csv", "b.jsonl", "c.json") == [
        "pipe.csv: Not a file or a folder. To read JSON Lines from a pipe, use -.",
        "a/loop.md: It is not a file that can be read. Move it elsewhere.",
        "a/pipe.md: It is not a file that can be read. Move it elsewhere.",
        "b.jsonl: Cannot be read (Input/output error).",
        "c.json: Cannot be read (Input/output error).",
    ]


def test_unreadable_folder_is_an_error(errors, tmp_path, monkeypatch):
    write_files(tmp_path, {"a/good.md": "---\ntitle: A\n---\n", "a/closed/b.md": "---\ntitle: B\n---\n"})
    scandir = os.scandir

    def deny(path="."):
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", deny)
    assert errors("a") == ["a/closed: Cannot be read (Permission denied)."]


def test_invalid_source_is_a_usage_error(run, tmp_path):
    for source in ("missing.json", "articles.txt", "", "ftp://example.com/a.json", "no-folder", "http:/a"):
        result = run(source)
        assert result.exit_code == 2
        assert "Invalid value for 'SOURCE...'" in result.stderr
    assert run("-", "-").exit_code == 2
    assert run().exit_code == 2


@pytest.mark.slow
def test_closed_standard_input_is_reported(key, database):
    close_stdin = ["sh", "-c", 'exec "$@" <&-', "sh"]
    result = subprocess.run(**subprocess_args(database, "-m", "flask", "articles", "import", "-", prefix=close_stdin))
    assert result.returncode == 1
    assert result.stderr == "Error: Nothing was written. What is wrong:\nstandard input: Is closed.\n"


# Another instance


@pytest.fixture
def remote():
    """Start a fake instance that sends the given pages in order, repeating the last one; return its URL.

    `remote.requests` holds the query and headers of each request.
    """
    responses = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            remote.requests.append((dict(parse_qsl(urlsplit(self.path).query)), self.headers))
            status, headers, body = responses.pop(0) if len(responses) > 1 else responses[0]
            self.send_response(status)
            for header in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(*header)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:

        def remote(pages):
            responses[:] = pages
            return f"http://127.0.0.1:{server.server_port}{LISTS[0]}"

        remote.requests = []
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield remote
        server.shutdown()


def page(numbers, total):
    """Return a page of the articles endpoint."""
    return 200, {}, json.dumps({"data": [*map(minimal_json, numbers)], "meta": {"total": total}}).encode()


def test_all_pages_of_another_instance_are_read(run, remote):
    pages = [page(range(skip, min(skip + 100, 250)), 250) for skip in (0, 100, 200)]
    url = remote(pages) + "?q=caf%C3%A9&take=7&empty="
    assert run(url, "--key", "secret").stdout == "250 new, 0 changed, 0 unchanged (new: 250 published)\n"
    sent = {"q": "café", "take": "100", "orderBy": "publishedAt", "order": "asc"}
    assert [query for query, _ in remote.requests] == [sent | {"skip": skip} for skip in ("0", "100", "200")]
    assert {headers["x-api-key"] for _, headers in remote.requests} == {"secret"}


def test_source_key_can_be_an_environment_variable(run, remote):
    url, variable = remote([page([], 0)]), {"SOURCE_API_KEY": "from-there"}
    for options, env in (([], {}), ([], variable), (["--key", "given"], variable)):
        assert run(url, *options, env=env).exit_code == 0
    assert [headers["x-api-key"] for _, headers in remote.requests] == [None, "from-there", "given"]
    invalid = run(url, env={"SOURCE_API_KEY": "two\nlines"})
    assert invalid.exit_code == 2
    assert "two" not in invalid.stderr
    assert len(remote.requests) == 3


@pytest.mark.parametrize("other", ["https://other.example/", "http://127.0.0.1:1/", "http://127.0.0.1:1?a"])
def test_key_is_only_sent_to_one_host(run, remote, other):
    url = remote([page([], 0)])
    for options, env in ((["--key", "secret"], {}), ([], {"SOURCE_API_KEY": "secret"})):
        assert run(url, other, *options, env=env).exit_code == 2
    assert remote.requests == []
    assert run(url, url.upper().replace(LISTS[0].upper(), LISTS[0]), "--key", "secret").exit_code == 0


CHANGED = "The articles changed while they were read. Import them again."


@pytest.mark.parametrize(
    ("pages", "words"),
    [
        ([(401, {}, b"{}")], "The key was rejected"),
        ([(503, {}, b"{}")], "Responds with 503 Service Unavailable. Check"),
        ([(301, {"Location": "https://b.example/\x1b[2J"}, b"")], "Redirects to https://b.example/"),
        ([(200, {}, b"<html>")], "Cannot be read ("),
        ([(200, {}, b"[]")], "The response is not a list of articles."),
        ([(200, {}, b'{"data": [], "meta": {"total": "1"}}')], "The response is not a list of articles."),
        ([page(range(100), 150), (200, {"Content-Length": "99"}, b"{")], "Cannot be read (IncompleteRead"),
        ([page(range(100), 150), page([100], 151)], CHANGED),
        ([page(range(100), 150), page([], 150)], CHANGED),
    ],
)
def test_incomplete_read_of_an_instance_is_reported(errors, remote, pages, words):
    url = remote(pages)
    (line,) = errors(url, color=True)
    assert line.startswith(f"{url}: ")
    assert words in line
    assert "\x1b" not in line
    assert len(line) <= 500


def test_unreachable_url_is_reported(errors):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (line,) = errors(f"http://127.0.0.1:{port}/")
    assert "Cannot be read ([Errno 111] Connection refused)" in line
    for url in ("http://", "http://[::1", "http://a b/", f"http://127.0.0.1:{port}{LISTS[0]}?x=.jsonl"):
        (line,) = errors(url)
        assert line.startswith(f"{url}: Cannot be read ("), url


def test_base_url_of_an_instance_is_enough(run, errors, site):
    site.save(article_json(1))
    base = f"http://{site.server.host}:{site.server.port}"
    assert "key was rejected" in errors(base, "--key", "wrong")[0]
    assert "Responds with 404" in errors(f"{base}/blog", "--key", site.key)[0]
    for number, path in enumerate(("", "/", "/api/public/v1", "/api/public/v1/articles/", "/api/public/v1/sitemap")):
        result = run(base + path, "--key", site.key)
        assert result.stdout.startswith("0 new, 0 changed, 1" if number else "1 new, 0 changed, 0"), path
