"""Import from other systems: WordPress, Ghost, folders of static sites, tables."""

import csv
import io
import json
import os
import re
from functools import partial
from types import SimpleNamespace

import pytest
from helpers import PROJECT, blocks, read_page, run_section, save_articles, section, write_files

from commands import GROUPS

DATA = PROJECT / "tests/data"
FUTURE = "2099-01-31T09:30:00.000Z"
SITE = "https://blog.example.com"
IMPORT = read_page("docs/import")


@pytest.fixture
def site(articles, tmp_path, monkeypatch):
    """The customer Acme, an empty folder, and functions that import from it and read what arrived."""
    monkeypatch.chdir(tmp_path)

    def import_twice(*arguments):
        """Import twice, the second time without a change; return what the first one printed on standard error."""
        first, second = articles("import", *arguments), articles("import", *arguments)
        assert first.exit_code == 0, first.stderr
        assert second.stdout.startswith("0 new, 0 changed, "), second.stdout
        assert second.stderr == ""
        return first.stderr

    def states():
        rows = map(json.loads, articles("list", "--json").stdout.splitlines())
        return {row["slug"]: row["state"] for row in rows}

    def exported():
        """Return the articles by slug; fields that are derived are left out."""
        return {record["slug"]: record for record in map(json.loads, articles("export").stdout.splitlines())}

    write = partial(write_files, tmp_path)
    return SimpleNamespace(write=write, run=articles, imports=import_twice, states=states, articles=exported)


def read(name):
    return (DATA / name).read_text("utf-8")


# Static sites' folders, as their own starters write them


FIRST_POST = {
    "title": "First post",
    "bannerUrl": "https://www.example.com/blog-placeholder-3.jpg",
    "keywords": [],
    "metaDesc": "Lorem ipsum dolor sit amet",
    "publishedAt": "2022-07-08T00:00:00.000Z",
    "updatedAt": "2022-07-10T00:00:00.000Z",
    "category": "",
    "contentHtml": "<p>Lorem ipsum <strong>dolor</strong> sit amet, "
    '<a href="https://www.example.com/about/">consectetur</a>.</p>\n',
}
POST_3 = {"title": "My First Post", "keywords": ["red", "green"], "publishedAt": "2026-01-22T16:53:13.000Z"}
WELCOME = {
    "title": "Welcome to Jekyll!",
    "category": "jekyll",
    "publishedAt": "2026-01-22T21:53:13.000Z",
    "contentHtml": "<p>You’ll find this post in your <code>_posts</code> directory.</p>\n"
    "<p>{% highlight ruby %}\nputs &quot;Hi, #{name}&quot;\n{% endhighlight %}</p>\n",
}
FOURTH_POST = {
    "keywords": ["second tag"],
    "contentHtml": "<p>Leverage agile frameworks.</p>\n"
    '<img src="https://www.example.com/blog/fourthpost/possum.png" alt="A possum parent">\n',
}


@pytest.mark.parametrize(
    ("folder", "expected", "printed"),
    [
        ("astro", {"first-post": FIRST_POST}, ["Left out: files named _* or *.mdx (1 article: using-mdx.mdx)"]),
        (
            "hugo",
            {"my-first-post": {"status": "draft"}, "post-3": POST_3 | {"status": "published"}},
            ["Left out: files named _* or *.mdx (1 article: _index.md)"],
        ),
        (
            "jekyll",
            {"welcome-to-jekyll": WELCOME},
            [
                "Left out: categories after the first (1 article: welcome-to-jekyll)",
                "Left out: layout (1 article: welcome-to-jekyll)",
                "Shortcodes or templates, which stay as text (1 article: welcome-to-jekyll)",
            ],
        ),
        (
            "eleventy",
            {"fourthpost": FOURTH_POST},
            ["Left out: files with front matter in JavaScript or JSON (1 article: fifthpost.md)"],
        ),
    ],
)
def test_posts_of_a_starter_arrive(site, folder, expected, printed):
    assert site.imports(DATA / folder, "--site", "https://www.example.com/blog/").splitlines() == printed
    articles = site.articles()
    assert articles.keys() == expected.keys()
    assert all(articles[slug].items() >= fields.items() for slug, fields in expected.items())


