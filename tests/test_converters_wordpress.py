"""Import of WordPress exports."""

import codecs
import re
import time
import tracemalloc
from datetime import UTC

import pytest
from helpers import PROJECT, minimal_json
from importer import read_data

from converters.records import SourceOptions
from converters.wordpress import read_wordpress
from converters.wordpress_content import render
from converters.wordpress_posts import plain_title

DATA = PROJECT / "tests/data"
SITE = "https://blog.example.com"


def test_posts_are_imported_with_their_fields(importer):
    printed = importer.imports(DATA / "wordpress.xml", "--timezone", "Europe/Berlin")
    assert len(printed.splitlines()) < 12
    for words in (
        "pages (1)",
        "trash (1)",
        "(1 attachment)",
        "author (8)",
        "comments (1)",
        "latest-posts (1)",
        "description (1)",  # has a placeholder that only WordPress can fill in
        "gallery (1)",
        "password-protected (2)",
    ):
        assert words in printed
    drafts = ["never-published-20", "for-friends", "private", "pending"]
    published = ["smørrebrød", "classic", "old"]
    states = {"scheduled": "scheduled"} | dict.fromkeys(drafts, "draft") | dict.fromkeys(published, "published")
    assert importer.states() == states
    articles = importer.articles()
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


CLASSIC = """<p>The first paragraph<br />
goes on, with <em>emphasis</em> &amp; 1 < 2.


<h2>A heading</h2>
<p>Right after it, *no* _Markdown_.</p>
<ul>
<li>One
<ul>
<li>Nested</li>
</ul>
</li>
</ul>
<blockquote><p>A quote</p>
<p>of two paragraphs</p></blockquote>
<PRE>
a

    b
</PRE>
<p>[gallery ids="1,2"]
</ul>
<p>The end</p>"""


def test_export_of_an_older_wordpress_is_imported(importer):
    """WordPress before 5.7 escaped titles and did not export modification times."""
    text = re.sub(r"\t\t<wp:post_modified.*\n", "", read_data("wordpress.xml")).replace("/export/1.2/", "/export/1.0/")
    importer.write({"export.xml": text.replace("<![CDATA[Fish &amp; Chips]]>", "Fish &#038; Chips &amp;lt;b&amp;gt;")})
    importer.imports("export.xml")
    assert importer.articles()["smørrebrød"]["title"] == "Fish & Chips <b>"


def test_errors_name_the_posts(importer):
    importer.write({"export.xml": read_data("wordpress.xml").replace("[old]", "[classic]")})
    report = importer.run("import", "export.xml").stderr
    assert "export.xml, post 26 'Without its time in UTC', slug 'classic': The article with the slug" in report
    assert "also in export.xml, post 18 'Classic " in report


def wordpress(*posts, attachments=(30,)):
    """Return an export of posts, given as dictionaries of elements, with custom fields in `meta`."""
    xml = read_data("wordpress.xml")
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


def import_contents(importer, *contents):
    """Import a post for each content; return the report, and the stored content of each post."""
    posts = [{"post_name": f"p{number}", "content": content} for number, content in enumerate(contents)]
    importer.write({"export.xml": wordpress(*posts, attachments=())})
    report, articles = importer.imports("export.xml"), importer.articles()
    return report, [articles[post["post_name"]]["contentHtml"] for post in posts]


