"""Import of folders and files of Markdown and HTML."""

import re
from zoneinfo import ZoneInfo

import pytest
from helpers import PROJECT, save_articles

DATA = PROJECT / "tests/data"
SITE = "https://blog.example.com"


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
    '<pre><code class="language-ruby">puts &quot;Hi, #{name}&quot;\n</code></pre>\n',
}
FOURTH_POST = {
    "keywords": ["second tag"],
    "contentHtml": "<p>Leverage agile frameworks.</p>\n"
    '<img src="https://www.example.com/blog/fourthpost/possum.png" alt="A possum parent">\n',
}


@pytest.mark.parametrize(
    ("folder", "expected", "printed"),
    [
        ("astro", {"first-post": FIRST_POST}, [".mdx (1 file: using-mdx.mdx)"]),
        (
            "hugo",
            {"my-first-post": {"status": "draft"}, "post-3": POST_3 | {"status": "published"}},
            ["files named _* (1 file: _index.md)"],
        ),
        (
            "jekyll",
            {"welcome-to-jekyll": WELCOME},
            ["update (1 article: welcome-to-jekyll)", "layout (1 article: welcome-to-jekyll)"],
        ),
        (
            "eleventy",
            {"fourthpost": FOURTH_POST},
            ["front matter in JavaScript or JSON (1 file: fifthpost.md)"],
        ),
    ],
)
def test_posts_of_a_starter_arrive(importer, folder, expected, printed):
    report = importer.imports(DATA / folder, "--site", "https://www.example.com/blog/")
    assert len(report.splitlines()) == len(printed)
    assert all(words in report for words in printed)
    articles = importer.articles()
    assert articles.keys() == expected.keys()
    assert all(articles[slug].items() >= fields.items() for slug, fields in expected.items())


def test_folder_that_is_a_link_is_left_out_and_said(importer, tmp_path):
    importer.write({"posts/tea.md": "---\ntitle: Tea\n---\nGreen"})
    (tmp_path / "posts" / "others").symlink_to(DATA / "hugo")
    assert "folders that are links (1 folder: others)" in importer.imports(tmp_path / "posts")
    assert importer.articles().keys() == {"tea"}


def test_what_is_left_out_is_said_if_articles_become_drafts(importer, tmp_path):
    post = "---\ntitle: Tea\ndate: 2026-01-01\n---\nGreen"
    importer.write({"posts/tea.md": post, "posts/others/oat.md": post})
    importer.imports("posts")
    (tmp_path / "posts" / "others").rename("others")
    (tmp_path / "posts" / "others").symlink_to(tmp_path / "others")
    result = importer.run("import", "posts", "--unpublish-missing")
    assert "folders that are links (1 folder: others)" in result.stderr
    assert importer.states() == {"tea": "published", "oat": "draft"}


def test_words_of_jekyll_are_split_without_a_comma_alone(importer):
    for tags, keywords in (("one two", ["one", "two"]), ("one two, three", ["one two", "three"])):
        importer.write({"2026-01-01-a.md": f"---\nlayout: post\ntitle: A\ntags: {tags}\n---\n"})
        importer.imports(".")
        assert importer.articles()["a"]["keywords"] == keywords


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
def test_fields_of_other_names_are_taken_over(importer, front_matter, field, value):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n{front_matter}\n---\nText\n"})
    assert "slug" not in importer.imports("a.md")
    (article,) = importer.articles().values()
    assert article[field] == value


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
def test_dates_of_every_form_take_the_zone_that_is_named(importer, date, moment):
    importer.write(
        {"a.md": f'---\ntitle: A\ndate: "{date}"\n---\n', "b.csv": f'slug,title,body,date\nb,B,x,"{date}"\n'}
    )
    importer.imports("a.md", "b.csv", "--timezone", "America/Los_Angeles")
    assert {article["publishedAt"] for article in importer.articles().values()} == {moment}


def test_file_without_a_date_is_a_draft_or_keeps_what_it_has(importer):
    importer.write({"2026-01-01-named.md": "---\ntitle: A\n---\n", "none.md": "---\ntitle: B\n---\n"})
    assert "drafts if they are new (1 article: none)\n" in importer.imports(".")
    assert importer.states() == {"none": "draft", "named": "published"}
    assert importer.articles()["named"]["publishedAt"] == "2026-01-01T00:00:00.000Z"
    importer.run("publish", "none")
    importer.write({"none.md": "---\ntitle: C\n---\n"})
    importer.imports(".")
    assert importer.articles()["none"]["title"] == "C"


