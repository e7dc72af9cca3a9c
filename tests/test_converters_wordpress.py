"""Import of WordPress exports."""

import re
import time
import tracemalloc
from datetime import UTC

import pytest
from helpers import PROJECT
from importer import DATE, PICTURE, SITE, read_data, wordpress

from converters.articles import SourceOptions
from converters.wordpress import read_wordpress

READ_OPTIONS = SourceOptions("", UTC)


@pytest.fixture
def imports(importer):
    """Import posts; return the report."""
    return lambda *posts: importer.imports({"export.xml": wordpress(*posts)})


@pytest.fixture
def render(imports, importer):
    """Import posts with these contents, and patterns; return the report and the HTML of each post."""

    def render(*contents):
        posts = [{"content": content} if isinstance(content, str) else content for content in contents]
        report, html = imports(*posts), importer.values("contentHtml")
        return report, [html[slug] for slug in sorted(html, key=lambda slug: int(slug.removeprefix("post-")))]

    return render


def test_posts_are_imported_with_their_fields(importer):
    printed = importer.imports(PROJECT / "tests/data/wordpress.xml", "--timezone", "Europe/Berlin")
    assert len(printed.splitlines()) < 12
    for name in ("pages", "trash", "latest-posts", "gallery"):
        assert f"{name} (1)" in printed
    assert "password-protected (2)" in printed
    withheld = ["never-published-20", "for-friends", "private", "pending"]
    published = ["smørrebrød", "classic", "old"]
    states = {"scheduled": "scheduled"} | dict.fromkeys(withheld, "pending") | dict.fromkeys(published, "published")
    assert importer.states() == states
    articles = importer.articles()
    assert articles["old"]["publishedAt"] == "2026-01-31T09:30:00.000Z"
    assert "publishedAt" not in articles["never-published-20"]
    expected = {
        "title": "Fish & Chips",
        "bannerUrl": f"{SITE}/wp-content/uploads/a.jpg",
        "keywords": ["menu", "Q&A"],
        "metaTitle": "Fish & Chips - Café Blog",
        "metaDesc": "What we cook: 100% fresh",
        "publishedAt": "2026-01-31T09:30:00.000Z",
        "category": "Food & Drink",
        "contentHtml": '<p class="has-text-align-center">Asparagus is back.</p>\n\n'
        f'<figure class="wp-block-image"><img src="{SITE}/wp-content/uploads/a%20b.jpg" alt=""/></figure>',
    }
    assert articles["smørrebrød"].items() >= expected.items()
    classic = articles["classic"]
    assert (classic["title"], classic["metaTitle"]) == ("Classic ]]> “quoted”", "Menu of March")
    assert "<p>The first paragraph<br />\ngoes on, with <em>emphasis</em> &amp; 1 < 2." in classic["contentHtml"]
    assert "<PRE>\na\n\n    b\n</PRE>" in classic["contentHtml"]


def test_export_of_an_older_wordpress_is_imported(importer):
    """WordPress before 5.7 escaped titles and did not export modification times."""
    text = re.sub(r"\t\t<wp:post_modified.*\n", "", read_data("wordpress.xml")).replace("/export/1.2/", "/export/1.0/")
    text = text.replace("<![CDATA[Fish &amp; Chips]]>", "Fish &#038; Chips &amp;lt;b&amp;gt;")
    importer.imports({"export.xml": text})
    assert importer.values("title")["smørrebrød"] == "Fish & Chips <b>"


def test_untitled_drafts_are_imported_or_reported(imports, importer):
    draft = {"status": "draft", "title": "", "post_name": ""}
    drafts = draft | {"content": "One"}, draft | {"content": "Two"}, draft, draft | {"title": "Menu"}
    printed = imports(*drafts, {"post_name": "menu"})
    assert "drafts without a title or content (1): 3\n" in printed
    assert importer.states() == dict.fromkeys(("no-title-1", "no-title-2", "menu-4"), "pending") | {"menu": "published"}
    assert importer.values("title")["no-title-1"] == "(no title)"


