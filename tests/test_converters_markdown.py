"""Import of folders and files of Markdown and HTML."""

import re
from unicodedata import normalize
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
        ("astro", {"first-post": FIRST_POST}, [".mdx (1)"]),
        (
            "hugo",
            {"my-first-post": {"status": "draft"}, "post-3": POST_3 | {"status": "published"}},
            ["name begins with _ (1)"],
        ),
        (
            "jekyll",
            {"welcome-to-jekyll": WELCOME},
            ["update (1)", "layout (1)"],
        ),
        (
            "eleventy",
            {"fourthpost": FOURTH_POST},
            ["front matter in JavaScript or JSON, not YAML (1)"],
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


def test_folder_that_is_a_link_is_skipped_and_reported(importer, tmp_path):
    importer.write({"posts/tea.md": "---\ntitle: Tea\n---\nGreen"})
    (tmp_path / "posts" / "others").symlink_to(DATA / "hugo")
    assert "folders that are links (1)" in importer.imports(tmp_path / "posts")
    assert importer.articles().keys() == {"tea"}


def test_report_includes_skipped_folders_if_articles_become_drafts(importer, tmp_path):
    post = "---\ntitle: Tea\ndate: 2026-01-01\n---\nGreen"
    importer.write({"posts/tea.md": post, "posts/others/oat.md": post})
    importer.imports("posts")
    (tmp_path / "posts" / "others").rename("others")
    (tmp_path / "posts" / "others").symlink_to(tmp_path / "others")
    result = importer.run("import", "posts", "--unpublish-missing")
    assert "folders that are links (1)" in result.stderr
    assert importer.states() == {"tea": "published", "oat": "draft"}


def test_jekyll_lists_are_split_at_spaces_unless_they_have_commas(importer):
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
        ("2026-11-01 01:30", "2026-11-01T08:30:00.000Z"),  # ambiguous: the first one
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
def test_dates_in_every_format_use_the_named_zone(importer, date, moment):
    importer.write(
        {"a.md": f'---\ntitle: A\ndate: "{date}"\n---\n', "b.csv": f'slug,title,body,date\nb,B,x,"{date}"\n'}
    )
    importer.imports("a.md", "b.csv", "--timezone", "America/Los_Angeles")
    assert {article["publishedAt"] for article in importer.articles().values()} == {moment}


def test_file_without_a_date_is_a_draft_or_keeps_what_it_has(importer):
    importer.write({"2026-01-01-named.md": "---\ntitle: A\n---\n", "none.md": "---\ntitle: B\n---\n"})
    assert "saved as drafts (1): none\n" in importer.imports(".")
    assert importer.states() == {"none": "draft", "named": "published"}
    assert importer.articles()["named"]["publishedAt"] == "2026-01-01T00:00:00.000Z"
    importer.run("publish", "none")
    importer.write({"none.md": "---\ntitle: C\n---\n"})
    importer.imports(".")
    assert importer.articles()["none"]["title"] == "C"


@pytest.mark.parametrize(
    ("fields", "options", "state"),
    [
        ("date: 2026-01-01", [], "draft"),  # a nightly import must not publish it again
        ("date: 2026-01-01\ndraft: false", [], "published"),
        ("date: 2026-01-01\npublished: true", [], "published"),  # Jekyll
        ("draft: false", [], "draft"),
        ("date: 2026-01-01", ["--unpublish-missing"], "published"),
    ],
)
def test_stored_draft_is_published_only_if_the_source_says_so(importer, fields, options, state):
    importer.write({"a.md": "---\ntitle: A\ndraft: true\n---\n"})
    importer.imports("a.md")
    importer.write({"a.md": f"---\ntitle: A\n{fields}\n---\n"})
    importer.imports("a.md", *options)
    assert importer.states() == {"a": state}


def test_slug_is_made_from_the_title_if_there_is_no_file_name(importer):
    long = "x " * 300
    importer.write({"a.csv": f"title,body,date\nCafé – Größe? Да!,x,2026-01-01\n{long},x,2026-01-01\n"})
    importer.imports("a.csv")
    assert importer.articles().keys() == {"cafe-große-да", "-".join("x" * 85)}


def test_article_is_found_by_its_id_or_by_its_slug(app, importer):
    save_articles(app, {"id": "mine", "slug": "menu", "title": "Old", "contentHtml": "", "status": "published"})
    importer.write({"menu.md": "---\nid: theirs\ntitle: New\ndate: 2026-01-01\n---\n"})
    assert importer.run("import", "menu.md").stdout.endswith("0 new, 1 changed, 0 unchanged\n")
    assert importer.articles()["menu"]["id"] == "mine"
    importer.write({"other.md": "---\nid: mine\ntitle: New\ndate: 2026-01-01\n---\n"})
    assert importer.run("import", "other.md").stdout.endswith("0 new, 1 changed, 0 unchanged\n")
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


def test_relative_urls_are_completed_with_the_site_or_reported(importer):
    importer.write({"posts/2026/a.md": RELATIVE})
    printed = importer.imports("posts")
    assert "--site or SITE_URL): /banner 1.jpg (1): a\n" in printed
    assert "relative" in printed
    assert importer.articles()["a"]["bannerUrl"] == ""
    (guessed,) = importer.imports("posts", "--site", "https://www.example.com/blog").splitlines()
    assert "b.html (1), g h (1)" in guessed
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


def test_github_markdown_is_rendered(importer):
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
    lines = [line for line in printed.splitlines() if "(1)" in line]
    for line, words in zip(lines, ("../", "none.md", "../../assets/x.jpg"), strict=True):
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
        ("$$ x^2 $$", "$$ … $$ formulas"),
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
    assert line.endswith(f": {name} (1): a")
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


@pytest.mark.parametrize("name", ["expiryDate", "unpublishDate"])
def test_article_of_hugo_that_has_expired_is_a_draft(importer, name):
    post = f"---\ntitle: A\ndate: 2026-01-01\n{name}: {{}}\n---\n"
    importer.write({"posts/past.md": post.format("2026-02-01"), "posts/later.md": post.format("2999-01-01")})
    drafts, dropped = importer.imports("posts").splitlines()
    assert f"{name} (1)" in drafts
    assert f"{name} (1)" in dropped
    assert importer.states() == {"past": "draft", "later": "published"}


def test_site_and_zone_of_the_settings_are_the_defaults(app, importer, monkeypatch):
    importer.write({"a.md": "---\ntitle: A\ndate: 2026-01-01 08:00\n---\n[b](/b)"})
    importer.imports("a.md", "--site", "https://www.example.com", "--timezone", "Europe/Berlin")
    monkeypatch.setitem(app.config, "SITE_URL", "https://www.example.com")
    monkeypatch.setitem(app.config, "TIMEZONE", ZoneInfo("Europe/Berlin"))
    assert importer.run("import", "a.md").stdout == "0 new, 0 changed, 1 unchanged\n"


def test_report_is_about_new_and_changed_articles_only(importer):
    importer.write({f"a/post-{n}.md": f"---\ntitle: {n}\ndate: 2026-01-01\nauthor: A\n---\n" for n in range(5)})
    assert importer.imports("a").endswith(": author (5): post-0, post-1, post-2, …\n")
    importer.write({"a/post-3.md": "---\ntitle: New\ndate: 2026-01-01\nauthor: A\n---\n"})
    result = importer.run("import", "a")
    assert result.stdout.endswith("\n0 new, 1 changed, 4 unchanged\n")
    assert result.stderr.endswith(": author (1): post-3\n")


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


# Values


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ("draft: TRUE", "draft"),
        ("draft: Yes", "draft"),
        ("draft: on", "draft"),
        ("draft: 1", "draft"),
        ("draft: y", "draft"),
        ("draft: 'off'", "published"),
        ("draft: N", "published"),
        ("draft:", "published"),
        ("published: no", "draft"),
        ("published: 0", "draft"),
        ("published: y", "published"),
        ("draft: false\nstatus: draft", "draft"),
        ("draft: true\nstatus: published", "draft"),
        ("isDraft: true", "draft"),
        ("is_draft: no", "published"),
        ("Draft?: yes", "draft"),
        ("'draft ': true", "draft"),
        ("draft: false\nis-draft: true", "draft"),
        ("publish: false", "draft"),
        ("is_published: 0", "draft"),
        ("publish: true\npublished: false", "draft"),
        ("status: Draft", "draft"),
        ("Status: PUBLISHED", "published"),
        ("post_status: publish", "published"),
        ("status: published\nstate: draft", "draft"),
    ],
)
def test_switches_of_every_spelling_are_understood(importer, fields, state):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n{fields}\n---\n"})
    assert importer.imports("a.md") == ""
    assert importer.states() == {"a": state}


