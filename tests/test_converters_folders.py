"""Folders of Markdown and HTML: static sites, links between files, translations, other files, redirects."""

import re
from unicodedata import normalize

import pytest
from helpers import PROJECT
from importer import post

DATA = PROJECT / "tests/data"
SITE = "https://blog.example.com"


# Folders as each generator's starter writes them


STARTERS = {
    "astro": {
        "first-post": {
            "title": "First post",
            "bannerUrl": f"{SITE}/blog-placeholder-3.jpg",
            "keywords": [],
            "metaDesc": "Lorem ipsum dolor sit amet",
            "publishedAt": "2022-07-08T00:00:00.000Z",
            "updatedAt": "2022-07-10T00:00:00.000Z",
            "category": "",
            "contentHtml": "<p>Lorem ipsum <strong>dolor</strong> sit amet, "
            f'<a href="{SITE}/about/">consectetur</a>.</p>\n',
        }
    },
    "hugo": {
        "my-first-post": {"status": "draft"},
        "post-3": {
            "title": "My First Post",
            "keywords": ["red", "green"],
            "publishedAt": "2026-01-22T16:53:13.000Z",
            "status": "published",
        },
    },
    "jekyll": {
        "welcome-to-jekyll": {
            "title": "Welcome to Jekyll!",
            "category": "jekyll",
            "publishedAt": "2026-01-22T21:53:13.000Z",
            "contentHtml": "<p>You’ll find this post in your <code>_posts</code> directory.</p>\n"
            '<pre><code class="language-ruby">puts &quot;Hi, #{name}&quot;\n</code></pre>\n',
        }
    },
    "eleventy": {
        "fourthpost": {
            "keywords": ["second tag"],
            "contentHtml": "<p>Leverage agile frameworks.</p>\n"
            f'<img src="{SITE}/blog/fourthpost/possum.png" alt="A possum parent">\n',
        }
    },
}
REPORTED = {
    "astro": [".mdx (1)"],
    "hugo": ["name begins with _ (1)"],
    "jekyll": ["update (1)", "layout (1)"],
    "eleventy": ["front matter in JavaScript or JSON, not YAML (1)"],
}


@pytest.mark.parametrize("folder", STARTERS)
def test_posts_of_each_starter_are_imported(importer, folder):
    report, expected = importer.imports(DATA / folder, "--site", f"{SITE}/blog/"), STARTERS[folder]
    for line, words in zip(report.splitlines(), REPORTED[folder], strict=True):
        assert words in line
    articles = importer.articles()
    assert articles.keys() == expected.keys()
    for slug, fields in expected.items():
        assert articles[slug].items() >= fields.items()


def test_jekyll_folders_set_drafts_and_categories(importer):
    text = "---\nlayout: post\ntitle: A\n{}---\n"
    importer.write(
        {
            "site/_posts/2026-1-5-first.md": text.format("categories: one two\n"),
            "site/recipes/_posts/2026-01-06-soup.md": text.format(""),
            "site/recipes/_posts/2026-01-07-cake.md": text.format("category: Sweets\n"),
            "site/_drafts/_posts/2026-01-08-plan.md": text.format(""),
            "site/_drafts/idea.md": text.format("date: 2026-01-01\ndraft: false\n"),
            "site/_includes/2026-01-08-part.md": text.format(""),
        }
    )
    importer.imports("site")
    drafts = dict.fromkeys(("idea", "plan"), "draft")
    assert importer.states() == dict.fromkeys(("first", "soup", "cake"), "published") | drafts
    categories = {slug: article["category"] for slug, article in importer.articles().items()}
    assert categories == {"first": "one", "soup": "recipes", "cake": "Sweets", "idea": "", "plan": ""}
    assert importer.only("first")["publishedAt"] == "2026-01-05T00:00:00.000Z"
    importer.write({"_drafts/other.md": text.format("date: 2026-01-01\n")})
    importer.imports("_drafts/other.md")
    assert importer.states()["other"] == "draft"


@pytest.mark.parametrize(("tags", "keywords"), [("one two", ["one", "two"]), ("one two, three", ["one two", "three"])])
def test_jekyll_tags_are_split_at_spaces_or_commas(importer, tags, keywords):
    importer.write({"2026-01-01-a.md": f"---\nlayout: post\ntitle: A\ntags: {tags}\n---\n"})
    importer.imports("2026-01-01-a.md")
    assert importer.only()["keywords"] == keywords


