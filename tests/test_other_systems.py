"""Import from other systems: WordPress, Ghost, folders of static sites, tables."""

import csv
import io
import json
import os
import re
from functools import partial
from types import SimpleNamespace
from zoneinfo import ZoneInfo

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


def test_folder_that_is_a_link_is_left_out_and_said(site, tmp_path):
    site.write({"posts/tea.md": "---\ntitle: Tea\n---\nGreen"})
    (tmp_path / "posts" / "others").symlink_to(DATA / "hugo")
    assert "Left out: folders that are links (1 article: others)" in site.imports(tmp_path / "posts")
    assert site.articles().keys() == {"tea"}


def test_what_is_left_out_is_said_if_articles_become_drafts(site, tmp_path):
    post = "---\ntitle: Tea\ndate: 2026-01-01\n---\nGreen"
    site.write({"posts/tea.md": post, "posts/others/oat.md": post})
    site.imports("posts")
    (tmp_path / "posts" / "others").rename("others")
    (tmp_path / "posts" / "others").symlink_to(tmp_path / "others")
    result = site.run("import", "posts", "--unpublish-missing")
    assert result.stderr == "Left out: folders that are links (1 article: others)\n"
    assert site.states() == {"tea": "published", "oat": "draft"}


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
        ("categories: Other\ncategory: News", "category", "News"),
        ("cover: https://a.example/a b.jpg", "bannerUrl", "https://a.example/a%20b.jpg"),
        ("featured_image: https://a.example/a.jpg", "bannerUrl", "https://a.example/a.jpg"),
        ("image: {src: 'https://a.example/a.jpg', alt: x}", "bannerUrl", "https://a.example/a.jpg"),
        ("hero: {image: {url: 'https://a.example/a.jpg'}}", "bannerUrl", "https://a.example/a.jpg"),
        ("image: //cdn.example/a.jpg", "bannerUrl", "https://cdn.example/a.jpg"),
        ("images: ['https://a.example/a.jpg']", "bannerUrl", "https://a.example/a.jpg"),
        ("published: true", "status", "published"),
        ("slug: /menu/spring menu/", "slug", "menu-spring-menu"),
        ("Slug: menu", "slug", "menu"),
        ("id: a-17", "id", "a-17"),
    ],
)
def test_fields_of_other_names_are_taken_over(site, front_matter, field, value):
    site.write({"a.md": f"---\ntitle: <b>Fish</b> &amp; Chips\ndate: 2026-01-01\n{front_matter}\n---\nText\n"})
    assert "Left out: slug" not in site.imports("a.md")
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
        ("01.03.26", "2026-03-01T08:00:00.000Z"),
        ("2026-11-01 01:30", "2026-11-01T08:30:00.000Z"),  # The clock has this hour twice.
        ("2026-03-01 10:00", "2026-03-01T18:00:00.000Z"),
        ("2026-07-01 10:00:30.5", "2026-07-01T17:00:30.500Z"),
        ("2026-03-01 10:00:00 +01:00", "2026-03-01T09:00:00.000Z"),
        ("2026-03-01 10:00:00 -0500", "2026-03-01T15:00:00.000Z"),
        ("2026-03-01 10:00:00 UTC", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000Z"),
        ("2026-03-01T10", "2026-03-01T18:00:00.000Z"),
        ("2026-03-01 10", "2026-03-01T18:00:00.000Z"),
        ("01.03.2026 10", "2026-03-01T18:00:00.000Z"),
        ("2026-03-01 1000", "2026-03-01T18:00:00.000Z"),
        ("Sun, 01 Mar 2026 10:00:00 +0100", "2026-03-01T09:00:00.000Z"),
        ("Sun, 01 Mar 2026 10:00:00 -0000", "2026-03-01T10:00:00.000Z"),
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


def test_slug_is_made_from_the_title_if_there_is_no_file_name(site):
    long = "x " * 300
    site.write({"a.csv": f"title,body,date\nCafé – Größe? Да!,x,2026-01-01\n{long},x,2026-01-01\n"})
    site.imports("a.csv")
    assert site.articles().keys() == {"cafe-grosse-да", "-".join("x" * 85)}


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
    assert "Left out: banners without a whole URL. Write it, or set --site or SITE_URL (1 article: a)\n" in printed
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


GITHUB_MARKDOWN = """~~old~~ https://a.example/b. README.md www.a.example me@a.example

- [x] done

## Part *two*: `a_b`
## Part two a_b

[jump](#part-two-a_b) text[^1]

[^1]: word
"""


def test_markdown_of_github_is_rendered(site):
    site.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n---\n{GITHUB_MARKDOWN}"})
    assert site.imports("a.md") == ""
    html = only(site)["contentHtml"]
    for part in (
        '<p><s>old</s> <a href="https://a.example/b">https://a.example/b</a>. README.md www.a.example me@a.example</p>',
        '<input class="task-list-item-checkbox" checked="checked" disabled="disabled" type="checkbox"> done',
        '<h2 id="part-two-a_b">Part <em>two</em>: <code>a_b</code></h2>',
        '<h2 id="part-two-a_b-1">Part two a_b</h2>',
        '<a href="#part-two-a_b">jump</a>',
        '<li id="fn1" class="footnote-item"><p>word <a href="#fnref1"',
    ):
        assert part in html


LINKS = f"""[b](other/2026-01-02-b.md#part-one) [c](<c d.markdown>) [e](e/index.md) [none](none.md)
[long]({"x" * 300}.md) [out](../out.md)
![x](../../assets/x.jpg) ![y](y.jpg)
"""


def test_links_to_files_of_the_folder_lead_to_their_articles(site):
    post = "---\ntitle: A\ndate: 2026-01-01\n{}\n---\n"
    site.write({"posts/a.md": post.format("image: ../../assets/x.jpg") + LINKS, "posts/e/index.md": post.format("")})
    site.write({"posts/other/2026-01-02-b.md": post.format(""), "posts/c d.markdown": post.format("slug: see")})
    site.write({"out.md": post.format("")})
    printed = site.imports("posts", "--site", "https://www.example.com/blog/")
    assert printed.splitlines()[:2] == [
        "Left out: banners without a whole URL. Write it, or set --site or SITE_URL (1 article: a)",
        "Pictures whose path begins with ../, which your site has elsewhere when it is built (1 article: a)",
    ]
    assert re.findall('(?:href|src)="(.*?)"', only(site)["contentHtml"]) == [
        "https://www.example.com/blog/b#part-one",
        "https://www.example.com/blog/see",
        "https://www.example.com/blog/e",
        "https://www.example.com/blog/none.md",
        f"https://www.example.com/blog/{'x' * 300}.md",
        "https://www.example.com/out.md",
        "../../assets/x.jpg",
        "https://www.example.com/blog/y.jpg",
    ]


LINK = """<a href="{{ '/b c' | relative_url }}">b</a>"""


@pytest.mark.parametrize("text", [LINK, "{{ site.url }}", "{% include a %}", "{: .lead}", "{:.lead}", "{{&lt; a >}}"])
def test_templates_in_the_content_stay_and_are_said(site, text):
    site.write({"a.html": f"---\ntitle: A\ndate: 2026-01-01\n---\n{text}\n"})
    assert site.imports("a.html", "--site", SITE) == "Shortcodes or templates, which stay as text (1 article: a)\n"
    assert only(site)["contentHtml"] == text


def test_article_of_hugo_that_has_expired_is_a_draft(site):
    post = "---\ntitle: A\ndate: 2026-01-01\nexpiryDate: {}\n---\n"
    site.write({"past.md": post.format("2026-02-01"), "later.md": post.format("2999-01-01")})
    assert site.imports(".").splitlines() == [
        "Left out: expiryDate (1 article: later)",
        "Drafts, because their expiryDate is past (1 article: past)",
    ]
    assert site.states() == {"past": "draft", "later": "published"}


def test_site_and_zone_of_the_settings_are_the_defaults(app, site, monkeypatch):
    site.write({"a.md": "---\ntitle: A\ndate: 2026-01-01 08:00\n---\n[b](/b)"})
    site.imports("a.md", "--site", "https://www.example.com", "--timezone", "Europe/Berlin")
    monkeypatch.setitem(app.config, "SITE_URL", "https://www.example.com")
    monkeypatch.setitem(app.config, "TIMEZONE", ZoneInfo("Europe/Berlin"))
    assert site.run("import", "a.md").stdout == "0 new, 0 changed, 1 unchanged\n"


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
        "Left out: wp:latest-posts (1 article: smørrebrød)",
        "Left out: texts with placeholders of Yoast or Rank Math (1 article: classic)",
        "Shortcodes or templates, which stay as text (1 article: classic)",
        "Drafts, because they are private or have a password (2 articles: for-friends, private)",
    ]
    drafts = ["never-published-20", "for-friends", "private", "pending"]
    published = ["smørrebrød", "classic", "old"]
    states = {"scheduled": "scheduled"} | dict.fromkeys(drafts, "draft") | dict.fromkeys(published, "published")
    assert site.states() == states
    articles = site.articles()
    assert articles["old"]["publishedAt"] == "2026-01-31T09:30:00.000Z"
    assert "publishedAt" not in articles["never-published-20"]
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
    assert articles["smørrebrød"]["metaTitle"] == "Fish & Chips - Café Blog"
    texts = {"title": "Classic ]]> “quoted”", "metaTitle": "Menu of March"}
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
    site.write({"export.xml": text.replace("<![CDATA[Fish &amp; Chips]]>", "Fish &#038; Chips &amp;lt;b&amp;gt;")})
    site.imports("export.xml")
    assert site.articles()["smørrebrød"]["title"] == "Fish & Chips <b>"