def test_slug_from_a_long_title_is_cut(site, tmp_path):
    words = " ".join(["asparagus"] * 40)
    site.write({"articles.csv": f"title,contentHtml\n{words},<p>Hello</p>\n{words},<p>Again</p>\n"})
    site.imports(tmp_path / "articles.csv")
    assert sorted(map(len, site.articles())) == [190, 192]


def test_folder_that_is_a_link_is_left_out_and_said(site, tmp_path):
    site.write({"posts/tea.md": "---\ntitle: Tea\n---\nGreen"})
    (tmp_path / "posts" / "others").symlink_to(DATA / "hugo")
    assert "Left out: folders that are links (1 article: others)" in site.imports(tmp_path / "posts")
    assert site.articles().keys() == {"tea"}


def test_words_of_jekyll_are_split_without_a_comma_alone(site):
    for tags, keywords in (("one two", ["one", "two"]), ("one two, three", ["one two", "three"])):
        site.write({"2026-01-01-a.md": f"---\nlayout: post\ntitle: A\ntags: {tags}\n---\n"})
        site.imports(".")
        assert site.articles()["a"]["keywords"] == keywords


# Fields, dates, slugs and URLs


@pytest.mark.parametrize(
    ("front_matter", "field", "value"),
    [
        ("publishDate: 2026-01-02", "publishedAt", "2026-01-02T00:00:00.000Z"),
        ("excerpt: In short", "metaDesc", "In short"),
        ("summary: In short", "metaDesc", "In short"),
        ("tags: one, two words", "keywords", ["one", "two words"]),
        ("tags: [1, true, x]", "keywords", ["1", "true", "x"]),
        ("categories: [News, Food]", "category", "News"),
        ("category: News", "category", "News"),
        ("cover: https://a.example/a b.jpg", "bannerUrl", "https://a.example/a%20b.jpg"),
        ("featured_image: https://a.example/a.jpg", "bannerUrl", "https://a.example/a.jpg"),
        ("image: {src: 'https://a.example/a.jpg', alt: x}", "bannerUrl", "https://a.example/a.jpg"),
        ("hero: {image: {url: 'https://a.example/a.jpg'}}", "bannerUrl", "https://a.example/a.jpg"),
        ("image: //cdn.example/a.jpg", "bannerUrl", "https://cdn.example/a.jpg"),
        ("images: ['https://a.example/a.jpg']", "bannerUrl", "https://a.example/a.jpg"),
        ("published: true", "status", "published"),
        ("slug: /menu/spring menu/", "slug", "menu-spring-menu"),
        ("id: a-17", "id", "a-17"),
    ],
)
def test_fields_of_other_names_are_taken_over(site, front_matter, field, value):
    site.write({"a.md": f"---\ntitle: <b>Fish</b> &amp; Chips\ndate: 2026-01-01\n{front_matter}\n---\nText\n"})
    site.imports("a.md")
    (article,) = site.articles().values()
    assert article[field] == value
    assert article["title"] == "Fish & Chips"


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("Jul 08 2022", "2022-07-08T07:00:00.000Z"),
        ("July 8, 2022", "2022-07-08T07:00:00.000Z"),
        ("2026-03-01", "2026-03-01T08:00:00.000Z"),
        ("1.03.2026 10:00", "2026-03-01T18:00:00.000Z"),
        ("2026-03-01 10:00", "2026-03-01T18:00:00.000Z"),
        ("2026-07-01 10:00:30.5", "2026-07-01T17:00:30.500Z"),
        ("2026-03-01 10:00:00 +01:00", "2026-03-01T09:00:00.000Z"),
        ("2026-03-01 10:00:00 -0500", "2026-03-01T15:00:00.000Z"),
        ("2026-03-01 10:00:00 UTC", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000Z"),
        ("Sun, 01 Mar 2026 10:00:00 +0100", "2026-03-01T09:00:00.000Z"),
        ("Sun, 01 Mar 2026 10:00:00 GMT", "2026-03-01T10:00:00.000Z"),
    ],
)
def test_dates_of_every_form_take_the_zone_that_is_named(site, date, moment):
    site.write({"a.md": f'---\ntitle: A\ndate: "{date}"\n---\n', "b.csv": f'slug,title,body,date\nb,B,x,"{date}"\n'})
    site.imports("a.md", "b.csv", "--timezone", "America/Los_Angeles")
    assert {article["publishedAt"] for article in site.articles().values()} == {moment}


