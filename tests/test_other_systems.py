"""Import from other systems: WordPress, Ghost, folders of static sites, tables."""

import csv
import io
import json
import os
import re
from functools import partial
from types import SimpleNamespace

import pytest
from helpers import LISTS, client_with_key, create_key, run_command, save_articles

FUTURE = "2099-01-31T09:30:00.000Z"


@pytest.fixture
def site(app, tmp_path, monkeypatch):
    """The customer Acme, an empty folder, and functions that import from it and read what arrived."""
    monkeypatch.chdir(tmp_path)
    client = client_with_key(app, create_key(app))
    run = partial(run_command, app, "articles")

    def write(files):
        for name, content in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    def import_twice(*arguments):
        """Import twice, the second time without a change; return what the first one printed on standard error."""
        first, second = run("import", *arguments), run("import", *arguments)
        assert first.exit_code == 0, first.stderr
        assert second.stdout.startswith("0 new, 0 changed, "), second.stdout
        return first.stderr

    def refuse(*arguments):
        """Import what is refused; return the error report."""
        result = run("import", *arguments)
        assert (result.exit_code, result.stdout) == (1, ""), result.output
        assert isinstance(result.exception, SystemExit)
        assert states() == {}
        return result.stderr

    def states():
        lines = run("list").stdout.splitlines()
        return {line.split("\t")[2]: line.split("\t")[0] for line in lines}

    def articles():
        return {article["slug"]: article for article in client.get(f"{LISTS[0]}?take=100").get_json()["data"]}

    return SimpleNamespace(
        write=write, run=run, imports=import_twice, refuse=refuse, states=states, articles=articles, folder=tmp_path
    )


# Static sites' folders, as their own starters write them

ASTRO = """---
title: 'First post'
description: 'Lorem ipsum dolor sit amet'
pubDate: 'Jul 08 2022'
updatedDate: 'Jul 10 2022'
heroImage: '/blog-placeholder-3.jpg'
---

Lorem ipsum **dolor** sit amet, [consectetur](/about/).
"""
HUGO = """+++
date = '2026-01-22T16:53:13Z'
draft = {}
title = 'My First Post'
tags = ['red', 'green']
+++

Anim eiusmod irure incididunt sint cupidatat.
"""
JEKYLL = """---
layout: post
title:  "Welcome to Jekyll!"
date:   2026-01-22 16:53:13 -0500
categories: jekyll update
---
You’ll find this post in your `_posts` directory.

{% highlight ruby %}
puts "Hi, #{name}"
{% endhighlight %}
"""
ELEVENTY = """---
title: This is my fourth post
description: This is a post on My Blog about touchpoints and circling wagons.
date: 2018-09-30
tags: second tag
---
Leverage agile frameworks.

<img src="./possum.png" alt="A possum parent">
"""
ELEVENTY_DRAFT = """---js
const title = "This is a fifth post";
const date = "2023-01-23";
const draft = true;
---
This is a draft post
"""


def test_posts_of_astros_starter_arrive(site):
    site.write({"blog/first-post.md": ASTRO, "blog/using-mdx.mdx": ASTRO})
    printed = site.imports("blog", "--site", "https://www.example.com")
    assert printed == "Left out: files named _* or *.mdx (1 article: using-mdx.mdx)\n"
    article = site.articles()["first-post"]
    del article["id"], article["schemaMarkup"]
    assert article == {
        "title": "First post",
        "slug": "first-post",
        "bannerUrl": "https://www.example.com/blog-placeholder-3.jpg",
        "keywords": [],
        "metaTitle": "First post",
        "metaDesc": "Lorem ipsum dolor sit amet",
        "publishedAt": "2022-07-08T00:00:00.000Z",
        "category": "",
        "readTime": 1,
        "contentHtml": "<p>Lorem ipsum <strong>dolor</strong> sit amet, "
        '<a href="https://www.example.com/about/">consectetur</a>.</p>\n',
    }
    assert json.loads(site.run("export").stdout)["updatedAt"] == "2022-07-10T00:00:00.000Z"


