"""Import of WordPress exports."""

import re
import time
from datetime import UTC
from zoneinfo import ZoneInfo

import pytest
from helpers import PROJECT
from importer import DATE, PICTURE, SITE, wordpress

from converters.source_articles import SourceOptions, Subject
from converters.wordpress import read_wordpress

OPTIONS = SourceOptions("", UTC)


@pytest.fixture
def read(tmp_path):
    """Return the articles of exports, given as texts or as the posts of one."""

    def read(*exports, options=OPTIONS):
        texts = [exports] if isinstance(exports[0], dict) else exports
        paths = [tmp_path / f"{number}.xml" for number, _ in enumerate(texts)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text if isinstance(text, str) else wordpress(*text))
        return list(read_wordpress(map(str, paths), options))

    return read


@pytest.fixture
def render(read):
    """Return the HTML of a post with this content, and the details of its notes by subject."""

    def render(content, options=OPTIONS, **fields):
        (article,) = read({"content": content} | fields, options=options)
        return article.fields["contentHtml"], details(article)

    return render


def details(article):
    """Return the details of an article's notes, or what they report if they have none, by subject."""
    return {(note.subject, note.detail or note.kind.split()[0]) for note in article.notes}


def test_posts_are_imported_with_their_fields():
    """The zone is for dates that WordPress does not give in UTC."""
    options = OPTIONS._replace(zone=ZoneInfo("Asia/Tokyo"))
    articles = {a.fields.get("slug"): a for a in read_wordpress([str(PROJECT / "tests/data/wordpress.xml")], options)}
    assert articles["smørrebrød"].fields == {
        "title": "Fish & Chips",
        "slug": "smørrebrød",
        "bannerUrl": f"{SITE}/wp-content/uploads/a.jpg",
        "category": "Food & Drink",
        "keywords": ["menu", "Q&A"],
        "authors": ["editor"],
        "metaTitle": "Fish & Chips - Café Blog",
        "metaDesc": "What we cook: 100% fresh",
        "publishedAt": "2026-01-31T09:30:00+00:00",
        "updatedAt": "2026-02-01T10:00:00+00:00",
        "contentHtml": '<p class="has-text-align-center">Asparagus is back.</p>\n\n'
        f'<figure class="wp-block-image"><img src="{SITE}/wp-content/uploads/a%20b.jpg" alt=""/></figure>\n\n'
        '<!-- wp:latest-posts {"postsToShow":3} /-->',
    }
    assert articles["smørrebrød"].origin == ("wordpress:blog.example.com", "17")
    assert articles["old"].fields["publishedAt"] == "2026-01-31T01:30:00+00:00"
    classic = articles["classic"].fields
    assert (classic["title"], classic["metaTitle"]) == ("Classic ]]> “quoted”", "Menu of March")
    assert classic["metaDesc"] == "In & out."
    assert "<p>The first paragraph<br />\ngoes on, with <em>emphasis</em> &amp; 1 < 2." in classic["contentHtml"]
    assert "<PRE>\na\n\n    b\n</PRE>" in classic["contentHtml"]


ROLE = "<wp:postmeta><wp:meta_key>_members_access_role</wp:meta_key><wp:meta_value>{}</wp:meta_value></wp:postmeta>"
NO_DATE = "0000-00-00 00:00:00"
CLAIMS = {
    "published": [
        *({}, {"status": "future", "post_date_gmt": "2999-01-01 00:00:00"}),
        {"meta": {"_jetpack_newsletter_access": "everybody", "_members_access_role": ""}},
        {"post_date_gmt": NO_DATE, "post_date": DATE},
        *({"post_date_gmt": NO_DATE}, {"title": "", "content": ""}),
        {name: f"\n  {value}\n" for name, value in (("post_type", "post"), ("status", "publish"), ("post_id", "7"))},
    ],
    "withheld": [
        *({"status": status} for status in ("draft", "private", "Publish", "")),
        {"post_password": "x"},
        {"status": "future", "post_date_gmt": NO_DATE},
        *(
            {"meta": {"_jetpack_newsletter_access": "paid_subscribers"}},
            {"raw": ROLE.format("editor") + ROLE.format("")},
        ),
    ],
}


@pytest.mark.parametrize("claim", CLAIMS)
def test_public_posts_are_published_and_no_others(read, claim):
    for post in CLAIMS[claim]:
        (article,) = read({"content": "x"} | post)
        assert (article.claim, article.is_without_text) == (claim, False), post


def test_unknown_status_is_reported(read):
    unknown, draft = read(*({"content": "x", "status": status} for status in ("in-review", "draft")))
    assert details(unknown) == {(Subject.ACCESS, "status: in-review")}
    assert details(draft) == set()