def test_file_without_a_date_is_a_draft_or_keeps_what_it_has(site):
    site.write({"2026-01-01-named.md": "---\ntitle: A\n---\n", "none.md": "---\ntitle: B\n---\n"})
    assert site.imports(".") == "No date: drafts, if they are new (1 article: none)\n"
    assert site.states() == {"none": "draft", "named": "published"}
    assert site.articles()["named"]["publishedAt"] == "2026-01-01T00:00:00.000Z"
    site.run("publish", "none")
    site.write({"none.md": "---\ntitle: C\n---\n"})
    site.imports(".")
    assert site.articles()["none"]["title"] == "C"


def test_draft_that_gets_a_date_is_published(site):
    drafts = "draft: true\ndate: 2026-01-01", "published: false\ndate: 2026-01-01", ""  # the second one is Jekyll's
    for fields, state in ((drafts, "draft"), (["date: 2026-01-01"] * 3, "published")):
        site.write({f"{n}.md": f"---\ntitle: A\n{text}\n---\n" for n, text in enumerate(fields)})
        site.imports(".")
        assert site.states() == dict.fromkeys("012", state)


def test_draft_gives_way_to_an_article_with_its_slug(site):
    post = "---\ntitle: {}\nslug: menu\ndate: 2026-01-01\ndraft: {}\n---\n"
    files = {"a.md": post.format("A", "true"), "b.md": post.format("B", "false"), "c.md": post.format("C", "true")}
    site.write(files | {"d.md": "---\ntitle: D\nslug: menu-2\ndraft: true\n---\n"})
    printed = site.imports(".")
    assert printed == "Drafts with another slug, because an article has theirs (2 articles: menu-3, menu-4)\n"
    assert site.states() == {"menu": "published", "menu-2": "draft", "menu-3": "draft", "menu-4": "draft"}
    assert site.articles()["menu"]["title"] == "B"


def test_two_published_articles_with_one_slug_are_named(site):
    site.write({"a/menu.md": "---\ntitle: Our menu\ndate: 2026-01-01\n---\n"})
    site.write({"menu.csv": "title,date,body\nMenu,2026-01-01,x\n"})
    report = site.run("import", "a", "menu.csv").stderr
    assert "menu.csv, line 2, slug 'menu': 'Menu' has the same slug as 'Our menu' (a/menu.md, slug 'menu')." in report


def test_slug_is_made_from_the_title_if_there_is_no_file_name(site):
    site.write({"a.csv": "title,body,date\nCafé – Größe? Да!,x,2026-01-01\n"})
    site.imports("a.csv")
    assert list(site.articles()) == ["cafe-grosse-да"]


def test_article_is_found_by_its_id_or_by_its_slug(app, site):
    save_articles(app, {"id": "mine", "slug": "menu", "title": "Old", "contentHtml": "", "status": "published"})
    site.write({"menu.md": "---\nid: theirs\ntitle: New\ndate: 2026-01-01\n---\n"})
    assert site.run("import", "menu.md").stdout.startswith("0 new, 1 changed")
    assert site.articles()["menu"]["id"] == "mine"
    site.write({"other.md": "---\nid: mine\ntitle: New\ndate: 2026-01-01\n---\n"})
    assert site.run("import", "other.md").stdout.startswith("0 new, 1 changed")
    assert list(site.articles()) == ["other"]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Los_Angeles", "Pacific/Kiritimati", "UTC"])
def test_date_without_a_time_is_that_day_in_utc(site, zone):
    site.write({"a.md": "---\ntitle: A\ndate: 2026-03-04\n---\n", "b.csv": "slug,title,date,body\nb,B,04.03.2026,x\n"})
    site.imports("a.md", "b.csv", "--timezone", zone)
    assert {article["publishedAt"][:10] for article in site.articles().values()} == {"2026-03-04"}


