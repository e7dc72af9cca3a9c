"""Redirects: the old URLs of a source, and the slugs of its articles."""

from importer import SITE, post, wordpress

ARTICLE = {"a.md": post("aliases: ['/one,two/', /old]")}


def test_redirects_cover_new_and_unchanged_articles(importer, tmp_path):
    importer.imports(ARTICLE)
    result = importer.run("import", ARTICLE | {"b.md": post("url: /b.html")}, "--redirects", "new.csv")
    assert "--redirects" not in result.stderr
    assert (tmp_path / "new.csv").read_text() == 'old_url,slug\n"/one,two/",a\n/old,a\n/b.html,b\n'
    assert list(tmp_path.glob(".*")) == []


def test_present_url_wins_over_an_old_one(importer, run, tmp_path):
    """A post of WordPress was at the URL that another one has now."""
    was = {"post_name": "menu-2025", "link": f"{SITE}/menu-2025/", "meta": {"_wp_old_slug": "menu"}}
    now = {"post_name": "menu", "title": "Menu", "link": f"{SITE}/menu/"}
    link = {"post_name": "news", "title": "News", "link": f"{SITE}/news/", "content": f'<a href="{SITE}/menu/">a</a>'}
    run("customers", "site", "Acme", "https://www.example.com/")
    importer.run("import", {"a.xml": wordpress(was, now, link)}, "--redirects", "new.csv")
    assert (tmp_path / "new.csv").read_text().count(f"{SITE}/menu/,") == 1
    assert f"{SITE}/menu/,menu\n" in (tmp_path / "new.csv").read_text()
    assert 'href="https://www.example.com/menu"' in importer.articles()["news"]["contentHtml"]


def test_alias_that_another_file_has_as_its_url_is_left_out(importer, tmp_path):
    files = {"a.md": post("url: /a/\naliases: [/b/]"), "b.md": post("url: /b/", title="B")}
    importer.run("import", files, "--redirects", "new.csv")
    assert (tmp_path / "new.csv").read_text() == "old_url,slug\n/a/,a\n/b/,b\n"


def test_redirects_encode_spaces_and_quotation_marks(importer, tmp_path):
    text = post("slug: 'a/b \"c\"'\naliases: ['/d \"e\"']")
    importer.run("import", {"a.md": text}, "--redirects", "new.csv")
    rows = (tmp_path / "new.csv").read_text().splitlines()[1:]
    assert [row.partition(",")[0] for row in rows] == ["/d%20%22e%22", "/a/b%20%22c%22"]


def test_redirects_need_a_successful_import_and_a_new_file(importer, tmp_path):
    (tmp_path / "old.csv").write_text("precious")
    importer.rejects({"a.md": post("lastmod: x")}, "--redirects", "new.csv")
    for name, options, exit_code in (("new.csv", ["--dry-run"], 0), ("old.csv", [], 2), ("missing/new.csv", [], 1)):
        result = importer.run("import", ARTICLE, "--redirects", name, *options)
        assert "Unexpected" not in result.stderr
        assert (result.exit_code, name in result.stderr) == (exit_code, exit_code > 0)
    assert [path.name for path in (*tmp_path.glob("*.csv"), *tmp_path.glob(".*"))] == ["old.csv"]
    assert ((tmp_path / "old.csv").read_text(), importer.states()) == ("precious", {})
