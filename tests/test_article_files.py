"""Article files: `flask articles export --folder`, and the import of files and folders."""

import re
from datetime import UTC
from hashlib import sha256

import pytest
from helpers import article_json
from hypothesis import example, given, settings
from hypothesis import strategies as st
from importer import SITE, post

from converters.front_matter import parse_front_matter
from transfer.article_files import format_article, own_article

MARKUP = {"@graph": [{"@type": "Thing", "<<": {"<<": 1}, "n": 1.0, "m": 1e22, "x" * 2000: [True, None, "a\u2028"]}]}
SPECIAL = (
    *("yes", "null", "~", "1e22", "2020-01-01", "0x10", "---", "#", "-", "*", "!", "|", "\\", "'", '"', "a:b", "# a"),
    *("a: b", "a #b", "- a", " a ", "https://a.b/c", "2020-01-01T00:00:00.000Z", "a\r\nb", "a\n---\nb\n", "\ufeff"),
    *("\u2028", "\x85", "\U0001f600", "x" * 8192, '<i>A</i> &amp; [gallery] <img src="/a b.jpg">'),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(SPECIAL)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64 - 1)


@given(TEXTS, st.lists(TEXTS), TEXTS, st.dictionaries(TEXTS, TEXTS | NUMBERS))
@settings(max_examples=150, deadline=None)
@example("---", SPECIAL, "---\n", MARKUP)
def test_article_file_round_trips(title, keywords, content, markup):
    record = {"title": title, "keywords": list(keywords), "readTime": 1.5, "schemaMarkup": markup}
    record["contentHtml"] = content
    assert own_article("", *parse_front_matter(format_article(record)), UTC).fields == record


OWN = """---
id: id-1
title: {title}
slug: {slug}
status: published
publishedAt: 2026-03-01T07:00:00.000Z
createdAt: 2026-02-01T07:00:00.000Z
updatedAt: 2026-03-01T07:00:00.000Z
views: 3
keywords: [menu, 2026]
---
"""


def test_own_file_is_taken_verbatim(importer):
    """Its status is as it says, its links do not change, and the last line feed belongs to the file."""
    text = OWN.format(title="No", slug="spring-menu") + '<a href="b.md">b</a>\r\n\n'
    importer.write({"posts/_drafts/2025-01-01-a.html": b"\xef\xbb\xbf" + text.encode(), "posts/b.md": post()})
    importer.run("import", "posts", "--site", SITE)
    article = importer.articles()["spring-menu"]
    assert (article["title"], article["keywords"], article["views"]) == ("No", ["menu", "2026"], 3)
    assert article["contentHtml"] == '<a href="b.md">b</a>\r\n'
    assert importer.states() == {"spring-menu": "published", "b": "pending"}


def test_own_file_may_have_markdown(importer):
    importer.write({"posts/old/a.MD": OWN.format(title="A", slug="a") + "| a |\n|---|\n| <b>1</b> |"})
    assert importer.run("import", "posts").stderr == ""
    assert "<td><b>1</b></td>" in importer.only()["contentHtml"]


def test_unknown_field_of_an_own_file_is_an_error(importer):
    own = OWN.format(title="A", slug="a").replace("views: 3", "views: 3\nlayout: post")
    (line,) = importer.rejects({"a.html": own}).splitlines()
    assert line.startswith("a.html, slug 'a': layout: Unknown field")


@pytest.mark.parametrize("name", ["id", "slug", "status", "createdAt", "updatedAt", "views"])
def test_file_without_all_exported_fields_is_of_another_system(importer, name):
    own = re.sub(f"^{name}: .*\n", "", OWN.format(title="A", slug="menu"), flags=re.MULTILINE)
    importer.run("import", {"2025-01-01-menu.html": own + '<a href="/b">b</a>'}, "--site", SITE)
    assert importer.states() == {"menu": "pending"}
    assert f'href="{SITE}/b"' in importer.only()["contentHtml"]


def test_importing_an_exported_folder_changes_nothing(importer, save, sql):
    texts = [text.replace("\0", "") for text in SPECIAL]
    save(*(article_json(n, title=text[:255], contentHtml=text, keywords=[text]) for n, text in enumerate(texts)))
    markup = {"@context": "https://schema.org", **MARKUP}
    save(article_json(90, status="draft", publishedAt=None, bannerUrl=""), article_json(91, schemaMarkup=markup))
    before = sql("SELECT * FROM article ORDER BY id")
    result = importer.run("export", "--folder", "new/posts")
    assert (result.exit_code, result.stdout) == (0, "")
    assert str(len(before)) in result.stderr
    assert importer.run("import", "new/posts").stdout == f"0 new, 0 changed, {len(before)} unchanged\n"
    assert sql("SELECT * FROM article ORDER BY id") == before


def test_exported_file_name_is_the_slug_or_a_hash_of_the_id(importer, save):
    names = ["menu", "caf\u00e9", "\u6f22" * 83, "\u00b2nd", "2026", "index", "a.b", "a.11tydata.b", "menu.de"]
    others = ["MENU", "cafe\u0301", "Con.x", "COM1", "..", "_index", "-a", "a:b", "\u6f22" * 84, "a\u200d", "x|y"]
    others += [f"article-{'0' * 64}", "\u1e9e" * 90]
    save(*(article_json(number, id=f"id-{number}", slug=slug) for number, slug in enumerate([*names, *others])))
    assert importer.run("export", "--folder", "posts").exit_code == 0
    names += [
        f"article-{sha256(f'id-{number}'.encode()).hexdigest()}"
        for number in range(len(names), len(names) + len(others))
    ]
    assert {path.stem for path in (importer.folder / "posts").iterdir()} == set(names)
    again = importer.run("import", "posts", "--unpublish-missing")
    assert (again.stdout, again.stderr) == (f"0 new, 0 changed, {len(names)} unchanged\n", "")


def test_export_folder_must_be_new_or_empty(importer, save):
    save(article_json(1))
    importer.write({"posts/.git/config": "", "hidden/.obsidian/x": "", "file": ""})
    assert importer.run("export", "nowhere", "--folder", "posts").exit_code == 1
    assert importer.run("export", "--folder", "posts").exit_code == 0
    for folder, exit_code in (("posts", 2), ("hidden", 2), ("file", 2), ("file/posts", 1)):
        result = importer.run("export", "--folder", folder)
        assert (result.exit_code, folder in result.stderr, "Errno" in result.stderr) == (exit_code, True, False)
