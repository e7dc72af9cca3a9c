"""Article files: `flask articles export --folder`, and the import of files and folders."""

import json
from datetime import UTC
from hashlib import sha256

from helpers import article_json, write_files
from hypothesis import example, given, settings
from hypothesis import strategies as st

from converters.front_matter import parse_front_matter
from converters.markdown_files import own_article
from transfer.article_files import format_article

MARKUP = {"@graph": [{"@type": "Thing", "n": 1.0, "m": 1e22, "x" * 2000: [True, None, "a\u2028"]}]}
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


FRONT_MATTER = "---\ntitle: No\nslug: spring-menu\npublishedAt: 2026-03-01T07:00:00.000Z\nkeywords: [menu, 2026]\n---\n"


def test_folder_of_html_and_markdown_is_imported(articles, client, tmp_path):
    files = {
        "spring.html": b"\xef\xbb\xbf" + FRONT_MATTER.encode() + b"a\r\n\n",
        "old/x.MD": "---\ntitle: X\nslug: x\nbannerUrl:\n---\n| a |\n|---|\n| <b>1</b> |",
        "readme.txt": "Not an article.",
    }
    write_files(tmp_path / "posts", files)
    result = articles("import", tmp_path / "posts")
    assert result.stdout == "2 new, 0 changed, 0 unchanged (new: 1 published, 1 draft)\n"
    assert articles("publish", "x").exit_code == 0
    x, spring = client.get("/api/public/v1/articles").get_json()["data"]
    assert (spring["title"], spring["keywords"], spring["contentHtml"]) == ("No", ["menu", "2026"], "a\r\n")
    assert "<td><b>1</b></td>" in x["contentHtml"]


def test_importing_an_exported_folder_changes_nothing(articles, save, sql, tmp_path):
    texts = [text.replace("\0", "") for text in SPECIAL]
    save(*(article_json(n, title=text, contentHtml=text, keywords=[text]) for n, text in enumerate(texts)))
    markup = {"@context": "https://schema.org", **MARKUP}
    save(article_json(90, status="draft", publishedAt=None, bannerUrl=""), article_json(91, schemaMarkup=markup))
    before = sql("SELECT * FROM article ORDER BY id")
    folder = tmp_path / "new" / "posts"
    result = articles("export", "--folder", folder)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", f"Wrote {len(before)} articles to {folder}.\n")
    assert articles("import", folder).stdout == f"0 new, 0 changed, {len(before)} unchanged\n"
    assert sql("SELECT * FROM article ORDER BY id") == before


VERSION_1_1_0 = """---
id: id-1
title: "No: \\U00002028"
slug: "007"
keywords: [menu, "2026", "a: b"]
publishedAt: 2026-03-01T07:00:00.000Z
readTime: 1.5
schemaMarkup: {"@context":"https://schema.org","@graph":[{"n":1.0,"m":1e22,"b":true,"x":null,"s":"1.0","t":"true"}]}
status: published
createdAt: 2026-03-01T07:00:00.000Z
updatedAt: 2026-03-01T07:00:00.000Z
views: 0
---
<p>Text</p>
"""


def test_article_file_of_version_1_1_0_is_read(articles, tmp_path):
    graph = {"n": 1.0, "m": 1e22, "b": True, "x": None, "s": "1.0", "t": "true"}
    (tmp_path / "_index.html").write_text(VERSION_1_1_0)
    assert articles("import", tmp_path / "_index.html").stdout.startswith("1 new")
    record = json.loads(articles("export").stdout)
    assert (record["title"], record["slug"], record["keywords"]) == ("No: \u2028", "007", ["menu", "2026", "a: b"])
    assert record["schemaMarkup"] == {"@context": "https://schema.org", "@graph": [graph]}
    articles("export", "--folder", tmp_path / "posts")
    assert articles("import", tmp_path / "posts", tmp_path / "posts").exit_code == 1
    assert articles("import", tmp_path / "posts").stdout == "0 new, 0 changed, 1 unchanged\n"


def test_slug_freed_by_one_file_is_available_to_another(articles, tmp_path):
    text = "---\nid: {}\ntitle: A\nslug: {}\n---\n"
    rest = {f"b{number}.html": text.format(f"id-{number}", f"slug-{number}") for number in range(600)}
    write_files(tmp_path / "posts", rest | {"a.html": text.format("old", "wanted")})
    assert articles("import", tmp_path / "posts").exit_code == 0
    write_files(tmp_path / "posts", {"a.html": text.format("old", "renamed"), "c.html": text.format("new", "wanted")})
    summary = "1 new, 1 changed, 600 unchanged (new: 1 draft)"
    assert articles("import", tmp_path / "posts").stdout == f"renamed: slug\n{summary}\n"
    write_files(tmp_path / "posts", {"a.html": text.format("next", "wanted"), "c.html": text.format("new", "moved")})
    report = articles("import", tmp_path / "posts").stderr
    assert "posts/c.html, slug 'moved'" in report
    assert "posts/a.html, slug 'wanted'" in report


def test_exported_file_name_is_the_slug_or_a_hash_of_the_id(articles, save, tmp_path):
    names = ["menu", "caf\u00e9", "\u6f22" * 83, "\u00b2nd", "2026", "index", "a.b"]
    others = ["MENU", "cafe\u0301", "Con.x", "COM1", "..", "_index", "-a", "a:b", "\u6f22" * 84, "a\u200d", "x|y"]
    others += [f"article-{'0' * 64}", "\u1e9e" * 90]
    save(*(article_json(number, id=f"id-{number}", slug=slug) for number, slug in enumerate([*names, *others])))
    assert articles("export", "--folder", tmp_path / "posts").exit_code == 0
    hashes = [sha256(f"id-{len(names) + number}".encode()).hexdigest() for number in range(len(others))]
    expected = {f"{name}.html" for name in (*names, *(f"article-{digest}" for digest in hashes))}
    assert {path.name for path in (tmp_path / "posts").iterdir()} - expected == set()
    count = len(expected)
    assert articles("import", tmp_path / "posts").stdout == f"0 new, 0 changed, {count} unchanged\n"


def test_export_folder_must_be_new_or_empty(articles, save, tmp_path):
    save(article_json(1))
    (tmp_path / "posts" / ".git").mkdir(parents=True)
    assert articles("export", "nowhere", "--folder", tmp_path / "posts").exit_code == 1
    assert articles("export", "--folder", tmp_path / "posts").stderr == f"Wrote 1 article to {tmp_path / 'posts'}.\n"
    (tmp_path / "hidden" / ".obsidian").mkdir(parents=True)
    for folder in ("posts", "hidden"):
        rejected = articles("export", "--folder", tmp_path / folder)
        assert (rejected.exit_code, str(tmp_path / folder) in rejected.stderr) == (2, True)
    (tmp_path / "file").touch()
    assert articles("export", "--folder", tmp_path / "file").exit_code == 2
    below = articles("export", "--folder", tmp_path / "file" / "posts")
    folder = tmp_path / "file" / "posts"
    assert (below.exit_code, below.stderr.count("\n")) == (1, 1)
    assert f"{folder} cannot be" in below.stderr