@pytest.mark.parametrize(
    ("field", "shown", "hidden"),
    [
        ("private", "false", "true"),
        ("is_private", "no", "yes"),
        ("hidden", "'off'", "on"),
        ("unlisted", "0", "1"),
        ("visibility", "Public", "members"),
        ("public", "true", "false"),
        ("live", "yes", "no"),
        ("password", "''", "secret"),
        ("build", "{}", "{render: never}"),
        ("scheduled", "false", "2030-01-01"),
        ("eleventyExcludeFromCollections", "false", "true"),
        ("wip", "n", "until May"),
        ("permalink", "", "false"),
    ],
)
def test_field_that_hides_an_article_makes_it_a_draft(importer, field, shown, hidden):
    post = "---\ntitle: A\ndate: 2026-01-01\n{}: {}\n---\n"
    importer.write({"posts/a.md": post.format(field, shown), "posts/b.md": post.format(field, hidden)})
    (line,) = importer.imports("posts").splitlines()
    assert f": {field}" in line
    assert line.endswith(" (1): b")
    assert "secret" not in line
    assert importer.states() == {"a": "published", "b": "draft"}


def test_date_that_was_not_used_is_reported_if_it_differs(importer):
    post = "---\ntitle: A\n{}\n---\n"
    same, other = "date: 2026-01-02\npublished: Jan 2, 2026", "date: 2026-01-02\npublish_date: 2026-03-01"
    importer.write({"posts/a.md": post.format(same), "posts/b.md": post.format(other)})
    (line,) = importer.imports("posts").splitlines()
    assert "publish_date" in line
    assert line.endswith(" date (1): b")
    dates = {slug: article["publishedAt"][:10] for slug, article in importer.articles().items()}
    assert dates == {"a": "2026-01-02", "b": "2026-03-01"}


