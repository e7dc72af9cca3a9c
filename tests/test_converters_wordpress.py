"""Import of WordPress exports."""

import re

import pytest
from helpers import PROJECT
from importer import read_data

DATA = PROJECT / "tests/data"
SITE = "https://blog.example.com"


def test_wordpress_posts_arrive(importer):
    printed = importer.imports(DATA / "wordpress.xml", "--timezone", "Europe/Berlin")
    assert len(printed.splitlines()) < 12
    for words in (
        "page (1 item: about-us)",
        "trash (1 article: gone__trashed)",
        "Pictures stay at their URLs (1 attachment)",
        "author (8 articles: smørrebrød, classic, scheduled, …)",
        "comments (1 article: smørrebrød)",
        "latest-posts (1 article: smørrebrød)",
        "description (1 article: classic)",  # has a placeholder that only WordPress can fill in
        "[gallery] (1 article: classic)",
        "Drafts, because they are private or have a password (2 articles: for-friends, private)",
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


def test_wordpress_export_of_an_older_version_arrives(importer):
    """Before WordPress 5.7 titles were escaped and the time of the last change was missing."""
    text = re.sub(r"\t\t<wp:post_modified.*\n", "", read_data("wordpress.xml")).replace("/export/1.2/", "/export/1.0/")
    importer.write({"export.xml": text.replace("<![CDATA[Fish &amp; Chips]]>", "Fish &#038; Chips &amp;lt;b&amp;gt;")})
    importer.imports("export.xml")
    assert importer.articles()["smørrebrød"]["title"] == "Fish & Chips <b>"


def test_wordpress_mistakes_name_the_posts(importer):
    importer.write({"export.xml": read_data("wordpress.xml").replace("[old]", "[classic]")})
    report = importer.run("import", "export.xml").stderr
    assert "export.xml, post 26 'Without its time in UTC', slug 'classic': The article with the slug" in report
    assert "also in export.xml, post 18 'Classic " in report


def wordpress(*posts, attachments=(30,)):
    """Return an export of posts, each a dictionary by element name, with metadata by key in `meta`."""
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


WORDPRESS_CONTENT = {
    '[caption id="a" width="300"]<a href="https://a.b/c"><img src="/a.jpg" /></a> A [a, b] <em>day</em>[/caption]': (
        f'<figure><a href="https://a.b/c"><img src="{SITE}/a.jpg" /></a><figcaption>A [a, b] <em>day</em></figcaption>'
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
def test_captions_and_embeds_of_wordpress_arrive_in_silence(importer, content, html):
    importer.write({"export.xml": wordpress({"post_name": "a", "content": content}, attachments=())})
    assert importer.imports("export.xml") == ""
    assert importer.only()["contentHtml"] == html


def test_untitled_drafts_of_wordpress_stop_nothing(importer):
    draft = {"status": "draft", "title": "", "post_name": ""}
    drafts = [draft | {"content": "One"}, draft | {"content": "Two"}, draft, draft | {"title": "Menu"}]
    importer.write({"export.xml": wordpress({"post_name": "menu"}, *drafts)})
    assert "Left out: drafts without a title and content (1 article: 4)\n" in importer.imports("export.xml")
    states = dict.fromkeys(("no-title-2", "no-title-3", "menu-5"), "draft")
    assert importer.states() == states | {"menu": "published"}
    assert importer.only("no-title-2")["title"] == "(no title)"


def test_what_the_export_lacks_is_reported(importer):
    blocks = '<!-- wp:latest-posts {"a":1} /--><!-- wp:block {"ref":3} /--><!-- wp:paragraph --><p>x</p>'
    meta = {"_thumbnail_id": "31", "_yoast_wpseo_metadesc": "%%title%% of %%category%%"}
    post = {"post_name": "a", "content": blocks + "<!-- wp:footnotes /-->", "meta": meta}
    importer.write({"export.xml": wordpress(post)})
    printed = importer.imports("export.xml")
    for words in ("Featured images", "latest-posts", "Synced patterns", "Footnotes", "settings: description"):
        assert re.search(rf"{words}[^(]*\(1 article: a\)", printed), words
    assert importer.only()["contentHtml"] == "<p>x</p>"


def test_placeholders_and_primary_category_of_yoast_count(importer):
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


def test_wordpress_post_is_the_same_after_its_slug_changed(importer):
    for slugs, printed in ((["menu", "b"], "2 new"), (["menu-2025", "menu"], "0 new, 2 changed")):
        importer.write({"export.xml": wordpress(*({"post_name": slug, "title": slug} for slug in slugs))})
        assert importer.run("import", "export.xml").stdout.startswith(printed)
        assert {slug: article["id"] for slug, article in importer.articles().items()} == {
            slugs[0]: "wordpress-1",
            slugs[1]: "wordpress-2",
        }