def test_slug_of_a_renamed_article_is_free_for_a_new_one(site):
    post = "---\nid: {}\ntitle: A\nslug: {}\ndate: 2026-01-01\n---\n"
    site.write({"1.md": post.format("one", "a")})
    site.imports(".")
    for first, second in (("1.md", "2.md"), ("2.md", "1.md")):
        site.write({first: post.format("one", "b"), second: post.format("two", "a")})
        assert site.run("import", ".").exit_code == 0
        assert {slug: article["id"] for slug, article in site.articles().items()} == {"a": "two", "b": "one"}


RELATIVE = """---
title: A
date: 2026-01-01
image: /banner 1.jpg
---
[a](b.html) [c](#c) [d](mailto:d@example.com) [e](https://e.example/x?a=1&b=2) ![f](/f%20f.png)

<a class="x" href='g h'>g</a> <img alt="" src="//cdn.example/i.png"> <a data-href="/k" name="k">k</a>

`<img src="/l.png">`
"""


def test_relative_urls_are_completed_with_the_site_or_warned_of(site):
    site.write({"posts/2026/a.md": RELATIVE})
    printed = site.imports("posts")
    assert "Left out: banners without a whole URL. Name your site with --site (1 article: a)\n" in printed
    assert "Warning: Pictures or links whose URL is relative. Write whole URLs, or name your" in printed
    assert site.articles()["a"]["bannerUrl"] == ""
    assert site.imports("posts", "--site", "https://www.example.com/blog") == ""
    article = site.articles()["a"]
    assert article["bannerUrl"] == "https://www.example.com/banner%201.jpg"
    assert re.findall(r"""(?:href|src)=["'](.*?)["']""", article["contentHtml"]) == [
        "https://www.example.com/blog/2026/b.html",
        "#c",
        "mailto:d@example.com",
        "https://e.example/x?a=1&amp;b=2",
        "https://www.example.com/f%20f.png",
        "https://www.example.com/blog/2026/g%20h",
        "//cdn.example/i.png",
        "/k",
    ]
    assert "&lt;img src=&quot;/l.png&quot;&gt;" in article["contentHtml"]


def test_what_is_lost_is_said_of_new_and_changed_articles(site):
    site.write({f"post-{n}.md": f"---\ntitle: {n}\ndate: 2026-01-01\nauthor: A\n---\n" for n in range(5)})
    assert site.imports(".") == "Left out: author (5 articles: post-0, post-1, post-2, …)\n"
    site.write({"post-3.md": "---\ntitle: New\ndate: 2026-01-01\nauthor: A\n---\n"})
    result = site.run("import", ".")
    assert result.stdout == "0 new, 1 changed, 4 unchanged\n"
    assert result.stderr == "Left out: author (1 article: post-3)\n"


@pytest.mark.parametrize(
    "option",
    [
        ("--site", "www.example.com"),
        ("--site", "https://www.example.com/\udcff"),
        ("--timezone", "Mars/Base"),
        ("--timezone", "../x"),
    ],
)
def test_wrong_site_or_zone_is_wrong_usage(site, option):
    site.write({"a.md": "---\ntitle: A\n---\n"})
    assert site.run("import", "a.md", *option).exit_code == 2


# WordPress and Ghost


def test_wordpress_posts_arrive(site):
    printed = site.imports(DATA / "wordpress.xml", "--timezone", "Europe/Berlin")
    assert printed.splitlines() == [
        "Left out: posts of the type page (1 article: about-us)",
        "Left out: posts of the status trash (1 article: gone__trashed)",
        "Left out: posts of the type attachment (1 article: a)",
        "Left out: author (8 articles: smørrebrød, classic, scheduled, …)",
        "Left out: comments (1 article: smørrebrød)",
        "Shortcodes or templates, which stay as text (1 article: classic)",
        "Drafts, because they are private or have a password (2 articles: for-friends, private)",
    ]
    drafts = ["never-published", "for-friends", "private", "pending"]
    published = ["smørrebrød", "classic", "old"]
    states = {"scheduled": "scheduled"} | dict.fromkeys(drafts, "draft") | dict.fromkeys(published, "published")
    assert site.states() == states
    articles = site.articles()
    assert articles["old"]["publishedAt"] == "2026-01-31T09:30:00.000Z"
    assert "publishedAt" not in articles["never-published"]
    expected = {
        "title": "Fish & Chips",
        "bannerUrl": f"{SITE}/wp-content/uploads/a.jpg",
        "keywords": ["menu", "Q&A"],
        "metaDesc": "What we cook: 100% fresh",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food & Drink",
        "contentHtml": '<p class="has-text-align-center">Asparagus is back.</p>\n\n'
        f'<figure class="wp-block-image"><img src="{SITE}/wp-content/uploads/a%20b.jpg" alt=""/></figure>',
    }
    assert articles["smørrebrød"].items() >= expected.items()
    assert "metaTitle" not in articles["smørrebrød"]  # that of Yoast has placeholders
    texts = {"title": "Classic ]]> “quoted”", "metaTitle": "Menu of March", "metaDesc": "In & out."}
    assert articles["classic"].items() >= (texts | {"contentHtml": CLASSIC}).items()