def test_draft_that_gets_a_date_is_published(importer):
    drafts = "draft: true\ndate: 2026-01-01", "published: false\ndate: 2026-01-01", ""  # the second one is Jekyll's
    for fields, state in ((drafts, "draft"), (["date: 2026-01-01"] * 3, "published")):
        importer.write({f"{n}.md": f"---\ntitle: A\n{text}\n---\n" for n, text in enumerate(fields)})
        importer.imports(".")
        assert importer.states() == dict.fromkeys("012", state)


def test_slug_is_made_from_the_title_if_there_is_no_file_name(importer):
    long = "x " * 300
    importer.write({"a.csv": f"title,body,date\nCafé – Größe? Да!,x,2026-01-01\n{long},x,2026-01-01\n"})
    importer.imports("a.csv")
    assert importer.articles().keys() == {"cafe-große-да", "-".join("x" * 85)}


def test_article_is_found_by_its_id_or_by_its_slug(app, importer):
    save_articles(app, {"id": "mine", "slug": "menu", "title": "Old", "contentHtml": "", "status": "published"})
    importer.write({"menu.md": "---\nid: theirs\ntitle: New\ndate: 2026-01-01\n---\n"})
    assert importer.run("import", "menu.md").stdout.startswith("0 new, 1 changed")
    assert importer.articles()["menu"]["id"] == "mine"
    importer.write({"other.md": "---\nid: mine\ntitle: New\ndate: 2026-01-01\n---\n"})
    assert importer.run("import", "other.md").stdout.startswith("0 new, 1 changed")
    assert list(importer.articles()) == ["other"]


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/Los_Angeles", "Pacific/Kiritimati", "UTC"])
def test_date_without_a_time_is_that_day_in_utc(importer, zone):
    importer.write(
        {"a.md": "---\ntitle: A\ndate: 2026-03-04\n---\n", "b.csv": "slug,title,date,body\nb,B,04.03.2026,x\n"}
    )
    importer.imports("a.md", "b.csv", "--timezone", zone)
    assert {article["publishedAt"][:10] for article in importer.articles().values()} == {"2026-03-04"}


RELATIVE = """---
title: A
date: 2026-01-01
image: /banner 1.jpg
---
[a](b.html) [c](#c) [d](mailto:d@example.com) [e](https://e.example/x?a=1&b=2) ![f](/f%20f.png)

<a class="x" href='g h'>g</a> <img alt="" src="//cdn.example/i.png"> <a data-href="/k" name="k">k</a>

`<img src="/l.png">`
"""


def test_relative_urls_are_completed_with_the_site_or_warned_of(importer):
    importer.write({"posts/2026/a.md": RELATIVE})
    printed = importer.imports("posts")
    assert "--site or SITE_URL): /banner 1.jpg (1 article: a)\n" in printed
    assert "Warning: Pictures or links whose URL is relative. Write whole URLs, or name your" in printed
    assert importer.articles()["a"]["bannerUrl"] == ""
    assert importer.imports("posts", "--site", "https://www.example.com/blog") == ""
    article = importer.articles()["a"]
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


def test_markdown_of_github_is_rendered(importer):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n---\n{GITHUB_MARKDOWN}"})
    assert importer.imports("a.md") == ""
    html = importer.only()["contentHtml"]
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


def test_links_to_files_of_the_folder_lead_to_their_articles(importer):
    post = "---\ntitle: A\ndate: 2026-01-01\n{}\n---\n"
    importer.write(
        {"posts/a.md": post.format("image: ../../assets/x.jpg") + LINKS, "posts/e/index.md": post.format("")}
    )
    importer.write({"posts/other/2026-01-02-b.md": post.format(""), "posts/c d.markdown": post.format("slug: see")})
    importer.write({"out.md": post.format("")})
    printed = importer.imports("posts", "--site", "https://www.example.com/blog/")
    lines = [line for line in printed.splitlines() if "(1 article: a)" in line]
    for line, words in zip(lines, ("../", "none.md", "--site", "../../assets/x.jpg"), strict=True):
        assert words in line
    assert re.findall('(?:href|src)="(.*?)"', importer.only()["contentHtml"]) == [
        "https://www.example.com/blog/b#part-one",
        "https://www.example.com/blog/see",
        "https://www.example.com/blog/e",
        "none.md",
        f"{'x' * 300}.md",
        "../out.md",
        "../../assets/x.jpg",
        "https://www.example.com/blog/y.jpg",
    ]