@pytest.mark.parametrize("post", [{"status": "trash"}, {"status": "draft", "title": " ", "content": "\n"}])
def test_trash_and_blank_drafts_are_never_new(read, post):
    article, _ = read(post, {})
    assert (article.claim, article.is_without_text, article.origin.key) == ("withheld", True, "1")


def test_custom_fields_that_may_hide_a_post_are_reported(read):
    meta = {"show_to_public": "0", "rating": "0", "audience": "members", "_edit_last": "1"}
    hidden, public = read(
        {"content": "x", "meta": meta}, {"content": "x", "meta": {"show_to_public": "1", "rating": "5"}}
    )
    assert details(hidden) == {(Subject.ACCESS, "show_to_public: 0"), (Subject.ACCESS, "audience: members")}
    assert details(public) == {(Subject.ACCESS, "show_to_public: 1")}


def test_missing_slug_comes_from_the_title_or_the_number(read):
    """Two drafts with the same title cannot share its slug, nor can a draft have that of a published post."""
    titles = "Our Menu", "Notes", "Notes", "Menu", ""
    articles = read({"post_name": "menu"}, *({"post_name": "", "title": title, "content": "x"} for title in titles))
    assert [article.fields["slug"] for article in articles] == ["menu", "our-menu", "3", "4", "5", "6"]
    assert articles[-1].fields["title"] == "(no title)"


@pytest.mark.parametrize("number", ["", "x", "-1", "1 2"])
def test_post_without_a_usable_number_is_an_error(importer, number):
    export = wordpress({"post_id": number, "post_name": "a"})
    assert f"post {number} 'A', slug 'a': post_id: " in importer.rejects({"a.xml": export})


def test_placeholders_in_titles_of_seo_plugins_are_filled_in(read):
    yoast = {"_yoast_wpseo_title": "%%title%% %%page%% %%sep%% %%sitename%% &amp;amp; more"}
    rank_math = {"rank_math_title": "%title% %sep% %sitename% &amp;amp; more", "rank_math_description": "In short"}
    unknown = {"_yoast_wpseo_title": "%%parent_title%%"}
    first, second, third = read(*({"title": "Menu", "content": "x", "meta": x} for x in (yoast, rank_math, unknown)))
    assert first.fields["metaTitle"] == second.fields["metaTitle"] == "Menu - Café Blog & more"
    assert second.fields["metaDesc"] == "In short"
    assert "metaTitle" not in third.fields
    assert details(third) == {(Subject.APPEARANCE, "%%parent_title%%")}


# Blogs


@pytest.mark.parametrize("order", [1, -1])
def test_files_of_one_blog_are_one_export_in_any_order(read, order):
    creator = '<d:creator xmlns:d="http://purl.org/dc/elements/1.1/">jd</d:creator>'
    author = "<wp:author_login>jd</wp:author_login><wp:author_display_name>Jane</wp:author_display_name>"
    first = wordpress({"content": "x", "meta": {"_thumbnail_id": "30"}, "raw": creator})
    second = wordpress(PICTURE).replace("url>https://", "url>http://www.")
    second = second.replace("<item>", f"<wp:author>{author}</wp:author><item>", 1)
    (article,) = read(*(first, second)[::order])
    assert (article.fields["bannerUrl"], article.fields["authors"]) == (f"{SITE}/30.jpg", ["Jane"])
    assert details(read(first)[0]) == {(Subject.APPEARANCE, "Featured")}


NEWS = {"post_type": "news", "content": "x"}


def test_other_type_of_posts_is_imported(importer):
    error = importer.rejects({"export.xml": wordpress(NEWS, NEWS, {"status": "trash"}, PICTURE)})
    assert "2 of the type news: add --post-type news" in error
    importer.imports("export.xml", "--post-type", "news")
    assert importer.values("sourceKey") == {"post-1": "1", "post-2": "2"}


# Content


PICTURE_LINK = f"<a href='https://a.example/b'><img src='{SITE}/a.jpg' alt='A > B' /></a>"
FIGURE = '<figure class="wp-caption">{}<figcaption class="wp-caption-text">{}</figcaption></figure>'
VIDEO = "https://v.example/1"
LINK = f'<a href="{VIDEO}">{VIDEO}</a>'
CONTENT = [  # content of a post, its HTML, and what is reported, if anything
    # captions
    (f"[caption id='a' width='3']{PICTURE_LINK}A [a, b][/caption]", FIGURE.format(PICTURE_LINK, "A [a, b]"), ""),
    (
        f"[caption caption='x']{PICTURE_LINK}[/caption]",
        f"<p>[caption caption='x']{PICTURE_LINK}[/caption]</p>",
        "caption",
    ),
    # URLs alone on a line
    (f"See\n\n[embed width=3]{VIDEO}[/embed]", f"<p>See</p>\n<p>{LINK}</p>", "URLs"),
    (f"{VIDEO}\r\n\r\nand {VIDEO}", f"<p>{LINK}</p>\n<p>and {VIDEO}</p>", "URLs"),
    (f"<!-- wp:a --><p>{VIDEO}</p><p>at {VIDEO}</p>", f"<p>{LINK}</p><p>at {VIDEO}</p>", "URLs"),
    (f"<!-- wp:embed -->\n<div>\n{VIDEO}\n</div>\n<!-- /wp:embed -->", f"<div>\n{LINK}\n</div>", "URLs"),
    # marks
    ("First sentence.<!--more Read on-->\nSecond", "<p>First sentence.<br />\nSecond</p>", ""),
    ("<p>One</p>\n<!-- wp:more -->\n<!--more-->\n<!-- /wp:more --><p>Two</p>", "<p>One</p>\n\n<p>Two</p>", ""),
    # shortcodes
    ("Text [gallery ids='1']", "<p>Text [gallery ids='1']</p>", "gallery"),
    # blocks
    ("<!-- wp:core/group --><p>a</p><!-- /wp:core/group -->", "<p>a</p>", ""),
    ('<p>a</p><!-- wp:block {"ref":7} /-->', '<p>a</p><!-- wp:block {"ref":7} /-->', "block"),
]