def test_posts_of_hugo_arrive(site):
    draft, published = HUGO.format("true"), HUGO.format("false")
    site.write({"posts/my-first-post.md": draft, "posts/post-3/index.md": published, "posts/_index.md": published})
    printed = site.imports("posts")
    assert printed == "Left out: files named _* or *.mdx (1 article: _index.md)\n"
    assert site.states() == {"my-first-post": "draft", "post-3": "published"}
    article = site.articles()["post-3"]
    assert (article["title"], article["keywords"]) == ("My First Post", ["red", "green"])
    assert article["publishedAt"] == "2026-01-22T16:53:13.000Z"


def test_post_of_jekylls_starter_arrives(site):
    site.write({"_posts/2026-01-22-welcome-to-jekyll.markdown": JEKYLL})
    printed = site.imports(".")
    article = site.articles()["welcome-to-jekyll"]
    assert (article["title"], article["category"]) == ("Welcome to Jekyll!", "jekyll")
    assert article["publishedAt"] == "2026-01-22T21:53:13.000Z"
    assert article["contentHtml"].startswith("<p>You’ll find this post in your <code>_posts</code> directory.</p>\n")
    assert printed.splitlines() == [
        "Left out: categories after the first (1 article: welcome-to-jekyll)",
        "Left out: layout (1 article: welcome-to-jekyll)",
        "Shortcodes or templates, which stay as text (1 article: welcome-to-jekyll)",
    ]


def test_posts_of_eleventys_base_blog_arrive(site):
    site.write({"content/blog/fourthpost/fourthpost.md": ELEVENTY, "content/blog/fifthpost.md": ELEVENTY_DRAFT})
    printed = site.imports("content/blog", "--site", "https://www.example.com/blog/")
    assert printed == "Left out: files with front matter in JavaScript or JSON (1 article: fifthpost.md)\n"
    article = site.articles()["fourthpost"]
    assert article["keywords"] == ["second tag"]
    assert '<img src="https://www.example.com/blog/fourthpost/possum.png" alt=' in article["contentHtml"]


def test_words_of_jekyll_are_split_without_a_comma_alone(site):
    jekyll = "---\nlayout: post\ntitle: A\ntags: {}\n---\n"
    site.write(
        {"2026-01-01-words.md": jekyll.format("one two"), "2026-01-01-comma.md": jekyll.format("one two, three")}
    )
    site.imports(".")
    articles = site.articles()
    assert articles["words"]["keywords"] == ["one", "two"]
    assert articles["comma"]["keywords"] == ["one two", "three"]


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
    site.write({"a.md": "---\ntitle: A\ndraft: true\ndate: 2026-01-01\n---\n", "b.md": "---\ntitle: B\n---\n"})
    site.imports("a.md", "b.md")
    assert set(site.states().values()) == {"draft"}
    site.write({"a.md": "---\ntitle: A\ndate: 2026-01-01\n---\n", "b.md": "---\ntitle: B\ndate: 2026-01-01\n---\n"})
    site.imports("a.md", "b.md")
    assert set(site.states().values()) == {"published"}


def test_published_false_of_jekyll_is_a_draft(site):
    site.write({"a.md": "---\ntitle: A\ndate: 2026-01-01\npublished: false\n---\n"})
    site.imports("a.md")
    assert site.states() == {"a": "draft"}


def test_draft_gives_way_to_an_article_with_its_slug(site):
    post = "---\ntitle: {}\nslug: menu\ndate: 2026-01-01\ndraft: {}\n---\n"
    files = {"a.md": post.format("A", "true"), "b.md": post.format("B", "false"), "c.md": post.format("C", "true")}
    site.write(files | {"d.md": "---\ntitle: D\nslug: menu-2\ndraft: true\n---\n"})
    printed = site.imports(".")
    assert printed == "Drafts with another slug, because an article has theirs (2 articles: menu-3, menu-4)\n"
    assert site.states() == {"menu": "published", "menu-2": "draft", "menu-3": "draft", "menu-4": "draft"}
    assert site.articles()["menu"]["title"] == "B"


