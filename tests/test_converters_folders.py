"""Folders of Markdown and HTML: static sites, links between files, doubtful files, redirects."""

import re

import pytest
from helpers import PROJECT
from importer import SITE, post

DATA = PROJECT / "tests/data"

STARTERS = {  # folder, as each generator's starter writes it -> words of the report, and fields of its only public post
    "astro": (
        ["blog.example.com (1)"],
        {
            "bannerUrl": f"{SITE}/blog-placeholder-3.jpg",
            "metaDesc": "Lorem ipsum dolor sit amet",
            "publishedAt": "2022-07-08T00:00:00.000Z",
            "updatedAt": "2022-07-10T00:00:00.000Z",
        },
    ),
    "hugo": (["(1): _index.md"], {"keywords": ["red", "green"], "publishedAt": "2026-01-22T16:53:13.000Z"}),
    "jekyll": ([], {"category": "jekyll", "keywords": ["update"], "publishedAt": "2026-01-22T21:53:13.000Z"}),
    "eleventy": (["no front matter (1)", "blog.example.com (1)"], {"keywords": ["second tag"]}),
}


@pytest.mark.parametrize("folder", STARTERS)
def test_posts_of_each_starter_are_imported(importer, folder):
    report, expected = STARTERS[folder]
    printed = importer.imports(DATA / folder, "--site", f"{SITE}/blog/").splitlines()
    assert all(words in line for words, line in zip(report, printed, strict=True))
    (article,) = (article for article in importer.articles().values() if article["status"] == "published")
    assert article.items() >= expected.items()


JEKYLL = {  # file -> front matter, and fields of the article
    "_posts/2026-1-5-first.md": ("categories: one two", {"category": "one", "keywords": ["two"], "title": "First"}),
    "_posts/2026-01-02-c.html.md": ("title: C\ntags: one two| three", {"keywords": ["one two", "three"], "title": "C"}),
    "recipes/_posts/2026-01-06-soup.md": ("tags: a b", {"category": "recipes", "keywords": ["a", "b"]}),
    "_drafts/deep/idea.md": ("date: 2026-01-01\ndraft: false", {"status": "draft"}),
}


@pytest.mark.parametrize("name", JEKYLL)
def test_jekyll_gets_categories_drafts_and_titles_from_names(importer, name):
    front_matter, expected = JEKYLL[name]
    importer.imports({f"site/{name}": f"---\nlayout: post\n{front_matter}\n---\n"})
    assert importer.only().items() >= expected.items()


# Doubtful files


def test_skipped_files_that_may_be_articles_are_reported(importer):
    data = "posts.11tydata.js", "old/old.json", "a.json", "old/_index.md"
    hidden = "_f.md", ".DS_Store", ".git/i.md", "_layouts/j.html"
    files = dict.fromkeys(("a.md", "b.qmd", "Makefile", "e.pdf", *data, *hidden), post(text="x"))
    files |= {"README.md": "# Read me", "other.json": "{}", "old/b.md": post(text="x")}
    report = importer.imports({f"posts/{name}": text for name, text in files.items()})
    assert "no front matter (1): README.md" in report
    assert "data, whose settings were not applied (4): " in report
    assert all(name in report for name in ("_f.md", ".git", "_layouts"))
    assert importer.states() == {"a": "published", "b": "published"}