def test_post_that_ends_up_empty_is_reported(imports):
    contents = "<p><img src='/a.jpg'></p>", "<p>&nbsp;</p>", "<!-- a > b -->", ""
    posts = [{"content": content} for content in contents]
    assert "without any content (3): post-2, post-3, post-4\n" in imports(*posts, {"status": "draft"})


def test_tags_of_old_exports_are_imported(imports, importer):
    raw = "<category>News</category><category domain='category'>News</category><category domain='tag'>tea</category>"
    assert imports({"content": "x", "raw": raw}) == ""
    assert (importer.only()["category"], importer.only()["keywords"]) == ("News", ["tea"])


SEO_TITLES = {
    "_yoast_wpseo_title": "%%title%% %%page%% %%sep%% %%sitename%% &amp;amp; more",
    "rank_math_title": "%title% %sep% %sitename% &amp;amp; more",
    "_seopress_titles_title": "%%post_title%% %%sep%% %%sitetitle%% &amp;amp; more",
    "_aioseop_title": "%post_title% %sep% %site_title% &amp;amp; more",
    "_aioseo_title": "#post_title #separator_sa #site_title &amp;amp; more",
}


def test_placeholders_in_titles_of_seo_plugins_are_filled_in(imports, importer):
    metas = *({name: title} for name, title in SEO_TITLES.items()), SEO_TITLES | {"_yoast_wpseo_title": "First"}
    imports(*({"title": "Menu", "meta": meta} for meta in metas))
    assert list(importer.values("metaTitle").values()) == [*["Menu - Café Blog & more"] * 5, "First"]


AUTHOR = "<wp:author><wp:author_login>jd</wp:author_login>"
AUTHOR += "<wp:author_display_name>{}</wp:author_display_name></wp:author>"
CREATOR = '<d:creator xmlns:d="http://purl.org/dc/elements/1.1/">{}</d:creator>'


def test_author_is_the_display_name_of_the_login(tmp_path):
    export = wordpress(*({"content": "x", "raw": CREATOR.format(login)} for login in ("jd", "other", "")))
    export = export.replace("<item>", f"{AUTHOR.format('Doe &amp;amp; Co, Jane')}<item>", 1)
    (tmp_path / "export.xml").write_text(export)
    articles = read_wordpress([str(tmp_path / "export.xml")], READ_OPTIONS)
    assert [article.fields.get("authors") for article in articles] == [["Doe & Co, Jane"], ["other"], None]


# Blogs


BLOGS = {  # URL of a blog -> origin and id of its first post
    "https://www.Blog.example/": ("wordpress:blog.example/1", "wordpress-blog.example-1"),
    "http://example.com:8080/a/b": ("wordpress:example.com:8080/a/b/1", "wordpress-example.com:8080-a-b-1"),
    "https://bücher.example": ("wordpress:bücher.example/1", "wordpress-bücher.example-1"),
}


def test_origins_and_ids_contain_the_blog(importer):
    files = {f"{n}.xml": wordpress({"post_name": f"a{n}"}, site=url) for n, url in enumerate(BLOGS)}
    importer.imports(files, "--site", "https://new.example")
    articles = importer.articles().values()
    assert {(article["origin"], article["id"]) for article in articles} == set(BLOGS.values())


def test_blog_without_a_url_or_with_a_long_one_has_no_ids(importer):
    for number, site in enumerate(("", f"https://{'x' * 80}/b")):
        importer.imports({"export.xml": wordpress({"post_name": f"a{number}"}, site=site)})
        assert not importer.articles()[f"a{number}"]["id"].startswith("wordpress")


@pytest.mark.parametrize("number", ["", "x", "-1", "1 2"])
def test_post_without_a_usable_number_is_an_error(importer, number):
    export = wordpress({"post_id": number, "post_name": "a"})
    assert f"post {number} 'A', slug 'a': post_id: " in importer.rejects({"a.xml": export})


@pytest.mark.parametrize(
    ("link", "site", "is_moved"),
    [
        ("/2026/", "https://new.example", True),
        ("/?p=3", SITE, True),
        ("/caf%C3%A9/", "https://new.example", True),
        ("/caf%C3%A9/", SITE, False),
    ],
)
def test_redirects_start_at_links_that_change(importer, link, site, is_moved):
    export = wordpress({"post_name": "caf%c3%a9", "link": SITE + link})
    importer.run("import", {"export.xml": export}, "--redirects", "new.csv", "--site", site)
    rows = (importer.folder / "new.csv").read_text().splitlines()
    assert rows[1:] == [f"{SITE}{link},café"] * is_moved