EMBEDS = {
    '[caption id="a" width="300"]<a href="https://a.b/c"><img src="/a.jpg" /></a> A [a, b] <em>day</em>[/caption]': (
        '<figure id="a" style="width: 300px" class="wp-caption alignnone">'
        f'<a href="https://a.b/c"><img src="{SITE}/a.jpg" /></a>'
        '<figcaption class="wp-caption-text">A [a, b] <em>day</em></figcaption></figure>'
    ),
    """[caption id="a" caption="It's x"]<img src="https://a.b/a.jpg">[/caption]""": (
        """<figure id="a" class="wp-caption alignnone"><img src="https://a.b/a.jpg">"""
        """<figcaption class="wp-caption-text">It's x</figcaption></figure>"""
    ),
    '[caption width="3"]<img src="https://a.b/a.jpg" alt="A > B"> A [/caption]': (
        '<figure style="width: 3px" class="wp-caption alignnone"><img src="https://a.b/a.jpg" alt="A > B">'
        '<figcaption class="wp-caption-text">A</figcaption></figure>'
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


def test_captions_and_embeds_are_converted(importer):
    assert import_contents(importer, *EMBEDS) == ("", list(EMBEDS.values()))


def test_untitled_drafts_are_imported_or_reported(importer):
    draft = {"status": "draft", "title": "", "post_name": ""}
    drafts = [draft | {"content": "One"}, draft | {"content": "Two"}, draft, draft | {"title": "Menu"}]
    importer.write({"export.xml": wordpress({"post_name": "menu"}, *drafts)})
    assert "drafts without a title and content (1): 4\n" in importer.imports("export.xml")
    states = dict.fromkeys(("no-title-2", "no-title-3", "menu-5"), "draft")
    assert importer.states() == states | {"menu": "published"}
    assert importer.only("no-title-2")["title"] == "(no title)"


def test_content_missing_from_the_export_is_reported(importer):
    blocks = '<!-- wp:latest-posts {"a":1} /--><!-- wp:block {"ref":3} /--><!-- wp:paragraph --><p>x</p>'
    meta = {"_thumbnail_id": "31", "_yoast_wpseo_metadesc": "%%title%% of %%category%%"}
    post = {"post_name": "a", "content": blocks + "<!-- wp:footnotes /-->", "meta": meta}
    importer.write({"export.xml": wordpress(post)})
    printed = importer.imports("export.xml")
    for words in ("Featured images", "latest-posts", "Synced patterns", "Footnotes", "SEO.*: _yoast_wpseo_metadesc"):
        assert re.search(rf"{words}[^(]*\(1\)", printed), words
    assert importer.only()["contentHtml"] == "<p>x</p>"


def test_post_that_ends_up_empty_is_reported(importer):
    contents = {"shown": "<p><img src='/a.jpg'></p>", "blank": "<p>&nbsp;</p>", "hidden": "<!-- a > b -->", "none": ""}
    posts = [{"post_name": slug, "content": content} for slug, content in contents.items()]
    importer.write({"export.xml": wordpress(*posts, {"post_name": "draft", "status": "draft"}, attachments=())})
    assert importer.imports("export.xml") == "Published without any content (3): blank, hidden, none\n"


def test_tags_of_old_exports_are_imported(importer):
    raw = "<category>News</category><category domain='category'>News</category><category domain='tag'>tea</category>"
    importer.write({"export.xml": wordpress({"post_name": "a", "content": "x", "raw": raw}, attachments=())})
    assert importer.imports("export.xml") == ""
    assert (importer.only()["category"], importer.only()["keywords"]) == ("News", ["tea"])


def test_seo_placeholders_and_primary_category_are_used(importer):
    for key, text in (
        ("_yoast_wpseo_title", "%%title%% %%page%% %%sep%% %%sitename%% &amp;amp; more"),
        ("rank_math_title", "%title% %sep% %sitename% &amp;amp; more"),
    ):
        meta = {"_thumbnail_id": "30", "_yoast_wpseo_primary_category": "7", key: text}
        raw = '<category domain="category">News</category><category domain="category">Food &amp;amp; Drink</category>'
        importer.write({"export.xml": wordpress({"post_name": "a", "title": "Menu", "meta": meta, "raw": raw})})
        importer.imports("export.xml")
        article = importer.only()
        assert (article["metaTitle"], article["category"]) == ("Menu - Café Blog & more", "Food & Drink")
        assert article["bannerUrl"] == f"{SITE}/30.jpg"


def test_post_keeps_its_identity_after_a_slug_change(importer):
    for slugs, printed in ((["menu", "b"], "2 new"), (["menu-2025", "menu"], "0 new, 2 changed")):
        importer.write({"export.xml": wordpress(*({"post_name": slug, "title": slug} for slug in slugs))})
        assert printed in importer.run("import", "export.xml").stdout
        assert {slug: article["id"] for slug, article in importer.articles().items()} == {
            slugs[0]: "wordpress-blog.example.com-1",
            slugs[1]: "wordpress-blog.example.com-2",
        }


def blog(url, *posts, slug="hello-world"):
    """Return the export of a blog with post 1 and these others; titles contain the blog's URL."""
    first = {"post_name": slug, "title": f"Hello {url}", "link": f"{url}/{slug}/"}
    posts = [{"title": f"Post of {url}"} | post for post in posts]
    return wordpress(first, *posts).replace("<wp:link>", "<link>").replace("</wp:link>", "</link>").replace(SITE, url)


POEMS, NEWS = "https://poems.example", "https://news.example/blog/"


def test_second_blog_cannot_take_a_slug_of_the_first(importer):
    importer.write({"1.xml": blog(POEMS, {"post_name": "poem"}), "2.xml": blog(NEWS)})
    importer.imports("1.xml")
    result = importer.run("import", "2.xml")
    assert result.exit_code == 1
    assert "2.xml, post 1 " in result.stderr
    assert "'hello-world'" in result.stderr
    assert set(importer.articles()) == {"hello-world", "poem"}


def test_articles_stored_by_1_2_1_keep_their_ids(importer, save):
    rows = [("wordpress-1", "hello-world", "2026-01-31T09:30:00Z"), ("wordpress-2", "poem", "2026-01-30T09:30:00Z")]
    save(*(minimal_json(1, id=id, slug=slug, title="Old", publishedAt=date) for id, slug, date in rows))
    importer.write({"1.xml": blog(POEMS), "2.xml": blog(NEWS, slug="hello")})
    importer.imports("1.xml")
    importer.imports("2.xml")
    assert {slug: (article["id"], article["title"]) for slug, article in importer.articles().items()} == {
        "hello-world": ("wordpress-1", f"Hello {POEMS}"),
        "poem": ("wordpress-2", "Old"),
        "hello": ("wordpress-news.example-blog-1", f"Hello {NEWS}"),
    }
    importer.write({"2.xml": blog(NEWS, {"post_name": "poem"}, slug="hello")})
    result = importer.run("import", "2.xml")
    assert (result.exit_code, "wordpress-2" in result.stderr) == (1, True)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://www.Blog.example/", "blog.example"),
        ("http://example.com:8080/a/b", "example.com:8080-a-b"),
        ("example.com/", "example.com"),
        ("https://bücher.example", "bücher.example"),
    ],
)
def test_ids_contain_the_blog(importer, url, name):
    importer.write({"export.xml": blog(url, slug="a")})
    importer.imports("export.xml", "--site", "https://new.example")
    assert importer.only()["id"] == f"wordpress-{name}-1"


