"""Folders of Markdown and HTML: static sites, links between files, translations, other files, redirects."""

import re
from unicodedata import normalize

import pytest
from helpers import PROJECT
from importer import SITE, post

DATA = PROJECT / "tests/data"

# Folders as each generator's starter writes them


STARTERS = {  # folder -> words of each line of the report, and what articles must have
    "astro": (
        [".mdx (1)", "blog.example.com (1)"],
        {
            "title": "First post",
            "bannerUrl": f"{SITE}/blog-placeholder-3.jpg",
            "metaDesc": "Lorem ipsum dolor sit amet",
            "publishedAt": "2022-07-08T00:00:00.000Z",
            "updatedAt": "2022-07-10T00:00:00.000Z",
            "contentHtml": "<p>Lorem ipsum <strong>dolor</strong> sit amet, "
            f'<a href="{SITE}/about/">consectetur</a>.</p>\n',
        },
    ),
    "hugo": (
        ["_index.md (1)", "(1): my-first-post"],  # a draft
        {"keywords": ["red", "green"], "publishedAt": "2026-01-22T16:53:13.000Z", "status": "published"},
    ),
    "jekyll": (
        [],
        {
            "category": "jekyll",
            "keywords": ["update"],
            "publishedAt": "2026-01-22T21:53:13.000Z",
            "contentHtml": "<p>You’ll find this post in your <code>_posts</code> directory.</p>\n"
            '<pre><code class="language-ruby">puts &quot;Hi, #{name}&quot;\n</code></pre>\n',
        },
    ),
    "eleventy": (
        ["front matter in JavaScript or JSON, not YAML (1)", "possum.png (1)", "blog.example.com (1)"],
        {"keywords": ["second tag"]},
    ),
}


@pytest.mark.parametrize("folder", STARTERS)
def test_posts_of_each_starter_are_imported(importer, folder):
    report, expected = STARTERS[folder]
    printed = importer.imports(DATA / folder, "--site", f"{SITE}/blog/").splitlines()
    assert all(words in line for words, line in zip(report, printed, strict=True))
    published = [article for article in importer.articles().values() if article["status"] == "published"]
    assert [article.items() >= expected.items() for article in published] == [True]


JEKYLL = {  # file -> front matter, slug, and fields of the article
    "_posts/2026-1-5-first.md": ("categories: one two", "first", {"category": "one", "keywords": ["two"]}),
    "_posts/2015-07-08-open-FEC.md": ("tags: one two", "open-FEC", {"keywords": ["one", "two"], "title": "Open Fec"}),
    "_posts/2026-01-02-c.md": ("title: C\ntags: one two, three", "c", {"keywords": ["one two", "three"], "title": "C"}),
    "recipes/_posts/2026-01-06-soup.md": ("Tags: a b", "soup", {"category": "recipes", "keywords": ["a", "b"]}),
    "recipes/_posts/2026-01-07-cake.md": ("category: Sweets", "cake", {"category": "Sweets", "status": "published"}),
    "_drafts/idea.md": ("date: 2026-01-01\ndraft: false", "idea", {"status": "pending"}),
    "_drafts/the-plan.md": ("", "the-plan", {"status": "pending", "title": "The Plan"}),
    "_drafts/_posts/2026-01-08-cut.md": ("", "cut", {"status": "pending", "title": "Cut"}),
}


def test_jekyll_gets_categories_drafts_and_titles_from_names(importer):
    files = {f"site/{name}": f"---\nlayout: post\n{fields}\n---\n" for name, (fields, *_) in JEKYLL.items()}
    printed = importer.imports(files | {"site/_includes/2026-01-08-part.md": "---\nlayout: post\n---\n"})
    assert "No date" not in printed
    articles = importer.articles()
    assert articles.keys() == {slug for _, slug, _ in JEKYLL.values()}
    for _, slug, expected in JEKYLL.values():
        assert expected.items() <= articles[slug].items()
    assert articles["first"]["publishedAt"] == "2026-01-05T00:00:00.000Z"


@pytest.mark.parametrize("source", ["_drafts/deep", "link/a.md"])
def test_every_file_below_drafts_is_withheld(importer, tmp_path, source):
    importer.write({"_drafts/deep/a.md": post()})
    (tmp_path / "link").symlink_to("_drafts/deep")
    importer.imports(source)
    assert importer.states() == {"a": "pending"}


