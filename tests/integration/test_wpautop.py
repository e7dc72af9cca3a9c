"""Compare our paragraphs with the JavaScript `wpautop` of WordPress, from npm (GPL: run, not copied)."""

import json
import subprocess
from itertools import pairwise

from converters.wordpress.wpautop import add_paragraphs, change_outside_code

PACKAGE = "@wordpress/autop@4.56.0"
PROGRAM = """
const {autop} = require("@wordpress/autop")
const snippets = JSON.parse(require("fs").readFileSync(0, "utf8"))
console.log(JSON.stringify(snippets.map(text => autop(text).trim())))
"""
# compared alone and combined with their neighbours
SNIPPETS = [
    *("One\n\ntwo\n\n\n\nthree", "One\rtwo", "  One  \n  two  \n\n  three", "One\n \t \ntwo"),
    *("Street 1<br />\nOld Town<br>\nNowhere<br/>\nEnd", "One<br>\n<br>two", "One<br /> \ntwo"),
    *("One &amp; two &nbsp; three\n\n&nbsp;\n\nfour", "<em>One\ntwo</em>\n\n<strong>three</strong>"),
    *('<a href="/x">\n<img src="a.jpg">\n</a>', '<a href="/x">\n\n<div>box</div>\n\n</a>'),
    *('<img src="a.jpg"\n alt="x">\nBelow', 'Text <span\nclass="a">b</span>'),
    *('<iframe\n src="https://v.example.com/1"\n width="560"></iframe>\n\nEnd', "1 < 2\nand 3 > 2"),
    *("<p>One</p><p>two</p>\n<p>three</p>", "One</p>two", '<p class="a">One</p>\n\ntwo'),
    *("<h1>One</h1>\n<h6>two\nthree</h6>four", "Text\n<h2>Title</h2>\ntext\n<h3>Title</h3>\n\ntext"),
    *("<hr />\n\nOne\n\n<hr>\n\ntwo", "<div>One\n\ntwo\n\nthree</div>", "<div><em>One</em>\n\ntwo</div>"),
    *("Text\n<div>box</div>\nafter", "Text <div>box</div> after", "<div><div>One</div>\n\n<div>two</div></div>"),
    "<details>\n<summary>One</summary>\ntwo\n\nthree\n</details>",
    "<header>One</header><main>two\nthree</main><footer>four</footer>",
    *("<blockquote>One\n\ntwo</blockquote>\nthree", "<blockquote>\n<p>One</p>\n</blockquote>"),
    '<blockquote cite="x">One <cite>two</cite></blockquote>',
    *("<blockquote><blockquote>One</blockquote>two</blockquote>", "<blockquote></blockquote>"),
    *("<ul>\n \t<li>One</li>\n \t<li>two</li>\n</ul>", "<ul><li>One\n<ul>\n<li>nested</li>\n</ul>\n</li></ul>"),
    *("<ol>\n<li>One\n\ntwo</li>\n<li><p>three</p></li>\n</ol>\nfour", "<li>One\n<li>two"),
    "<dl><dt>One</dt><dd>two\nthree</dd>\n<dt>four</dt>\n</dl>",
    "<table>\n<caption>One</caption>\n<thead>\n<tr>\n<th>two</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>three\n\nfour"
    "</td>\n</tr>\n</tbody>\n</table>",
    "<table>\n<colgroup>\n<col>\n</colgroup>\n<tr><td></td></tr></table>",
    "<figure>\n<img src='a.jpg'>\n<figcaption>One\ntwo</figcaption>\n</figure>\nthree",
    "<picture>\n<source srcset='a.webp'>\n<img src='a.jpg'>\n</picture>",
    "<video controls>\n<source src='a.mp4'>\n<track src='a.vtt'>\n</video>\ntext",
    "[video]\n<source src='a.mp4'>\n[/video]",
    "<object data='a'>\n<param name='b' />\n<embed src='c' />\n</object>",
    *("<select>\n<option>One</option>\n</select>", "<form>\n<input>\n<label>One</label>\ntwo</form>"),
    *("<fieldset>\n<legend>One</legend>\ntwo\n</fieldset>", "<address>One\ntwo</address>"),
    *('<svg>\n<path d="M0\n0"/>\n</svg>', "One <svg><g>\n</g></svg>\ntwo", "<link rel='stylesheet'>\n\nOne"),
    *("<script>\nlet a\n</script>\nOne", "<style>\na {}\nb {}\n</style>\nOne", "<pre>One\n\ntwo</pre>\nthree\nfour"),
    *("<code>One\ntwo</code>", "One\n<!-- a\n\nremark -->\n\ntwo", "[gallery ids='1,2']\n\nOne\n[toc]\ntwo"),
    *("[su_box]\nOne\n\ntwo\n[/su_box]", "<DIV>One</DIV>\n<BR>two", "日本語\n\nहिन्दी\nไทย"),
]


def test_paragraphs_equal_those_of_wordpress(tmp_path):
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", PACKAGE], cwd=tmp_path, check=True)
    apart, together = pairwise(SNIPPETS), pairwise(reversed(SNIPPETS))
    texts = [*SNIPPETS, *map("\n\n".join, apart), *map("\n".join, together)]
    node = ["node", "--eval", PROGRAM]
    output = subprocess.run(node, cwd=tmp_path, input=json.dumps(texts), capture_output=True, text=True, check=True)
    expected = json.loads(output.stdout)
    assert {text: change_outside_code(text, add_paragraphs) for text in texts} == dict(
        zip(texts, expected, strict=True)
    )