def test_ids_of_long_blog_urls_are_short_and_unique(importer):
    urls = [f"https://{'long' * 20}.example/{n}" for n in range(2)]
    importer.write({f"{n}.xml": blog(url, {"post_name": f"b{n}"}, slug=f"a{n}") for n, url in enumerate(urls)})
    importer.imports("0.xml", "1.xml")
    ids = {slug: article["id"] for slug, article in importer.articles().items()}
    assert len(set(ids.values())) == 4
    assert max(map(len, ids.values())) <= 64
    assert ids["a0"].removesuffix("-1") == ids["b0"].removesuffix("-2")


def test_export_without_a_blog_url_has_no_ids(importer):
    importer.write({"export.xml": re.sub(".*(<link>|base_blog_url).*", "", wordpress({"post_name": "a"}))})
    importer.imports("export.xml")
    assert not importer.only()["id"].startswith("wordpress")


def test_redirects_start_at_the_posts_links(importer):
    importer.write({"export.xml": blog(POEMS, {"post_name": "poem", "link": f"{POEMS}/2026/poem/"})})
    importer.run("import", "export.xml", "--redirects", "new.csv", "--site", "https://new.example")
    rows = (importer.folder / "new.csv").read_text().splitlines()
    assert rows[1:] == [f"{POEMS}/hello-world/,hello-world", f"{POEMS}/2026/poem/,poem"]


def test_unused_data_is_reported(importer):
    raw = "".join(
        f'<category domain="{domain}">{name}</category>'
        for domain, name in (("category", "News"), ("category", "Food"), ("genre", "Poem"), ("mood", "Calm"))
    )
    meta = {
        "rating": "5",
        "_edit_last": "1",
        "empty": "",
        "rank_math_description": "About",
        "rank_math_robots": 'a:2:{i:0;s:7:"noindex";i:1;s:6:"follow";}',
        "rank_math_canonical_url": "https://b.example/",
        "rank_math_seo_score": "80",
        "_seopress_titles_title": "Title",
        "_aioseo_keywords": "tea",
        "_yoast_wpseo_meta-robots-noindex": "0",
    }
    post = {"post_name": "a", "is_sticky": "1", "excerpt": "Short", "content": "x", "meta": meta, "raw": raw}
    post |= {"reading_level": "3"}
    importer.write({"export.xml": wordpress(post, attachments=(30, 31))})
    printed = importer.imports("export.xml")
    names = "genre", "mood", "rating", "sticky", "excerpts of posts that", "rank_math_robots", "rank_math_canonical_url"
    for name in (*names, "_seopress_titles_title", "_aioseo_keywords", "reading_level", "categories"):
        assert re.search(rf"\b{name}[^(]*\(1\)", printed), name
    assert "(2 attachments)" in printed
    assert not re.search("_edit_last|empty|follow|score", printed)
    assert importer.only()["metaDesc"] == "About"


