"""Import from other systems: WordPress, Ghost, folders of static sites, tables."""

import csv
import io
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers import LISTS, PROJECT, save_articles

DATA = PROJECT / "tests/data"
FUTURE = "2099-01-31T09:30:00.000Z"
SITE = "https://blog.example.com"


@pytest.fixture
def site(articles, client, tmp_path, monkeypatch):
    """The customer Acme, an empty folder, and functions that import from it and read what arrived."""
    monkeypatch.chdir(tmp_path)
    run = articles

    def write(files):
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def import_twice(*arguments):
        """Import twice, the second time without a change; return what the first one printed on standard error."""
        first, second = run("import", *arguments), run("import", *arguments)
        assert first.exit_code == 0, first.stderr
        assert second.stdout.startswith("0 new, 0 changed, "), second.stdout
        assert second.stderr == ""
        return first.stderr

    def refuse(*arguments):
        """Import what is refused; return the error report."""
        result = run("import", *arguments)
        assert (result.exit_code, result.stdout) == (1, ""), result.output
        assert isinstance(result.exception, SystemExit)
        assert states() == {}
        return result.stderr

    def states():
        rows = map(json.loads, run("list", "--json").stdout.splitlines())
        return {row["slug"]: row["state"] for row in rows}

    def published():
        return {article["slug"]: article for article in client.get(f"{LISTS[0]}?take=100").get_json()["data"]}

    def read_article(slug):
        """Return an article without what is not the source's."""
        left_out = "id", "slug", "readTime", "schemaMarkup"
        return {name: value for name, value in published()[slug].items() if name not in left_out}

    return SimpleNamespace(
        write=write, run=run, imports=import_twice, refuse=refuse, states=states, articles=published, read=read_article
    )


def read(name):
    return (DATA / name).read_text("utf-8")


# Static sites' folders, as their own starters write them


def test_posts_of_astros_starter_arrive(site):
    printed = site.imports(DATA / "astro", "--site", "https://www.example.com")
    assert printed == "Left out: files named _* or *.mdx (1 article: using-mdx.mdx)\n"
    assert site.read("first-post") == {
        "title": "First post",
        "bannerUrl": "https://www.example.com/blog-placeholder-3.jpg",
        "keywords": [],
        "metaTitle": "First post",
        "metaDesc": "Lorem ipsum dolor sit amet",
        "publishedAt": "2022-07-08T00:00:00.000Z",
        "category": "",
        "contentHtml": "<p>Lorem ipsum <strong>dolor</strong> sit amet, "
        '<a href="https://www.example.com/about/">consectetur</a>.</p>\n',
    }
    assert json.loads(site.run("export").stdout)["updatedAt"] == "2022-07-10T00:00:00.000Z"


def test_posts_of_hugo_arrive(site):
    printed = site.imports(DATA / "hugo")
    assert printed == "Left out: files named _* or *.mdx (1 article: _index.md)\n"
    assert site.states() == {"my-first-post": "draft", "post-3": "published"}
    article = site.read("post-3")
    assert (article["title"], article["keywords"]) == ("My First Post", ["red", "green"])
    assert article["publishedAt"] == "2026-01-22T16:53:13.000Z"


def test_post_of_jekylls_starter_arrives(site):
    printed = site.imports(DATA / "jekyll")
    article = site.read("welcome-to-jekyll")
    assert (article["title"], article["category"]) == ("Welcome to Jekyll!", "jekyll")
    assert article["publishedAt"] == "2026-01-22T21:53:13.000Z"
    assert article["contentHtml"].startswith("<p>You’ll find this post in your <code>_posts</code> directory.</p>\n")
    assert printed.splitlines() == [
        "Left out: categories after the first (1 article: welcome-to-jekyll)",
        "Left out: layout (1 article: welcome-to-jekyll)",
        "Shortcodes or templates, which stay as text (1 article: welcome-to-jekyll)",
    ]


def test_posts_of_eleventys_base_blog_arrive(site):
    printed = site.imports(DATA / "eleventy", "--site", "https://www.example.com/blog/")
    assert printed == "Left out: files with front matter in JavaScript or JSON (1 article: fifthpost.md)\n"
    article = site.read("fourthpost")
    assert article["keywords"] == ["second tag"]
    assert '<img src="https://www.example.com/blog/fourthpost/possum.png" alt=' in article["contentHtml"]


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
        ("published: true", "metaTitle", "Fish & Chips"),
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
    report = site.refuse("a", "menu.csv")
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