@pytest.mark.parametrize("order", [("1.xml", "2.xml"), ("2.xml", "1.xml")])
def test_files_of_one_blog_are_one_export_in_any_order(importer, order):
    meta = {"_thumbnail_id": "30", "_yoast_wpseo_primary_category": "7"}
    raw = '<category domain="category">News</category><category domain="category">Food &amp;amp; Drink</category>'
    raw += CREATOR.format("jd")
    first = wordpress({"content": REFERENCE.format(8), "meta": meta, "raw": raw}).replace("cat_name", "name")
    second = wordpress(pattern(8, PARAGRAPH.format("Open.")), PICTURE).replace("url>https://", "url>http://www.")
    importer.write({"1.xml": first, "2.xml": second.replace("<item>", f"{AUTHOR.format('Jane')}<item>", 1)})
    importer.imports(*order)
    expected = {"bannerUrl": f"{SITE}/30.jpg", "category": "Food & Drink", "contentHtml": "<p>Open.</p>"}
    expected["authors"] = ["Jane"]
    assert importer.only().items() >= expected.items()


def test_files_of_two_blogs_are_two_exports(importer):
    other = wordpress({"meta": {"_thumbnail_id": "30"}}, site="https://other.example")
    assert "Featured images" in importer.imports({"1.xml": wordpress(PICTURE), "2.xml": other})
    assert importer.only()["bannerUrl"] == ""


# Blocks


def pattern(number, content, **fields):
    return {"post_type": "wp_block", "post_id": number, "content": content, "title": f"Pattern {number}"} | fields


REFERENCE = '<!-- wp:block {{"ref":{}}} /-->'
PARAGRAPH = "<!-- wp:paragraph -->\n<p>{}</p>\n<!-- /wp:paragraph -->"


def test_synced_patterns_are_inserted(imports, importer):
    printed = imports(
        {"post_name": "a", "content": f"{PARAGRAPH.format('One')}\n{REFERENCE.format(7)}"},
        {"post_name": "draft", "content": REFERENCE.format(10)},
        {"post_name": "cycle", "content": REFERENCE.format(11)},
        {"post_name": "missing", "content": REFERENCE.format(99)},
        {"post_name": "own", "content": '<!-- wp:block {"ref":8,"content":{"Title":{"content":"Mine"}}} /-->'},
        pattern(7, f"{PARAGRAPH.format('Two')}{REFERENCE.format(8)}"),
        pattern(8, PARAGRAPH.format("Three")),
        pattern(9, "unused"),
        pattern(10, "not published", status="draft"),
        pattern(11, PARAGRAPH.format("Round") + REFERENCE.format(11)),
    )
    html = importer.values("contentHtml")
    assert re.findall("<p>(.*?)</p>", html["a"]) == ["One", "Two", "Three"]
    assert (html["draft"], html["cycle"]) == ("", "<p>Round</p>")
    assert re.search(r"Synced patterns that the export lacks \(1\): missing\. Export", printed)
    assert re.search(r"contain themselves.* \(1\): cycle", printed)
    assert re.search(r"not published: Pattern 10 \(1\): draft", printed)
    assert "Articles without any content (2)" in printed
    assert re.search(r"Pattern overrides[^(]*\(1\)", printed)
    assert "synced patterns that no post contains (1)" in printed


@pytest.mark.parametrize(("count", "text"), [(20, "x" * 1000), (5, "")])
def test_patterns_that_expand_exponentially_are_an_error(importer, count, text):
    patterns = [pattern(n, REFERENCE.format(n + 1) * count + text) for n in range(100, 109)]
    (line,) = importer.rejects({"export.xml": wordpress({"content": REFERENCE.format(100)}, *patterns)}).splitlines()
    assert line.startswith("export.xml, post 1 'A'")
    assert "synced patterns" in line


