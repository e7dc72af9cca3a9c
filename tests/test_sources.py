"""Import sources: files, folders, standard input, and other instances."""

import json
import os
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest import mock
from urllib.parse import parse_qsl, urlsplit

import pytest
from helpers import LISTS, article_json, minimal_json
from importer import error_lines, fake_server, ghost, post, wordpress


@pytest.fixture
def run(importer):
    """Run `flask articles import` in the test's folder; the only customer is Acme."""
    return partial(importer.run, "import")


@pytest.fixture
def errors(importer):
    """Run an import that must fail and write nothing; return the lines of its error report."""
    return lambda *arguments, **options: importer.rejects(*arguments, **options).splitlines()


# Files and standard input

LINES = b'{"slug": "a", "title": "", "contentHtml": ""}\n{"slug": "b", "title": "", "contentHtml": ""}'
ITEMS = b"[" + LINES.replace(b"\n", b",") + b"]"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("array.json", ITEMS),
        ("object.json", b'{"meta": {"total": 2}, "data": ' + ITEMS + b"}"),
        ("windows.jsonl", b"\xef\xbb\xbf\n  \n" + LINES.replace(b"\n", b"\r\n\t\r\n") + b"\r\n"),
    ],
)
def test_json_and_json_lines_are_read_in_every_layout(run, articles, name, content):
    assert run({name: content}).stdout == "2 new, 0 changed, 0 unchanged (new: 2 draft)\n"
    assert {line.split("\t")[2] for line in articles("list").stdout.splitlines()} == {"a", "b"}


DOCTYPE = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><rss><channel>&b;</channel></rss>'


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", b"", ": Must be JSON ("),
        ("a.json", LINES, ".jsonl"),
        ("a.json", '"text"', ": Must contain an article"),
        ("a.json", ITEMS[:-1] + b', {"slug": "x", "title": ""}]', ", article 3, slug 'x': contentHtml: "),
        ("a.json", ITEMS.decode().encode("utf-16"), "UTF-8, but byte 1 of line 1"),
        ("a.jsonl", LINES[:-5], ", line 2: Must be JSON (unexpected end of data: line 2 column"),
        ("a.jsonl", LINES + '\n"Café"'.encode("latin-1"), ", line 3: Must be text in UTF-8, but byte 5 of line 3"),
        ("a.xml", DOCTYPE, ": It declares a document type"),
        ("a.xml", "<!DOCTYPE html>\n<title>Log in</title><br>", ": It declares a document type"),
        ("a.xml", "<rss><channel/></rss>", ": Must be a WordPress export (WXR)"),
        ("a.xml", wordpress({}).replace("<?xml", "\n\n<b>Warning</b>\n<?xml"), "line 4, column 0"),
        ("a.xml", wordpress({}).replace("</channel></rss>", ""), "incomplete"),
        ("a.csv", "title,body\nÄ".encode("cp1252"), "UTF-8, but byte 1 of line 2"),
        ("a.csv", "title,body\n\nc,d,e", ", row 3: Has more than the 2 cells of the header"),
        ("a.csv", 'body,title\na,"b\nc', ", line 3: Must be CSV"),
        ("a.csv", "title,body,Date,Date\nA,x,,\n", "'Date' twice"),
        ("a.csv", "Titel,body\nA,x", "It names Titel, body."),
        ("a.csv", "title,body\n☕ 🎉,x", ", row 2: slug: The title '☕ 🎉' has no letter"),
        ("a.csv", "slug,title,body,Date\n\na,A,x,3/1/2026", ", row 3, slug 'a': Date: '3/1/2026' must be"),
        ("a/b.md", post(text="```\n<<<<<<<\n```\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x"), ", line 9: Has a merge"),
        ("a/b.md", "---\ntitle: A\n", "second one is missing"),
        ("a/b.md", "---\nlayout: page\n---\nNot found", ", slug 'b': title: "),
        ("a/b.md", "---\ntitle: Menu: x\n---\n", ", line 2: The front matter must be YAML"),
        ("a/b.md", "---\na: &a [x]\nb: [*a, *a]\n---\n", ", line 2: The front matter must not use"),
        ("a/b.md", "---\ntitle: !x A\n---\n", ", line 2: The front matter must not use"),
        ("a/b.md", "---\na: " + "[" * 2000 + "\n---\n", ", line 2: The front matter must not use"),
        ("a/b.md", "---\ntitle: x\n--- x\n" * 100_000, "YAML"),
        (
            "a/b.md",
            "---\ntitle: A\nimage:\n  src: a\n  src: c\n---\n",
            ", line 5: 'src' must be text and appear only once",
        ),
        ("a/b.md", post("Draft: false\ndraft: true"), "Draft, another spelling"),
        ("a/b.md", post("lastmod: '" + "2026-01-01 (" * 200_000 + "'"), "lastmod"),
        ("a/b.md", "+++\ntitle = a\n+++\n", ", line 2: The front matter must be TOML"),
        ("a/b.md", "+++\n" + ".".join("a" * 40_000) + " = 1\n+++\n", "TOML"),
    ],
)
def test_error_in_a_file_is_reported_with_its_location(errors, name, content, message):
    (line,) = errors({"good.md": "---\ntitle: A\n---\n", name: content})
    assert line.startswith(name)
    assert message in line
    assert len(line) < 1000