def test_date_that_would_not_be_used_must_be_valid_too(importer):
    importer.write({"a.md": "---\ntitle: A\npubDate: 2026-01-02\ndate: soon\n---\n"})
    result = importer.run("import", "a.md")
    assert (result.exit_code, "date: 'soon'" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("draft", "falsch"),
        ("draft", "soon"),
        ("draft", "[true]"),
        ("published", "vielleicht"),
        ("publish", "2030-01-01"),
        ("isDraft", "maybe"),
        ("status", "Entwurf"),
        ("expiryDate", "next year"),
        ("date", "2026-03-01 08:00 CET"),
        ("pubDate", "Sun, 01 Mar 2026 08:00:00 +0100 tomorrow"),
        ("date", "2026-02-29"),
        ("date", "03/01/2026"),
        ("date", "Mon, 01 Mar 2026"),
        ("date", "13:00 PM"),
        ("date", "2026-03-29 02:30"),  # nonexistent in Berlin
        ("lastmod", "{a: b}"),
        ("title", "[a, b]"),
        ("description", "{a: b}"),
        ("tags", "{a: b}"),
        ("categories", "[[a]]"),
        ("readTime", "4 min"),
        ("views", "1.000"),
    ],
)
def test_value_that_is_not_understood_is_a_mistake(importer, field, value):
    title = "" if field == "title" else "title: A\n"
    importer.write({"a.md": f"---\n{title}created: 2026-01-01\n{field}: {value}\n---\n"})
    result = importer.run("import", "a.md", "--timezone", "Europe/Berlin")
    assert result.exit_code == 1
    (line,) = result.stderr.splitlines()[1:]
    assert line.startswith(f"a.md, slug 'a': {field}: ")
    assert importer.states() == {}