def test_wordpress_mistakes_name_the_posts(site):
    site.write({"export.xml": read("wordpress.xml").replace("[old]", "[classic]")})
    report = site.run("import", "export.xml").stderr
    assert "export.xml, post 26 'Without its time in UTC', slug 'classic': The article with the slug" in report
    assert "also in export.xml, post 18 'Classic " in report


def wordpress(*posts, attachments=(30,)):
    """Return an export of posts, each a dictionary by element name, with metadata by key in `meta`."""
    xml = read("wordpress.xml")
    head, namespaces = xml.partition("\t<item>")[0], {"content": "content:encoded", "title": "title"}
    terms = "<wp:category><wp:term_id>7</wp:term_id><wp:cat_name>Food &amp; Drink</wp:cat_name></wp:category>"
    items = [{"post_id": id, "post_type": "attachment", "attachment_url": f"{SITE}/{id}.jpg"} for id in attachments]
    for number, post in enumerate(posts, start=1):
        dates = {"post_date_gmt": "2026-01-31 09:30:00", "post_modified_gmt": "2026-01-31 09:30:00"}
        items.append({"post_id": number, "post_type": "post", "status": "publish", "title": "A"} | dates | post)
    lines = []
    for item in items:
        lines += [f"<item>{item.pop('raw', '')}"]
        for key, value in item.pop("meta", {}).items():
            lines += [
                f"<wp:postmeta><wp:meta_key>{key}</wp:meta_key><wp:meta_value>{value}</wp:meta_value></wp:postmeta>"
            ]
        lines += [f"<{(tag := namespaces.get(n, f'wp:{n}'))}><![CDATA[{v}]]></{tag}>" for n, v in item.items()]
        lines += ["</item>"]
    return f"{head}{terms}{''.join(lines)}</channel></rss>"