def test_two_published_articles_with_one_slug_are_named(site):
    site.write(
        {
            "a/menu.md": "---\ntitle: Our menu\ndate: 2026-01-01\n---\n",
            "menu.csv": "title,date,body\nMenu,2026-01-01,x\n",
        }
    )
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
    assert "Left out: banners whose URL is relative. Name your site with --site (1 article: a)\n" in printed
    assert "relative to a site" in printed
    assert site.articles()["a"]["bannerUrl"] == ""


def test_what_is_lost_is_said_with_the_first_slugs_unless_nothing_changes(site):
    site.write({f"post-{n}.md": f"---\ntitle: {n}\ndate: 2026-01-01\nauthor: A\n---\n" for n in range(5)})
    assert site.imports(".") == "Left out: author (5 articles: post-0, post-1, post-2, …)\n"
    site.write({"post-3.md": "---\ntitle: New\ndate: 2026-01-01\nauthor: A\n---\n"})
    result = site.run("import", ".")
    assert (result.stdout, result.stderr) == (
        "0 new, 1 changed, 4 unchanged\n",
        "Left out: author (1 article: post-3)\n",
    )


def test_files_of_this_service_come_back_as_they_are(site):
    content = '<p>[gallery] &amp; <img src="/a b.jpg"></p>'
    site.write(
        {"a.html": f"---\ntitle: <i>A</i> &amp; B\nslug: a\npublishedAt: 2026-01-01T00:00:00Z\n---\n{content}\n"}
    )
    site.imports("a.html")
    article = site.articles()["a"]
    assert (article["title"], article["contentHtml"]) == ("<i>A</i> &amp; B", content)


@pytest.mark.parametrize("option", [("--site", "www.example.com"), ("--timezone", "Mars/Base"), ("--timezone", "../x")])
def test_wrong_site_or_zone_is_wrong_usage(site, option):
    site.write({"a.md": ASTRO})
    assert site.run("import", "a.md", *option).exit_code == 2


# WordPress

SITE = "https://blog.example.com"
NEVER = "0000-00-00 00:00:00"
BLOCKS = """<!-- wp:paragraph {"align":"center"} -->
<p class="has-text-align-center">Asparagus is back.</p>
<!-- /wp:paragraph -->

<!-- wp:image {"id":30} -->
<figure class="wp-block-image"><img src="/wp-content/uploads/a b.jpg" alt=""/></figure>
<!-- /wp:image -->

<!-- wp:latest-posts {"postsToShow":3} /-->"""
CLASSIC = """The first paragraph
goes on, with <em>emphasis</em> &amp; 1 < 2.<!--more-->

<h2>A heading</h2>
Right after it, *no* _Markdown_.
<ul>
<li>One

<ul><li>Nested</li></ul></li>
</ul>
<blockquote>A quote

of two paragraphs</blockquote>
<PRE>
a

    b
</PRE>
[gallery ids="1,2"]"""


def item(number, title, content="", more="", **fields):
    """Return an item as WordPress exports it; `fields` replace those of a published post."""
    fields = {
        "post_id": number,
        "post_date": "2026-01-31 10:30:00",
        "post_date_gmt": "2026-01-31 09:30:00",
        "post_modified_gmt": "2026-02-01 10:00:00",
        "post_name": f"post-{number}",
        "status": "publish",
        "post_parent": 0,
        "post_type": "post",
        "post_password": "",
    } | fields
    rows = "".join(f"\t\t<wp:{name}><![CDATA[{value}]]></wp:{name}>\n" for name, value in fields.items())
    return f"""\t<item>
\t\t<title><![CDATA[{title}]]></title>
\t\t<link>{SITE}/?p={number}</link>
\t\t<pubDate>Sat, 31 Jan 2026 09:30:00 +0000</pubDate>
\t\t<content:encoded><![CDATA[{content}]]></content:encoded>
\t\t<excerpt:encoded><![CDATA[{fields.pop("excerpt", "")}]]></excerpt:encoded>
{rows}{more}\t</item>
"""


def meta(**values):
    """Return the metadata of an item."""
    return "".join(
        f"\t\t<wp:postmeta>\n\t\t<wp:meta_key><![CDATA[{key}]]></wp:meta_key>\n"
        f"\t\t<wp:meta_value><![CDATA[{value}]]></wp:meta_value>\n\t\t</wp:postmeta>\n"
        for key, value in values.items()
    )


