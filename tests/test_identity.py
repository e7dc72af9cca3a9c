"""Matching imported articles with stored ones: ids of WordPress and Ghost, slugs, other origins; redirects."""

import json
import os
import re

import pytest
from helpers import minimal_json
from importer import ghost, post, wordpress

from transfer.redirects import create_redirects

A, B = "https://a.example", "https://b.example"
GHOST = f"{1:024}"


def summary(importer, *arguments):
    """Import and publish; return the numbers of new, changed and unchanged articles, and the report."""
    result = importer.run("import", *arguments, "--publish")
    assert result.exit_code == 0, result.stderr
    numbers = re.findall(r"(\d+) (?:new|changed|unchanged)\b(?!:)", result.stdout.splitlines()[-1])
    return tuple(map(int, numbers[:3])), result.stderr


def test_post_keeps_its_identity_after_a_slug_change(importer):
    importer.imports({"a.xml": wordpress({"post_name": "menu"}, {"post_name": "b"}, site=A)})
    export = wordpress({"post_name": "menu-2025"}, {"post_name": "menu"}, site=A)
    assert summary(importer, {"a.xml": export})[0] == (0, 2, 0)
    assert importer.values("id") == {"menu-2025": "wordpress-a.example-1", "menu": "wordpress-a.example-2"}


def test_second_blog_never_overwrites_the_first(importer):
    first, second = wordpress({"title": "A poem"}, {}, site=A), wordpress({}, {"post_name": "b"}, site=B)
    printed = importer.rejects({"a.xml": first, "b.xml": second})
    assert re.search("b.xml, post 1 .*'post-1'.*a.xml, post 1 ", printed)
    importer.imports("a.xml")
    assert re.search("b.xml, post 1 .*'post-1'.*A poem.*wordpress-a.example-1", importer.rejects("b.xml"))
    assert importer.values("title")["post-1"] == "A poem"


@pytest.mark.parametrize(
    ("stored", "date", "is_same"),
    [
        ("wordpress-600", "2026-01-31T09:30:00Z", True),
        ("wordpress-600", "2026-01-30T09:30:00Z", False),
        ("wordpress-601", "2026-01-31T09:30:00Z", False),
        (GHOST, "2026-01-31T09:30:00Z", False),
        ("600", "2026-01-31T09:30:00Z", False),
    ],
)
def test_article_of_1_2_1_matches_by_number_slug_and_date(importer, save, stored, date, is_same):
    save(minimal_json(1, id=stored, slug="post-600", title="Old", publishedAt=date))
    export = {"a.xml": wordpress(*[{"content": "New"}] * 600, site=A)}
    if is_same:
        assert summary(importer, export) == ((599, 1, 0), "")
        assert summary(importer, export) == ((0, 0, 600), "")
        assert importer.values("id")["post-600"] == stored
    else:
        printed = importer.rejects(export)
        assert re.search(rf"post 600 .*'post-600'.*Old.*{stored}.*articles delete.*--customer", printed)


def test_same_content_from_another_origin_is_unchanged(importer):
    importer.imports(ghost({"slug": "menu"}))
    export = {"a.xml": wordpress({"post_name": "menu", "content": "Text"}, site=A)}
    assert summary(importer, export) == ((0, 0, 1), "")
    assert summary(importer, export, "--unpublish-missing") == ((0, 0, 1), "")
    assert importer.values("id") == {"menu": f"{0:024}"}


@pytest.mark.parametrize("distance", [0, 600])
@pytest.mark.parametrize("order", [1, -1])
def test_new_post_with_a_freed_slug_replaces_the_old_one(importer, distance, order):
    """Deleting or renaming a post frees its slug for another post of the same blog."""
    importer.imports({"a.xml": wordpress({"post_name": "deleted"}, {"post_name": "renamed"}, site=A)})
    posts = [
        {"post_id": 11, "post_name": "deleted", "title": "New"},
        {"post_id": 12, "post_name": "renamed", "title": "New"},
    ]
    posts += [{"post_id": number, "post_name": f"slug-{number}"} for number in range(100, 100 + distance)]
    export = {"a.xml": wordpress(*[*posts, {"post_id": 2, "post_name": "moved"}][::order], site=A)}
    counts, report = summary(importer, export)
    assert counts == (1 + distance, 2, 0)
    assert re.search("Replaced.*deleted", report)
    assert summary(importer, export) == ((0, 0, 3 + distance), "")
    ids = importer.values("id")
    assert [ids[slug].rpartition("-")[2] for slug in ("deleted", "moved", "renamed")] == ["1", "2", "12"]


def test_slug_freed_by_the_same_import_is_available(importer):
    importer.imports(ghost({"slug": "menu"}))
    files = {"a.xml": wordpress({"post_name": "menu"}, site=A)} | ghost({"slug": "old-menu"})
    assert summary(importer, files)[0] == (1, 1, 0)
    assert importer.values("id") == {"menu": "wordpress-a.example-1", "old-menu": f"{0:024}"}