@pytest.mark.parametrize("order", [("1.xml", "2.xml"), ("2.xml", "1.xml")])
def test_files_of_one_blog_are_one_export_in_any_order(importer, order):
    post = {"post_name": "a", "content": '<!-- wp:block {"ref":8} /-->'}
    meta = {"_thumbnail_id": "30", "_yoast_wpseo_primary_category": "7"}
    pattern = {"post_type": "wp_block", "post_id": 8, "content": "<!-- wp:paragraph --><p>Open.</p>"}
    first = wordpress(post | {"meta": meta}, attachments=()).replace("<wp:cat_name>Food &amp; Drink</wp:cat_name>", "")
    second = wordpress(pattern).replace("<wp:base_blog_url>https://", "<wp:base_blog_url>http://www.")
    importer.write({"1.xml": first, "2.xml": second})
    importer.imports(*order)
    article = importer.only()
    expected = {"bannerUrl": f"{SITE}/30.jpg", "category": "Food & Drink", "contentHtml": "<p>Open.</p>"}
    assert article.items() >= expected.items()


def test_files_of_two_blogs_are_two_exports(importer):
    meta = {"_thumbnail_id": "30"}
    other = wordpress({"post_name": "b", "post_id": 5, "meta": meta}, attachments=())
    importer.write({"1.xml": wordpress({"post_name": "a"}), "2.xml": other.replace(SITE, "https://other.example")})
    assert "Featured images" in importer.imports("1.xml", "2.xml")
    assert importer.only("b")["bannerUrl"] == ""


def test_errors_in_every_file_are_reported(importer):
    importer.write({"1.xml": "<rss>", "2.xml": "<rss/>", "3.xml": wordpress({"post_name": "a b c"})})
    report = importer.run("import", "1.xml", "2.xml", "3.xml").stderr
    assert "1.xml: " in report
    assert "2.xml: " in report


def pattern(number, content, **fields):
    return {"post_type": "wp_block", "post_id": number, "content": content, "title": f"Pattern {number}"} | fields


REFERENCE = '<!-- wp:block {{"ref":{}}} /-->'
PARAGRAPH = "<!-- wp:paragraph -->\n<p>{}</p>\n<!-- /wp:paragraph -->"


def test_synced_patterns_are_inserted(importer):
    posts = [
        {"post_name": "a", "content": f"{PARAGRAPH.format('One')}\n{REFERENCE.format(7)}"},
        {"post_name": "draft", "content": REFERENCE.format(10)},
        {"post_name": "cycle", "content": REFERENCE.format(11)},
        {"post_name": "own", "content": '<!-- wp:block {"ref":8,"content":{"Title":{"content":"Mine"}}} /-->'},
        pattern(7, f"{PARAGRAPH.format('Two')}{REFERENCE.format(8)}"),
        pattern(8, PARAGRAPH.format("Three")),
        pattern(9, "unused"),
        pattern(10, "not published", status="draft"),
        pattern(11, PARAGRAPH.format("Round") + REFERENCE.format(11)),
    ]
    importer.write({"export.xml": wordpress(*posts)})
    printed = importer.imports("export.xml")
    assert re.findall("<p>(.*?)</p>", importer.only()["contentHtml"]) == ["One", "Two", "Three"]
    assert re.search(r"Synced patterns that the export lacks[^(]*\(1\): cycle", printed)
    assert re.search(r"not published: Pattern 10 \(1\): draft", printed)
    assert "not published</p>" not in importer.only("draft")["contentHtml"]
    assert "Published without any content (1)" in printed
    assert re.search(r"Pattern overrides[^(]*\(1\)", printed)
    assert "synced patterns that no post contains (1)" in printed


def test_patterns_that_expand_exponentially_are_an_error(importer):
    patterns = [pattern(n, REFERENCE.format(n + 1) * 20 + "x" * 1000) for n in range(100, 109)]
    importer.write({"export.xml": wordpress({"post_name": "a", "content": REFERENCE.format(100)}, *patterns)})
    result = importer.run("import", "export.xml")
    assert result.exit_code == 1
    assert "export.xml, post 1 'A': Its synced patterns" in result.stderr


