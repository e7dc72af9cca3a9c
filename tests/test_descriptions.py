"""Derived descriptions: the text that people read, up to 155 characters."""

import pytest
from importer import post, wordpress

from content.derived import fill_derived_fields

URL = "https://v.example/1"
DESCRIPTIONS = {
    "<p>One</p><p>two</p>": "One two",
    "<p>Mid<em>word</em>, <A href='x>y'>link</A>.</p>": "Midword, link.",
    "<h2>A &amp; B</h2>\n<ul><li>caf&eacute;</li></ul>": "A & B café",
    "a<br>b<!-- not\nthis -->c<script>not('<p>this');</script >d<STYLE>p{}</STYLE>": "a b c d",
    "1 &lt; 2 < 3": "1 < 2 < 3",
    "<p>One\x0b two\x1b\ufffe &#x7;three</p>": "One two three",  # characters that XML forbids are dropped
    "a" * 70 + " " + "b" * 70 + " " + "c" * 30: "a" * 70 + " " + "b" * 70 + "…",
    "one " + "b" * 170 + " four": "one…",
    "東京は日本の首都です。" * 20: ("東京は日本の首都です。" * 20)[:154] + "…",
    "b" * 155: "b" * 155,
    "the end, " * 40: ("the end, " * 17)[:-2] + "…",
    # shortcodes
    '<p>[gallery ids="1,2"]</p><p>Text</p>': "Text",
    "<p>[su_note]Mind[/su_note] the gap</p>": "Mind the gap",
    "<p>[toc]</p>\n<p>[unheard-of]</p>\n<p>Text [sic] and [1] [and so on]</p>": "Text [sic] and [1] [and so on]",
    "See [page 12], press [button], write <code>[gallery a=b]</code> [sic]": (
        "See [page 12], press [button], write [gallery a=b] [sic]"
    ),
    # paragraphs that are only a URL
    f"<p>{URL}</p><p>See {URL}</p>": f"See {URL}",
    f'<div class="embed">\n<a href="{URL}">{URL}</a>\n</div>Text': "Text",
    # footnote marks of Markdown, WordPress, Hugo, GitHub and Ghost, and links back
    '<p>In 1902<sup class="footnote-ref"><a href="#fn1" id="fnref1">[1]</a></sup>.</p>': "In 1902.",
    '<p>In 1902<sup data-fn="a" class="fn"><a href="#a" id="a-link">12</a></sup>, so</p>': "In 1902, so",
    '<p>In 1902<sup id="fnref:1"><a href="#fn:1" role="doc-noteref">1</a></sup></p>': "In 1902",
    "<p>Note* <a href='#b'>*</a> and <a href='#c'>&#8617;&#xfe0e;</a> <a href=#d>↩︎</a></p>": "Note* and",
}


@pytest.mark.parametrize("html", DESCRIPTIONS)
def test_description_is_text_that_people_read(html):
    article = fill_derived_fields({"title": "A", "content_html": html})
    assert article["meta_desc"] == DESCRIPTIONS[html]


def test_description_of_a_post_with_a_video_is_its_text(importer):
    importer.imports({"export.xml": wordpress({"content": f"{URL}\n\nWe opened in 1902."})})
    importer.imports({"a.md": post("", f"<{URL}>\n\nWe opened in 1902[^1].\n\n[^1]: Or so.")})
    lines = importer.run("export", "--all-fields").stdout.splitlines()
    assert all('"metaDesc":"We opened in 1902.' in line for line in lines)


UNITS = ["[", "[a b=", "<a href='#'>[", "&#", "<!--", "<script>", "<", "<p '"]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_content_is_described(unit):
    """In quadratic time, this would take minutes."""
    article = fill_derived_fields({"title": "A", "content_html": unit * (500_000 // len(unit))})
    assert len(article["meta_desc"]) <= 155