@pytest.mark.parametrize("files", [{"a.xml": wordpress({"post_name": "menu"}, site=A)}, ghost({"slug": "menu"})])
def test_renamed_post_cannot_take_the_slug_of_another_origin(importer, save, files):
    save(minimal_json(1, slug="menu"))
    importer.imports({"a.xml": wordpress({"post_name": "soup"}, site=A)} | ghost({}))
    assert re.search("id-0001.*articles delete", importer.rejects(files))


FOOTNOTES = {"footnotes": json.dumps([{"content": "x" * 5_000_000}])}
INVALID = [{"post_date_gmt": "2026-02-30 08:00:00"}, {"content": "<!-- wp:footnotes /-->", "meta": FOOTNOTES}]


@pytest.mark.parametrize("mistake", INVALID, ids=["date", "length"])
def test_rewritten_post_replaces_none_that_the_export_has(importer, mistake):
    """Post 1 is in the export, but has a mistake, so it is unknown which slug it will have."""
    importer.imports({"a.xml": wordpress({"post_name": "menu", "title": "First"}, site=A)})
    export = wordpress({"post_name": "old-menu"} | mistake, {"post_name": "menu"}, {}, site=A)
    result = importer.run("import", {"a.xml": export}, "--skip-invalid")
    assert re.search("post 2 .*'menu' is still taken.*post 1 ", result.stderr)
    assert importer.values("title") == {"menu": "First", "post-3": "A"}


def moved(first, *, mistake, **second):
    """Return JSON Lines in which article 1 moves, with a mistake, and another article takes its slug."""
    return "\n".join(json.dumps(record) for record in ({**first, "slug": "moved"} | mistake, {**first} | second))


@pytest.mark.parametrize("mistake", [{"views": -1}, {"title": "x" * 256}], ids=["value", "title"])
@pytest.mark.parametrize("id", [None, "id-0002"], ids=["without an id", "stored"])
def test_slug_of_an_article_with_a_mistake_stays_taken(importer, save, mistake, id):
    """Otherwise, the second article would replace the first one, or get advice that does not help."""
    first = minimal_json(1)
    save(first, minimal_json(2))
    result = importer.run("import", {"a.jsonl": moved(first, mistake=mistake, id=id, title="New")}, "--skip-invalid")
    assert re.search("line 2, .*'slug-1' is still taken.*a.jsonl, line 1", result.stderr)
    assert importer.values("title") == {"slug-1": first["title"], "slug-2": minimal_json(2)["title"]}


@pytest.mark.parametrize("field", ["id", "slug"])
def test_article_with_a_mistake_counts_as_a_duplicate(importer, save, field):
    """It may be the stored one, so an article with the same id or slug must not replace that."""
    save(minimal_json(1))
    other = minimal_json(2, title="New") | {field: minimal_json(1)[field]}
    if field == "slug":
        del other["id"]
    lines = "\n".join(map(json.dumps, [minimal_json(1, views=-1), other, minimal_json(3)]))
    result = importer.run("import", {"a.jsonl": lines}, "--skip-invalid")
    assert re.search(f"line 2, .*{field}: .* line 1,", result.stderr)
    assert importer.values("title") == {"slug-1": minimal_json(1)["title"], "slug-3": minimal_json(3)["title"]}


def test_duplicate_or_missing_values_are_not_taken(importer):
    """Article 2 is not written, so its slug is free, and None is no id or slug."""
    records = [minimal_json(1), minimal_json(2, id="id-0001"), minimal_json(3, slug="slug-2"), {"title": "A"}]
    records += [minimal_json(4, slug="None"), minimal_json(5, id="None")]
    result = importer.run("import", {"a.json": json.dumps(records)}, "--skip-invalid")
    assert result.stdout.startswith("4 new, 0 changed, 0 unchanged, 2 invalid")


@pytest.mark.parametrize("name", ["{}.csv", "{}.md"])
def test_article_with_the_id_of_another_source_is_named(importer, name):
    """Ids in a spreadsheet may be row numbers, so two of them may have the same ids."""
    text = "id,slug,title,date,body\n1,{0},A,2026-01-01,x" if name == "{}.csv" else post("id: 1\nslug: {0}", "x")
    importer.imports({name.format("first"): text.format("first")})
    assert re.search("another source.*: second$", importer.imports({name.format("b"): text.format("second")}))
    assert importer.imports({name.format("b"): text.format("second").replace("x", "y")}) == ""


@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_article_with_an_unknown_id_is_new(importer, save, name):
    """So it cannot have the slug of a stored article, even with the same content."""
    save(minimal_json(1))
    mistake = importer.rejects({name: json.dumps(minimal_json(1, id="other"))})
    assert all(words in mistake for words in ("slug-1", "id-0001"))