BROKEN = {
    "empty": "",
    "broken front matter": "---\ntitle: [\n---\n",
    "conflict in CRLF after a byte order mark": "\ufeff<<<<<<< HEAD\r\n---\r\n",
    "rest of a conflict": post("", "a\n>>>>>>> draft"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_file_is_an_error_but_not_missing(importer, tmp_path, broken):
    code = "```\n<<<<<<< HEAD\n```"  # is no conflict
    files = {f"posts/{name}.md": post(text=code, title=name) for name in ("soup", "bread", "tea")}
    importer.imports(files)
    (tmp_path / "posts/tea.md").unlink()
    del files["posts/tea.md"]
    options = "--publish", "--unpublish-missing"
    assert "posts/soup.md" in importer.rejects(files | {"posts/soup.md": BROKEN[broken]}, *options)
    assert importer.run("import", "posts", *options, "--skip-invalid").exit_code == 0
    assert importer.states() == {"soup": "published", "bread": "published", "tea": "draft"}


def test_translations_beside_their_original_are_not_imported(importer):
    names = "menu/index", "menu/index.de", "plain", "plain.de", "plain.pt-br", "x.en", "fr/index.fr"
    assert "translations (3): " in importer.imports({f"posts/{name}.md": post() for name in names})
    assert importer.articles().keys() == {"menu", "plain", "fr", "x.en"}


def test_files_beside_an_index_are_reported_and_pending(importer):
    """They are resources of a page in Hugo. The index of the imported folder itself is a list of posts."""
    names = "index", "bread", "soup/index", "soup/supplier", "soup/parts/sources", "blog/index", "blog/_posts/tea"
    files = {f"posts/{name}.md": post("publish: true" if name == "soup/supplier" else "", title=name) for name in names}
    report = importer.imports(files)
    assert re.search(r"beside or below an index.md.* \(2\): ", report)
    assert {slug for slug, state in importer.states().items() if state == "pending"} == {"sources", "supplier"}


COPIES = "soup (Anna's conflicted copy)", "soup.sync-conflict-20261120", "soup 2", "soup-LAPTOP-7", "soup_conflict"


def test_copies_of_sync_tools_are_reported_and_pending(importer):
    files = {f"posts/{name}.md": post("slug: soup\naliases: [/old]", name, title="Soup") for name in ("soup", *COPIES)}
    files |= {"posts/soups.md": post(title="Soup"), "posts/soup.1.md": post(title="Other")}
    result = importer.run("import", files, "--publish", "--redirects", "r.csv")
    assert "Copies of other files" in result.stderr
    published = {slug for slug, state in importer.states().items() if state == "published"}
    assert published == {"soup", "soups", "soup.1"}
    assert (importer.folder / "r.csv").read_text() == "old_url,slug\n/old,soup\n"


def test_files_that_do_not_opt_in_are_reported_if_others_do(importer):
    files = {"posts/soup.md": post("publish: true"), "posts/diary.md": post(), "posts/plan.md": post("draft: true")}
    assert "do not say publish: true, as others do (1): diary\n" in importer.imports(files)
    assert "as others do" not in importer.imports({"notes/bread.md": post()})


# Links


def urls(article):
    return re.findall(r"""(?:href|src)=["'](.*?)["']""", article["contentHtml"])


RELATIVE = """
[a](b.html) [c](#c) [d](mailto:d@example.com) [e](https://e.example/x?a=1&b=2) ![f](/f%20f.png)

<a class="x" href='g h'>g</a> <img alt="" src="//cdn.example/i.png"> <a data-href="/k" name="k">k</a>

`<img src="/l.png">`
"""


def test_relative_urls_are_resolved_or_reported(importer):
    printed = importer.imports({"posts/2026/a.md": post("image: /banner 1.jpg", RELATIVE)})
    assert re.search(r"banner /banner%201.jpg \(1\): a\. .*--site", printed)
    assert "relative" in printed
    assert importer.only()["bannerUrl"] == ""
    assert "blog.example.com (2): " in importer.imports("posts", "--site", f"{SITE}/blog")
    article = importer.only()
    assert article["bannerUrl"] == f"{SITE}/banner%201.jpg"
    assert urls(article) == [
        *(f"{SITE}/blog/2026/b.html", "#c", "mailto:d@example.com", "https://e.example/x?a=1&amp;b=2"),
        *(f"{SITE}/f%20f.png", f"{SITE}/blog/2026/g%20h", "//cdn.example/i.png", "/k"),
    ]


LINKS = {  # in blog/a.md -> the path on the site, or None if the link stays as it is
    "other/2026-01-02-d.md#part-one": "d#part-one",
    "<e f.markdown>": "see",
    "b.md?x=1#y": "b?x=1#y",
    "c/index.md": "c",
    "/c/index.md": "c",
    "/blog/c/index.md": "c",
    "Slug.md": "other-name",
    "../b/": "b/",
    "../c": "c",
    "../tags/news/": "tags/news/",
    "https://a.example/f.md": None,
    "/_g.md": "../_g.md",
}


def test_links_to_files_lead_to_their_articles(importer):
    text = " ".join(f"[x]({url})" for url in LINKS)
    files = {"a.md": post("", text), "b.md": post(), "c/index.md": post(), "other/2026-01-02-d.md": post()}
    files |= {"e f.markdown": post("slug: see"), "_g.md": post(), "Slug.md": post("Slug: other-name")}
    importer.imports({f"blog/{name}": text for name, text in files.items()}, "--site", f"{SITE}/blog/")
    links = [url if path is None else f"{SITE}/blog/{path}" for url, path in LINKS.items()]
    assert urls(importer.articles()["a"]) == [link.replace("/blog/../", "/") for link in links]


def test_old_urls_become_redirects_the_present_one_first(importer, tmp_path):
    files = {
        "posts/a.md": post("permalink: /2026/a.html\nredirect_from: https://old.example/?p=7"),
        "posts/b.md": post("url: /blog/b/\naliases: [/x y/, older, '{{ x }}']"),
        "posts/2026/c.md": post("aliases:\n- older/\nredirect_from: [/1, /1]\ncategories: [Soups, Été]"),
        "posts/d.md": post("permalink: /:year/:title/\nurl: {a: b}"),
    }
    options = "--site", f"{SITE}/blog", "--old-urls", "/{categories}/{year}/{slug}/"
    importer.run("import", files, *options, "--redirects", "redirects.csv")
    assert sorted((tmp_path / "redirects.csv").read_text().split()[1:]) == sorted(
        [
            *("/2026/a.html,a", "https://old.example/?p=7,a", "/x%20y/,b", "/blog/older,b"),
            *("/soups/ete/2026/c/,c", "/blog/2026/older/,c", "/1,c", "/2026/d/,d"),
        ]
    )