def export(*items):
    return f"""<?xml version="1.0" encoding="UTF-8" ?>
<!-- generator="WordPress/6.8" created="2026-03-01 12:00" -->
<rss version="2.0"
\txmlns:excerpt="http://wordpress.org/export/1.2/excerpt/"
\txmlns:content="http://purl.org/rss/1.0/modules/content/"
\txmlns:dc="http://purl.org/dc/elements/1.1/"
\txmlns:wp="http://wordpress.org/export/1.2/"
>
<channel>
\t<title>Café Blog</title>
\t<link>{SITE}</link>
\t<wp:wxr_version>1.2</wp:wxr_version>
\t<wp:base_site_url>{SITE}</wp:base_site_url>
\t<wp:base_blog_url>{SITE}</wp:base_blog_url>
{"".join(items)}</channel>
</rss>
"""


TERMS = """\t\t<category domain="category" nicename="food"><![CDATA[Food &amp; Drink]]></category>
\t\t<category domain="post_tag" nicename="menu"><![CDATA[menu]]></category>
\t\t<category domain="post_tag" nicename="q-and-a"><![CDATA[Q&amp;A]]></category>
"""
YOAST = meta(
    _thumbnail_id=30,
    _yoast_wpseo_title="%%title%% %%sep%% %%sitename%%",
    _yoast_wpseo_metadesc="What we cook: 100% fresh",
)
RANK_MATH = meta(rank_math_title="Menu of March", rank_math_description="%excerpt%")


def test_wordpress_posts_arrive(site):
    banner = f"\t\t<wp:attachment_url><![CDATA[{SITE}/wp-content/uploads/a.jpg]]></wp:attachment_url>\n"
    site.write(
        {
            "export.xml": export(
                item(17, "Fish &amp; Chips", BLOCKS, TERMS + YOAST, post_name="sm%c3%b8rrebr%c3%b8d"),
                item(18, "Classic ]]]]><![CDATA[> \x08“quoted”", CLASSIC, RANK_MATH, excerpt="<p>In &amp; out.</p>\n"),
                item(30, "a", more=banner, post_type="attachment", status="inherit", post_name="a"),
            )
        }
    )
    printed = site.imports("export.xml")
    assert printed.splitlines() == [
        "Left out: posts of the type attachment (1 article: a)",
        "Shortcodes or templates, which stay as text (1 article: post-18)",
    ]
    articles = site.articles()
    article = articles["smørrebrød"]
    del article["schemaMarkup"]
    assert article == {
        "id": "wordpress-17",
        "title": "Fish & Chips",
        "slug": "smørrebrød",
        "bannerUrl": f"{SITE}/wp-content/uploads/a.jpg",
        "keywords": ["menu", "Q&A"],
        "metaTitle": "Fish & Chips",
        "metaDesc": "What we cook: 100% fresh",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food & Drink",
        "readTime": 1,
        "contentHtml": '<p class="has-text-align-center">Asparagus is back.</p>\n\n'
        f'<figure class="wp-block-image"><img src="{SITE}/wp-content/uploads/a%20b.jpg" alt=""/></figure>',
    }
    classic = articles["post-18"]
    assert (classic["title"], classic["metaTitle"], classic["metaDesc"]) == (
        "Classic ]]> “quoted”",
        "Menu of March",
        "In & out.",
    )
    assert classic["contentHtml"].splitlines() == [
        "<p>The first paragraph<br>",
        "goes on, with <em>emphasis</em> &amp; 1 < 2.</p>",
        "<h2>A heading</h2>",
        "<p>Right after it, *no* _Markdown_.</p>",
        "<ul>",
        "<li>One",
        "",
        "<ul><li>Nested</li></ul></li>",
        "</ul>",
        "<blockquote>",
        "<p>A quote</p>",
        "<p>of two paragraphs</p>",
        "</blockquote>",
        "<PRE>",
        "a",
        "",
        "    b",
        "</PRE>",
        '<p>[gallery ids="1,2"]</p>',
    ]