@pytest.mark.parametrize(
    ("date", "moment"),
    [
        ("December 31, 2025 11:59 PM", "2025-12-31T22:59:00.000Z"),
        ("31 Dec 2025 12:05 am", "2025-12-30T23:05:00.000Z"),
        ("Wed Dec 31 2025 23:00:00 GMT-0500 (Eastern Standard Time)", "2026-01-01T04:00:00.000Z"),
        ("Wednesday, December 31st, 2025 at 8 p.m.", "2025-12-31T19:00:00.000Z"),
        ("2025/12/31 23:00:00 UTC", "2025-12-31T23:00:00.000Z"),
        ("2025-1-2", "2025-01-02T00:00:00.000Z"),
        ("31-Dec-25", "2025-12-31T00:00:00.000Z"),
        ("20251231T230000Z", "2025-12-31T23:00:00.000Z"),
        ("2025-10-26 02:30", "2025-10-26T00:30:00.000Z"),  # ambiguous: the first one
    ],
)
def test_dates_are_understood_completely(importer, date, moment):
    importer.write({"a.md": f'---\ntitle: A\ndate: "{date}"\n---\n'})
    importer.imports("a.md", "--timezone", "Europe/Berlin")
    assert importer.only()["publishedAt"] == moment


def test_every_field_that_is_not_used_is_named(importer):
    fields = (
        "excerpt: E\ndescription: D\ncover: {src: /a.jpg, alt: Alt, credit: ''}\nimages: [/b.jpg]\nnoindex: 1\nempty:"
    )
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\ncategories: [X, Y, Z]\n{fields}\n---\n"})
    categories, dropped = importer.imports("a.md", "--site", SITE).splitlines()
    assert "Y (1), Z (1)" in categories
    assert sorted(re.findall(r"([\w.]+) \(1\)", dropped)) == ["cover.alt", "excerpt", "images", "noindex"]
    article = importer.only()
    assert (article["category"], article["metaDesc"], article["bannerUrl"]) == ("X", "D", f"{SITE}/a.jpg")


def test_titles_stay_as_typed(importer):
    titles = {"a": "Option<T> & Result<T, E>", "b": "Using <b> &lt;tags&gt;", "c": "<Suspense>", "d": "«\xa0Oui\xa0»"}
    importer.write({f"{name}.md": f'---\ntitle: "{title}"\n---\n' for name, title in titles.items()})
    importer.imports(*(f"{name}.md" for name in titles))
    assert {slug: article["title"] for slug, article in importer.articles().items()} == titles


# Old URLs


def test_old_urls_of_front_matter_are_written_as_redirects(importer, tmp_path):
    post = "---\ntitle: A\ndate: 2026-01-01\n{}\n---\n"
    importer.write(
        {
            "posts/a.md": post.format("permalink: /2026/a.html\nredirect_from: https://old.example/?p=7"),
            "posts/b.md": post.format("url: /blog/b/\naliases: [/x y/, older, /blog/b, '{{ x }}']"),
            "posts/2026/c.md": post.format("aliases:\n- older/\nredirect_from: [/1, /1]"),
            "posts/d.md": post.format("permalink: /:year/:title/\nurl: {a: b}\naliases: ['{{ x }}']"),
        }
    )
    options = "posts", "--site", f"{SITE}/blog"
    (printed,) = importer.run("import", *options, "--dry-run").stderr.splitlines()[:1]
    assert all(f"{name} (" in printed for name in ("permalink", "redirect_from", "aliases"))
    result = importer.run("import", *options, "--redirects", tmp_path / "redirects.csv")
    assert "aliases (2), permalink (1), url (1): b, d\n" in result.stderr
    assert (tmp_path / "redirects.csv").read_text().splitlines() == [
        "old_url,slug",
        "/2026/a.html,a",
        "https://old.example/?p=7,a",
        "/x%20y/,b",
        "/blog/older,b",
        "/blog/2026/older/,c",
        "/1,c",
    ]