def only(site, slug="a"):
    return site.articles()[slug]


WORDPRESS_CONTENT = {
    '[caption id="a" width="300"]<a href="https://a.b/c"><img src="/a.jpg" /></a> A [fine] <em>day</em>[/caption]': (
        f'<figure><a href="https://a.b/c"><img src="{SITE}/a.jpg" /></a><figcaption>A [fine] <em>day</em></figcaption>'
        "</figure>"
    ),
    """[caption id="a" caption="It's x"]<img src="https://a.b/a.jpg">[/caption]""": (
        """<figure><img src="https://a.b/a.jpg"><figcaption>It's x</figcaption></figure>"""
    ),
    '[caption width="3"]<img src="https://a.b/a.jpg" alt="A > B"> A [/caption]': (
        '<figure><img src="https://a.b/a.jpg" alt="A > B"><figcaption>A</figcaption></figure>'
    ),
    "See\n\n[embed width=3]https://v.example/1?a=b&c[/embed]": (
        '<p>See</p>\n<p><a href="https://v.example/1?a=b&c">https://v.example/1?a=b&c</a></p>'
    ),
    "https://v.example/1\r\n\r\nand https://v.example/2": (
        '<p><a href="https://v.example/1">https://v.example/1</a></p>\n<p>and https://v.example/2</p>'
    ),
    "<!-- wp:paragraph --><p>https://v.example/1</p><!-- /wp:paragraph --><p>at https://v.example/2</p>": (
        '<p><a href="https://v.example/1">https://v.example/1</a></p><p>at https://v.example/2</p>'
    ),
    '<!-- wp:embed {"url":"https://v.example/1"} -->\n<figure><div>\nhttps://v.example/1\n</div></figure>\n'
    "<!-- /wp:embed -->": ('<figure><div>\n<a href="https://v.example/1">https://v.example/1</a>\n</div></figure>'),
}