def test_footnotes_are_inserted_at_their_block(imports, importer):
    notes = '[{"content":"The &lt;em>second&lt;/em> one","id":"n-1"},{"content":"Last","id":"n-2"}]'
    content = f"{PARAGRAPH.format('Text')}<!-- wp:footnotes /-->{PARAGRAPH.format('End')}"
    invalid = "{", r'[{"content":"\ud83d","id":"n-1"}]'  # a lone surrogate
    printed = imports(*({"content": content, "meta": {"footnotes": text}} for text in (notes, *invalid)))
    html = importer.values("contentHtml")["post-1"]
    assert '<p>Text</p>\n<ol class="wp-block-footnotes"><li id="n-1">The <em>second</em> one <a href="#n-1-' in html
    assert re.search(r"<li id=\"n-2\">Last .*</ol><p>End</p>", html)
    assert "Footnotes that the export lacks, or that cannot be read (1): post-2" in printed
    assert re.search("Text with �.*: post-3", printed)


META = "<wp:postmeta><wp:meta_key>_members_access_role</wp:meta_key><wp:meta_value>{}</wp:meta_value></wp:postmeta>"
CLAIMS = {
    "published": [
        *({}, {"status": "future", "post_date_gmt": "2999-01-01 00:00:00"}, {"post_password": ""}),
        {"meta": {"_jetpack_newsletter_access": "everybody", "_members_access_role": ""}},
        {"post_date_gmt": "0000-00-00 00:00:00", "post_date": DATE},
    ],
    "withheld": [
        *({"status": status} for status in ("draft", "pending", "private", "Publish", "archive", "auto-draft", "")),
        *({"post_password": "x"}, {"status": "future", "post_password": "x"}),
        *({"meta": {"_jetpack_newsletter_access": "paid_subscribers"}}, {"meta": {"_members_access_role": "editor"}}),
        {"raw": META.format("") + META.format("editor")},  # a key may repeat
    ],
    None: [{"post_date_gmt": "0000-00-00 00:00:00"}, {"post_date_gmt": ""}],
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_public_posts_with_a_date_are_published(tmp_path, claim):
    for post in CLAIMS[claim]:
        (tmp_path / "export.xml").write_text(wordpress({"content": "x"} | post))
        (article,) = read_wordpress([str(tmp_path / "export.xml")], READ_OPTIONS)
        assert (article.claim, "status" in article.fields) == (claim, False), post


def test_elements_of_plugins_are_unknown_fields(imports, importer):
    raw = '<x:status xmlns:x="https://plugin.example/ns/">draft</x:status>'
    assert ": ns:status: draft (1): post-1\n" in imports({"content": "Text", "raw": raw})
    assert importer.states() == {"post-1": "published"}


def test_restricted_posts_are_reported(imports):
    some = {"_jetpack_newsletter_access": "paid_subscribers"}, {"_members_access_role": "subscriber"}
    printed = imports(*({"content": "Text", "meta": meta} for meta in some))
    assert re.search(r"access to them is restricted: paid_subscribers \(1\).* subscriber \(1\)", printed)


# Content


PICTURE_LINK = f"<a href='https://a.example/b'><img src='{SITE}/a.jpg' alt='A > B' /></a>"
FIGURE = '<figure class="wp-caption alignnone">{}<figcaption class="wp-caption-text">{}</figcaption></figure>'
STYLE = 'style="width: 300px" class'
VIDEO = "https://v.example/1"
LINK = f'<a href="{VIDEO}">{VIDEO}</a>'
EMBEDDED = "Videos and other"
CONTENT = [  # content of a post, its HTML, and what is reported, if anything
    # captions
    (f"[caption id='a']{PICTURE_LINK} A [a, b] [/caption]", FIGURE.format(PICTURE_LINK, "A [a, b]"), "Pictures stay"),
    (f"""[caption caption="It's x"]{PICTURE_LINK}[/caption]""", FIGURE.format(PICTURE_LINK, "It's x"), "Pictures stay"),
    (
        f'[caption width="300" align=alignleft]{PICTURE_LINK} <em>x</em>[/caption]',
        FIGURE.format(PICTURE_LINK, "<em>x</em>").replace("alignnone", "alignleft").replace("class", STYLE, 1),
        "Pictures stay",
    ),
    (f"[caption width='x' align='a\" b']{PICTURE_LINK} x[/caption]", FIGURE.format(PICTURE_LINK, "x"), "Pictures stay"),
    (f"[caption width='40']{PICTURE_LINK} [/caption]", f"<p>{PICTURE_LINK}</p>", "Pictures stay"),
    # embeds
    (f"See\n\n[embed width=3]{VIDEO}[/embed]", f"<p>See</p>\n<p>{LINK}</p>", EMBEDDED),
    (f"{VIDEO}\r\n\r\nand {VIDEO}", f"<p>{LINK}</p>\n<p>and {VIDEO}</p>", EMBEDDED),
    (f"<!-- wp:a --><p>{VIDEO}</p><p>at {VIDEO}</p>", f"<p>{LINK}</p><p>at {VIDEO}</p>", EMBEDDED),
    (f"<!-- wp:embed -->\n<div>\n{VIDEO}\n</div>\n<!-- /wp:embed -->", f"<div>\n{LINK}\n</div>", EMBEDDED),
    (f'[video src="{VIDEO}"]', f"<p>{LINK}</p>", EMBEDDED),
    (f"No {VIDEO} alone", f"<p>No {VIDEO} alone</p>", ""),
    # excerpts
    ("First sentence.<!--more-->\nSecond", "<p>First sentence.<br />\nSecond</p>", ""),
    ("One\n\n<!--more Read on-->\n\nTwo", "<p>One</p>\n<p>Two</p>", ""),
    ("<p>One</p>\n<!-- wp:more -->\n<!--more-->\n<!-- /wp:more --><p>Two</p>", "<p>One</p>\n\n<p>Two</p>", ""),
    # escaped shortcodes
    ("Write [[gallery]] for pictures", "<p>Write [gallery] for pictures</p>", ""),
    ("[[su_note]Text[/su_note]]", "<p>[su_note]Text[/su_note]</p>", ""),
    ("[[embed]https://a.example[/embed]]", "<p>[embed]https://a.example[/embed]</p>", ""),
    ("[[Home page]] [[1]]", "<p>[[Home page]] [[1]]</p>", ""),
    ("<pre>[[toc]]\nif [[ -f a ]]; then</pre>", "<pre>[toc]\nif [[ -f a ]]; then</pre>", ""),
    # other shortcodes
    ("[toc]", "<p>[toc]</p>", ": toc (1)"),
    ("[unheard]Text[/unheard]", "<p>[unheard]Text[/unheard]</p>", ": unheard (1)"),
    ("[vimeo 123]", "<p>[vimeo 123]</p>", ": vimeo (1)"),
    ("[spotify=track:1]", "<p>[spotify=track:1]</p>", ": spotify (1)"),
    ("<!-- wp:shortcode -->\n[menu]\n<!-- /wp:shortcode -->", "<p>[menu]</p>", ": menu (1)"),
    ("[audio]", "<p>[audio]</p>", "that the export lacks (1): post-1"),
    ("A [video of the evening].", "<p>A [video of the evening].</p>", ""),
    ("Text [gallery]", "<p>Text [gallery]</p>", "that the export lacks (1): post-1"),
    # blocks
    ("<!-- wp:core/group --><p>a</p><!-- /wp:core/group -->", "<p>a</p>", ""),
    ("<!-- wp:pmpro/membership --><p>a</p><!-- /wp:pmpro/membership -->", "<p>a</p>", ": pmpro/membership (1)"),
    ("<p>a</p><!-- wp:jetpack/paywall /-->", "<p>a</p>", "Blocks of plugins: jetpack/paywall (1)"),
    ('<!-- wp:a {"metadata":{"blockVisibility":false}} --><p>a</p>', "<p>a</p>", ": blockVisibility (1)"),
    ('<!-- wp:a {"blockVisibility":{"hideBlock":true}} --><p>a</p>', "<p>a</p>", ": blockVisibility (1)"),
]


@pytest.mark.parametrize(("content", "html", "reported"), CONTENT)
def test_content_shows_what_readers_saw_or_is_reported(render, content, html, reported):
    report, found = render(content)
    assert found == [html]
    assert reported in report
    assert bool(report) == bool(reported)


BRACKETED_PROSE = [
    *("[1]", "[sic]", "[… cut]", "[Chorus]", "[self-published]", "[two or three words]", "[video of the evening]"),
    *("[Figure 3]", "[see a = b]", "[n=20]", "a[b] = c[d]", "<code>[x]</code>", "<pre>[x]\n\n[y z=1]</pre>"),
    *("[see <a href='https://a.example'>a</a>]", "[/sarcasm]", "[[Home page]]", "[[1]](/a)"),
]


def test_prose_in_brackets_is_not_reported(render):
    assert render(*(f"It {text} is\n{text} so." for text in BRACKETED_PROSE))[0] == ""


CODE = [
    "[sourcecode language='php']\nif ($a[x] < 1) {\n\n  https://a.example/b\n\n}\n[/sourcecode]",
    '[php highlight="1"]\n<?php\n\n$a[b];\n[/php]',
    "<pre>\nhttps://a.example/b\n\n[caption]<img src='https://a.example/x'>x[/caption]\n</pre>",
    "<script>\nlet a\n\nlet b\n</script>",
    "<!-- a\n\nremark -->",
]


def test_code_stays_unchanged(render):
    _, stored = render(*(f"One\n\n{code}\n\nTwo" for code in CODE))
    for code, html in zip(CODE, stored, strict=True):
        assert code in html


# Galleries and players


def attachment(number, name, **fields):
    return {
        "post_type": "attachment",
        "post_id": number,
        "attachment_url": f"{SITE}/{name}",
        "post_name": name,
    } | fields


FILES = [
    attachment(21, "b.jpg", post_parent=1, menu_order=2, excerpt="A <em>day</em>\nout"),
    attachment(22, "z.jpg", post_parent=1, menu_order=1, meta={"_wp_attachment_image_alt": 'The "harbour" &amp; more'}),
    attachment(23, "c.png", post_parent=9),
    attachment(24, "d.mp3", post_parent=7),
    attachment(25, "e.mp4?x=1", post_parent=8),
]
Z = f'<img loading="lazy" src="{SITE}/z.jpg" alt="The &quot;harbour&quot; &amp; more" />'
B = f'<img loading="lazy" src="{SITE}/b.jpg" alt="" />'
B_CAPTION = '<figcaption class="wp-element-caption">A <em>day</em> out</figcaption>'
C = f'<img loading="lazy" src="{SITE}/c.png" alt="" />'


def gallery(*figures, columns="default"):
    pictures = "\n".join(f'<figure class="wp-block-image">{figure}</figure>' for figure in figures)
    return f'<figure class="wp-block-gallery has-nested-images columns-{columns} is-cropped">\n{pictures}\n</figure>'


def player(kind, url, more=""):
    return f'<figure class="wp-block-{kind}"><{kind} controls src="{url}"{more}></{kind}></figure>'


FILES_IN_POSTS = {  # in posts 1, 2, 3 and so on
    "[gallery]": gallery(Z, B + B_CAPTION),  # of the first post
    "[gallery ids='23, 22, 99']": gallery(C, Z),
    "<!-- wp:shortcode -->\n[gallery ids=23 columns=3]\n<!-- /wp:shortcode -->": gallery(C, columns=3),
    '<!-- wp:paragraph --><p>[gallery include="21" link="file"]</p><!-- /wp:paragraph -->': gallery(
        f'<a href="{SITE}/b.jpg">{B}</a>{B_CAPTION}'
    ),
    '[gallery id="9"]': gallery(C),
    "[audio src='/x.mp3']": player("audio", f"{SITE}/x.mp3"),
    "[audio]": player("audio", f"{SITE}/d.mp3"),  # of post 7
    "[video]": player("video", f"{SITE}/e.mp4?x=1"),
    "[audio https://a.example/y.ogg]": player("audio", "https://a.example/y.ogg"),
    '[video width="9" mp4="/x.mp4?a=1&amp;b=2" poster="/p.jpg"][/video]': player(
        "video", f"{SITE}/x.mp4?a=1&amp;b=2", f' poster="{SITE}/p.jpg"'
    ),
}


def test_galleries_and_players_show_the_files_of_the_export(render):
    report, html = render(*FILES_IN_POSTS, *FILES)
    assert [text.replace("</figure>\n\n", "</figure>\n") for text in html] == list(FILES_IN_POSTS.values())
    assert "that the export lacks (1): post-2. Export" in report
    assert "blog.example.com (8): " in report


# XML


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("<?xml", "\n \n<?xml"),
        ("Menu", "Me\0\x07\x1f\ufffe\uffffnu"),
        ("<![CDATA[Menu]]>", "Me&#7;&#xFFFE;nu"),
        ("<![CDATA[Menu]]>", "&lt;b&gt;Me&lt;/b&gt;&lt;br /&gt;nu"),
        ("</rss>", "</rss>\n<!-- 9 queries -->\n"),
    ],
)
def test_invalid_characters_and_tags_in_titles_are_ignored(importer, before, after):
    importer.imports({"export.xml": wordpress({"title": "Menu"}).replace(before, after, 1)})
    assert importer.only()["title"] == "Menu"


