"""What an import reads: files, standard input, another instance."""

import json
import os
import pty
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import PROJECT, article, make_key, simple, url_of


@pytest.fixture
def run(app, key):
    """Run `flask articles import`; there is one customer, Acme."""
    return lambda *arguments, **options: app.test_cli_runner().invoke(
        args=["articles", "import", *map(str, arguments)], **options
    )


@pytest.fixture
def titles(sql):
    return lambda: [slug for (slug,) in sql("SELECT slug FROM article ORDER BY id")]


def test_all_that_is_wrong_with_several_sources_is_told(run, remote, tmp_path):
    for name, content in (("1.jsonl", b"{}"), ("2.json", b"{"), ("3.jsonl", b"[]")):
        (tmp_path / name).write_bytes(content)
    address = remote(lambda _query, _key: (401, {}, b""))
    message = refused(run(tmp_path / "1.jsonl", tmp_path / "2.json", address, tmp_path / "3.jsonl"))
    for words in ("1.jsonl, line 1: ", "2.json: ", "/articles: It does not accept the key.", "3.jsonl, line 1: "):
        assert words in message
    assert message.count("\n") == 5


def test_a_source_that_takes_its_time_keeps_no_other_writer_waiting(run, remote, app, titles):
    def answer(_query, _key):
        assert app.test_cli_runner().invoke(args=["keys", "create", "Acme"]).exit_code == 0
        return page([simple(1)], 1)

    began = time.monotonic()
    assert run(remote(answer)).stdout == "1 new, 0 changed, 0 unchanged\n"
    assert time.monotonic() - began < 30


def test_closed_standard_input_is_told(app, key, database):
    command = f"{sys.executable} -m flask articles import - <&-"
    environment = os.environ | {"DATABASE_URL": url_of(database)}
    result = subprocess.run(command, shell=True, cwd=PROJECT, env=environment, capture_output=True, text=True)  # noqa: S602
    assert result.returncode == 1
    assert result.stderr == "Error: Nothing was written. What is wrong:\n-: Standard input is closed.\n"


def refused(result):
    """Check that a command failed with a message of its own; return that."""
    assert result.exit_code == 1
    assert not isinstance(result.exception, Exception)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: Nothing was written.")
    return result.stderr


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
def test_files_of_every_form_are_read(run, titles, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert run(tmp_path / name).stdout == "2 new, 0 changed, 0 unchanged\n"
    assert sorted(titles()) == ["a", "b"]


def test_standard_input_is_read_as_json_lines(run, titles):
    assert run("-", input=LINES).stdout == "2 new, 0 changed, 0 unchanged\n"
    assert sorted(titles()) == ["a", "b"]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="/proc/self/mem can be opened, but not read")
def test_a_file_that_can_be_opened_but_not_read_is_told(run, titles, tmp_path):
    (tmp_path / "a.json").write_text(json.dumps([simple(1)]))
    (tmp_path / "b.jsonl").symlink_to("/proc/self/mem")
    assert "b.jsonl: It cannot be read (Input/output error)." in refused(run(tmp_path / "a.json", tmp_path / "b.jsonl"))
    assert titles() == []


