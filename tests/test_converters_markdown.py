"""Markdown and HTML content: what is rendered, and what is reported because it stays as text."""

import re
from datetime import UTC

import pytest
from importer import ghost, post, wordpress

from converters.articles import SourceArticle, SourceOptions
from converters.markdown import read_folder, render_markdown

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


RENDERED = {
    # headings
    '# "Don\'t"': '<h1 id="dont">“Don’t”</h1>',
    "# A--b": '<h1 id="a--b">A–b</h1>',
    "## Prices {#cost}": '<h2 id="cost">Prices</h2>',
    "Prices {#cost .wide}\n===": '<h1 id="cost" class="wide">Prices</h1>',
    "## Cost\n## Prices {#cost}": '<h2 id="cost-1">Cost</h2>\n<h2 id="cost">Prices</h2>',
    "## `{#a}`": '<h2 id="a"><code>{#a}</code></h2>',
    "## Prices {#कीमत}": '<h2 id="कीमत">Prices</h2>',
    # blocks
    '```\n"a" -- b\n```': "<pre><code>&quot;a&quot; -- b\n</code></pre>",
    "HTTP\n: A protocol\n: Of the web": "<dl>\n<dt>HTTP</dt>\n<dd>A protocol</dd>\n<dd>Of the web</dd>\n</dl>",
    "Text\n{% highlight c++ linenos %}\n#include <a>\n\n    b * c\n{% endhighlight %}\nText": "<p>Text</p>\n"
    '<pre><code class="language-c++">#include &lt;a&gt;\n\n    b * c\n</code></pre>\n<p>Text</p>',
    '{{< highlight go "x=1" >}}\n# a\n{{< /highlight >}}': '<pre><code class="language-go"># a\n</code></pre>',
    "```liquid\n{% highlight a %}\n```": '<pre><code class="language-liquid">{% highlight a %}\n</code></pre>',
    # URLs
    "![a](data:image/avif;base64,AA==)": '<p><img src="data:image/avif;base64,AA==" alt="a" /></p>',
    r"https://a.example/V\_J": '<p><a href="https://a.example/V_J">https://a.example/V_J</a></p>',
    "[a](javascript:alert(1))": "<p>[a](javascript:alert(1))</p>",
    # comments of templates
    "a {# b #}c": "<p>a c</p>",
    "a\n\n{% comment %}\nb\n\n# c\n{%- endcomment -%}\n\nd": "<p>a</p>\n<p>d</p>",
    "a{% # b %} c": "<p>a c</p>",
    "a {{/* b */}} {{- /* c */ -}}": "<p>a</p>",
    "a\n\n{::comment}\nb\n{:/comment}\n\n{::comment}c{:/}": "<p>a</p>",
    "a ` b {# c #} <pre {# d #}": "<p>a ` b  &lt;pre</p>",
    # no comments
    "`{# a #}` and `` `{# b #} ``": "<p><code>{# a #}</code> and <code>`{# b #}</code></p>",
    "```\n{# a #}\n```": "<pre><code>{# a #}\n</code></pre>",
    "<pre>{# a #}</pre>": "<pre>{# a #}</pre>",
    "%%a%%": "<p>%%a%%</p>",
    "`[a]({{ site.url }}/)`": "<p><code>[a]({{ site.url }}/)</code></p>",
}


@pytest.mark.parametrize("markdown", RENDERED)
def test_markdown_of_static_sites_is_rendered(importer, markdown):
    assert importer.imports({"a.md": post("", markdown)}) == ""
    assert importer.only()["contentHtml"] == f"{RENDERED[markdown]}\n"


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


# Reported


