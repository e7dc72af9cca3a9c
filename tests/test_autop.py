"""Paragraphs and line breaks as WordPress adds them; tests/integration compares them with WordPress itself."""

import time

import pytest

from converters.wordpress.autop import autop


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("One\r\n\r\nTwo\r\nthree", "<p>One</p>\n<p>Two<br />\nthree</p>"),
        ("Street 1<br />\nOld Town", "<p>Street 1<br />\nOld Town</p>"),
        ("One<br><br/>Two", "<p>One</p>\n<p>Two</p>"),
        ("<h2>Title</h2>\nText", "<h2>Title</h2>\n<p>Text</p>"),
        ("<blockquote>One\n\nTwo</blockquote>", "<blockquote><p>One</p>\n<p>Two</p></blockquote>"),
        ("<p>One\ntwo</p>", "<p>One<br />\ntwo</p>"),
        ("<ul>\n<li>One\ntwo</li>\n</ul>", "<ul>\n<li>One<br />\ntwo</li>\n</ul>"),
        ('<img src="a.jpg"\n alt="x">\nBelow', '<p><img src="a.jpg"\n alt="x"><br />\nBelow</p>'),
        ("<svg>\n<path />\n</svg>", "<p><svg>\n<path />\n</svg></p>"),
        ("<select>\n<option>a\n<option>b\n</select>", "<p><select><option>a<option>b<br />\n</select></p>"),
        ("<video>\n<source src='a.mp4'>\n</video>", "<p><video><source src='a.mp4'></video></p>"),
        (" \n ", ""),
    ],
)
def test_paragraphs_match_those_of_wordpress(text, html):
    assert autop(text) == html


CODE = ["<pre>\na\n\n<div>b</div>\n</pre>", "<PRE class='x'>a\n\nb</PRE>", "<style>\na {}\n\nb {}\n</style>"]
CODE += ["<script>\nlet a = '<p>'\n\nlet b\n</script>", "<textarea>\na\n\nb</textarea>", "<!-- a\n\n<p>b -->"]
CODE += ["<script>never\n\nclosed", "<!-- never\n\nclosed"]


@pytest.mark.parametrize("code", CODE)
def test_code_and_comments_stay_unchanged(code):
    assert code in autop(f"One\n\nTwo\n{code}")


UNITS = ["<div", "<div>", "<p>", "<!--", "<pre>", "<svg>", "<br />\n<li", "<blockquote>", "</figcaption> ", "[audio "]
UNITS += ["< ", " \n", "\n\n", "<source>[audio ", "<object> ", " <option"]


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear_in_the_length_of_the_text(unit):
    start = time.process_time()
    autop(unit * (100_000 // len(unit)))
    assert time.process_time() - start < 2
