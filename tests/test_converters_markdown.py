"""Markdown and HTML content: what is rendered, and what is reported because it stays as text."""

import re
from datetime import UTC

import pytest
from importer import ghost, post, wordpress

from converters.markdown import read_folder, render_markdown
from converters.records import SourceArticle, SourceOptions

SITE = "https://blog.example.com"


# Rendered


GITHUB_MARKDOWN = """~~old~~ https://a.example/b. README.md www.a.example me@a.example

- [x] done

## Part *two*: `a_b`
## Part two a_b

[jump](#part-two-a_b) text[^1]

[^1]: word
"""


def test_github_markdown_is_rendered(importer):
    assert importer.imports({"a.md": post("", GITHUB_MARKDOWN)}) == ""
    html = importer.only()["contentHtml"]
    for part in (
        '<p><s>old</s> <a href="https://a.example/b">https://a.example/b</a>. README.md www.a.example ',
        '<a href="mailto:me@a.example">me@a.example</a></p>',
        '<input class="task-list-item-checkbox" checked="checked" disabled="disabled" type="checkbox"> done',
        '<h2 id="part-two-a_b">Part <em>two</em>: <code>a_b</code></h2>',
        '<h2 id="part-two-a_b-1">Part two a_b</h2>',
        '<a href="#part-two-a_b">jump</a>',
        '<li id="fn1" class="footnote-item"><p>word <a href="#fnref1"',
    ):
        assert part in html


PUNCTUATION = {
    """"Hello," she said, 'or so'.""": "“Hello,” she said, ‘or so’.",
    """"'Twice,' he said" ("once")""": "“‘Twice,’ he said” (“once”)",
    "donations---in fact--all... don't (c) (tm) +-": "donations—in fact–all… don’t (c) (tm) +-",
    """the dogs' bowl, O'Neil, the '90s, 6'2", 5" wide""": "the dogs’ bowl, O’Neil, the ’90s, 6'2&quot;, 5&quot; wide",
    '"**bold**" "`code`" **"bold"**': "“<strong>bold</strong>” “<code>code</code>” <strong>“bold”</strong>",
    """`"a" -- b` ---- \\"no\\" \\--""": "<code>&quot;a&quot; -- b</code> ---- &quot;no&quot; --",
    "https://a.example/a--b...c": '<a href="https://a.example/a--b...c">https://a.example/a--b...c</a>',
    """{{ a | b: "c" }} {% d 'e' %} {: title="f"}""": "{{ a | b: &quot;c&quot; }} {% d 'e' %} {: title=&quot;f&quot;}",
    """<Buy on={() => go("a")} label='b--c'>"d"</Buy>""": """<Buy on={() => go("a")} label='b--c'>“d”</Buy>""",
    """<i title="a--b">"c"</i>""": """<i title="a--b">“c”</i>""",
}


@pytest.mark.parametrize("text", PUNCTUATION)
def test_punctuation_becomes_typographic_in_text_only(text):
    assert render_markdown(text) == f"<p>{PUNCTUATION[text]}</p>\n"


def test_punctuation_may_stay_as_typed(importer):
    importer.imports({"a.md": post("", '"a" -- b...')}, "--no-typography")
    assert importer.only()["contentHtml"] == "<p>&quot;a&quot; -- b...</p>\n"