def test_relative_urls_are_completed_with_the_site(site):
    site.write({"posts/2026/a.md": RELATIVE})
    assert site.imports("posts", "--site", "https://www.example.com/blog") == ""
    article = site.articles()["a"]
    assert article["bannerUrl"] == "https://www.example.com/banner%201.jpg"
    html = article["contentHtml"]
    assert re.findall(r"""(?:href|src)=["'](.*?)["']""", html) == [
        "https://www.example.com/blog/2026/b.html",
        "#c",
        "mailto:d@example.com",
        "https://e.example/x?a=1&amp;b=2",
        "https://www.example.com/f%20f.png",
        "https://www.example.com/blog/2026/g%20h",
        "//cdn.example/i.png",
        "/k",
    ]
    assert "&lt;img src=&quot;/l.png&quot;&gt;" in html


def test_relative_urls_without_a_site_are_warned_of(site):
    site.write({"a.md": RELATIVE})
    printed = site.imports("a.md")
    assert "Left out: banners without a whole URL. Name your site with --site (1 article: a)\n" in printed
    assert "Warning: Pictures or links whose URL is relative. Write whole URLs, or name your" in printed
    assert site.articles()["a"]["bannerUrl"] == ""


def test_what_is_lost_is_said_of_new_and_changed_articles(site):
    site.write({f"post-{n}.md": f"---\ntitle: {n}\ndate: 2026-01-01\nauthor: A\n---\n" for n in range(5)})
    assert site.imports(".") == "Left out: author (5 articles: post-0, post-1, post-2, …)\n"
    site.write({"post-3.md": "---\ntitle: New\ndate: 2026-01-01\nauthor: A\n---\n"})
    result = site.run("import", ".")
    assert result.stdout == "0 new, 1 changed, 4 unchanged\n"
    assert result.stderr == "Left out: author (1 article: post-3)\n"


@pytest.mark.parametrize("option", [("--site", "www.example.com"), ("--timezone", "Mars/Base"), ("--timezone", "../x")])
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
    assert site.read("old")["publishedAt"] == "2026-01-31T09:30:00.000Z"
    assert "publishedAt" not in json.loads(site.run("export", "never-published").stdout)
    assert site.read("smørrebrød") == {
        "title": "Fish & Chips",
        "bannerUrl": f"{SITE}/wp-content/uploads/a.jpg",
        "keywords": ["menu", "Q&A"],
        "metaTitle": "Fish & Chips",
        "metaDesc": "What we cook: 100% fresh",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food & Drink",
        "contentHtml": '<p class="has-text-align-center">Asparagus is back.</p>\n\n'
        f'<figure class="wp-block-image"><img src="{SITE}/wp-content/uploads/a%20b.jpg" alt=""/></figure>',
    }
    classic = site.read("classic")
    texts = "Classic ]]> “quoted”", "Menu of March", "In & out."
    assert (classic["title"], classic["metaTitle"], classic["metaDesc"]) == texts
    assert classic["contentHtml"] == CLASSIC


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
    assert site.read("smørrebrød")["title"] == "Fish & Chips & more"


def test_wordpress_mistakes_name_the_posts(site):
    site.write({"export.xml": read("wordpress.xml").replace("[old]", "[classic]")})
    report = site.refuse("export.xml")
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
    assert site.read("kaese") == {
        "title": "Käse & Brot",
        "bannerUrl": f"{SITE}/content/images/2026/01/cheese.jpg",
        "keywords": ["Food", "News"],
        "metaTitle": "Cheese",
        "metaDesc": "About cheese",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food",
        "contentHtml": f'<p><a href="{SITE}/other/">Read</a> <img src="{SITE}/content/images/a.png"></p>',
    }
    other = site.read("second")
    assert (other["metaDesc"], other["publishedAt"]) == ("In short", "2026-01-31T09:30:00.000Z")
    assert {record["id"] for record in map(json.loads, site.run("export").stdout.splitlines())} == {
        f"63f0b1c2d3e4f5a6b7c8d90{number}" for number in range(1, 6)
    }


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
    first, second = map(json.loads, site.run("export").stdout.splitlines())
    assert (first["id"], first["title"], first["views"]) == ("1", title, 12)
    assert (first["keywords"], first["contentHtml"]) == (["Obst", "Süßes"], html)
    assert (second["publishedAt"], second["contentHtml"]) == (FUTURE, "<p>Text &amp; &lt;<br>\nmehr</p>\n<p>Text</p>")


# What cannot be read