LONG = "Menü" * 40_000


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-16", LONG),
        ("iso-8859-1", LONG),
        ("iso-8859-1", "Größe í°± ï¿¾"),  # the bytes of invalid characters in UTF-8
        ("windows-1251", "Лінії Японії пїѕ"),
    ],
)
def test_export_in_another_encoding_is_read(importer, encoding, text):
    export = wordpress({"content": text}).replace("UTF-8", encoding, 1)
    importer.imports({"export.xml": export.encode(encoding, "xmlcharrefreplace")})
    assert importer.only()["contentHtml"] == f"<p>{text}</p>"


def test_characters_at_chunk_boundaries_survive(tmp_path):
    """Files are read in chunks, which may split a character reference or a surrogate."""
    export = wordpress({"title": "TITLE"}).replace("<![CDATA[TITLE]]>", "\ud800é\ufffe&#233;&#7;&#xD83D;&#x1F600;")
    length = len(export.partition("\ud800")[0])
    for end in range((1 << 16) - 20, (1 << 16) + 4):
        padded = export.replace("<rss", f"<!--{' ' * (end - length - 7)}--><rss")
        (tmp_path / "export.xml").write_bytes(padded.encode("utf-8", "surrogatepass"))
        (article,) = read_wordpress([str(tmp_path / "export.xml")], READ_OPTIONS)
        assert article.fields["title"] == "\ufffdéé\ufffd😀"