def test_eleventy_data_files_are_reported_by_name(importer):
    data = ("blog/blog.11tydata.js", "blog/b.11tydata.ts", "blog/old/old.json", "blog/a.json", "blog/a.11tydata.json")
    importer.write({"blog/a.md": post(), "blog/old/b.md": post(), **dict.fromkeys(data, "{}"), "blog/other.json": "{}"})
    first, second = importer.imports("blog").splitlines()
    assert all(f"{name.removeprefix('blog/')} (1)" in first for name in data)
    assert ".json (1)" in second


# Files that are not imported


def test_other_files_are_reported_by_extension(importer):
    names = ("a.md", "b.qmd", "c.qmd", "d.TXT", "Makefile", "e.pdf", "_f.md")
    importer.write({f"posts/{name}": post() for name in names} | {"posts/README.md": "# Read me"})
    importer.write({f"posts/{name}": b"" for name in ("g.png", "h.SVG", ".DS_Store", ".git/i.md", "_layouts/j.html")})
    (line,) = importer.imports("posts").splitlines()
    for part in (
        *(".qmd (2)", ".txt (1)", "no extension (1)", ".pdf (1)", "no front matter (1)"),
        *("name begins with _ (1)", "folders whose name begins with _ (1)"),
    ):
        assert part in line
    assert all(name not in line for name in ("png", "SVG", "DS_Store", ".git"))
    assert importer.articles().keys() == {"a"}


def test_symlinked_folders_are_skipped_and_reported(importer, tmp_path):
    """Otherwise --unpublish-missing would turn their articles into drafts without a word."""
    importer.write({"posts/tea.md": post(), "posts/others/oat.md": post()})
    importer.imports("posts")
    (tmp_path / "posts" / "others").rename("others")
    (tmp_path / "posts" / "others").symlink_to(tmp_path / "others")
    result = importer.run("import", "posts", "--unpublish-missing")
    assert "folders that are links (1)" in result.stderr
    assert importer.states() == {"tea": "published", "oat": "draft"}


def test_translations_beside_their_original_are_not_imported(importer):
    names = ("menu/index.md", "menu/index.de.md", "plain.md", "plain.de.md", "plain.pt-br.md", "node.md", "node.js.md")
    importer.write(
        {f"posts/{name}": post("", "[de](plain.de.md)") for name in (*names, "alone/index.fr.md", "x.en.md")}
    )
    importer.write({"posts/plain.fr.md": post("slug: simple", "[de](plain.de.md)")})
    report = importer.imports("posts", "--site", SITE)
    assert "(3)" in report
    assert "plain.de.md (7)" in report
    assert importer.articles().keys() == {"menu", "plain", "node", "node.js", "alone", "x.en", "simple"}


# Links


RELATIVE = """
[a](b.html) [c](#c) [d](mailto:d@example.com) [e](https://e.example/x?a=1&b=2) ![f](/f%20f.png)

<a class="x" href='g h'>g</a> <img alt="" src="//cdn.example/i.png"> <a data-href="/k" name="k">k</a>

`<img src="/l.png">`
"""


def test_relative_urls_are_resolved_or_reported(importer):
    importer.write({"posts/2026/a.md": post("image: /banner 1.jpg", RELATIVE)})
    printed = importer.imports("posts")
    assert "--site or SITE_URL): /banner 1.jpg (1): a\n" in printed
    assert "relative" in printed
    assert importer.only()["bannerUrl"] == ""
    (guessed,) = importer.imports("posts", "--site", f"{SITE}/blog").splitlines()
    assert "b.html (1), g h (1)" in guessed
    article = importer.only()
    assert article["bannerUrl"] == f"{SITE}/banner%201.jpg"
    assert re.findall(r"""(?:href|src)=["'](.*?)["']""", article["contentHtml"]) == [
        *(f"{SITE}/blog/2026/b.html", "#c", "mailto:d@example.com", "https://e.example/x?a=1&amp;b=2"),
        *(f"{SITE}/f%20f.png", f"{SITE}/blog/2026/g%20h", "//cdn.example/i.png", "/k"),
    ]
    assert "&lt;img src=&quot;/l.png&quot;&gt;" in article["contentHtml"]