def test_wordpress_statuses_are_taken_over(site):
    site.write(
        {
            "export.xml": export(
                item(1, "Scheduled", post_date_gmt="2099-01-31 09:30:00", status="future"),
                item(2, "Never published", post_name="", post_date_gmt=NEVER, post_modified_gmt=NEVER, status="draft"),
                item(3, "For friends", post_password="friends"),  # noqa: S106
                item(4, "Private", status="private"),
                item(5, "Pending", status="pending"),
                item(6, "About us", post_type="page"),
                item(7, "Gone", post_name="gone__trashed", status="trash"),
                item(8, "Old", post_date_gmt=NEVER),
            )
        }
    )
    printed = site.imports("export.xml", "--timezone", "Europe/Berlin")
    assert site.states() == {"post-1": "scheduled", "never-published": "draft", "post-8": "published"} | dict.fromkeys(
        ["post-3", "post-4", "post-5"], "draft"
    )
    assert site.articles()["post-8"]["publishedAt"] == "2026-01-31T09:30:00.000Z"
    assert printed.splitlines() == [
        "Left out: posts of the type page (1 article: post-6)",
        "Left out: posts of the status trash (1 article: gone__trashed)",
        "Drafts, because they are private or have a password (2 articles: post-3, post-4)",
    ]


def test_wordpress_export_of_an_older_version_arrives(site):
    """Before WordPress 5.7 titles were escaped and the time of the last change was missing."""
    text = re.sub(r"\t\t<wp:post_modified.*\n", "", export(item(1, "Fish"))).replace("/export/1.2/", "/export/1.0/")
    site.write({"export.xml": text.replace("<![CDATA[Fish]]>", "Fish &#038; Chips &amp; more")})
    site.imports("export.xml")
    assert site.articles()["post-1"]["title"] == "Fish & Chips & more"


def test_wordpress_mistakes_name_the_posts(site):
    site.write({"export.xml": export(item(1, "Menu", post_name="menu"), item(2, "The menu", post_name="menu"))})
    report = site.refuse("export.xml")
    assert (
        "export.xml, post 2 'The menu', slug 'menu': 'The menu' has the same slug as 'Menu' (export.xml, post 1"
        in report
    )


# Ghost


def ghost(*posts, **tables):
    """Return a Ghost 5 export; fields that are given replace those of a published post."""
    rows = [
        {
            "title": f"Post {post['id']}",
            "slug": f"post-{post['id']}",
            "mobiledoc": None,
            "lexical": '{"root":{"children":[]}}',
            "html": "<p>Text</p>",
            "feature_image": None,
            "type": "post",
            "status": "published",
            "visibility": "public",
            "created_at": "2026-01-30T08:00:00.000Z",
            "updated_at": "2026-02-01T10:00:00.000Z",
            "published_at": "2026-01-31T09:30:00.000Z",
            "custom_excerpt": None,
            "codeinjection_head": None,
        }
        | post
        for post in posts
    ]
    data = {"posts": rows, "posts_meta": [], "tags": [], "posts_tags": []} | tables
    return json.dumps({"db": [{"meta": {"exported_on": 1772366400000, "version": "5.130.0"}, "data": data}]})