CLASSIC = """<p>The first paragraph<br>
goes on, with <em>emphasis</em> &amp; 1 < 2.</p>
<h2>A heading</h2>
<p>Right after it, *no* _Markdown_.</p>
<ul>
<li>One

<ul><li>Nested</li></ul></li>
</ul>
<blockquote>
<p>A quote</p>
<p>of two paragraphs</p>
</blockquote>
<PRE>
a

    b
</PRE>
<p>[gallery ids="1,2"]</p>
</ul>
<p>The end</p>"""


def test_wordpress_export_of_an_older_version_arrives(site):
    """Before WordPress 5.7 titles were escaped and the time of the last change was missing."""
    text = re.sub(r"\t\t<wp:post_modified.*\n", "", read("wordpress.xml")).replace("/export/1.2/", "/export/1.0/")
    site.write({"export.xml": text.replace("<![CDATA[Fish &amp; Chips]]>", "Fish &#038; Chips &amp; more")})
    site.imports("export.xml")
    assert site.articles()["smørrebrød"]["title"] == "Fish & Chips & more"


def test_wordpress_mistakes_name_the_posts(site):
    site.write({"export.xml": read("wordpress.xml").replace("[old]", "[classic]")})
    report = site.run("import", "export.xml").stderr
    assert "export.xml, post 26 'Without its time in UTC', slug 'classic': 'Without its time in UTC' has the" in report
    assert "(export.xml, post 18 'Classic " in report


def test_ghost_posts_arrive(site):
    printed = site.imports(DATA / "ghost.json", "--site", SITE)
    assert printed.splitlines() == [
        "Left out: posts of the status sent (1 article: sent)",
        "Left out: posts of the type page (1 article: about)",
        "Left out: codeinjection_head (1 article: kaese)",
        "Drafts, because they are for members (1 article: paid)",
    ]
    states = {"kaese": "published", "second": "published", "scheduled": "scheduled"}
    assert site.states() == states | {"untouched": "draft", "paid": "draft"}
    articles = site.articles()
    expected = {
        "title": "Käse & Brot",
        "bannerUrl": f"{SITE}/content/images/2026/01/cheese.jpg",
        "keywords": ["Food", "News"],
        "metaTitle": "Cheese",
        "metaDesc": "About cheese",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food",
        "contentHtml": f'<p><a href="{SITE}/other/">Read</a> <img src="{SITE}/content/images/a.png"></p>',
    }
    assert articles["kaese"].items() >= expected.items()
    other = articles["second"]
    assert (other["metaDesc"], other["publishedAt"]) == ("In short", "2026-01-31T09:30:00.000Z")
    ids = {f"63f0b1c2d3e4f5a6b7c8d90{number}" for number in range(1, 6)}
    assert {article["id"] for article in articles.values()} == ids