def test_footnotes_are_inserted_at_their_block(importer):
    notes = '[{"content":"The &lt;em>second&lt;/em> one","id":"n-1"},{"content":"Last","id":"n-2"}]'
    content = f"{PARAGRAPH.format('Text')}<!-- wp:footnotes /-->{PARAGRAPH.format('End')}"
    posts = [
        {"post_name": "a", "content": content, "meta": {"footnotes": notes}},
        {"post_name": "broken", "content": content, "meta": {"footnotes": "{"}},
    ]
    importer.write({"export.xml": wordpress(*posts, attachments=())})
    printed = importer.imports("export.xml")
    html = importer.only()["contentHtml"]
    assert (
        '<p>Text</p>\n<ol class="wp-block-footnotes"><li id="n-1">The <em>second</em> one <a href="#n-1-link"' in html
    )
    assert re.search(r"<li id=\"n-2\">Last .*</ol><p>End</p>", html)
    assert "Footnotes that the export lacks (1)" in printed
    assert "footnotes (1): broken" in printed


SHORTCODES = {
    "toc": ["[toc]"],
    "recipe": ["Text [recipe] text"],
    "woocommerce_cart": ["[woocommerce_cart]"],
    "audio": ["[audio https://a.example/a.mp3]"],
    "unheard": [
        *("[unheard url=https://a.example]", "[unheard]Text[/unheard]"),
        "<!-- wp:shortcode -->[unheard]<!-- /wp:shortcode -->",
    ],
    "Unheard": ["[Unheard of='x']"],
    "contact-form-7": ["[contact-form-7 id='3']"],
    "vimeo": ["[vimeo 123]"],
    "spotify": ["[spotify=track:1]"],
    "instagram": ["[instagram https://www.instagram.com/p/x/]"],
    "table-of-contents": ["[table-of-contents]"],
    "unheard-of": ["One\n\n[unheard-of]\n\nTwo"],
    "su_note": ["[su_note]One\n\nTwo[/su_note]"],
    "MyTag": ["Text [MyTag/] text"],
    "menu": ["<!-- wp:shortcode -->\n[menu]\n<!-- /wp:shortcode -->"],
    "sourcecode": ["[sourcecode language='php']\nif ($a[x] < 1) {\n\n}\n[/sourcecode]"],
}


@pytest.mark.parametrize("name", SHORTCODES)
def test_shortcodes_stay_and_are_reported_by_name(importer, name):
    contents = SHORTCODES[name]
    report, stored = import_contents(importer, *contents)
    assert re.fullmatch(rf"Shortcodes .*: {name} \({len(contents)}\): p0.*\n", report)
    assert all(f"[{name}" in html for html in stored)


BRACKETED_PROSE = [
    *("[1]", "[sic]", "[m]", "[ref]", "[signal]", "[…]", "[… cut]", "[Chorus]", "[self-published]", "[and/or]", "[]"),
    *("[two or three words]", "[video of the evening]", "[Figure 3]", "[see a = b]", "[n=20]", "[ref: 12]"),
    *("a[b] = c[d]", "<code>[x]</code>", "<pre>[x]\n\n[y z=1]</pre>", "[see <a href='https://a.example'>a</a>]"),
    *("[/sarcasm]", "[[Home page]]", "[[1]](/a)"),
]


def test_prose_in_brackets_is_not_reported(importer):
    assert import_contents(importer, *(f"It {text} is\n{text} so." for text in BRACKETED_PROSE))[0] == ""


ESCAPED_SHORTCODES = {
    "Write [[gallery]] for pictures": "<p>Write [gallery] for pictures</p>",
    "[[audio src='a.mp3']]": "<p>[audio src='a.mp3']</p>",
    "[[su_note]Text[/su_note]]": "<p>[su_note]Text[/su_note]</p>",
    "<code>[[toc]]</code>": "<p><code>[toc]</code></p>",
    "<pre>[[toc]]\nif [[ -f a ]]; then</pre>": "<pre>[toc]\nif [[ -f a ]]; then</pre>",
    "[[embed]https://a.example[/embed]]": "<p>[embed]https://a.example[/embed]</p>",
    "[[Home page]] [[1]]": "<p>[[Home page]] [[1]]</p>",
}