LINK = """<a href="{{ '/b c' | relative_url }}">b</a>"""


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (LINK, "{{ }}"),
        ("{{ site.url }}", "{{ }}"),
        ("{%- include a %} {% include b %}", "{% include %}"),
        ("{{&lt; figure src=a >}}", "{{< figure >}}"),
        ("{{% note %}}Hi{{% /note %}}", "{{< note >}}"),
        ("<p>{: .lead}</p>", "{: …}"),
        ("<p>{:.lead}</p>", "{: …}"),
        ("<p>Text {.lead}</p>", "{.class}"),
        ("<p>*[HTML]: HyperText</p>", "*[abbreviation]: …"),
        ('<div class="a" markdown="block">*b*</div>', 'markdown="1"'),
        ("$$ x^2 $$", "$$ … $$"),
        ("<h2>Title {/*title*/}</h2>", "{/* … */}"),
        ('<YouTube id="1" />', "<YouTube>"),
        ("<lite-youtube videoid='1'></lite-youtube>", "<lite-youtube>"),
        ("<Button>Buy</Button>", "<Button>"),
        ('[gallery ids="1"]', "[gallery]"),
    ],
)
def test_markup_of_other_systems_stays_and_is_reported_by_name(importer, text, name):
    importer.write({"a.html": f"---\ntitle: A\ndate: 2026-01-01\n---\n{text}\n"})
    (line,) = importer.imports("a.html", "--site", SITE).splitlines()
    assert line.endswith(f": {name} (1 article: a)")
    assert importer.only()["contentHtml"] == text


@pytest.mark.parametrize(
    "text",
    [
        "<pre><code>&lt;T&gt; {.a} {: .b} {/* c */} $$ d $$</code></pre>",
        "<svg><linearGradient id='a'/><foreignObject>b</foreignObject></svg><math><mi>x</mi></math>",
        "<!-- <Note> --><script>let a = '<Note>'</script><DIV>a</DIV><details open><summary>b</summary></details>",
        "<p>Costs $5 or $$, { a } and 1 < 2</p>",
    ],
)
def test_html_that_browsers_show_is_not_reported(importer, text):
    importer.write({"a.html": f"---\ntitle: A\ndate: 2026-01-01\n---\n{text}\n"})
    assert importer.imports("a.html") == ""


def test_article_of_hugo_that_has_expired_is_a_draft(importer):
    post = "---\ntitle: A\ndate: 2026-01-01\nexpiryDate: {}\n---\n"
    importer.write({"posts/past.md": post.format("2026-02-01"), "posts/later.md": post.format("2999-01-01")})
    drafts, dropped = importer.imports("posts").splitlines()
    assert "expiryDate (1 article: past)" in drafts
    assert "expiryDate (1 article: later)" in dropped
    assert importer.states() == {"past": "draft", "later": "published"}


def test_site_and_zone_of_the_settings_are_the_defaults(app, importer, monkeypatch):
    importer.write({"a.md": "---\ntitle: A\ndate: 2026-01-01 08:00\n---\n[b](/b)"})
    importer.imports("a.md", "--site", "https://www.example.com", "--timezone", "Europe/Berlin")
    monkeypatch.setitem(app.config, "SITE_URL", "https://www.example.com")
    monkeypatch.setitem(app.config, "TIMEZONE", ZoneInfo("Europe/Berlin"))
    assert importer.run("import", "a.md").stdout == "0 new, 0 changed, 1 unchanged\n"


def test_what_is_lost_is_said_of_new_and_changed_articles(importer):
    importer.write({f"a/post-{n}.md": f"---\ntitle: {n}\ndate: 2026-01-01\nauthor: A\n---\n" for n in range(5)})
    assert importer.imports("a").endswith(": author (5 articles: post-0, post-1, post-2, …)\n")
    importer.write({"a/post-3.md": "---\ntitle: New\ndate: 2026-01-01\nauthor: A\n---\n"})
    result = importer.run("import", "a")
    assert result.stdout == "0 new, 1 changed, 4 unchanged\n"
    assert result.stderr.endswith(": author (1 article: post-3)\n")


@pytest.mark.parametrize(
    "option",
    [
        ("--site", "www.example.com"),
        ("--site", "https://www.example.com/\udcff"),
        ("--timezone", "Mars/Base"),
        ("--timezone", "../x"),
    ],
)
def test_wrong_site_or_zone_is_wrong_usage(importer, option):
    importer.write({"a.md": "---\ntitle: A\n---\n"})
    assert importer.run("import", "a.md", *option).exit_code == 2