LINKS = f"""[b](other/2026-01-02-b.md#part-one) [c](<c d.markdown>) [e](e/index.md) [none](none.md)
[long]({"x" * 300}.md) [out](../out.md)
![x](../../assets/x.jpg) ![y](y.jpg)
"""


def test_links_to_files_become_links_to_their_articles(importer):
    importer.write({"posts/a.md": post("image: ../../assets/x.jpg", LINKS), "posts/e/index.md": post()})
    importer.write({"posts/other/2026-01-02-b.md": post(), "posts/c d.markdown": post("slug: see"), "out.md": post()})
    printed = importer.imports("posts", "--site", f"{SITE}/blog/")
    lines = [line for line in printed.splitlines() if "(1)" in line]
    for line, words in zip(lines, ("../", "none.md", "../../assets/x.jpg"), strict=True):
        assert words in line
    assert re.findall('(?:href|src)="(.*?)"', importer.only()["contentHtml"]) == [
        *(f"{SITE}/blog/{path}" for path in ("b#part-one", "see", "e")),
        *("none.md", f"{'x' * 300}.md", "../out.md", "../../assets/x.jpg"),
        f"{SITE}/blog/y.jpg",
    ]


def test_links_lead_to_articles_or_are_reported(importer):
    links = (
        "[1](b.md?x=1#y) [2](/blog/c/index.md) [3](/c/index.md) [4](blog/b.md) [5](nope.md#z) [6](/_d.md) [7](e.mdx)"
    )
    pages = "[8](../b/) [9](../c) [10](../tags/news/) [11](https://a.example/f.md)"
    importer.write({"blog/a.md": post("", f"{links} {pages}"), "blog/b.md": post(), "blog/c/index.md": post()})
    importer.write({"blog/_d.md": post(), "blog/e.mdx": post()})
    report = importer.imports("blog", "--site", f"{SITE}/blog/")
    for url in ("nope.md#z", "/_d.md", "e.mdx", "../tags/news/"):
        assert f"{url} (1)" in report
    assert "../b/" not in report
    assert re.findall('href="(.*?)"', importer.only()["contentHtml"]) == [
        *(f"{SITE}/blog/{path}" for path in ("b?x=1#y", "c", "c", "b")),
        *("nope.md#z", "/_d.md", "e.mdx"),
        *(f"{SITE}/blog/{path}" for path in ("b/", "c", "tags/news/")),
        "https://a.example/f.md",
    ]


def test_file_names_and_links_compare_in_nfc(importer):
    importer.write({f"posts/{normalize('NFD', 'größe')}.md": post()})
    importer.write({"posts/b.md": post("", f"[a](gr%C3%B6%C3%9Fe.md) [b]({normalize('NFD', 'größe')}.md)")})
    assert importer.imports("posts", "--site", SITE) == ""
    assert importer.articles().keys() == {normalize("NFC", "größe"), "b"}
    assert re.findall('href="(.*?)"', importer.only("b")["contentHtml"]) == [f"{SITE}/gr%C3%B6%C3%9Fe"] * 2


def test_old_urls_in_front_matter_become_redirects(importer, tmp_path):
    importer.write(
        {
            "posts/a.md": post("permalink: /2026/a.html\nredirect_from: https://old.example/?p=7"),
            "posts/b.md": post("url: /blog/b/\naliases: [/x y/, older, /blog/b, '{{ x }}']"),
            "posts/2026/c.md": post("aliases:\n- older/\nredirect_from: [/1, /1]"),
            "posts/d.md": post("permalink: /:year/:title/\nurl: {a: b}\naliases: ['{{ x }}']"),
        }
    )
    options = "posts", "--site", f"{SITE}/blog"
    (printed,) = importer.run("import", *options, "--dry-run").stderr.splitlines()[:1]
    assert all(f"{name} (" in printed for name in ("permalink", "redirect_from", "aliases"))
    result = importer.run("import", *options, "--redirects", tmp_path / "redirects.csv")
    assert "aliases (2), permalink (1), url (1): b, d\n" in result.stderr
    assert (tmp_path / "redirects.csv").read_text().split() == [
        *("old_url,slug", "/2026/a.html,a", "https://old.example/?p=7,a", "/x%20y/,b"),
        *("/blog/older,b", "/blog/2026/older/,c", "/1,c"),
    ]