@pytest.mark.parametrize("files", [{}, {"a/b.md": "Just text"}, {"a/b.txt": "---\ntitle: A\n---\n"}, {"a/b.jpg": ""}])
def test_folder_without_articles_is_an_error(importer, errors, files):
    Path("a").mkdir()
    importer.write(files)
    (line,) = errors("a")
    assert line.startswith("a: ")
    assert ".md, .markdown or .html" in line


def test_sources_are_one_import_with_all_their_mistakes(run, errors):
    valid = {"1.json": json.dumps(minimal_json(1)), "a/2.md": "---\ntitle: A\n---\n", "b.csv": "title,body\nB,x\n"}
    broken = {
        "a/3.md": "---\ntitle: x\n",
        "a/4.md": "---\ntitle: [\n---\n",
        "c.csv": "title,body\nC,x,y\n",
        "d.jsonl": "{}",
    }
    stdin = json.dumps(minimal_json(5))
    lines = errors(valid | broken, "-", {"e.xml": DOCTYPE, "f.json": "{"}, "http://[::1/", input=stdin)
    assert {re.split("[,:]", line)[0] for line in lines} == {*broken, "e.xml", "f.json", "http"}
    result = run(valid | broken, "-", "--skip-invalid", input=stdin)
    assert result.stdout == "4 new, 0 changed, 0 unchanged, 4 invalid (new: 2 published, 2 pending)\n"
    assert all(place in result.stderr for place in ("a/3.md", "a/4.md", "c.csv, row 2", "d.jsonl, line 1"))
    assert run("a", "e.xml", "--skip-invalid").exit_code == 1


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc/self/mem, which opens but cannot be read")
def test_unreadable_files_are_reported(errors):
    """Named pipes, circular links, and files that open but cannot be read."""
    Path("a").mkdir()
    links = {"a/loop.md": "loop.md", "a/folder": ".", "b.jsonl": "/proc/self/mem", "c.json": "/proc/self/mem"}
    for name, target in links.items():
        Path(name).symlink_to(target)
    for name in ("a/pipe.md", "d.csv"):
        os.mkfifo(name)
    lines = errors("a", "b.jsonl", "c.json", "d.csv")
    assert sorted(line.partition(":")[0] for line in lines) == ["a/loop.md", "a/pipe.md", "b.jsonl", "c.json", "d.csv"]


def test_unreadable_folder_is_an_error(errors, monkeypatch):
    monkeypatch.setattr(os, "scandir", mock.Mock(side_effect=PermissionError(13, "Permission denied", "a/closed")))
    assert "a/closed: Cannot be read (Permission denied). Check its permissions." in errors(
        {"a/good.md": "---\ntitle: A\n---\n"}
    )