def test_both_endings_of_a_file_are_left_out_of_its_slug(importer):
    names = ["2026-01-01-a.html.md", "b.html.markdown", "c/index.html.md", "node.js.md"]
    importer.imports({f"posts/{name}": post() for name in names})
    assert set(importer.articles()) == {"a", "b", "c", "node.js"}


def test_files_with_data_for_others_are_reported_by_name(importer):
    data = ("blog.11tydata.js", "b.11tydata.ts", "old/old.json", "a.json", "a.11tydata.json", "old/_index.md")
    files = {"a.md": post(), "old/b.md": post(), "other.json": "{}"} | dict.fromkeys(data, post("draft: true"))
    first, second = importer.imports({f"blog/{name}": text for name, text in files.items()}).splitlines()
    assert all(f"{name} (1)" in first for name in data)
    assert ".json (1)" in second
    assert importer.states() == {"a": "published", "b": "published"}


def test_pictures_beside_a_file_are_reported(importer):
    """Where the site shows them depends on how it was built."""
    text = post("image: ./banner.png", "![](photo.png)")
    files = {"posts/a.md": text, "posts/b/index.md": text.replace("png", "jpg")}
    notes = importer.imports(files, "--site", SITE).splitlines()[0]
    assert re.search(r"^Relative pictures.*: ./banner.png \(1\): a; photo.png \(1\): a. ", notes)
    assert "jpg" not in notes


def test_article_that_loses_its_content_is_reported(importer):
    importer.imports({"menu.md": post(text="Soup")})
    assert re.search("lost their content.*: menu$", importer.imports({"menu.md": post()}), re.MULTILINE)


# Files that are not imported


def test_other_files_are_reported_by_extension(importer):
    names = ("a.md", "b.qmd", "c.qmd", "d.TXT", "Makefile", "e.pdf", "_f.md")
    silent = ("g.png", "h.SVG", ".DS_Store", ".git/i.md", "_layouts/j.html")
    files = dict.fromkeys(names, post()) | dict.fromkeys(silent, "") | {"README.md": "# Read me"}
    (line,) = importer.imports({f"posts/{name}": text for name, text in files.items()}).splitlines()
    extensions = ".qmd (2)", ".txt (1)", ".pdf (1)", "no extension (1)"
    others = "no front matter (1)", "names that begin with _ (1)", "folders whose names begin with _ (1)"
    assert all(words in line for words in (*extensions, *others))
    assert not re.search("png|SVG|DS_Store|git", line)
    assert importer.articles().keys() == {"a"}


def test_import_of_one_file_does_not_report_files_beside_it(importer):
    importer.write({"one/a.md": post("", "[b](b.md)"), "one/b.md": post(), "one/_c.md": post(), "one/d.txt": ""})
    assert importer.imports("one/a.md", "--site", SITE) == ""
    assert f'href="{SITE}/b"' in importer.only()["contentHtml"]


def test_symlinked_folders_are_skipped_and_reported(importer, tmp_path):
    """Otherwise --unpublish-missing would withdraw their articles without a word."""
    importer.imports({"posts/tea.md": post(), "posts/others/oat.md": post()})
    (tmp_path / "posts" / "others").rename("others")
    (tmp_path / "posts" / "others").symlink_to(tmp_path / "others")
    result = importer.run("import", "posts", "--publish", "--unpublish-missing")
    assert "symbolic links to folders (1)" in result.stderr
    assert importer.states() == {"tea": "published", "oat": "pending"}


def test_translations_beside_their_original_are_not_imported(importer):
    names = "menu/index", "menu/index.de", "plain", "plain.de", "plain.pt-br", "node", "node.js", "x.en", "fr/index.fr"
    files = {f"posts/{name}.md": post("", "[de](plain.de.md)") for name in names}
    report = importer.imports(files | {"posts/plain.fr.md": post("slug: simple")}, "--site", SITE)
    assert "(3)" in report
    assert "plain.de.md (6)" in report
    assert importer.articles().keys() == {"menu", "plain", "node", "node.js", "fr", "x.en", "simple"}


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
    assert re.search(r"banners.* \(1\): a\. .*--site", printed)
    assert "relative" in printed
    assert importer.only()["bannerUrl"] == ""
    guessed, pictures = importer.imports("posts", "--site", f"{SITE}/blog").splitlines()
    assert all(f"{url} (1)" in guessed for url in ("b.html", "g h"))
    assert "blog.example.com (2): " in pictures
    article = importer.only()
    assert article["bannerUrl"] == f"{SITE}/banner%201.jpg"
    assert urls(article) == [
        *(f"{SITE}/blog/2026/b.html", "#c", "mailto:d@example.com", "https://e.example/x?a=1&amp;b=2"),
        *(f"{SITE}/f%20f.png", f"{SITE}/blog/2026/g%20h", "//cdn.example/i.png", "/k"),
    ]
    assert "&lt;img src=&quot;/l.png&quot;&gt;" in article["contentHtml"]


