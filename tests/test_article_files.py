"""Article files: `flask articles export --folder`, and the import of files and folders."""

from functools import partial

import pytest
from helpers import run_command
from hypothesis import example, given, settings
from hypothesis import strategies as st

from importing import front_matter
from importing.article_files import format_article, parse_article

MARKUP = {"@graph": [{"@type": "Thing", "n": 1.0, "m": 1e22, "x" * 2000: [True, None, "a\u2028"]}]}
SPECIAL = (
    *("yes", "null", "~", "1e22", "2020-01-01", "0x10", "---", "#", "-", "*", "!", "|", "\\", "'", '"', "a:b", "# a"),
    *("a: b", "a #b", "- a", " a ", "https://a.b/c", "2020-01-01T00:00:00.000Z", "a\r\nb", "a\n---\nb\n", "\ufeff"),
    *("\u2028", "\x85", "\U0001f600", "x" * 8192),
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(SPECIAL)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64 - 1)


@pytest.fixture
def run(app, key):
    """Run `flask articles`; there is one customer, Acme."""
    return partial(run_command, app, "articles")


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_article_file_gives_back_the_same_article(monkeypatch, loader):
    monkeypatch.setattr(front_matter, "LOADER", getattr(front_matter.yaml, loader))

    @given(TEXTS, st.lists(TEXTS), TEXTS, st.dictionaries(TEXTS, TEXTS | NUMBERS))
    @settings(max_examples=100, deadline=None)
    @example("---", SPECIAL, "---\n", MARKUP)
    def check(title, keywords, content, markup):
        record = {"title": title, "keywords": list(keywords), "readTime": 1.5, "schemaMarkup": markup}
        record["contentHtml"] = content
        parsed, lines = parse_article(format_article(record), is_html=True)
        assert parsed == record
        assert lines == {"title": 2, "keywords": 3, "readTime": 4, "schemaMarkup": 5}

    check()


FRONT_MATTER = "---\ntitle: {}\nslug: spring-menu\npublishedAt: 2026-03-01T07:00:00.000Z\nkeywords: [menu, 2026]\n---\n"


def test_folder_of_html_and_markdown_is_imported(run, client, tmp_path):
    (tmp_path / "posts" / "old").mkdir(parents=True)
    (tmp_path / "posts" / "spring.html").write_bytes(b"\xef\xbb\xbf" + FRONT_MATTER.format("No").encode() + b"a\r\n\n")
    (tmp_path / "posts" / "old" / "x.MD").write_text(
        "---\ntitle: X\nslug: x\nbannerUrl:\n---\n| a |\n|---|\n| <b>1</b> |"
    )
    (tmp_path / "posts" / "readme.txt").write_text("This is no article.")
    assert run("import", tmp_path / "posts").stdout == "2 new, 0 changed, 0 unchanged (new: 1 published, 1 draft)\n"
    assert run("publish", "x").exit_code == 0
    x, spring = client.get("/api/public/v1/articles").get_json()["data"]
    assert (spring["title"], spring["keywords"], spring["contentHtml"]) == ("No", ["menu", "2026"], "a\r\n")
    assert "<td><b>1</b></td>" in x["contentHtml"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("just text", "line 1: An article file must begin with front matter between two lines ---."),
        ("---\ntitle: x\n", "line 1: The front matter must end with a line ---"),
        ("---\ntitle: Menu: x\n---\n", "line 2: The front matter must be YAML (mapping values are not allowed"),
        ("---\ntitle: x\nslug: !!python/name:os.system y\n---\n", "line 3: The front matter must not have YAML's tags"),
        ("---\na: &a [x]\nb: [*a, *a]\n---\n", "line 2: The front matter must not have YAML's tags, anchors"),
        (f"---\na: {'[' * 5000}\n---\n", "line 2: The front matter is nested too deeply."),
        ("---\ntitle: x\ntitle: y\n---\n", "line 3: The field 'title' appears twice."),
        ("---\n- a\n---\n", "line 2: The front matter must hold fields"),
        ("---\n? [a]\n: b\n---\n", "line 2: A field's name must be text."),
        ("---\na: b\n---\n\udcff", "line 4: Must be text in UTF-8."),
        ("---\ntitle: x\ncontentHtml: y\n---\n", "line 3: contentHtml belongs below the front matter."),
    ],
)
def test_article_files_with_mistakes_are_named_with_the_line(run, tmp_path, text, message):
    file = tmp_path / "a.html"
    file.write_bytes(text.encode(errors="surrogateescape"))
    result = run("import", tmp_path)
    assert result.exit_code == 1
    assert f"{file}, {message}" in result.stderr
    assert result.stderr.count("\n") == 2