# Slugs


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("ខ្ញុំស្រឡាញ់ ភ្នំពេញ", "ខ្ញុំស្រឡាញ់-ភ្នំពេញ"),
        ("ශ්\u200dරී ලංකාව", "ශ්\u200dරී-ලංකාව"),
        ("می\u200cروم به خانه", "می\u200cروم-به-خانه"),
        ("తెలుగు వంట", "తెలుగు-వంట"),
        ("שָׁלוֹם עולם", "שָׁלוֹם-עולם"),
        ("Ελληνικά Ψωμί", "ελληνικά-ψωμί"),
        ("がぎぐ パン", "がぎぐ-パン"),
        ("Ёлка и йод", "ёлка-и-йод"),
        ("Łódź, Žižkov & Straße", "łodz-zizkov-straße"),
        ("Phở bò", "pho-bo"),
        ("İstanbul", "istanbul"),
        ("☕️ Coffee 1️⃣", "coffee-1"),
        ("한국어 " * 90, "-".join(["한국어"] * 42)),
    ],
)
def test_slug_from_a_title_keeps_the_words_of_every_script(importer, title, slug):
    importer.write({"a.csv": f"title;body\n{normalize('NFD', title)};x\n"})
    importer.imports("a.csv")
    assert list(importer.articles()) == [normalize("NFC", slug)]


def test_file_names_and_links_compare_in_nfc(importer):
    post = "---\ntitle: A\ndate: 2026-01-01\n---\n"
    importer.write({f"posts/{normalize('NFD', 'größe')}.md": post})
    importer.write({"posts/b.md": f"{post}[a](gr%C3%B6%C3%9Fe.md) [b]({normalize('NFD', 'größe')}.md)"})
    assert importer.imports("posts", "--site", SITE) == ""
    assert importer.articles().keys() == {normalize("NFC", "größe"), "b"}
    assert re.findall('href="(.*?)"', importer.only("b")["contentHtml"]) == [f"{SITE}/gr%C3%B6%C3%9Fe"] * 2


def test_translations_beside_their_original_are_not_imported(importer):
    post = "---\ntitle: A\ndate: 2026-01-01\n{}\n---\n[de](plain.de.md)"
    names = ("menu/index.md", "menu/index.de.md", "plain.md", "plain.de.md", "plain.pt-br.md", "node.md", "node.js.md")
    importer.write({f"posts/{name}": post.format("") for name in (*names, "alone/index.fr.md", "x.en.md")})
    importer.write({"posts/plain.fr.md": post.format("slug: simple")})
    report = importer.imports("posts", "--site", SITE)
    assert "(3)" in report
    assert "plain.de.md (7)" in report
    assert importer.articles().keys() == {"menu", "plain", "node", "node.js", "alone", "x.en", "simple"}


# Folders