def test_ghost_posts_arrive(site):
    id = "63f0b1c2d3e4f5a6b7c8d901"
    html = '<p><a href="__GHOST_URL__/other/">Read</a> <img src="__GHOST_URL__/content/images/a.png"></p>'
    fields = {
        "feature_image": "__GHOST_URL__/content/images/2026/01/cheese.jpg",
        "codeinjection_head": "<style></style>",
    }
    site.write(
        {
            "ghost.json": ghost(
                {"id": id, "title": "Käse & Brot", "slug": "kaese", "html": html} | fields,
                {"id": "second", "custom_excerpt": "In short", "published_at": "2026-01-31 09:30:00"},
                {"id": "untouched", "status": "draft", "published_at": None, "html": None},
                {"id": "scheduled", "status": "scheduled", "published_at": FUTURE},
                {"id": "paid", "visibility": "paid"},
                {"id": "sent", "status": "sent"},
                {"id": "about", "type": "page"},
                posts_meta=[{"id": "m1", "post_id": id, "meta_title": "Cheese", "meta_description": "About cheese"}],
                tags=[{"id": "t1", "name": "News"}, {"id": "t2", "name": "Food"}, {"id": "t3", "name": "#newsletter"}],
                posts_tags=[{"post_id": id, "tag_id": f"t{n}", "sort_order": 3 - n} for n in (1, 2, 3)],
            )
        }
    )
    printed = site.imports("ghost.json", "--site", SITE)
    assert printed.splitlines() == [
        "Left out: sent (1 article: post-sent)",
        "Left out: page (1 article: post-about)",
        "Left out: codeinjection_head (1 article: kaese)",
        "Drafts, because they are for members (1 article: post-paid)",
    ]
    drafts = {"post-untouched": "draft", "post-paid": "draft"}
    assert site.states() == {"kaese": "published", "post-second": "published", "post-scheduled": "scheduled"} | drafts
    article = site.articles()["kaese"]
    del article["schemaMarkup"]
    assert article == {
        "id": id,
        "title": "Käse & Brot",
        "slug": "kaese",
        "bannerUrl": f"{SITE}/content/images/2026/01/cheese.jpg",
        "keywords": ["Food", "News"],
        "metaTitle": "Cheese",
        "metaDesc": "About cheese",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food",
        "readTime": 1,
        "contentHtml": f'<p><a href="{SITE}/other/">Read</a> <img src="{SITE}/content/images/a.png"></p>',
    }
    other = site.articles()["post-second"]
    assert (other["metaDesc"], other["publishedAt"]) == ("In short", "2026-01-31T09:30:00.000Z")


# Tables


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_tables_of_a_spreadsheet_arrive(site, separator):
    """Spreadsheets write a byte order mark, CRLF, line breaks in cells, and empty rows after the last one."""
    rows = [
        ["id", "title", "Slug", "status", "publishedAt", "views", "tags", "contentHtml", "Comment"],
        [
            "1",
            'Äpfel, "süß"; sauer',
            "aepfel",
            "published",
            "2026-01-31 09:30",
            "12",
            "Obst, Süßes",
            "<p>a;\n\nb,\tc</p>",
            "x",
        ],
        ["2", "Später", "spaeter", "", FUTURE, "", "", "Text & <\nmehr\n\nText", ""],
        [""] * 9,
    ]
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    first_line = "sep=|\r\n" if separator == "|" else ""
    site.write({"a.csv": ("\ufeff" + first_line + text.getvalue()).encode()})
    assert site.imports("a.csv") == "Left out: Comment (1 article: aepfel)\n"
    first, second = map(json.loads, site.run("export").stdout.splitlines())
    assert (first["id"], first["title"], first["views"]) == ("1", 'Äpfel, "süß"; sauer', 12)
    assert (first["keywords"], first["contentHtml"]) == (["Obst", "Süßes"], "<p>a;\n\nb,\tc</p>")
    assert (second["publishedAt"], second["contentHtml"]) == (FUTURE, "<p>Text &amp; &lt;<br>\nmehr</p>\n<p>Text</p>")


# What cannot be read