def test_heading_ids_and_code_blocks_keep_their_punctuation():
    assert render_markdown('# "Don\'t"') == '<h1 id="dont">“Don’t”</h1>\n'
    assert render_markdown("# A--b") == '<h1 id="a--b">A–b</h1>\n'
    assert render_markdown('```\n"a" -- b\n```') == "<pre><code>&quot;a&quot; -- b\n</code></pre>\n"


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("## Prices {#cost}", '<h2 id="cost">Prices</h2>\n'),
        ("Prices {#cost .wide}\n===", '<h1 id="cost" class="wide">Prices</h1>\n'),
        ("## Cost\n## Prices {#cost}", '<h2 id="cost-1">Cost</h2>\n<h2 id="cost">Prices</h2>\n'),
        ("## `{#a}`", '<h2 id="a"><code>{#a}</code></h2>\n'),
        ("## Prices {#कीमत}", '<h2 id="कीमत">Prices</h2>\n'),
        ("HTTP\n: A protocol\n: Of the web", "<dl>\n<dt>HTTP</dt>\n<dd>A protocol</dd>\n<dd>Of the web</dd>\n</dl>\n"),
        ("![a](data:image/avif;base64,AA==)", '<p><img src="data:image/avif;base64,AA==" alt="a" /></p>\n'),
        (r"https://a.example/V\_J", '<p><a href="https://a.example/V_J">https://a.example/V_J</a></p>\n'),
        ("[a](javascript:alert(1))", "<p>[a](javascript:alert(1))</p>\n"),
        (
            "Text\n{% highlight c++ linenos %}\n#include <a>\n\n    b * c * d\n{% endhighlight %}\nText",
            '<p>Text</p>\n<pre><code class="language-c++">#include &lt;a&gt;\n\n'
            "    b * c * d\n</code></pre>\n<p>Text</p>\n",
        ),
        ('{{< highlight go "x=1" >}}\n# a\n{{< /highlight >}}', '<pre><code class="language-go"># a\n</code></pre>\n'),
        ("{% highlight go %}\n*a*", "<p>{% highlight go %}\n<em>a</em></p>\n"),
        ("```liquid\n{% highlight a %}\n```", '<pre><code class="language-liquid">{% highlight a %}\n</code></pre>\n'),
    ],
)
def test_extended_markdown_is_rendered(importer, markdown, html):
    importer.imports({"a.md": post("", markdown)})
    assert importer.only()["contentHtml"] == html


# Templates


TEMPLATE_LINKS = {
    '{{ "/2015/07/08/openfec-api/" | url }}': "/2015/07/08/openfec-api/",
    "{{ '/a b/(c)' | relative_url }}#d": "/a%20b/%28c%29#d",
    "{{- 'a.html'|absolute_url -}}": "/a.html",
    "{{ site.baseurl }}/a/?b=c": "/a/?b=c",
    "{{site.url}}a": "/a",
    "{{ site.url }}{{ site.baseurl }}/a.jpg": "/a.jpg",
    "{{ site.url }}{{ '/a' | relative_url }}": "/a",
    "{{ site.url }}": "/",
}


@pytest.mark.parametrize("link", TEMPLATE_LINKS)
def test_templates_in_links_and_pictures_are_resolved(importer, link):
    text = '[a]({} "t") ![b](<{}>) [c] <b><a href="{}">d</a></b>\n\n[c]: {}\n\n<img src=\'{}\'>'
    importer.run("import", {"a.md": post("", text.replace("{}", link))}, "--site", SITE)
    urls = re.findall(r"""(?:href|src)=["']?([^\s"'>]+)""", importer.only()["contentHtml"])
    assert urls == [SITE + TEMPLATE_LINKS[link]] * 5


@pytest.mark.parametrize("text", ["{{ '/a/' | url }}", "[a]({% post_url b %})", "[a]({{ site.url }}{% post_url b %})"])
def test_other_templates_stay_and_are_reported(importer, text):
    assert "as text" in importer.imports({"a.md": post("", text)}, "--site", SITE)
    assert text.partition(" ")[2][:4] in importer.only()["contentHtml"]


COMMENTS = {
    "a {# b #}c": "<p>a c</p>\n",
    "a\n\n{% comment %}\nb\n\n# c\n{%- endcomment -%}\n\nd": "<p>a</p>\n<p>d</p>\n",
    "a{% # b %} c": "<p>a c</p>\n",
    "a {{/* b */}} {{- /* c */ -}}": "<p>a</p>\n",
    "a\n\n{::comment}\nb\n{:/comment}\n\n{::comment}c{:/}": "<p>a</p>\n",
}
NOT_COMMENTS = {
    "## Prices {#cost}": '<h2 id="cost">Prices</h2>\n',
    "`{# a #}` and `` `{# b #} ``": "<p><code>{# a #}</code> and <code>`{# b #}</code></p>\n",
    "```\n{# a #}\n```": "<pre><code>{# a #}\n</code></pre>\n",
    "<pre>{# a #}</pre>": "<pre>{# a #}</pre>\n",
    "%%a%%": "<p>%%a%%</p>\n",
    "`[a]({{ site.url }}/)`": "<p><code>[a]({{ site.url }}/)</code></p>\n",
}