@pytest.mark.parametrize(("name", "content"), [("a.json", b"[]"), ("b.json", b'{"data": []}'), ("c.jsonl", b"\n")])
def test_no_articles_are_no_error(run, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert run(tmp_path / name).stdout == "0 new, 0 changed, 0 unchanged\n"


def test_several_sources_are_one_import(run, titles, tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}.json").write_text(json.dumps([simple(number)]))
    (tmp_path / "bad.jsonl").write_text("{")
    third = json.dumps(simple(3))
    assert "bad.jsonl, line 1" in refused(run(tmp_path / "1.json", tmp_path / "2.json", "-", tmp_path / "bad.jsonl"))
    assert titles() == []
    assert run(tmp_path / "1.json", "-", tmp_path / "2.json", input=third).stdout == "3 new, 0 changed, 0 unchanged\n"
    assert titles() == ["slug-1", "slug-2", "slug-3"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.json", b"", "empty.json: Must be JSON in UTF-8"),
        ("cut.json", b'[{"slug": "a"}, {"sl', "cut.json: Must be JSON in UTF-8"),
        ("lines.json", LINES, "JSON Lines belong in a .jsonl file"),
        ("text.json", b'"text"', "text.json: Must hold an array of articles"),
        ("object.json", b'{"articles": []}', "an object whose data is one"),
        ("data.json", b'{"data": {"slug": "a"}}', "an object whose data is one"),
        ("latin.json", '[\n{"title": "Café"}]'.encode("latin-1"), "UTF-8 (not UTF-8: line 2 column 15"),
        ("utf16.json", "[]".encode("utf-16"), "UTF-8"),
        ("nan.json", b'[{"views": NaN}]', "JSON in UTF-8 ("),
        ("deep.json", b"[" * 100_000, "JSON in UTF-8 ("),
        ("cut.jsonl", LINES[:-5], "cut.jsonl, line 2: Must be an article in JSON, in UTF-8 (unexpected end"),
        ("array.jsonl", b"\n\n" + ITEMS, "array.jsonl, line 3: Must be an object."),
        (
            "latin.jsonl",
            LINES + '\n{"title": "Café"}'.encode("latin-1"),
            "latin.jsonl, line 3: Must be an article in JSON, in UTF-8 (not UTF-8, column 15).",
        ),
        ("utf16.jsonl", LINES.decode().encode("utf-16"), "utf16.jsonl, line 1: Must be an article in JSON, in UTF-8 ("),
        ("surrogate.jsonl", b'{"title": "\\ud800"}', "surrogate.jsonl, line 1: Must be an article in JSON"),
        ("deeper.json", b"[7, " + b"[" * 255 + b"]" * 255 + b"]", "deeper.json: Article 2 is nested more than 250"),
        ("items.json", b'[null, 7, {"slug": "x"}]', "items.json, article 3, slug 'x': contentHtml: Missing data"),
    ],
)
def test_broken_files_are_refused_with_the_place(run, titles, tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    (tmp_path / "good.json").write_text(json.dumps([simple(1)]))
    message = refused(run(tmp_path / "good.json", tmp_path / name))
    assert words in message
    assert message.count("\n") <= 6
    assert titles() == []


@pytest.mark.parametrize("source", ["missing.json", "articles.csv", "", "ftp://example.com/a.json", "tests", "http:/a"])
def test_what_is_no_source_is_wrong_usage(run, source):
    result = run(source)
    assert result.exit_code == 2
    assert "Invalid value for 'SOURCE...'" in result.stderr


def test_a_file_that_cannot_be_read_is_refused(run, tmp_path):
    (tmp_path / "folder.json").mkdir()
    assert run(tmp_path / "folder.json").exit_code == 2
    assert run("-", "-").exit_code == 2
    assert run().exit_code == 2


def test_a_terminal_sees_how_far_it_is_and_a_file_does_not(app, key, database, tmp_path):
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(simple(number)) for number in range(1000)))
    command = [sys.executable, "-m", "flask", "articles", "import", str(tmp_path / "a.jsonl")]
    options = {"cwd": PROJECT, "env": os.environ | {"DATABASE_URL": url_of(database)}, "check": True}
    ours, theirs = pty.openpty()
    subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, **options)
    os.close(theirs)
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        assert b"100%" in b"".join(iter(lambda: read(terminal), b""))
    piped = subprocess.run(command, capture_output=True, **options)
    assert (piped.stdout, piped.stderr) == (b"0 new, 0 changed, 1000 unchanged\n", b"")


def read(terminal):
    """Give what a terminal shows next, or nothing at its end."""
    try:
        return terminal.read(10_000)
    except OSError:
        return b""