def test_escaped_shortcodes_lose_their_outer_brackets(importer):
    assert import_contents(importer, *ESCAPED_SHORTCODES) == ("", list(ESCAPED_SHORTCODES.values()))


CODE = [
    "[code]\nif (a) {\n\n  https://a.example/b\n\n}\n[/code]",
    '[php highlight="1"]\n<?php\n\n$a[b];\n[/php]',
    "<pre>\nhttps://a.example/b\n\n[caption]<img src='https://a.example/x'>x[/caption]\n</pre>",
    "<script>\nlet a\n\nlet b\n</script>",
    "<!-- a\n\nremark -->",
]


def test_code_stays_unchanged(importer):
    _, stored = import_contents(importer, *(f"One\n\n{code}\n\nTwo" for code in CODE))
    for code, html in zip(CODE, stored, strict=True):
        assert code in html


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("Option&amp;lt;T&amp;gt; &amp;amp; more", "Option<T> & more"),
        ("A <b>bold</b><br />claim", "A boldclaim"),
        ("1 &amp;lt; 2 &amp;#8211; yes", "1 < 2 – yes"),
    ],
)
def test_title_is_converted_from_html_to_text(importer, html, text):
    title = html.replace("<", "&lt;").replace(">", "&gt;")
    export = wordpress({"post_name": "a", "title": "TITLE"})
    importer.write({"export.xml": export.replace("<![CDATA[TITLE]]>", title)})
    importer.imports("export.xml")
    assert importer.only()["title"] == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<?xml", "\n \n<?xml"),
        ("<?xml", "\ufeff\n<?xml"),
        ("Menu", "Me\0\x07\x1fnu"),
        ("Menu", "Me\ufffe\uffffnu"),
        ("<![CDATA[Menu]]>", "Me&#7;&#xFFFE;nu"),
    ],
)
def test_characters_invalid_in_xml_are_ignored(importer, before, after):
    export = wordpress({"post_name": "a", "title": "Menu"})
    importer.write({"export.xml": export.replace(before, after, 1).encode()})
    importer.imports("export.xml")
    assert importer.only()["title"] == "Menu"


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("<?xml", "\n\n<b>Warning</b>\n<?xml", "<?xml, which is on line 4"),
        ("<![CDATA[Menu]]>", "Fish & chips", "line 15, column"),
        ("<?xml", "\n\n\n<?xml", ""),
        ("</channel></rss>", "", "incomplete"),
        ("]]></wp:menu_order></item></channel></rss>", "", "incomplete"),
        ("</rss>", "</rss>\n<br />Warning", "line 17, column 1: "),
        ("</rss>", "</rss>\n<!-- 9 queries -->\n", ""),
    ],
)
def test_other_xml_errors_name_the_line(importer, before, after, words):
    export = wordpress({"post_name": "a", "title": "Menu", "menu_order": "\n&"}).replace(before, after, 1)
    importer.write({"export.xml": export})
    result = importer.run("import", "export.xml")
    assert (result.exit_code == 0) == (not words)
    assert words in result.stderr


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "iso-8859-1"])
def test_export_in_another_encoding_is_read(importer, encoding):
    export = wordpress({"post_name": "a", "title": "Menü" * 40_000}).replace("UTF-8", encoding.upper()[:10], 1)
    mark = codecs.BOM_UTF16_BE if encoding == "utf-16-be" else b""
    importer.write({"export.xml": mark + export.encode(encoding)})
    importer.imports("export.xml")
    assert importer.only()["title"] == "Menü" * 40_000


def test_characters_at_chunk_boundaries_survive(tmp_path):
    """Files are read in 64 KB chunks, which may split a character."""
    for length in range((1 << 16) - 12, (1 << 16) + 4):
        export = wordpress({"post_name": "a", "title": "TITLE"}, attachments=())
        head = export.partition("<![CDATA[TITLE")[0]
        filler = " " * (length - len(head.encode()) - len("<!---->"))
        text = export.replace("<rss", f"<!--{filler}--><rss").replace("<![CDATA[TITLE]]>", "é\ufffe&#233;&#7;&#x1F600;")
        (tmp_path / "export.xml").write_bytes(text.encode())
        (article,) = read_wordpress([str(tmp_path / "export.xml")], SourceOptions("", UTC))
        assert article.fields["title"] == "éé😀"


def test_memory_does_not_grow_with_the_export(tmp_path):
    posts = [{"post_name": f"a{n}", "content": "x" * 50_000} for n in range(150)]
    (tmp_path / "export.xml").write_text(wordpress(*posts))
    tracemalloc.start()
    try:
        count = sum(1 for _ in read_wordpress([str(tmp_path / "export.xml")], SourceOptions("", UTC)))
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert count == 151