def test_invalid_source_is_a_usage_error(run):
    for source in ("missing.json", "articles.txt", "", "ftp://example.com/a.json", "no-folder", "http:/a"):
        result = run(source)
        assert (result.exit_code, "SOURCE" in result.stderr) == (2, True)
    assert run("-", "-").exit_code == 2
    assert run().exit_code == 2


def test_empty_standard_input_is_an_error(errors):
    """The program that should have written to it may have failed."""
    (line,) = errors("-", input="\ufeff\n \n")
    assert line.startswith("standard input: ")


# Other systems


@pytest.mark.parametrize("start", ["", "\n ", "\ufeff", '{"meta": {"version": "5"}, '])
def test_ghost_export_is_recognized_by_its_beginning(run, start):
    export = ghost({})["ghost.json"]
    text = start + export.removeprefix("{") if start.endswith(", ") else start + export
    assert run({"a.json": text}).stdout == "1 new, 0 changed, 0 unchanged (new: 1 pending)\n"


# Another instance


@pytest.fixture
def remote():
    """A fake instance with one article; `responses` are its responses, and `requests` their queries and keys.

    The last response repeats.
    """
    remote = SimpleNamespace(responses=[page([1], 1), sitemap([1])] * 9, requests=[])

    def respond(request):
        query = dict(parse_qsl(urlsplit(request.path).query, keep_blank_values=True))
        remote.requests.append((query, request.headers["x-api-key"]))
        return remote.responses.pop(0) if len(remote.responses) > 1 else remote.responses[0]

    with fake_server(respond) as remote.host:
        remote.url = f"http://{remote.host}{LISTS[0]}"
        yield remote


def page(numbers, total):
    """Return a page of the articles endpoint."""
    return 200, {}, json.dumps({"data": [*map(minimal_json, numbers)], "meta": {"total": total}})


def sitemap(numbers):
    return 200, {}, json.dumps({"data": [{"url": minimal_json(number)["slug"]} for number in numbers]})


def test_all_pages_of_another_instance_are_read(run, remote):
    pages = [page(range(skip, min(skip + 100, 250)), 250) for skip in (0, 100, 200)]
    remote.responses = pages
    printed = run(f"{remote.url}?q=caf%C3%A9&take=7&empty=", "--key", "secret").stdout
    assert printed == "250 new, 0 changed, 0 unchanged (new: 250 published)\n"
    sent = {"q": "café", "take": "100", "empty": "", "orderBy": "publishedAt", "order": "asc"}
    requests = [(sent | {"skip": skip}, "secret") for skip in ("0", "100", "200")]
    assert remote.requests == requests  # no sitemap of a filtered list


def test_article_of_another_instance_has_its_host_as_source(run, remote, articles):
    run(remote.url)
    record = json.loads(articles("list", "--json").stdout)
    assert (record["source"], record["sourceKey"]) == (f"instance:{remote.host}", "id-0001")
    run(remote.url, "--source", "mirror", "--yes")
    assert json.loads(articles("list", "--json").stdout)["source"] == record["source"]


CHANGES = {  # of a list while its two pages are read
    "0 is withdrawn": [page(range(100), 150), page(range(101, 150), 149)],
    "0 is withdrawn, and 150 published": [page(range(100), 150), page(range(101, 151), 150), sitemap(range(1, 151))],
    "all are withdrawn": [page(range(100), 150), page([], 150)],
    "99 is published": [page(range(99), 99), sitemap(range(100))],
    "150 is published, and withdrawn": [page(range(100), 150), page(range(100, 150), 151), sitemap(range(150))],
    "149 moves": [page(range(150), 151), page([149], 151), sitemap(range(150))],
}


@pytest.mark.parametrize("change", CHANGES)
def test_list_that_changes_while_it_is_read_is_an_error(run, save, articles, remote, change):
    save(minimal_json(1000))
    remote.responses = CHANGES[change]
    (line,) = error_lines(run(remote.url, "--unpublish-missing"))
    assert "changed while they were being read" in line
    assert articles("list").stdout.count("\n") == 1