def test_files_of_other_kinds_are_reported_by_extension(importer):
    post = "---\ntitle: A\ndate: 2026-01-01\n---\n"
    importer.write(
        {f"posts/{name}": post for name in ("a.md", "b.qmd", "c.qmd", "d.TXT", "Makefile", "e.pdf", "_f.md")}
    )
    importer.write({f"posts/{name}": b"" for name in ("g.png", "h.SVG", ".DS_Store", ".git/i.md", "_layouts/j.html")})
    importer.write({"posts/README.md": "# Read me"})
    (line,) = importer.imports("posts").splitlines()
    for part in (
        ".qmd (2)",
        ".txt (1)",
        "no extension (1)",
        ".pdf (1)",
        "name begins with _ (1)",
        "folders whose name begins with _ (1)",
        "no front matter (1)",
    ):
        assert part in line
    assert all(name not in line for name in ("png", "SVG", "DS_Store", ".git"))
    assert importer.articles().keys() == {"a"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("\n\n---\ntitle: A\n---\n", "a.md: line 3: "),
        ("\ufeff\ufeff---\ntitle: A\n---\n", "a.md: line 1: "),
        ("---\ntitle: A\n", "second one is missing"),
        ('{\n  "title": "A"\n}\n', "YAML"),
        ("---json\n{}\n---\n", "YAML"),
        ("---\nlayout: page\ndate: 2026-01-01\n---\nNot found", "a.md, slug 'a': title: "),
    ],
)
def test_file_that_is_not_an_article_says_why(importer, text, words):
    importer.write({"a.md": text, "b.md": "---\ntitle: B\ndate: 2026-01-01\n---\n"})
    result = importer.run("import", "a.md", "b.md", "--skip-invalid")
    assert words in result.stderr
    assert importer.states() == {"b": "published"}


def test_data_files_of_eleventy_are_reported_by_name(importer):
    post = "---\ntitle: A\ndate: 2026-01-01\n---\n"
    data = ("blog/blog.11tydata.js", "blog/b.11tydata.ts", "blog/old/old.json", "blog/a.json", "blog/a.11tydata.json")
    importer.write({"blog/a.md": post, "blog/old/b.md": post, **dict.fromkeys(data, "{}"), "blog/other.json": "{}"})
    first, second = importer.imports("blog").splitlines()
    assert all(f"{name.removeprefix('blog/')} (1)" in first for name in data)
    assert ".json (1)" in second


def test_folders_of_jekyll_make_drafts_and_categories(importer):
    post = "---\nlayout: post\ntitle: A\n{}---\n"
    importer.write(
        {
            "site/_posts/2026-1-5-first.md": post.format("categories: one two\n"),
            "site/recipes/_posts/2026-01-06-soup.md": post.format(""),
            "site/recipes/_posts/2026-01-07-cake.md": post.format("category: Sweets\n"),
            "site/_drafts/_posts/2026-01-08-plan.md": post.format(""),
            "site/_drafts/idea.md": post.format("date: 2026-01-01\ndraft: false\n"),
            "site/_includes/2026-01-08-part.md": post.format(""),
        }
    )
    importer.imports("site")
    drafts = dict.fromkeys(("idea", "plan"), "draft")
    assert importer.states() == dict.fromkeys(("first", "soup", "cake"), "published") | drafts
    categories = {slug: article["category"] for slug, article in importer.articles().items()}
    assert categories == {"first": "one", "soup": "recipes", "cake": "Sweets", "idea": "", "plan": ""}
    assert importer.only("first")["publishedAt"] == "2026-01-05T00:00:00.000Z"
    importer.write({"_drafts/other.md": post.format("date: 2026-01-01\n")})
    importer.imports("_drafts/other.md")
    assert importer.states()["other"] == "draft"


def test_links_lead_to_articles_or_are_reported(importer):
    post = "---\ntitle: A\ndate: 2026-01-01\n---\n"
    links = (
        "[1](b.md?x=1#y) [2](/blog/c/index.md) [3](/c/index.md) [4](blog/b.md) [5](nope.md#z) [6](/_d.md) [7](e.mdx)"
    )
    pages = "[8](../b/) [9](../c) [10](../tags/news/) [11](https://a.example/f.md)"
    importer.write({"blog/a.md": f"{post}{links} {pages}", "blog/b.md": post, "blog/c/index.md": post})
    importer.write({"blog/_d.md": post, "blog/e.mdx": post})
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