@pytest.mark.parametrize(("content", "html"), WORDPRESS_CONTENT.items())
def test_captions_and_embeds_of_wordpress_arrive_in_silence(site, content, html):
    site.write({"export.xml": wordpress({"post_name": "a", "content": content}, attachments=())})
    assert site.imports("export.xml") == ""
    assert only(site)["contentHtml"] == html


def test_untitled_drafts_of_wordpress_stop_nothing(site):
    draft = {"status": "draft", "title": "", "post_name": ""}
    drafts = [draft | {"content": "One"}, draft | {"content": "Two"}, draft, draft | {"title": "Menu"}]
    site.write({"export.xml": wordpress({"post_name": "menu"}, *drafts)})
    assert "Left out: drafts without a title and content (1 article: 4)\n" in site.imports("export.xml")
    states = dict.fromkeys(("no-title-2", "no-title-3", "menu-5"), "draft")
    assert site.states() == states | {"menu": "published"}
    assert only(site, "no-title-2")["title"] == "(no title)"


def test_what_wordpress_does_not_export_is_said(site):
    blocks = '<!-- wp:latest-posts {"a":1} /--><!-- wp:block {"ref":3} /--><!-- wp:paragraph --><p>x</p>'
    meta = {"_thumbnail_id": "31", "_yoast_wpseo_metadesc": "%%title%% of %%category%%"}
    site.write({"export.xml": wordpress({"post_name": "a", "content": blocks, "meta": meta})})
    assert site.imports("export.xml").splitlines() == [
        "Left out: posts of the type attachment (1 article: 30)",
        "Left out: texts with placeholders of Yoast or Rank Math (1 article: a)",
        "Left out: featured images that this file lacks (export All content) (1 article: a)",
        "Left out: wp:latest-posts (1 article: a)",
        "Left out: wp:block (1 article: a)",
    ]
    assert only(site)["contentHtml"] == "<p>x</p>"


def test_placeholders_and_primary_category_of_yoast_count(site):
    for key, text in (
        ("_yoast_wpseo_title", "%%title%% %%page%% %%sep%% %%sitename%% &amp;amp; more"),
        ("rank_math_title", "%title% %sep% %sitename% &amp;amp; more"),
    ):
        meta = {"_thumbnail_id": "30", "_yoast_wpseo_primary_category": "7", key: text}
        raw = '<category domain="category">News</category><category domain="category">Food &amp;amp; Drink</category>'
        site.write({"export.xml": wordpress({"post_name": "a", "title": "Menu", "meta": meta, "raw": raw})})
        site.imports("export.xml")
        article = only(site)
        assert (article["metaTitle"], article["category"]) == ("Menu - Café Blog & more", "Food & Drink")
        assert article["bannerUrl"] == f"{SITE}/30.jpg"


def test_wordpress_post_is_the_same_after_its_slug_changed(site):
    for slugs, printed in ((["menu", "b"], "2 new"), (["menu-2025", "menu"], "0 new, 2 changed")):
        site.write({"export.xml": wordpress(*({"post_name": slug, "title": slug} for slug in slugs))})
        assert site.run("import", "export.xml").stdout.startswith(printed)
        assert {slug: article["id"] for slug, article in site.articles().items()} == {
            slugs[0]: "wordpress-1",
            slugs[1]: "wordpress-2",
        }