@pytest.mark.parametrize(("content", "html", "reported"), CONTENT)
def test_content_shows_what_readers_saw_or_is_reported(render, content, html, reported):
    expected = {(Subject.APPEARANCE, reported)} if reported else set()
    assert render(content) == (html, expected)


def test_report_of_an_export_names_the_site_as_the_remedy(importer):
    content = f"[gallery ids='1']\n\n{VIDEO}\n\n<!-- wp:latest-posts /-->"
    report = importer.imports({"a.xml": wordpress({"content": content})}).splitlines()
    assert ["import from the site's URL" in line for line in report] == [True] * 3


def test_footnotes_are_inserted_at_their_block(render):
    notes = '[{"content":"The &lt;em>second&lt;/em> one","id":"n-1"},{"content":"Last","id":"n-2"}]'
    content = "<!-- wp:paragraph --><p>Text</p><!-- /wp:paragraph --><!-- wp:footnotes /--><p>End</p>"
    html, reported = render(content, meta={"footnotes": notes})
    assert '<p>Text</p><ol class="wp-block-footnotes"><li id="n-1">The <em>second</em> one <a href="#n-1-' in html
    assert re.search(r"<li id=\"n-2\">Last .*</ol><p>End</p>", html)
    assert reported == set()
    for invalid in ("{", "7", "[7]", '[{"id":7}]'):
        assert (Subject.APPEARANCE, "footnotes") in render(content, meta={"footnotes": invalid})[1]


# XML


ENTITY = '<!DOCTYPE rss [<!ENTITY a "boom">]>'
DOCUMENT_TYPES = [
    lambda text: text.replace("<rss", f"{ENTITY}<rss", 1),
    lambda text: text.replace("<rss", f"<!-- <rss -->{ENTITY}<rss", 1),
    lambda text: text.replace("UTF-8", "utf-16", 1).replace("<rss", f"{ENTITY}<rss", 1).encode("utf-16"),
]


@pytest.mark.parametrize("change", DOCUMENT_TYPES)
def test_document_type_is_refused_wherever_it_stands(importer, change):
    error = importer.rejects({"export.xml": change(wordpress({"title": "&a;"}).replace("<![CDATA[&a;]]>", "&a;"))})
    assert error.startswith("export.xml: ")
    assert "boom" not in error


def test_noise_around_and_in_the_texts_of_exports_is_ignored(read):
    export = wordpress({"title": "<b>Me</b>\0<br />\x1fnu"})
    (article,) = read(f"\n \n{export}\n<!-- 9 queries -->")
    assert article.fields["title"] == "Menu"


# Hostile posts


def seconds(folder, text):
    """Return the CPU time for reading a post with this content and title."""
    (folder / "export.xml").write_text(wordpress({"content": text, "title": text}))
    start = time.process_time()
    list(read_wordpress([str(folder / "export.xml")], OPTIONS._replace(drop_tags=True)))
    return time.process_time() - start


UNITS = ["[a", "[[a]", "[/a]]", "[a b=", "[caption]", "[embed]a ", "[a][/a]", "[video a='", "https://a ", "\nhttps://a"]
UNITS += ["<", "<p> ", "<code>", "<a x='", "<!--", "<!-- ", "<!-- wp:a {", "<!-- wp:a /-->", "<!-- /wp:a -->"]
UNITS += ["a", "\n ", " ", "&#9"]


@pytest.mark.parametrize("begin", ["", "[", "[a", "[caption ", "[caption]<img ", "[embed]", "<!-- wp:a ", "\n"])
def test_time_is_linear_in_the_length_of_a_post(tmp_path, begin):
    for unit in UNITS:
        assert seconds(tmp_path, begin + unit * (20_000 // len(unit))) < 1, unit