DOCTYPE = '<!DOCTYPE rss [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><rss><channel>&b;</channel></rss>'
GOOD = export(item(1, "a"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xml", DOCTYPE, "a.xml: It declares a document type"),
        ("a.xml", DOCTYPE.encode("utf-16"), "a.xml: Must be a WordPress export, in XML"),
        ("a.xml", GOOD[:-30], "a.xml: Must be a WordPress export, in XML (unclosed token: line 29"),
        ("a.xml", GOOD.replace("a]]>", "&nbsp;</title><title>"), "a.xml: Must be a WordPress export, in XML ("),
        ("a.xml", "<rss><channel/></rss>", "a.xml: Must be a WordPress export (WXR)"),
        ("a.xml", b"", "a.xml: Must be a WordPress export, in XML (no element found"),
        ("a.json", ghost({"id": "1", "html": None}), "a.json, post 1 'Post 1': The export has no HTML of this post."),
        ("a.json", '{"db": [{"data": {"posts": [{}]}}]}', "a.json: Must be an export of Ghost 3 or newer ("),
        ("a.json", '{"db": []}', "a.json: Must hold an array"),
        ("a.csv", "title\nÄ".encode("cp1252"), "a.csv: Must be text in UTF-8. Save the table as CSV UTF-8."),
        ("a.csv", "title\n".encode("utf-16"), "a.csv: Must be text in UTF-8."),
        ("a.csv", "x," * 1_000_000, "a.csv, line 1: The first line must name the columns, and is too long"),
        ("a.csv", "slug,body\n\nc,d,e", "a.csv, line 3: This row has 3 cells, and the header 2."),
        ("a.csv", 'slug,title\na,"b\nc', "a.csv, line 3: Must be CSV (unexpected end of data)."),
        ("a.csv", "sep=;\nslug;title;slug", "a.csv, line 2: The header must name each column once."),
        ("a.csv", "slug,title,body,date\na,A,x,01.03.2026", "a.csv, line 2, slug 'a': publishedAt:"),
        ("a.csv", "slug,title,body,views\na,A,x,many", "a.csv, line 2, slug 'a': views:"),
        ("a/b.md", "---\ntitle: !!python/object:os.system x\n---\n", "a/b.md, line 2: "),
        ("a/b.md", "Just text", "a/b.md, line 1: An article file must begin with front matter"),
        ("a/b.md", "---\nslug: b\n---\n", "a/b.md, slug 'b': title: Missing"),
        ("a/b.md", "---\ntitle: Ä\n---\n".encode("cp1252"), "a/b.md, line 2: Must be text in UTF-8."),
        ("a/b.md", "+++\ntitle = a\n+++\n", "a/b.md, line 2: "),
    ],
)
def test_files_that_cannot_be_read_are_named(site, name, content, message):
    site.write({name: content, "good.md": ASTRO})
    report = site.refuse("good.md", name.partition("/")[0])
    assert report.splitlines()[0] == "Error: Nothing was written. What is wrong:"
    assert report.splitlines()[1].startswith(message)
    assert len(report.splitlines()) == 2


def test_all_mistakes_of_all_files_are_named_in_one_run(site):
    site.write(
        {"a/1.md": "x", "a/2.md": "---\ntitle: [\n---\n", "a/3.md": ASTRO, "b.csv": "title\nB\n", "c.xml": DOCTYPE}
    )
    report = site.refuse("a", "b.csv", "c.xml")
    assert [line.partition(":")[0].partition(",")[0] for line in report.splitlines()[1:]] == [
        "a/1.md",
        "a/2.md",
        "c.xml",
        "b.csv",
    ]


def test_pipes_and_links_in_a_circle_are_refused(site):
    (site.folder / "a").mkdir()
    os.mkfifo(site.folder / "a/pipe.md")
    (site.folder / "a/loop.md").symlink_to("loop.md")
    (site.folder / "a/folder").symlink_to(".")
    os.mkfifo(site.folder / "pipe.csv")
    report = site.refuse("a", "pipe.csv")
    assert report.splitlines()[1:] == [
        "a/loop.md: It is no file that can be read. Move it elsewhere.",
        "a/pipe.md: It is no file that can be read. Move it elsewhere.",
        "pipe.csv: It is no file that can be read. Name a file.",
    ]


def test_odd_values_end_in_no_traceback(site):
    odd = ["categories: ','", "categories: [null]", "tags: {a: b}", "image: {a: b}", "image: '/[x'", "title: [[B]]"]
    odd += ["date: {a: b}", "slug: [x]", "category: []", "description: [x]", "updated: 0001-01-01", "id: {a: b}"]
    site.write(
        {f"{n}.md": f"---\ntitle: A\n{line}\n---\n<a href='&#1;//[' src='/\t/['>\n" for n, line in enumerate(odd)}
    )
    site.write({b"\xff.md".decode(errors="surrogateescape"): "---\ntitle: A\n---\n"})
    for name in sorted(os.listdir()):
        result = site.run("import", name, "--site", "https://www.example.com", "--timezone", "Asia/Tokyo")
        assert result.exception is None or isinstance(result.exception, SystemExit), (name, result.exception)
