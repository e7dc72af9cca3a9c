"""Paragraphs and line breaks as WordPress adds them. Each expected HTML is the output of its npm package autop."""

import pytest

from converters.wordpress.wpautop import add_paragraphs, change_outside_code


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One\r\n\r\nTwo\r\nthree", "<p>One</p>\n<p>Two<br />\nthree</p>"),
        ("Street 1<br />\nOld Town", "<p>Street 1<br />\nOld Town</p>"),
        ("One<br><br/>Two", "<p>One</p>\n<p>Two</p>"),
        ("Text\n<h2>Title</h2>\ntext\n\n<hr />\nEnd", "<p>Text</p>\n<h2>Title</h2>\n<p>text</p>\n<hr />\nEnd</p>"),
        ("<div>One\n\ntwo\n\nthree</div>", "<div>One</p>\n<p>two</p>\n<p>three</p></div>"),
        ('<a href="/x">\n\n<div>box</div>\n\n</a>', '<p><a href="/x"></p>\n<div>box</div>\n<p></a></p>'),
        (
            "<figure>\n<figcaption>One\ntwo</figcaption>\n</figure>\nthree",
            "<figure><figcaption>One<br />\ntwo</figcaption></figure>\n<p>three</p>",
        ),
        ("One <svg><g>\n</g></svg>\ntwo", "<p>One <svg><g>\n</g></svg><br />\ntwo</p>"),
        ("<blockquote>One\n\nTwo</blockquote>", "<blockquote><p>One</p>\n<p>Two</p></blockquote>"),
        ("<ul>\n<li>One\ntwo</li>\n</ul>", "<ul>\n<li>One<br />\ntwo</li>\n</ul>"),
        ("<ol>\n<li>One\n\ntwo</li>\n</ol>\nfour", "<ol>\n<li>One\n<p>two</li>\n</ol>\n<p>four</p>"),
        ("  One  \n  two  \n\n  three", "<p>  One<br />\n  two  </p>\n<p>  three</p>"),
        ("<object>\n<param name='a' />\n</object>", "<p><object><param name='a' /></object></p>"),
        ('<img src="a.jpg"\n alt="x">\nBelow', '<p><img src="a.jpg"\n alt="x"><br />\nBelow</p>'),
        ("<select>\n<option>a\n<option>b\n</select>", "<p><select><option>a<option>b<br />\n</select></p>"),
        ("<video>\n<source src='a.mp4'>\n</video>", "<p><video><source src='a.mp4'></video></p>"),
        (" \n ", ""),
    ],
)
def test_paragraphs_match_those_of_wordpress(text, html):
    assert change_outside_code(text, add_paragraphs) == html


CODE = ["<pre>\na\n\n<div>b</div>\n</pre>", "<PRE class='x'>a\n\nb</PRE>", "<style>\na {}\n\nb {}\n</style>"]
CODE += ["<script>\nlet a = '<p>'\n\nlet b\n</script>", "<textarea>\na\n\nb</textarea>", "<!-- a\n\n<p>b -->"]
CODE += ["<script>never\n\nclosed", "<!-- never\n\nclosed"]


@pytest.mark.parametrize("code", CODE)
def test_code_and_comments_stay_unchanged(code):
    assert code in change_outside_code(f"One\n\nTwo\n{code}", add_paragraphs)


UNITS = ["<div", "<div>", "<p>", "<!--", "<pre>", "<svg>", "<br />\n<li", "<blockquote>", "</figcaption> ", "[audio "]
UNITS += ["< ", " \n", "\n\n", "<source>[audio ", "<object> ", " <option"]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_is_converted(unit):
    """In quadratic time, this would take minutes."""
    assert change_outside_code(unit * (200_000 // len(unit)), add_paragraphs) is not None