HOSTILE = {
    "shortcodes": ["[code]", "[a", "[", "[[a", "[[a]", "[/a]]", "[a ", "[a b=", "[[gallery", "[caption]", "[embed]a "],
    "tags": ["<", "<p> ", "<code>", "<pre>", "<!--", "<!-- wp:a", "<!-- wp:a {", "<!-- wp:shortcode -->", "<a x='"],
    "text": ["a", "\n ", " ", "{", "'", '"', "&#", "&#9", "&nbsp;", "https://a ", "\nhttps://a"],
}


@pytest.mark.parametrize("unit", [unit for units in HOSTILE.values() for unit in units])
@pytest.mark.parametrize("begin", ["", "[", "[a", "[caption ", "[caption]<img ", "[embed]", "<!-- wp:a ", "\n"])
def test_time_is_linear_in_the_length_of_a_post(begin, unit):
    start = time.process_time()
    content = render(begin + unit * (20_000 // len(unit)), {}, "")
    plain_title(content.html)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(("encoding", "title"), [("windows-1251", "Лінії Японії пїѕ"), ("iso-8859-1", "Größe í°± ï¿¾")])
def test_letters_of_other_encodings_survive(importer, encoding, title):
    """Their bytes are those of invalid characters in UTF-8."""
    export = wordpress({"post_name": "a", "title": title}).replace("UTF-8", encoding, 1)
    importer.write({"export.xml": export.encode(encoding, "xmlcharrefreplace")})
    importer.imports("export.xml")
    assert importer.only()["title"] == title


@pytest.mark.parametrize("count", [5, 20])
def test_empty_patterns_that_expand_exponentially_are_an_error(importer, count):
    patterns = [pattern(n, REFERENCE.format(n + 1) * count) for n in range(100, 109)]
    post = {"post_name": "a", "content": REFERENCE.format(100)}
    importer.write({"export.xml": wordpress(post, *patterns, pattern(109, ""))})
    start = time.process_time()
    result = importer.run("import", "export.xml")
    assert time.process_time() - start < 5
    assert result.exit_code == 1
    assert result.stderr.count("export.xml, post 1 'A': Its synced patterns") == 1


@pytest.mark.parametrize(
    ("meta", "status"),
    [
        ({"_jetpack_newsletter_access": "paid_subscribers"}, "draft"),
        ({"_members_access_role": "subscriber"}, "draft"),
        ({"_jetpack_newsletter_access": "everybody", "_members_access_role": ""}, "published"),
    ],
)
def test_post_for_some_readers_becomes_a_draft(importer, meta, status):
    importer.write({"export.xml": wordpress({"post_name": "a", "content": "Text", "meta": meta})})
    printed = importer.imports("export.xml")
    assert importer.only()["status"] == status
    assert ("not everyone may read them" in printed) == (status == "draft")


@pytest.mark.parametrize("options", [[], ["--site", SITE]])
def test_pictures_above_the_page_are_reported_once(importer, options):
    importer.write({"export.xml": wordpress({"post_name": "a", "content": "<img src='../b.jpg'>"}, attachments=())})
    (line,) = importer.imports("export.xml", *options).splitlines()
    assert "../" in line


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (
            'id="attachment_5" align="alignright" width="300"',
            'id="attachment_5" style="width: 300px" class="wp-caption alignright"',
        ),
        ("width='40' class='a b' align=alignleft", 'style="width: 40px" class="wp-caption alignleft a b"'),
        ("""width="x" align='a" onclick="b'""", 'class="wp-caption a onclickb"'),
    ],
)
def test_captions_keep_their_alignment_and_width(attributes, expected):
    html = render(f"[caption {attributes}]<img src='/a.jpg'> A[/caption]", {}, "").html
    assert html == (
        f"<figure {expected}><img src='/a.jpg'><figcaption class=\"wp-caption-text\">A</figcaption></figure>"
    )