@pytest.mark.parametrize("text", COMMENTS)
def test_template_comments_are_removed(importer, text):
    assert importer.imports({"a.md": post("", text)}) == ""
    assert importer.only()["contentHtml"] == COMMENTS[text]


@pytest.mark.parametrize("text", NOT_COMMENTS)
def test_templates_in_code_and_other_braces_stay(importer, text):
    assert importer.imports({"a.md": post("", text)}) == ""
    assert importer.only()["contentHtml"] == NOT_COMMENTS[text]


def test_comment_after_code_that_is_never_closed_is_removed(importer):
    importer.imports({"a.md": post("", "a ` b {# c #} <pre {# d #}"), "b.html": post("", "<p>a{# b #}</p>")})
    assert not any("#" in html for html in importer.values("contentHtml").values())


# Reported


REPORTED = {  # name in the report -> HTML
    "{{ }}": ["{{ site.url }}", """<a href="{{ '/b c' | slug }}">b</a>"""],
    "{% include %}": ["{%- include a %} {% include b %}"],
    "{{< figure >}}": ["{{&lt; figure src=a >}}", "{{&lt; figure >}}x{{&lt; /figure >}}"],
    "{: }": ["<p>{: .lead}</p>", "<p>{:.lead}</p>"],
    "{.class}": ["<p>Text {.lead}</p>"],
    "{/* */}": ["<h2>Title {/*title*/}</h2>", "<p>{/<em>title</em>/}</p>"],
    ":::": ["<p>:::note\nMind\n:::</p>", "<ul><li>two</li>\n</ul>\n<p>::: tip Title</p>"],
    "!!!": ["<p>!!! note\nMind</p>"],
    "[!NOTE]": ["<blockquote>\n<p>[!WARNING]\nMind</p></blockquote>"],
    "$$ $$": ["$$ x^2 $$", "<p>$$x$$</p>", "<p>$$\na = b\n$$</p>", r"$$\text{ACV} = x$$"],
    r"\( \)": [r"<p>\(x\)</p>", r"<p>\[x + y\]</p>"],
    "<YouTube>": ['<YouTube id="1" />'],
    "<Button>": ["<Button>Buy</Button>"],
    "gallery": ['[gallery ids="1"]', "<p>[gallery]</p>"],
    "note": ["[note]Mind[/note]"],
    "script": ["<p>a</p><script>b()</script>"],
    "form": ["<form action='https://a.example'>Sign up</form>"],
}


@pytest.mark.parametrize("name", REPORTED)
def test_markup_that_stays_is_reported_by_name(importer, name):
    for text in REPORTED[name]:
        (line,) = importer.imports({"a.html": post("", text)}, "--site", SITE).splitlines()
        assert line.endswith(f": {name} (1): a")
        assert importer.only()["contentHtml"] == text


@pytest.mark.parametrize("name", ["{{ }}", "$$ $$", "script"])
def test_markup_that_stays_is_reported_in_other_systems_too(importer, name):
    for text in REPORTED[name]:
        for export in (ghost({"html": text}), {"a.xml": wordpress({"content": text})}):
            assert f": {name} (1): " in importer.imports(export, "--site", SITE)


MARKDOWN = {
    ":::": [":::note\nMind\n:::", "- one\n- two\n\n::: tip Title\nMind\n:::"],
    "{/* */}": ["## Upgrading {/*upgrading*/}", "Text {/** b **/}"],
    "[!NOTE]": ["> [!WARNING]\n> Mind"],
    r"\( \)": [r"\\\\(x\\\\)"],
    "import": ["import Chart from '../chart'\n\nText", 'import {\n  A } from "b";\n', "Text\n\nimport './x.css'"],
    "Markdown": ["<p>a</p>\n# b", "<figure>\n</figure>\n```ruby\nc\n```", "<b>a</b> b\n\n<i>\n- c\n</i>"],
}