REPORTED_HTML = {  # name in the report -> HTML
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


@pytest.mark.parametrize("name", REPORTED_HTML)
def test_markup_that_stays_is_reported_by_name(importer, name):
    for text in REPORTED_HTML[name]:
        (line,) = importer.imports({"a.html": post("", text)}, "--site", SITE).splitlines()
        assert line.endswith(f": {name} (1): a")
        assert importer.only()["contentHtml"] == text


def test_markup_that_stays_is_reported_in_other_systems_too(importer):
    for export in (ghost({"html": "$$x$$"}), {"a.xml": wordpress({"content": "$$x$$"})}):
        assert ": $$ $$ (1): " in importer.imports(export)


MARKDOWN = [  # Markdown, name in the report, and part of the HTML
    ("{{ '/a/' | url }}", "{{ }} (1)", "{{ '/a/' | url }}"),
    ("[a]({% post_url b %})", "{% post_url %} (1)", "[a]({% post_url b %})"),
    ("[a]({{ site.url }}{% post_url b %})", "{% post_url %} (1)", "[a]({{ site.url }}{% post_url b %})"),
    ("{% highlight go %}\n*a*", "{% highlight %} (1)", "<p>{% highlight go %}\n<em>a</em></p>"),
    ("- one\n- two\n\n::: tip Title\nMind\n:::", "::: (1)", "<p>::: tip Title\nMind\n:::</p>"),
    ("## Upgrading {/*upgrading*/}", "{/* */} (1)", ">Upgrading {/<em>upgrading</em>/}</h2>"),
    ("Text {/** b **/}", "{/* */} (1)", "<p>Text {/"),
    ("> [!WARNING]\n> Mind", "[!NOTE] (1)", "<p>[!WARNING]\nMind</p>"),
    (r"\\\\(x\\\\)", r"\( \) (1)", r"<p>\\(x\\)</p>"),
    ("import Chart from '../chart'\n\nText", "import (1)", "<p>import Chart from ‘../chart’</p>"),
    ('import {\n  A } from "b";\n', "import (1)", "<p>import {\nA } from “b”;</p>"),
    ("Text\n\nimport './x.css'", "import (1)", "<p>import ‘./x.css’</p>"),
    ("<p>a</p>\n# b", "Markdown", "<p>a</p>\n# b\n"),
    ("<figure>\n</figure>\n```ruby\nc\n```", "Markdown", "```ruby"),
    ("<b>a</b> b\n\n<i>\n- c\n</i>", "Markdown", "<i>\n- c\n</i>"),
    (
        '<Buy on={() => go("a > b")}>**Now**</Buy>',
        "<Buy> (1)",
        '<Buy on={() => go("a > b")}><strong>Now</strong></Buy>',
    ),
    ("<Note text={don't}>*a*</Note>", "<Note> (1)", "<Note text={don't}><em>a</em></Note>"),
    ("<Tabs>\n<Tab on={'}'}>\n\n*a*\n\n</Tab>\n</Tabs>", "<Tab> (1)", "<Tab on={'}'}>\n<p><em>a</em></p>\n</Tab>"),
    ("<p className={a}>b</p>", "<p> (1)", "<p className={a}>b</p>"),
    ("A Vec<String>\n\n<Tabs>\n<p>a</p>\n</Tabs>", "<String> (1)", "<Tabs>\n<p>a</p>\n</Tabs>"),
]


@pytest.mark.parametrize(("markdown", "name", "html"), MARKDOWN)
def test_unsupported_markdown_stays_and_is_reported(importer, markdown, name, html):
    (line,) = importer.imports({"a.md": post("", markdown)}, "--site", SITE).splitlines()
    assert name in line
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
UNITS += ["<http://", "http:// ", "x://y ", "http://a ", ":::\n", "[a b=", "\\'"]


@pytest.mark.parametrize("unit", UNITS)
def test_hostile_text_is_converted(tmp_path, unit):
    """In quadratic time, this would take minutes."""
    (tmp_path / "a.md").write_text(post("", unit * (100_000 // len(unit))))
    (article,) = read_folder(str(tmp_path / "a.md"), SourceOptions(SITE, UTC), lambda *_: None)
    assert isinstance(article, SourceArticle)
