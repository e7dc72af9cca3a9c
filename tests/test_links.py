"""Links between the articles of an import, which lead to the customer's site, and redirects from old URLs."""

import json
import re

import pytest
from helpers import run_command
from importer import SITE, counts, ghost, post, wordpress

NEW_SITE = "https://www.example.com/articles/"
SPRING = {"post_name": "spring-menu", "link": f"{SITE}/2026/03/01/spring-menu/", "post_id": 17, "content": "Soup"}


@pytest.fixture
def moving(app, importer):
    """Import for a customer with a site."""
    assert run_command(app, "customers", "site", "Acme", NEW_SITE).exit_code == 0
    return importer


def links(article):
    return re.findall('href="(.*?)"', article["contentHtml"])


def linking(*urls):
    return "".join(f'<p><a href="{url}">a</a></p>' for url in urls)


def test_links_of_wordpress_lead_to_the_new_site(moving):
    old = ["https://blog.example.com/2026/03/01/spring-menu/", "/2026/03/01/spring-menu#prices", f"{SITE}/?p=17"]
    other = ["https://blog.example.com/", "https://blog.example.com/?s=soup&amp;page=2", "https://other.example/?p=17"]
    report = moving.imports({"a.xml": wordpress(SPRING, {"content": linking(*old, *other, *other)})})
    new = f"{NEW_SITE}spring-menu"
    assert links(moving.articles()["post-2"]) == [new, f"{new}#prices", new, *other, *other]
    shown = re.escape(f"{SITE}/, {SITE}/?s=soup&page=2")
    assert re.search(rf"^Links to the old site.* \(2 URLs\): {shown}", report, re.MULTILINE)
    assert "other.example" not in report


@pytest.mark.parametrize(
    "url",
    [
        "http://blog.example.com/2026/03/01/spring-menu/",
        "//www.blog.example.com/2026/03/01/spring-menu",
        "/2026/03/01/spring%2Dmenu/?utm_source=a&amp;b=c",
        "/?preview=true&amp;p=17",
        "https://new.example.com/2026/03/01/spring-menu/",
    ],
)
def test_other_spellings_of_an_old_url_are_the_same_link(moving, url):
    moving.imports({"a.xml": wordpress(SPRING, {"content": linking(url)})}, "--site", "https://new.example.com")
    assert links(moving.articles()["post-2"]) == [f"{NEW_SITE}spring-menu"]


def test_links_with_a_slug_that_wordpress_redirects_follow(moving):
    old = "<wp:postmeta><wp:meta_key>_wp_old_slug</wp:meta_key><wp:meta_value>{}</wp:meta_value></wp:postmeta>"
    renamed = SPRING | {"raw": old.format("may-menu") + old.format("Lunch")}
    urls = [f"{SITE}/2026/03/01/{slug}/" for slug in ("may-menu", "lunch", "dinner")]
    moving.imports({"a.xml": wordpress(renamed, {"content": linking(*urls)})})
    assert links(moving.articles()["post-2"]) == [f"{NEW_SITE}spring-menu"] * 2 + urls[2:]


@pytest.mark.parametrize("site", [["--site", SITE], []])
def test_links_of_ghost_lead_to_the_new_site(moving, site):
    moving.imports(ghost({"html": linking("__GHOST_URL__/a1/#b", "/a1")}, {}), *site)
    assert links(moving.articles()["a0"]) == [f"{NEW_SITE}a1#b", f"{NEW_SITE}a1"]


def test_links_between_files_lead_to_the_new_site(moving):
    text = "[1](../b.md#c) [2](https://old.example/b/) [3](/older/b) [4](/b/) ![](/b/) [5](../2026/a.md)"
    files = {"posts/2026/a.md": post("", text)}
    files |= {"posts/b.md": post("permalink: https://old.example/b/\naliases: [/older/b]\nslug: 'bé'")}
    new = f"{NEW_SITE}b%C3%A9"
    moving.imports(files)
    assert links(moving.articles()["a"]) == [f"{new}#c", new, new, "/b/", f"{NEW_SITE}a"]
    moving.imports("posts", "--site", "https://old.example")
    assert links(moving.articles()["a"]) == [f"{new}#c", new, new, new, f"{NEW_SITE}a"]