HIDDEN = '{"metadata":{"blockVisibility":false}}'
OPEN, END = "<!-- wp:group {} -->", "<!-- /wp:group -->"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (f"{OPEN.format(HIDDEN)}{PARAGRAPH.format('X')}X{END}", ""),
        (f"{OPEN.format('')}{OPEN.format(HIDDEN)}{OPEN.format('')}X{END}X{END}<p>B</p>{END}X", "<p>B</p>X"),
        (f"<!-- wp:latest-posts {HIDDEN} /--><p>B</p>", "<p>B</p>"),
        (f'<!-- wp:image {{"alt":"a > b",{HIDDEN[1:]} -->X<!-- /wp:image -->', ""),
        (f"{OPEN.format(HIDDEN)}X", ""),
        (f"{END}{OPEN.format(HIDDEN)}X{END}", ""),
        (REFERENCE.format(8), "<p>Shown</p>"),
    ],
)
def test_hidden_blocks_are_removed(importer, content, expected):
    hidden = pattern(8, f"{OPEN.format(HIDDEN)}X{END}<p>Shown</p>")
    post = {"post_name": "a", "content": f"{PARAGRAPH.format('A')}{content}"}
    importer.write({"export.xml": wordpress(post, hidden)})
    printed = importer.imports("export.xml")
    assert importer.only()["contentHtml"] == f"<p>A</p>\n{expected}".strip()
    assert len(re.findall(r"hidden on the old site.*\(1\)", printed)) == 1
    assert "latest-posts" not in printed


@pytest.mark.parametrize("visibility", ["true", "null", "0", '{"viewport":{"mobile":false}}'])
def test_other_blocks_are_not_hidden(visibility):
    settings = HIDDEN.replace("false", visibility)
    content = render(f"{OPEN.format(settings)}<p>Shown</p>{END}", {}, "")
    assert (content.html, content.notes) == ("<p>Shown</p>", [])


VIEW = "<!-- wp:premium-content/{0}-view --><p>{0}</p><!-- /wp:premium-content/{0}-view -->"
PAYWALL = "<p>Free</p><!-- wp:jetpack/paywall /--><p>Paid</p>"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (VIEW.format("subscriber") + VIEW.format("logged-out"), "<p>logged-out</p>"),
        (PAYWALL, "<p>Free</p>"),
        (f"{REFERENCE.format(8)}<p>Paid</p>", "<p>Free</p>"),
        (f"{OPEN.format(HIDDEN)}X{END}{VIEW.format('subscriber') * 2}{PAYWALL}", "<p>Free</p>"),
    ],
)
def test_parts_for_members_are_removed(importer, content, expected):
    importer.write({"export.xml": wordpress({"post_name": "a", "content": content}, pattern(8, PAYWALL))})
    printed = importer.imports("export.xml")
    assert importer.only()["contentHtml"] == expected
    assert len(re.findall(r"Parts for members.*\(1\)", printed)) == 1


@pytest.mark.parametrize("unit", ["<!-- wp:a ", "<!-- wp:a -->", f"<!-- wp:a {HIDDEN} -->", "<!-- /wp:a -->", "<!-- "])
def test_time_is_linear_in_the_number_of_blocks(unit):
    start = time.process_time()
    render(unit * (400_000 // len(unit)), {}, "")
    assert time.process_time() - start < 5


def test_scores_and_defaults_of_seo_plugins_are_not_reported(importer):
    meta = {
        "_yoast_wpseo_content_score": "30",
        "_yoast_wpseo_inclusive_language_score": "90",
        "_yoast_wpseo_linkdex": "71",
        "_yoast_wpseo_estimated-reading-time-minutes": "4",
        "_yoast_wpseo_meta-robots-noindex": "2",
        "_yoast_wpseo_wordproof_timestamp": "1",
        "_yoast_wpseo_opengraph-image-id": "5",
        "rank_math_robots": 'a:1:{i:0;s:5:"index";}',
        "rank_math_seo_score": "80",
        "rank_math_internal_links_processed": "1",
        "rank_math_analytic_object_id": "17",
        "rank_math_facebook_enable_image_overlay": "off",
    }
    importer.write({"export.xml": wordpress({"post_name": "a", "content": "x", "meta": meta}, attachments=())})
    assert importer.imports("export.xml") == ""


def test_links_that_stay_the_same_need_no_redirects(importer):
    posts = {"post_name": "caf%c3%a9", "link": f"{POEMS}/caf%C3%A9/"}, {"post_name": "poem", "link": f"{POEMS}/?p=3"}
    importer.write({"export.xml": blog(POEMS, *posts)})
    importer.run("import", "export.xml", "--redirects", "new.csv", "--site", POEMS)
    assert (importer.folder / "new.csv").read_text().splitlines()[1:] == [f"{POEMS}/?p=3,poem"]
