"""Article files: `flask articles export --folder`, and the import of files and folders."""

from helpers import article_json, write_files
from hypothesis import example, given, settings
from hypothesis import strategies as st

from importing.article_files import format_article, parse_article

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
def test_article_file_gives_back_the_same_article(title, keywords, content, markup):
    record = {"title": title, "keywords": list(keywords), "readTime": 1.5, "schemaMarkup": markup}
    record["contentHtml"] = content
    parsed, lines = parse_article(format_article(record), first_line=1)
    assert parsed == record
    assert lines == {"title": 2, "keywords": 3, "readTime": 4, "schemaMarkup": 5}


FRONT_MATTER = "---\ntitle: No\nslug: spring-menu\npublishedAt: 2026-03-01T07:00:00.000Z\nkeywords: [menu, 2026]\n---\n"


def test_folder_of_html_and_markdown_is_imported(articles, client, tmp_path):
    files = {
        "spring.html": b"\xef\xbb\xbf" + FRONT_MATTER.encode() + b"a\r\n\n",
        "old/x.MD": "---\ntitle: X\nslug: x\nbannerUrl:\n---\n| a |\n|---|\n| <b>1</b> |",
        "readme.txt": "This is no article.",
    }
    write_files(tmp_path / "posts", files)
    result = articles("import", tmp_path / "posts")
    assert result.stdout == "2 new, 0 changed, 0 unchanged (new: 1 published, 1 draft)\n"
    assert articles("publish", "x").exit_code == 0
    x, spring = client.get("/api/public/v1/articles").get_json()["data"]
    assert (spring["title"], spring["keywords"], spring["contentHtml"]) == ("No", ["menu", "2026"], "a\r\n")
    assert "<td><b>1</b></td>" in x["contentHtml"]


def test_exported_folder_imported_again_changes_nothing(articles, save, sql, tmp_path):
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


def test_new_file_takes_the_slug_that_a_file_far_behind_gives_up(articles, tmp_path):
    text = "---\nid: {}\ntitle: A\nslug: {}\n---\n"
    rest = {f"b{number}.html": text.format(f"id-{number}", f"slug-{number}") for number in range(600)}
    write_files(tmp_path / "posts", rest | {"c.html": text.format("old", "wanted")})
    assert articles("import", tmp_path / "posts").exit_code == 0
    write_files(tmp_path / "posts", {"a.html": text.format("new", "wanted"), "c.html": text.format("old", "renamed")})
    assert articles("import", tmp_path / "posts").stdout == "1 new, 1 changed, 600 unchanged (new: 1 draft)\n"


def test_exported_file_is_named_by_the_slug_else_by_the_id(articles, save, tmp_path):
    names = {
        "menu": "menu",
        "MENU": "id-1",  # equals the one above where case does not matter
        "caf\u00e9": "caf\u00e9",
        "cafe\u0301": "id-3",
        "Con.x": "id-4",
        "..": "id-5",
        "a:b": "id-6",
        "\u6f22" * 84: "id-7",  # 257 bytes
        "\u6f22" * 83: "\u6f22" * 83,
        "a\u200d": "id-9",
    }
    save(*(article_json(number, id=f"id-{number}", slug=slug) for number, slug in enumerate(names)))
    save(article_json(20, id="../x", slug="x|y"), article_json(21, id="y", slug="id-1"))
    assert articles("export", "--folder", tmp_path / "posts").exit_code == 0
    files = {path.name for path in (tmp_path / "posts").iterdir()}
    assert {f"{name}.html" for name in (*names.values(), "y")} == {name for name in files if "article " not in name}
    assert len(files) == 12
    assert articles("import", tmp_path / "posts").stdout == "0 new, 0 changed, 12 unchanged\n"


def test_folder_to_export_to_must_be_new_or_empty(articles, save, tmp_path):
    save(article_json(1))
    (tmp_path / "posts" / ".git").mkdir(parents=True)
    assert articles("export", "nowhere", "--folder", tmp_path / "posts").exit_code == 1
    assert articles("export", "--folder", tmp_path / "posts").stderr == f"Wrote 1 article to {tmp_path / 'posts'}.\n"
    again = articles("export", "--folder", tmp_path / "posts")
    assert (again.exit_code, "must be a new or an empty folder" in again.stderr) == (2, True)
    (tmp_path / "file").touch()
    assert articles("export", "--folder", tmp_path / "file").exit_code == 2
    below = articles("export", "--folder", tmp_path / "file" / "posts")
    folder = tmp_path / "file" / "posts"
    assert (below.exit_code, below.stderr.count("\n")) == (1, 1)
    assert f"{folder} cannot be" in below.stderr