def test_source_key_can_be_an_environment_variable(run, remote):
    variable = {"SOURCE_API_KEY": "from-there"}
    for options, env in (([], {}), ([], variable), (["--key", "given"], variable)):
        assert run(remote.url, *options, env=env).exit_code == 0
    invalid = run(remote.url, env={"SOURCE_API_KEY": "two\nlines"})
    assert (invalid.exit_code, "two" in invalid.stderr) == (2, False)
    assert list(dict.fromkeys(key for _, key in remote.requests)) == [None, "from-there", "given"]


@pytest.mark.parametrize("other", ["https://other.example/", "http://127.0.0.1:1/", "http://127.0.0.1:1?a"])
def test_key_is_only_sent_to_one_host(run, remote, other):
    for options, env in ((["--key", "secret"], {}), ([], {"SOURCE_API_KEY": "secret"})):
        assert run(remote.url, other, *options, env=env).exit_code == 2
    assert remote.requests == []
    same = [remote.url.replace("127.0.0.1", host) for host in ("localhost", "LOCALHOST")]
    run(*same, "--key", "secret")
    assert {key for _, key in remote.requests} == {"secret"}


def test_key_follows_no_redirect(errors, remote):
    remote.responses = [(302, {"Location": "/"}, "")]
    (line,) = errors(remote.url, "--key", "secret")
    assert f"Redirects to {remote.url.removesuffix(LISTS[0])}/" in line
    assert len(remote.requests) == 1


@pytest.mark.parametrize(
    ("responses", "words"),
    [
        ([(401, {}, "{}")], "--key"),
        ([(503, {}, "{}")], "Responds with 503"),
        ([(301, {"Location": "https://b.example/\x1b[2J"}, "")], "Redirects to https://b.example/"),
        ([(200, {}, "<html>")], "Must be JSON ("),
        ([(200, {}, "[]")], "not a list of articles"),
        ([page([1], 1), (200, {}, "[]")], "not a sitemap"),
        ([(200, {}, '{"data": [{"slug": 1}], "meta": {"total": 1}}')], "not a list of articles"),
        ([page(range(100), 150), (200, {"Content-Length": "99"}, "{")], "Must be JSON (unexpected end"),
    ],
)
def test_incomplete_read_of_an_instance_is_reported(errors, remote, responses, words):
    remote.responses = responses
    (line,) = errors(remote.url, color=True)
    assert line.startswith(f"{remote.url}: ")
    assert words in line
    assert "\x1b" not in line
    assert len(line) <= 500


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/?x=.jsonl", "http://", "http://[::1", "http://a b/"])
def test_unreachable_url_is_reported(errors, url):
    (line,) = errors(url)
    assert line.startswith(f"{url}: Cannot be read (")


@pytest.mark.parametrize("credentials", ["user:secret", "user:s/secret"])
def test_url_with_credentials_is_refused_and_not_shown(run, remote, credentials):
    result = run(remote.url.replace("//", f"//{credentials}@"), "--key", "k")
    assert (result.exit_code, "password" in result.stderr, "secret" in result.output) == (2, True, False)
    assert remote.requests == []
    assert run(f"{remote.url}?q=%40").exit_code == 0


def test_base_url_of_an_instance_is_enough(run, errors, site):
    site.save(article_json(1))
    base = f"http://{site.server.host}:{site.server.port}"
    assert "--key" in errors(base, "--key", "wrong")[0]
    assert "Responds with 404" in errors(f"{base}/blog", "--key", site.key)[0]
    for number, path in enumerate(("", "/", "/api/public/v1", "/api/public/v1/articles/", "/api/public/v1/sitemap")):
        result = run(base + path, "--key", site.key)
        assert result.stdout.startswith("0 new, 0 changed, 1" if number else "1 new, 0 changed, 0"), path
