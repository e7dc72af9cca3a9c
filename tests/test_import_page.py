"""The pages about imports and moves work as written; unexpected values never cause a traceback."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import blocks, read_page, run_line, section
from importer import read_data

NO_SLUG = {"posts": [{"id": 1, "title": "A", "type": "page", "slug": None}], "tags": [], "posts_tags": []}
ODD_LINES = ["categories: ','", "categories: [null]", "tags: {a: b}", "image: {a: b}", "image: '/[x'", "title: [[B]]"]
ODD_LINES += ["date: {a: b}", "slug: [x]", "category: []", "description: [x]", "updated: 0001-01-01", "id: {a: b}"]
ODD_LINES += [f"date: 1 Jan 2026 1:{'1' * 30}"]
LINKS = "<a href='&#1;//[' src='/\t/['>\n"
ODD_FILES = {f"{number}.md": f"---\ntitle: A\n{line}\n---\n{LINKS}" for number, line in enumerate(ODD_LINES)} | {
    "own.html": "---\ntitle: A\nslug: own\npublishedAt: [x]\n---\n",
    "list.html": "---\ntitle: A\nslug: [a]\n---\n",
    "a.csv": f"title,slug,body\n&#{'1' * 5000};,a,x\n",
    "null.json": json.dumps({"db": [{"data": NO_SLUG}]}),
    os.fsdecode(b"\xff.csv"): "title,slug,body\nA,b,x\n",
    os.fsdecode(b"\xff.md"): "---\ntitle: A\n---\n",
}


def test_unexpected_values_cause_no_traceback(importer):
    importer.write(ODD_FILES)
    for name in ODD_FILES:
        result = importer.run("import", name, "--site", "https://www.example.com", "--timezone", "Asia/Tokyo")
        assert result.exception is None or isinstance(result.exception, SystemExit), (name, result.exception)


PAGE = read_page("docs/import")
MARKDOWN, TABLE = blocks(PAGE, "yaml")[0], blocks(PAGE, "csv")[0]
CHEESE = "https://blog.example.com/content/images/2026/01/cheese.jpg"
MENU = {"category": "News", "keywords": ["menu", "asparagus"], "publishedAt": "2026-03-01T07:00:00.000Z"}
SOUP = {"metaDesc": "What we cook in March.", "bannerUrl": "https://www.example.com/images/asparagus.jpg"}


@pytest.mark.parametrize(
    ("title", "file", "content", "slug", "expected"),
    [
        ("WordPress", "export.xml", read_data("wordpress.xml"), "old", {"status": "pending"}),
        ("Ghost", "ghost.json", read_data("ghost.json"), "kaese", {"bannerUrl": CHEESE}),
        ("Markdown", "posts/spring-menu.md", MARKDOWN, "spring-menu", MENU | SOUP),
        ("CSV", "articles.csv", TABLE, "spring-menu", MENU),
    ],
)
def test_command_of_each_system_works(app, importer, title, file, content, slug, expected):
    importer.write({file: content})
    command = blocks(section(PAGE, title), "sh")[-1].strip()
    dry_run = run_line(app, f"{command} --dry-run")
    assert dry_run.splitlines()[-1] == f"{run_line(app, command).strip()} (dry run: nothing was written)"
    assert run_line(app, command).startswith("0 new, 0 changed, ")
    assert importer.articles()[slug].items() >= expected.items()


REDIRECTS = blocks(read_page("docs/move"), "python")[0]


def redirect_files(rows):
    """Run the documented program on rows of old URLs and slugs; return the lines of both files."""
    Path("redirects.csv").write_text("\n".join(["old_url,slug", *rows]), "utf-8")
    subprocess.run([sys.executable, "-c", REDIRECTS], check=True)
    return [Path(name).read_text("utf-8").splitlines() for name in ("redirects.htaccess", "redirects.map")]


def test_documented_redirects_lead_to_articles(app, importer):
    importer.write({"export.xml": read_data("wordpress.xml").replace("/?p=17", "/2026/01/fish/")})
    importer.run("import", "export.xml", "--redirects", "redirects.csv")
    rows = Path("redirects.csv").read_text("utf-8").splitlines()[1:]
    (to_apache, *_), (to_nginx, *_) = redirect_files(rows)
    assert to_apache == 'RedirectMatch 301 "^/2026/01/fish/$" "/articles/smørrebrød/"'
    assert to_nginx == '"/2026/01/fish/" /articles/sm%C3%B8rrebr%C3%B8d/;'


@pytest.mark.parametrize(
    "rows",
    [
        ["https://old.example/articles/caf%c3%a9/,café"],
        ["/articles/Menu/,menu"],  # nginx ignores case
        ["/articles/a/,b", "/articles/b/,a"],
        ["/?p=17,menu"],
    ],
)
def test_documented_redirects_never_hide_a_page(importer, rows):
    assert redirect_files(rows) == [[], []]


def test_documented_redirects_have_each_path_once(importer):
    """Otherwise, nginx would not start."""
    rows = ["https://a.example/menu/,first", "https://b.example/Menu/,second"]
    assert [len(lines) for lines in redirect_files(rows)] == [1, 1]


def test_json_example_can_be_imported(importer):
    importer.write({"first.jsonl": blocks(section(read_page("docs/fields"), "JSON"), "json")[0]})
    assert importer.imports("first.jsonl") == ""