# Markdown


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("## Prices {#cost}", '<h2 id="cost">Prices</h2>\n'),
        ("Prices {#cost .wide}\n===", '<h1 id="cost" class="wide">Prices</h1>\n'),
        ("## Cost\n## Prices {#cost}", '<h2 id="cost-1">Cost</h2>\n<h2 id="cost">Prices</h2>\n'),
        ("## `{#a}`", '<h2 id="a"><code>{#a}</code></h2>\n'),
        ("HTTP\n: A protocol\n: Of the web", "<dl>\n<dt>HTTP</dt>\n<dd>A protocol</dd>\n<dd>Of the web</dd>\n</dl>\n"),
        ("![a](data:image/avif;base64,AA==)", '<p><img src="data:image/avif;base64,AA==" alt="a" /></p>\n'),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        (
            "Text\n{% highlight c++ linenos %}\n#include <a>\n\n    b * c * d\n{% endhighlight %}\nText",
            '<p>Text</p>\n<pre><code class="language-c++">#include &lt;a&gt;\n\n'
            "    b * c * d\n</code></pre>\n<p>Text</p>\n",
        ),
        ('{{< highlight go "x=1" >}}\n# a\n{{< /highlight >}}', '<pre><code class="language-go"># a\n</code></pre>\n'),
        (
            "```liquid\n{% highlight a %}\n```",
            '<pre><code class="language-liquid">{% highlight a %}\n</code></pre>\n',
        ),
    ],
)
def test_markdown_of_other_systems_is_rendered(importer, markdown, html):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n---\n{markdown}\n"})
    importer.imports("a.md")
    assert importer.only()["contentHtml"] == html


@pytest.mark.parametrize(
    ("markdown", "name"),
    [
        ("## Upgrading {/*upgrading*/}", "{/* … */}"),
        ("Text {/** b **/}", "{/* … */}"),
        (":::note\nMind\n:::", ":::"),
        ("- one\n- two\n\n::: tip Title\nMind\n:::", ":::"),
        ("> [!WARNING]\n> Mind", "[!NOTE]"),
        ("Euler: $e^{i\\pi} = -1$.", "$ … $"),
        ("For each $n$, even", "$ … $"),
        ("A function $f(x)$", "$ … $"),
        ("Half of $2n$", "$ … $"),
        ("$$x$$", "$$ … $$"),
        ("$$\na = b\n$$", "$$ … $$"),
        ("Done :tada: and :+1:", ":emoji:"),
        ("This ==matters== most", "==mark=="),
        ("See [[Our kitchen|here]]", "[[wiki links]]"),
        ("![[menu.png]]", "[[wiki links]]"),
        ("[TOC]", "[TOC]"),
        ("[[_TOC_]]", "[TOC]"),
        ("!!! note\n    Mind", "!!!"),
        ("H~2~O", "H~2~O"),
        ("x^2^", "x^2^"),
        ("\\\\(x\\\\)", "\\("),
        ('import Chart from "../Chart.astro"\nimport "./a.css";\n\n# A', "import"),
        ("export const meta = {\n  a: 1,\n}", "export"),
    ],
)
def test_markdown_that_is_not_rendered_is_reported_by_kind(importer, markdown, name):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n---\n{markdown}\n"})
    (line,) = importer.imports("a.md").splitlines()
    assert name in line


ORDINARY_TEXT = """
$5 and $6, $5–$6, US$100k or A$6, $ or $$ or $$$, $HOME/bin:$PATH, "$10" or "$20+", from 10:30:15 to 11:00:30

a::b::c, key:value:, :-) :), if a==b and c==d, C++ and ++i, [sic] [m] [ref] [signal] [m = 3 kg] [/about] [1]

[[1]](https://a.example), [[1, 2], [3]], 1 < 2 && 3 > 2, 3 ~ 4 ~ 5, 2^10, $(a).b($(c)), { a } or {b: 1}, <https://a.example/:b:/>

You import "x" from "y" or
export default settings. `:tada:` `$x^2$` `[[a]]` `==b==` `{{ c }}` `:::`

```
:::note
$$a = b$$ :tada: [[c]] ==d== {{ e }}
import f from "g"
[TOC]
```
"""