LINKS = {  # in blog/a.md -> the path on the site, or None if the link stays as it is
    "other/2026-01-02-d.md#part-one": "d#part-one",
    "<e f.markdown>": "see",
    "b.md?x=1#y": "b?x=1#y",
    "c/index.md": "c",
    "/c/index.md": "c",
    "/blog/c/index.md": "c",
    "blog/b.md": "b",
    "Slug.md": "other-name",
    "../b/": "b/",
    "../c": "c",
    "https://a.example/f.md": None,
}
GUESSED = {"../tags/news/": "tags/news/"}
BROKEN = dict.fromkeys(["nope.md#z", "/_g.md", "h.mdx", "../out.md", f"{'x' * 300}.md"])


def test_links_lead_to_articles_or_are_reported(importer):
    expected = LINKS | GUESSED | BROKEN
    text = " ".join(f"[x]({url})" for url in expected)
    files = {"a.md": post("", text), "b.md": post(), "c/index.md": post(), "other/2026-01-02-d.md": post()}
    files |= {"e f.markdown": post("slug: see"), "_g.md": post(), "h.mdx": post(), "Slug.md": post("Slug: other-name")}
    importer.write({f"blog/{name}": text for name, text in files.items()} | {"out.md": post()})
    lines = importer.imports("blog", "--site", f"{SITE}/blog/").splitlines()
    reported = [re.findall(r"(\S+) \(1\)", line) for line in lines]
    assert [url[:80] for url in BROKEN] in reported
    assert list(GUESSED) in reported
    links = [url if path is None else f"{SITE}/blog/{path}" for url, path in expected.items()]
    assert urls(importer.articles()["a"]) == links


def test_links_in_an_index_of_any_language_start_at_its_folder(importer):
    importer.imports({"blog/menu/index.de.md": post("", "[x](../soup/)"), "blog/soup.md": post()}, "--site", SITE)
    assert urls(importer.articles()["menu"]) == [f"{SITE}/soup/"]


def test_pictures_above_the_folder_stay_and_are_reported(importer):
    files = {"posts/a.md": post("image: ../../assets/x.jpg", "![x](../../assets/x.jpg) ![y](y.jpg)")}
    banner, picture, beside, _ = importer.imports(files, "--site", SITE).splitlines()
    assert "y.jpg (1)" in beside
    assert "../" in picture
    assert re.search(r"\.\./ \(1\): a\. .*--pictures-url", banner)
    assert urls(importer.only()) == ["../../assets/x.jpg", f"{SITE}/y.jpg"]


def test_file_names_and_links_compare_in_nfc(importer):
    files = {f"posts/{normalize('NFD', 'größe')}.md": post()}
    files["posts/b.md"] = post("", f"[a](gr%C3%B6%C3%9Fe.md) [b]({normalize('NFD', 'größe')}.md)")
    assert importer.imports(files, "--site", SITE) == ""
    assert urls(importer.articles()["b"]) == [f"{SITE}/gr%C3%B6%C3%9Fe"] * 2
    assert importer.articles().keys() == {normalize("NFC", "größe"), "b"}


def test_old_urls_in_front_matter_become_redirects(importer, tmp_path):
    files = {
        "posts/a.md": post("permalink: /2026/a.html\nredirect_from: https://old.example/?p=7"),
        "posts/b.md": post("url: /blog/b/\naliases: [/x y/, older, /blog/b, '{{ x }}']"),
        "posts/2026/c.md": post("aliases:\n- older/\nredirect_from: [/1, /1]"),
        "posts/d.md": post("permalink: /:year/:title/\nurl: {a: b}\naliases: ['{{ x }}']"),
    }
    importer.run("import", files, "--site", f"{SITE}/blog", "--redirects", "redirects.csv")
    assert (tmp_path / "redirects.csv").read_text().split() == [
        *("old_url,slug", "/2026/a.html,a", "https://old.example/?p=7,a", "/x%20y/,b"),
        *("/blog/older,b", "/blog/2026/older/,c", "/1,c"),
    ]