# Tables


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_tables_of_a_spreadsheet_arrive(site, separator):
    """Spreadsheets write a byte order mark, CRLF, line breaks in cells, and empty rows after the last one."""
    title, html = 'Äpfel, "süß"; sauer', "<p>a;\n\nb,\tc</p>"
    rows = [
        ["id", "title", "Slug", "publishedAt", "views", "tags", "contentHtml", "Comment"],
        ["1", title, "aepfel", "2026-01-31 09:30", "12", "Obst, Süßes", html, "x"],
        ["2", "Später", "spaeter", FUTURE, "", "", "Text & <\nmehr\n\nText", ""],
        [""] * 8,
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    first_line = "sep=|\r\n" if separator == "|" else ""
    site.write({"a.csv": ("\ufeff" + first_line + text.getvalue()).encode()})
    assert site.imports("a.csv") == "Left out: Comment (1 article: aepfel)\n"
    first, second = site.articles().values()
    assert (first["id"], first["title"], first["views"]) == ("1", title, 12)
    assert (first["keywords"], first["contentHtml"]) == (["Obst", "Süßes"], html)
    assert (second["publishedAt"], second["contentHtml"]) == (FUTURE, "<p>Text &amp; &lt;<br>\nmehr</p>\n<p>Text</p>")


NO_SLUG = {"posts": [{"id": 1, "title": "A", "type": "page", "slug": None}], "tags": [], "posts_tags": []}


def test_odd_values_end_in_no_traceback(site):
    odd = ["categories: ','", "categories: [null]", "tags: {a: b}", "image: {a: b}", "image: '/[x'", "title: [[B]]"]
    odd += ["date: {a: b}", "slug: [x]", "category: []", "description: [x]", "updated: 0001-01-01", "id: {a: b}"]
    content = "<a href='&#1;//[' src='/\t/['>\n"
    site.write({f"{n}.md": f"---\ntitle: A\n{line}\n---\n{content}" for n, line in enumerate(odd)})
    site.write({"own.html": "---\ntitle: A\nslug: own\npublishedAt: [x]\n---\n"})
    site.write({"list.html": "---\ntitle: A\nslug: [a]\n---\n", "a.csv": f"title,slug,body\n&#{'1' * 5000};,a,x\n"})
    site.write({"null.json": json.dumps({"db": [{"data": NO_SLUG}]})})
    site.write({b"\xff.csv".decode(errors="surrogateescape"): "title,slug,body\nA,b,x\n"})
    site.write({b"\xff.md".decode(errors="surrogateescape"): "---\ntitle: A\n---\n"})
    for name in sorted(os.listdir()):
        result = site.run("import", name, "--site", "https://www.example.com", "--timezone", "Asia/Tokyo")
        assert result.exception is None or isinstance(result.exception, SystemExit), (name, result.exception)


# The page about it

MARKDOWN, TABLE = (blocks(section(IMPORT, title), form)[0] for title, form in (("Markdown", "yaml"), ("Table", "csv")))
CHEESE = f"{SITE}/content/images/2026/01/cheese.jpg"
MENU = {"category": "News", "keywords": ["menu", "asparagus"], "publishedAt": "2026-03-01T07:00:00.000Z"}
SOUP = {"metaDesc": "What we cook in March.", "bannerUrl": "https://www.example.com/images/asparagus.jpg"}


@pytest.mark.parametrize(
    ("title", "file", "content", "slug", "expected"),
    [
        ("WordPress", "export.xml", read("wordpress.xml"), "old", {"status": "published"}),
        ("Ghost", "ghost.json", read("ghost.json"), "kaese", {"bannerUrl": CHEESE}),
        ("Markdown", "posts/spring-menu.md", MARKDOWN, "spring-menu", MENU | SOUP),
        ("Table", "articles.csv", TABLE, "spring-menu", MENU),
    ],
)
def test_commands_of_a_section_import_its_source(app, site, title, file, content, slug, expected):
    site.write({file: content})
    dry_run, imported = run_section(app, IMPORT, title)
    assert dry_run.splitlines()[-1] == f"{imported.strip()} (dry run: nothing was written)"
    assert run_section(app, IMPORT, title)[1].startswith("0 new, 0 changed, ")
    assert site.articles()[slug].items() >= expected.items()


def test_json_example_is_an_article(site):
    site.write({"first.jsonl": blocks(section(IMPORT, "JSON"), "json")[0]})
    assert site.imports("first.jsonl") == ""


def test_options_that_the_page_names_exist():
    commands = [group.get_command(None, name) for group in GROUPS for name in group.list_commands(None)]
    options = {option for command in commands for param in command.params for option in param.opts}
    assert set(re.findall(r"`(--[a-z][a-z-]+)", IMPORT)) <= options