def test_ordinary_text_is_not_reported(importer):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n---\n{ORDINARY_TEXT}"})
    assert importer.imports("a.md") == ""


@pytest.mark.parametrize(
    ("markdown", "names", "html"),
    [
        ('<Buy on={() => go("a > b")}>**Now**</Buy>', ["<Buy>"], "<strong>Now</strong></Buy>"),
        ("Text <Chart data={[1, 2]} label={'it'} /> *on*", ["<Chart>"], " /> <em>on</em>"),
        ("<Note text={don't}>[a](https://a.example)</Note>", ["<Note>"], '<a href="https://a.example">a</a></Note>'),
        ('<Tabs>\n<Tab on={() => "}"}>\n\n*a*\n\n</Tab>\n</Tabs>', ["<Tabs>", "<Tab>"], "\n<p><em>a</em></p>\n"),
        ('<Tip title="a > b">*c*</Tip>', ["<Tip>"], '<Tip title="a > b"><em>c</em></Tip>'),
        ("<p className={a}>b</p>", ["<p>"], "b</p>"),
        ("<Map\n  data={[\n\n  1]}\n/>", ["<Map>"], "&lt;Map"),
        ("A Vec<String>\n\n<Tabs>\n<p>a</p>\n</Tabs>", ["<String>", "<Tabs>"], "<Tabs>\n<p>a</p>\n</Tabs>"),
    ],
)
def test_components_are_reported_and_what_they_enclose_stays(importer, markdown, names, html):
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n---\n{markdown}\n"})
    (line,) = importer.imports("a.md").splitlines()
    assert ", ".join(f"{name} (1)" for name in names) in line
    assert html in importer.only()["contentHtml"]


def test_highlight_without_an_end_and_repeated_ids_are_reported(importer):
    importer.write({"a.md": "---\ntitle: A\n---\n## A {#x}\n## B {#x}\n{% highlight go %}\n*a*\n"})
    report = importer.imports("a.md")
    assert "{% highlight %} (1)" in report
    assert "x (1): a" in report
    assert "<em>a</em>" in importer.only()["contentHtml"]


@pytest.mark.parametrize(
    "text",
    [
        "+++\n" + ".".join("a" * 40_000) + " = 1\n+++\n",
        "---\ntitle: x\n--- x\n" * 100_000,
        "---\ntitle: A\nlastmod: '" + "2026-01-01 (" * 200_000 + "'\n---\n",
    ],
)
def test_hostile_front_matter_is_one_mistake(importer, text):
    importer.write({"a.md": text})
    result = importer.run("import", "a.md")
    assert (result.exit_code, result.stderr.count("\n")) == (1, 2)
    assert len(result.stderr) < 1000


def test_thousands_of_unused_fields_are_counted(importer):
    fields = "\n".join(f"field{number}: x" for number in range(3000))
    importer.write({"a.md": f"---\ntitle: A\ndate: 2026-01-01\n{fields}\n---\n"})
    (line,) = importer.imports("a.md").splitlines()
    assert re.search(r"field9 \(1\).*, and 29\d\d more: a", line)
    assert len(line) <= 300


@pytest.mark.parametrize(
    ("first", "second"), [("Draft: false", "draft: true"), ("Date: 2020-01-01", "date: 2035-01-01")]
)
def test_field_in_two_spellings_with_different_values_is_an_error(importer, first, second):
    importer.write({"a.md": f"---\ntitle: A\npublishDate: 2026-01-01\n{first}\n{second}\n---\n"})
    result = importer.run("import", "a.md")
    assert result.exit_code == 1
    assert f"also there as {first.partition(':')[0]}" in result.stderr
    assert importer.states() == {}


def test_own_article_file_below_drafts_is_a_draft(importer):
    front_matter = "---\ntitle: A\nslug: a\nstatus: published\npublishedAt: 2026-01-01T00:00:00Z\n---\n"
    importer.write({"posts/_drafts/a.html": front_matter + "<p>A</p>\n"})
    importer.imports("posts")
    assert importer.states() == {"a": "draft"}