@pytest.mark.parametrize("name", MARKDOWN)
def test_unsupported_markdown_is_reported_by_kind(importer, name):
    for text in MARKDOWN[name]:
        (line,) = importer.imports({"a.md": post("", text)}).splitlines()
        assert name in line


COMPONENTS = [  # Markdown, names in the report, and part of the HTML
    ('<Buy on={() => go("a > b")}>**Now**</Buy>', ["<Buy>"], '<Buy on={() => go("a > b")}><strong>Now</strong></Buy>'),
    ("<Note text={don't}>*a*</Note>", ["<Note>"], "<Note text={don't}><em>a</em></Note>"),
    ("<Tabs>\n<Tab on={() => '}'}>\n\n*a*\n\n</Tab>\n</Tabs>", ["<Tabs>", "<Tab>"], "'}'}>\n<p><em>a</em></p>\n</Tab>"),
    ("<p className={a}>b</p>", ["<p>"], "<p className={a}>b</p>"),
    ("A Vec<String>\n\n<Tabs>\n<p>a</p>\n</Tabs>", ["<String>", "<Tabs>"], "<Tabs>\n<p>a</p>\n</Tabs>"),
]


@pytest.mark.parametrize(("markdown", "names", "html"), COMPONENTS)
def test_components_pass_verbatim_and_are_reported(importer, markdown, names, html):
    (line,) = importer.imports({"a.md": post("", markdown)}).splitlines()
    assert [f"{name} (1)" in line for name in names] == [True] * line.count("(1)")
    assert html in importer.only()["contentHtml"]


# Not reported


ORDINARY_TEXT = """
$$ = fair and $$$ = dear, $$$ = dear and $$ = fair

$5 and $6, $5–$6, US$100k or A$6, $ or $$ or $$$, $HOME/bin:$PATH, "$10" or "$20+", from 10:30:15 to 11:00:30

a::b::c, key:value:, :-) :), if a==b and c==d, C++ and ++i, [sic] [m] [ref] [signal] [m = 3 kg] [/about] [1]

[[1]](https://a.example), [[1, 2], [3]], 1 < 2 && 3 > 2, 3 ~ 4 ~ 5, 2^10, $(a).b($(c)), { a } or {b: 1}, <https://a.example/:b:/>

You import "x" from "y", $x$, :tada: ==b== H~2~O x^2^ [[a]] {1: 2} and (\\).
`:tada:` `$x^2$` `[[a]]` `==b==` `{{ c }}` `:::`

```
:::note
$$a = b$$ :tada: [[c]] ==d== {{ e }}
import f from "g"
[TOC]
{% if x %}
```
`[x a="b"]`

<b>a</b>
- b

<div markdown="1">

*b*

</div>
"""
ORDINARY_HTML = """
<pre><code>&lt;T&gt; {.a} {: .b} {/* c */} $$ d $$</code></pre>
<svg><linearGradient id='a'/><foreignObject>b</foreignObject></svg><math><mi>x</mi></math>
<!-- <Note> --><style>a {b: c}</style><DIV>a</DIV><details open><summary>b</summary></details>
<p>Costs $5 or $$, { a } and 1 < 2</p>
"""


@pytest.mark.parametrize(("name", "text"), [("a.md", ORDINARY_TEXT), ("a.html", ORDINARY_HTML)])
def test_ordinary_text_and_html_are_not_reported(importer, name, text):
    assert importer.imports({name: post("", text)}) == ""


# Hostile text


UNITS = ['"', "'", '" ', "a'b ", "-- ", "...", "{{", "{% ", "{#", "{# ", "{# a #}", "{{/* ", "{::comment}"]
UNITS += ["{% comment %}", "`", "` ``", "``` \n", "~~~\n", "<pre>", "a@", "<a ", "<A b={", "$$", "$$=", "\\\\("]
UNITS += [":::\n", "[a b=", "\\'"]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_is_converted(tmp_path, unit):
    """In quadratic time, this would take minutes."""
    (tmp_path / "a.md").write_text(post("", unit * (100_000 // len(unit))))
    (article,) = read_folder(str(tmp_path / "a.md"), SourceOptions(SITE, UTC), lambda *_: None)
    assert isinstance(article, SourceArticle)