def test_ghost_posts_arrive(site):
    printed = site.imports(DATA / "ghost.json", "--site", SITE)
    assert printed.splitlines() == [
        "Left out: pages, and posts that were only sent by email (2 articles: sent, about)",
        "Left out: codeinjection_head (1 article: kaese)",
        "Left out: feature_image_alt (1 article: kaese)",
        "Left out: author (1 article: kaese)",
        "No HTML in the export: drafts, which are empty here (1 article: untouched)",
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


def test_parts_for_members_of_a_ghost_post_are_left_out(site):
    parts = (
        f'<!--kg-gated-block:begin {who} memberSegment:"status:free" -->{who}<!--kg-gated-block:end-->'
        for who in ("nonMember:true", "nonMember:false", "")
    )
    export = json.loads(read("ghost.json"))
    export["db"][0]["data"]["posts"][1]["html"] = f"<p>a</p>{''.join(parts)}<p>z</p>"
    site.write({"ghost.json": json.dumps(export)})
    assert "Left out: parts for members (1 article: second)\n" in site.imports("ghost.json", "--site", SITE)
    assert re.sub("<!--.*?-->", "", only(site, "second")["contentHtml"]) == "<p>a</p>nonMember:true<p>z</p>"


GHOST_HTML = """<a href="__GHOST_URL__">Home</a> <a href="__GHOST_URL__/">Home</a>
<img src="__GHOST_URL__/content/images/a.jpg" srcset="__GHOST_URL__/content/images/size/w600/a.jpg 600w,
 /content/images/a,b.jpg 1000w" sizes="1px">
<div style="background: url('__GHOST_URL__/content/media/b.jpg')" data-kg-thumbnail="__GHOST_URL__/c.jpg"></div>
<video poster="/d.jpg"></video><div style="background: url(&quot;/e.jpg&quot;)"></div>"""


def test_every_url_of_a_ghost_site_is_completed(site):
    export = json.loads(read("ghost.json"))
    export["db"][0]["data"]["posts"][1]["html"] = GHOST_HTML
    site.write({"ghost.json": json.dumps(export)})
    site.imports("ghost.json", "--site", SITE)
    html = only(site, "second")["contentHtml"]
    expected = GHOST_HTML.replace('"__GHOST_URL__"', f'"{SITE}/"').replace("__GHOST_URL__", SITE)
    for path in ("/content/images/a,b.jpg", "/d.jpg", "/e.jpg"):
        expected = re.sub(rf"(?<!com){path}", SITE + path, expected)
    assert html == expected


def test_ghost_articles_with_urls_are_named_without_a_site(site):
    site.write({"ghost.json": read("ghost.json").replace("__GHOST_URL__/other/", "__GHOST_URL__")})
    printed = site.imports("ghost.json")
    assert "Links and pictures that lack your site. Name it with --site or SITE_URL (1 article: kaese)\n" in printed
    assert '<a href="/">Read</a> <img src="/content/images/a.png">' in only(site, "kaese")["contentHtml"]


# Tables


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_tables_of_a_spreadsheet_arrive(site, separator):
    """Spreadsheets write a byte order mark, CRLF, line breaks in cells, and empty rows after the last one."""
    title, html = 'Äpfel, "süß"; sauer', "<p>a;\n\nb,\tc</p>"
    rows = [
        ["id", "title", "Slug", "publishedAt", "views", "tags", "contentHtml", "Comment", "tags", "Tags"],
        ["1", title, "aepfel", "2026-01-31 09:30", "12", "Obst, Süßes", html, "x", "x", "x"],
        ["2", "Später", "spaeter", FUTURE, "", "", "Text & <\nmehr\r\n\r\nText", "", "", ""],
        [""] * 10,
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    first_line = "sep=|\r\n" if separator == "|" else ""
    site.write({"a.csv": ("\ufeff" + first_line + text.getvalue()).encode()})
    printed = site.imports("a.csv").splitlines()
    assert printed == [f"Left out: {name} (1 article: aepfel)" for name in ("Tags", "Comment", "column 9")]
    first, second = site.articles().values()
    assert (first["id"], first["title"], first["views"]) == ("1", title, 12)
    assert (first["keywords"], first["contentHtml"]) == (["Obst", "Süßes"], html)
    assert (second["publishedAt"], second["contentHtml"]) == (FUTURE, "<p>Text &amp; &lt;<br>\nmehr</p>\n<p>Text</p>")


NO_SLUG = {"posts": [{"id": 1, "title": "A", "type": "page", "slug": None}], "tags": [], "posts_tags": []}


def test_odd_values_end_in_no_traceback(site):
    odd = ["categories: ','", "categories: [null]", "tags: {a: b}", "image: {a: b}", "image: '/[x'", "title: [[B]]"]
    odd += ["date: {a: b}", "slug: [x]", "category: []", "description: [x]", "updated: 0001-01-01", "id: {a: b}"]
    odd += [f"date: 1 Jan 2026 1:{'1' * 30}"]
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