def test_second_ghost_site_never_overwrites_the_first(importer):
    importer.imports(ghost({"slug": "menu", "title": "First"}))
    export = ghost({"slug": "menu", "title": "Second", "id": f"{7:024}"})
    assert re.search(f"'menu'.*First.*{0:024}.*articles delete.*--customer", importer.rejects(export))


def test_errors_of_posts_with_long_titles_keep_their_reason(importer):
    for title in ("x" * 400, "y" * 2000):
        line = importer.rejects(ghost({"title": title}))
        assert re.search("slug 'a0': title: .*at most 255 characters", line)
    duplicates = [{"title": "z" * 255, "slug": "a"}, {"title": "z" * 254, "slug": "a"}]
    assert "change its slug" in importer.rejects(ghost(*duplicates))


def test_ghost_post_without_an_id_replaces_none_that_has_one(importer, save):
    """Migration tools number posts in each file, so such an id identifies nothing."""
    export = ghost({"slug": "menu", "id": 1})
    importer.imports(export)
    counts, report = summary(importer, ghost({"slug": "menu", "id": 2, "title": "New"}))
    assert (counts, "menu" in report) == ((0, 1, 0), True)
    save(minimal_json(1, slug="soup"))
    assert "id-0001" in importer.rejects(ghost({"slug": "soup", "id": 1}))


def test_files_match_by_slug_and_report_replaced_posts(importer):
    importer.imports({"a.xml": wordpress({"post_name": "menu"}, site=A), "soup.md": post()})
    files = {"menu.md": post(), "soup.md": post("", "New")}
    counts, report = summary(importer, files)
    assert (counts, "menu" in report, "soup" in report) == ((0, 2, 0), True, False)
    assert summary(importer, files) == ((0, 0, 2), "")
    assert importer.values("id")["menu"] == "wordpress-a.example-1"


# Old URLs


ARTICLE = {"a.md": post("aliases: ['/one,two/', /old]")}


def test_redirects_cover_new_and_unchanged_articles(importer, tmp_path):
    importer.imports(ARTICLE)
    result = importer.run("import", ARTICLE | {"b.md": post("url: /b.html")}, "--redirects", "new.csv")
    assert "--redirects" not in result.stderr
    assert (tmp_path / "new.csv").read_text() == 'old_url,slug\n"/one,two/",a\n/old,a\n/b.html,b\n'
    assert list(tmp_path.glob(".*")) == []


def test_sources_without_old_urls_are_named(importer):
    """Even if nothing changed."""
    importer.write(ARTICLE | {"posts/2023-07-10-b.md": post(), "c.json": json.dumps(minimal_json(3))})
    for name in ("first.csv", "second.csv"):
        printed = importer.run("import", "a.md", "posts", "c.json", "--redirects", name).stderr
        assert [line.partition(":")[0] for line in printed.splitlines() if name in line] == ["posts", "c.json"]


def test_redirects_encode_spaces_and_quotation_marks(importer, tmp_path):
    text = post("slug: 'a/b \"c\"'\naliases: ['/d \"e\"']")
    importer.run("import", {"a.md": text}, "--redirects", "new.csv")
    rows = (tmp_path / "new.csv").read_text().splitlines()[1:]
    assert [row.partition(",")[0] for row in rows] == ["/a/b%20%22c%22", "/d%20%22e%22"]


def test_import_is_rolled_back_if_the_redirects_file_appears(importer, tmp_path, monkeypatch):
    def link(path, target, link=os.link):
        target.write_text("precious")
        link(path, target)

    monkeypatch.setattr(os, "link", link)
    result = importer.run("import", ARTICLE, "--redirects", "new.csv")
    assert (result.exit_code, "new.csv" in result.stderr, ".tmp" in result.stderr) == (1, True, False)
    assert ((tmp_path / "new.csv").read_text(), importer.states()) == ("precious", {})


@pytest.mark.parametrize(("error", "is_kept"), [(OSError, False), (KeyboardInterrupt, True)])
def test_redirects_of_a_failed_import_are_removed(tmp_path, error, is_kept):
    """After Ctrl+C, nobody knows whether the articles have been written."""

    def fail():
        with create_redirects(tmp_path / "new.csv") as redirects:
            redirects.save()
            raise error

    with pytest.raises(error):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == (["new.csv"] if is_kept else [])


def test_redirects_need_a_successful_import_and_a_new_file(importer, tmp_path):
    (tmp_path / "old.csv").write_text("precious")
    importer.rejects({"a.md": post("views: x")}, "--redirects", "new.csv")
    for name, options, exit_code in (("new.csv", ["--dry-run"], 0), ("old.csv", [], 2), ("missing/new.csv", [], 1)):
        result = importer.run("import", ARTICLE, "--redirects", name, *options)
        assert "Unexpected" not in result.stderr
        assert (result.exit_code, name in result.stderr) == (exit_code, exit_code > 0)
    assert [path.name for path in (*tmp_path.glob("*.csv"), *tmp_path.glob(".*"))] == ["old.csv"]
    assert ((tmp_path / "old.csv").read_text(), importer.states()) == ("precious", {})
