"""Article files: the import of files that `flask articles edit` and `new` have written."""

import re
from datetime import UTC

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from importer import SITE, post

from converters.front_matter import parse_front_matter
from converters.source_articles import SourceOptions
from transfer.article_files import format_article, parse_own_file

MARKUP = {"@graph": [{"@type": "Thing", "<<": {"<<": 1}, "n": 1.0, "m": 1e22, "x" * 2000: [True, None, "a\u2028"]}]}
SPECIAL = (
    *("yes", "null", "~", "1e22", "2020-01-01", "0x10", "---", "#", "-", "*", "!", "|", "\\", "'", '"', "a: b", "a #b"),
    *(" a ", "2020-01-01T00:00:00.000Z", "a\r\nb", "a\n---\nb\n", "\ufeff", "\u2028", "\x85", "x" * 8192),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(SPECIAL)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64 - 1)


@given(TEXTS, st.lists(TEXTS), TEXTS, st.dictionaries(TEXTS, TEXTS | NUMBERS))
@settings(max_examples=150, deadline=None)
@example("---", SPECIAL, "---\n", MARKUP)
def test_article_file_round_trips(title, keywords, content, markup):
    record = {"id": "1", "title": title, "slug": "a", "status": "draft", "views": 0}
    record |= dict.fromkeys(["createdAt", "updatedAt"], "2026-01-31T09:30:00+00:00")
    record |= {"keywords": list(keywords), "readTime": 1.5, "schemaMarkup": markup, "contentHtml": content}
    fields, text = parse_front_matter(format_article(record))
    assert parse_own_file("a.html", fields, text, SourceOptions("", UTC)).fields == record


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


@pytest.mark.parametrize("name", ["id", "slug", "status", "createdAt", "updatedAt", "views"])
def test_file_without_all_exported_fields_is_of_another_system(importer, name):
    own = re.sub(f"^{name}: .*\n", "", OWN.format(title="A", slug="menu"), flags=re.MULTILINE)
    importer.run("import", {"2025-01-01-menu.html": own + '<a href="/b">b</a>'}, "--site", SITE)
    assert importer.states() == {"menu": "pending"}
    assert f'href="{SITE}/b"' in importer.only()["contentHtml"]


def test_own_file_of_a_named_source_follows_it(importer):
    importer.run("import", {"a.md": OWN.format(title="A", slug="a")}, "--source", "notes")
    assert (importer.only()["source"], importer.only()["sourceKey"]) == ("notes", "id-1")