def test_memory_does_not_grow_with_the_export(tmp_path):
    (tmp_path / "export.xml").write_text(wordpress(*[{"content": "x" * 50_000}] * 150))
    tracemalloc.start()
    try:
        assert sum(1 for _ in read_wordpress([str(tmp_path / "export.xml")], READ_OPTIONS)) == 150
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


# Hostile posts


def seconds(folder, text):
    """Return the CPU time for reading a post with this content and title."""
    (folder / "export.xml").write_text(wordpress({"content": text, "title": text}))
    start = time.process_time()
    list(read_wordpress([str(folder / "export.xml")], READ_OPTIONS))
    return time.process_time() - start


UNITS = ["[a", "[", "[[a]", "[/a]]", "[a b=", "[[gallery", "[caption]", "[embed]a ", "[gallery ", "<p>[audio]"]
UNITS += ["<", "<p> ", "<code>", "<!--", "<!-- wp:a {", "<!-- wp:shortcode -->", "<a x='", "$$=", ":::", "{{<"]
UNITS += ["a", "\n ", " ", "&#9", "https://a ", "\nhttps://a", "[video a='"]


@pytest.mark.parametrize("begin", ["", "[", "[a", "[caption ", "[caption]<img ", "[embed]", "<!-- wp:a ", "\n"])
def test_time_is_linear_in_the_length_of_a_post(tmp_path, begin):
    for unit in UNITS:
        assert seconds(tmp_path, begin + unit * (20_000 // len(unit))) < 1, unit


@pytest.mark.parametrize("unit", ["<!-- wp:a ", "<!-- wp:a -->", "<!-- wp:a/b /-->", "<!-- /wp:a -->", "<!-- "])
def test_time_is_linear_in_the_number_of_blocks(tmp_path, unit):
    assert seconds(tmp_path, unit * (400_000 // len(unit))) < 5