@pytest.fixture
def remote():
    """Serve, in place of another instance, what a function answers: status, headers, body."""
    servers = []

    def remote(answer: Callable[[dict[str, str], str | None], tuple]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
                status, headers, body = answer(query, self.headers["x-api-key"])
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
        return f"http://127.0.0.1:{server.server_port}/api/public/v1/articles"

    yield remote
    for server in servers:
        server.shutdown()
        server.server_close()


def page(articles, total):
    return 200, {}, json.dumps({"data": articles, "meta": {"total": total}}).encode()


def test_an_address_may_end_as_a_file_does(run):
    assert "It cannot be reached" in refused(run("http://127.0.0.1:9/api/public/v1/articles?x=.jsonl"))


def paged(articles):
    def answer(query, _key):
        skip, take = int(query["skip"]), int(query["take"])
        return page(articles[skip : skip + take], len(articles))

    return answer


def test_another_instance_is_paged_through_with_its_key(run, remote, titles):
    asked = []

    def answer(query, key):
        asked.append((query, key))
        return paged([simple(number) for number in range(250)])(query, key)

    address = remote(answer) + "?q=caf%C3%A9&take=7&empty="
    assert run(address, "--key", "secret").stdout == "250 new, 0 changed, 0 unchanged\n"
    assert len(titles()) == 250
    assert [(int(query["skip"]), query["take"], key) for query, key in asked] == [
        (skip, "100", "secret") for skip in (0, 100, 200)
    ]
    assert all((query["orderBy"], query["order"], query["q"]) == ("publishedAt", "asc", "café") for query, _ in asked)


def test_its_key_may_stand_in_the_environment(run, remote):
    keys = []
    address = remote(lambda _query, key: keys.append(key) or page([], 0))
    assert run(address, env={"SOURCE_API_KEY": "from-there"}).exit_code == 0
    assert run(address, "--key", "given", env={"SOURCE_API_KEY": "from-there"}).exit_code == 0
    assert keys == ["from-there", "given"]
    bad = run(address, env={"SOURCE_API_KEY": "two\nlines"})
    assert bad.exit_code == 2
    assert "two" not in bad.stderr


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {}, b'{"detail": "..."}'), "It does not accept the key. Give its key by --key or SOURCE_API_KEY."),
        ((503, {}, b'{"detail": "Try again."}'), "It answers 503: Try again."),
        ((400, {}, b'{"detail": "Bad.", "errors": {"q": ["Too long."]}}'), "It answers 400: Bad. {'q': ['Too long.']}"),
        ((500, {}, b'{"detail": "\\u001b[2J\\n%s"}' % (b"x" * 9999)), "It answers 500:  [2J xxx"),
        ((302, {"Location": "/else"}, b""), "/else. Give that address."),
        ((200, {}, b'{"data": [{"slug'), "The answer is not JSON, or was cut off."),
        ((404, {}, b"<html>"), "It answers 404 Not Found. Is it the address of an articles"),
        ((500, {"Content-Length": "99"}, b"{"), "It answers 500 Internal Server Error."),
        ((301, {"Location": "https://b.example/articles"}, b""), "It redirects to https://b.example/articles. Give"),
        ((200, {}, b"<html>"), "The answer is not JSON, or was cut off."),
        ((200, {}, b"[]"), "Is it the address of one?"),
        ((200, {}, b'{"data": []}'), "Is it the address of one?"),
        ((200, {}, b'{"data": {}, "meta": {"total": 1}}'), "Is it the address of one?"),
        ((200, {}, b'{"data": [], "meta": {"total": "1"}}'), "Is it the address of one?"),
        ((200, {"Content-Length": "1000"}, b'{"data": ['), "The answer was cut off. Import them again."),
        ((200, {"Transfer-Encoding": "chunked", "Content-Length": ""}, b"9\r\n{"), "cut off"),
    ],
)
def test_what_another_instance_answers_instead_is_told(run, remote, titles, answer, words):
    message = refused(run(remote(lambda _query, _key: answer), color=True))
    assert words in message
    assert "\x1b" not in message
    assert len(message) < 600
    assert message.count("\n") == 2
    assert titles() == []


def test_an_instance_that_fails_on_a_later_page_leaves_nothing(run, remote, titles):
    def answer(query, key):
        if query["skip"] != "0":
            return 200, {"Content-Length": "1000"}, b"{"
        return paged([simple(number) for number in range(150)])(query, key)

    assert "The answer was cut off after 100 articles." in refused(run(remote(answer)))
    assert titles() == []


@pytest.mark.parametrize("later", [page([simple(100)], 151), page([], 150)])
def test_articles_that_change_while_they_are_read_are_not_taken(run, remote, titles, later):
    first = page([simple(number) for number in range(100)], 150)
    message = refused(run(remote(lambda query, _key: first if query["skip"] == "0" else later)))
    assert "changed while they were read" in message
    assert titles() == []


@pytest.mark.parametrize(
    "address", ["http://", "http://[::1", "http://127.0.0.1:99999/", "http://a b/", "https://\u00fc@/"]
)
def test_an_address_that_is_none_is_told(run, address):
    assert "cannot be reached" in refused(run(address))


def test_an_instance_that_is_not_there_is_told(run):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert "cannot be reached ([Errno 111] Connection refused)" in refused(run(f"http://127.0.0.1:{port}/"))
    assert "cannot be reached" in refused(run("https://no-such-host.invalid/articles"))


def test_an_instance_refuses_a_wrong_key_in_its_own_way(app, run, save, server):
    save(article(1))
    address = f"http://{server.host}:{server.port}/api/public/v1"
    assert "does not accept the key" in refused(run(f"{address}/articles", "--key", "wrong"))
    key = make_key(app, "Acme")
    assert "Is it the address of one?" in refused(run(f"{address}/sitemap", "--key", key))
    assert "contentHtml: Missing data" in refused(run(f"{address}/articles/preview", "--key", key))
    assert "It answers 404: Nothing is here. The endpoints are" in refused(run(address, "--key", key))