DOCTYPE = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><rss><channel>&b;</channel></rss>'
GOOD = read("wordpress.xml")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xml", DOCTYPE, "a.xml: It declares a document type"),
        ("a.xml", DOCTYPE.encode("utf-16"), "a.xml: Must be a WordPress export, in XML"),
        ("a.xml", GOOD[:-30], "a.xml: Must be a WordPress export, in XML (unclosed token: line"),
        ("a.xml", GOOD.replace("<link>", "<link>&nbsp;"), "a.xml: Must be a WordPress export, in XML ("),
        ("a.xml", "<rss><channel/></rss>", "a.xml: Must be a WordPress export (WXR)"),
        ("a.xml", b"", "a.xml: Must be a WordPress export, in XML (no element found"),
        ("a.xml", '<?xml version="1.0" encoding="Shift_JIS"?><rss/>', "a.xml: Must be a WordPress export, in XML ("),
        ("a.xml", '<?xml version="1.0" encoding="unknown"?><rss/>', "a.xml: Must be a WordPress export, in XML ("),
        (
            "a.json",
            read("ghost.json").replace('"<p>Text</p>"', "null", 1),
            "a.json, post 63f0b1c2d3e4f5a6b7c8d902 'Second': The export has no HTML of this post.",
        ),
        ("a.json", '{"db": [{"data": {"posts": [{}]}}]}', "a.json: Must be an export of Ghost 3 or newer ("),
        ("a.json", '{"db": []}', "a.json: Must hold an array"),
        ("a.csv", "title\nÄ".encode("cp1252"), "a.csv: Must be text in UTF-8. Save the table as CSV UTF-8."),
        ("a.csv", "title\n".encode("utf-16"), "a.csv: Must be text in UTF-8."),
        ("a.csv", "x," * 1_000_000, "a.csv, line 1: The first line must name the columns, and is too long"),
        ("a.csv", "slug,body\n\nc,d,e", "a.csv, line 3: This row has 3 cells, and the header 2."),
        ("a.csv", 'slug,title\na,"b\nc', "a.csv, line 3: Must be CSV (unexpected end of data)."),
        ("a.csv", "sep=;\nslug;title;slug", "a.csv, line 2: The header must name each column once."),
        ("a.csv", "slug,title,body,date\na,A,x,3/1/2026", "a.csv, line 2, slug 'a': publishedAt:"),
        ("a.csv", "slug,title,body,views\na,A,x,many", "a.csv, line 2, slug 'a': views:"),
        (
            "a.csv",
            "slug,title,body,readTime\na,A,x,1e999",
            "a.csv, line 2, slug 'a': readTime: '1e999' must be a number",
        ),
        ("a/b.html", "---\ntitle: A\nslug: b\nreadTime: 1e999\n---\n", "a/b.html, line 4, slug 'b': readTime: '1e999'"),
        ("a/b.md", "Just text", "a/b.md, line 1: An article file must begin with front matter"),
        ("a/b.md", "---\nslug: b\n---\n", "a/b.md, slug 'b': title: Missing"),
        (
            "a/b.md",
            "+++\ntitle = a\n+++\n",
            "a/b.md: The front matter must be TOML (Invalid value (at line 2, column 9)).",
        ),
    ],
)
def test_files_that_cannot_be_read_are_named(site, name, content, message):
    site.write({name: content, "good.md": "---\ntitle: A\n---\n"})
    report = site.refuse("good.md", name.partition("/")[0])
    assert report.splitlines()[0] == "Error: Nothing was written. What is wrong:"
    assert report.splitlines()[1].startswith(message)
    assert len(report.splitlines()) == 2


def test_all_mistakes_of_all_files_are_named_in_one_run(site):
    site.write({"a/1.md": "x", "a/2.md": "---\ntitle: [\n---\n", "a/3.md": "---\ntitle: A\n---\n"})
    site.write({"b.csv": "title\nB\n", "c.xml": DOCTYPE, "d.jsonl": "{}", "e.json": "{", "f.jsonl": "[]"})
    report = site.refuse("a", "b.csv", "c.xml", "d.jsonl", "e.json", "f.jsonl", "http://[::1/")
    sources = [re.split("[,:]", line)[0] for line in report.splitlines()[1:]]
    assert sources == ["a/1.md", "a/2.md", "c.xml", "e.json", "http", "b.csv", "d.jsonl", "f.jsonl"]


def test_pipes_and_links_in_a_circle_are_refused(site):
    Path("a").mkdir()
    os.mkfifo(Path() / "a/pipe.md")
    (Path() / "a/loop.md").symlink_to("loop.md")
    (Path() / "a/folder").symlink_to(".")
    os.mkfifo(Path() / "pipe.csv")
    report = site.refuse("a", "pipe.csv")
    assert report.splitlines()[1:] == [
        "a/loop.md: It is not a file that can be read. Move it elsewhere.",
        "a/pipe.md: It is not a file that can be read. Move it elsewhere.",
        "pipe.csv: It is not a file that can be read. Name a file.",
    ]


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