def test_only_links_to_what_the_source_publishes_change(moving):
    posts = SPRING | {"status": "draft"}, {"content": linking(SPRING["link"])}
    report = moving.imports({"a.xml": wordpress(*posts)})
    assert "Links to the old site stay (1 URL)" in report
    assert links(moving.articles()["post-2"]) == [SPRING["link"]]
    text = post("", "[b](b.md) [c](c.md)")
    moving.imports({"posts/a.md": text, "posts/b.md": post("draft: true"), "posts/c.md": post()}, "--site", SITE)
    assert links(moving.articles()["a"]) == [f"{SITE}/b", f"{NEW_SITE}c"]


def test_links_follow_slugs_that_were_changed_here(moving):
    export = {"a.xml": wordpress(SPRING, {"content": linking("/?p=17")})}
    moving.imports(export)
    renamed = {**moving.articles()["spring-menu"], "slug": "spring"}
    moving.run("import", "-", input=json.dumps(renamed))
    assert counts(moving.run("import", export, "--redirects", "new.csv")) == {"changed": 1, "unchanged": 1}
    assert links(moving.articles()["post-2"]) == [f"{NEW_SITE}spring"]
    assert f"{SPRING['link']},spring" in (moving.folder / "new.csv").read_text()


def test_links_to_the_new_site_are_no_links_to_the_old_one(moving):
    export = wordpress(SPRING, {"content": linking("/articles/spring-menu", "/articles/")}, site=NEW_SITE[:23])
    assert f"(1 URL): {NEW_SITE}" in moving.imports({"a.xml": export})


def test_links_stay_without_a_site_of_the_customer(importer):
    report = importer.imports({"a.xml": wordpress(SPRING, {"content": linking("/?p=17")})})
    assert report.startswith(f"Links to the old site stay (1 URL): {SITE}/?p=17. ")
    assert "flask customers site" in report


# Redirects

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


def test_redirects_need_a_successful_import_and_a_new_file(importer, tmp_path):
    (tmp_path / "old.csv").write_text("precious")
    importer.rejects({"a.md": post("lastmod: x")}, "--redirects", "new.csv")
    for name, options, exit_code in (("new.csv", ["--dry-run"], 0), ("old.csv", [], 2), ("missing/new.csv", [], 1)):
        result = importer.run("import", ARTICLE, "--redirects", name, *options)
        assert "Unexpected" not in result.stderr
        assert (result.exit_code, name in result.stderr) == (exit_code, exit_code > 0)
    assert [path.name for path in (*tmp_path.glob("*.csv"), *tmp_path.glob(".*"))] == ["old.csv"]
    assert ((tmp_path / "old.csv").read_text(), importer.states()) == ("precious", {})


# Old URLs by pattern


def test_pattern_of_old_urls_uses_date_and_slug_of_the_source(moving):
    """The date is that of the source, even if it is another day in UTC."""
    csv = "title,slug,date,body\nA,é,2026-01-01T23:30:00-05:00,x\nB,b,,x\n"
    files = {"posts/2026-03-01-menu.md": "---\ntitle: A\n---\n[a](/2026/01/01/%C3%A9.html) [b](/2026/03/01/menu)"}
    options = "--old-urls", "/{year}/{month}/{day}/{slug}.html", "--redirects", "new.csv"
    assert moving.run("import", files | {"a.csv": csv}, *options).exit_code == 0
    rows = ["/2026/03/01/menu.html,menu", "/2026/01/01/%C3%A9.html,é"]
    assert (moving.folder / "new.csv").read_text().splitlines()[1:] == rows
    assert links(moving.articles()["menu"]) == [f"{NEW_SITE}%C3%A9", "/2026/03/01/menu"]


@pytest.mark.parametrize("pattern", ["/{slug}/{title}/", "/{slug", "{slug}", "/{year}/", "/{slug} {}", "/{slug.x}"])
def test_invalid_pattern_is_one_clear_error(importer, pattern):
    result = importer.run("import", {"a.md": post()}, "--old-urls", pattern)
    assert (result.exit_code, importer.states()) == (2, {})
    assert all(words in result.stderr for words in (pattern, "--old-urls", "{day}"))
