"""Markdown and HTML content: what is rendered, and what is reported because it stays as text."""

import pytest
from importer import post

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
        '<p><s>old</s> <a href="https://a.example/b">https://a.example/b</a>. README.md www.a.example me@a.example</p>',
        '<input class="task-list-item-checkbox" checked="checked" disabled="disabled" type="checkbox"> done',
        '<h2 id="part-two-a_b">Part <em>two</em>: <code>a_b</code></h2>',
        '<h2 id="part-two-a_b-1">Part two a_b</h2>',
        '<a href="#part-two-a_b">jump</a>',
        '<li id="fn1" class="footnote-item"><p>word <a href="#fnref1"',
    ):
        assert part in html


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("## Prices {#cost}", '<h2 id="cost">Prices</h2>\n'),
        ("Prices {#cost .wide}\n===", '<h1 id="cost" class="wide">Prices</h1>\n'),
        ("## Cost\n## Prices {#cost}", '<h2 id="cost-1">Cost</h2>\n<h2 id="cost">Prices</h2>\n'),
        ("## `{#a}`", '<h2 id="a"><code>{#a}</code></h2>\n'),
        *((f"## Prices {{#{id}}}", f'<h2 id="{id}">Prices</h2>\n') for id in ("ที่อยู่", "कीमत", "가격")),
        ("HTTP\n: A protocol\n: Of the web", "<dl>\n<dt>HTTP</dt>\n<dd>A protocol</dd>\n<dd>Of the web</dd>\n</dl>\n"),
        ("![a](data:image/avif;base64,AA==)", '<p><img src="data:image/avif;base64,AA==" alt="a" /></p>\n'),
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


# Reported


IN_HTML = {
    "{{ }}": ["{{ site.url }}", """<a href="{{ '/b c' | relative_url }}">b</a>"""],
    "{% include %}": ["{%- include a %} {% include b %}"],
    "{{< figure >}}": ["{{&lt; figure src=a >}}"],
    "{{< note >}}": ["{{% note %}}Hi{{% /note %}}"],
    "{: …}": ["<p>{: .lead}</p>", "<p>{:.lead}</p>"],
    "{.class}": ["<p>Text {.lead}</p>"],
    "*[abbreviation]: …": ["<p>*[HTML]: HyperText</p>"],
    'markdown="1"': ['<div class="a" markdown="block">*b*</div>'],
    "$$ … $$ formulas": ["$$ x^2 $$"],
    "{/* … */}": ["<h2>Title {/*title*/}</h2>"],
    "<YouTube>": ['<YouTube id="1" />'],
    "<lite-youtube>": ["<lite-youtube videoid='1'></lite-youtube>"],
    "<Button>": ["<Button>Buy</Button>"],
    "[gallery]": ['[gallery ids="1"]'],
}
IN_MARKDOWN = {
    "{/* … */}": ["## Upgrading {/*upgrading*/}", "Text {/** b **/}"],
    ":::": [":::note\nMind\n:::", "- one\n- two\n\n::: tip Title\nMind\n:::"],
    "[!NOTE]": ["> [!WARNING]\n> Mind"],
    "$ … $": ["Euler: $e^{i\\pi} = -1$.", "For each $n$, even", "A function $f(x)$", "Half of $2n$"],
    "$$ … $$": ["$$x$$", "$$\na = b\n$$"],
    ":emoji:": ["Done :tada: and :+1:"],
    "==mark==": ["This ==matters== most"],
    "[[wiki links]]": ["See [[Our kitchen|here]]", "![[menu.png]]"],
    "[TOC]": ["[TOC]", "[[_TOC_]]"],
    "!!!": ["!!! note\n    Mind"],
    "H~2~O": ["H~2~O"],
    "x^2^": ["x^2^"],
    "\\(": ["\\\\(x\\\\)"],
    "import": ['import Chart from "../Chart.astro"\nimport "./a.css";\n\n# A'],
    "export": ["export const meta = {\n  a: 1,\n}"],
    'markdown="1"': ['<div markdown="1">\n*b*\n</div>'],
    "{% highlight %}": ["{% highlight go %}\n*a*"],
    "share an id": ["## A {#x}\n## B {#x}"],
}


@pytest.mark.parametrize("name", IN_HTML)
def test_template_markup_in_html_stays_and_is_reported(importer, name):
    for text in IN_HTML[name]:
        (line,) = importer.imports({"a.html": post("", text)}, "--site", SITE).splitlines()
        assert line.endswith(f": {name} (1): a")
        assert importer.only()["contentHtml"] == text


@pytest.mark.parametrize("name", IN_MARKDOWN)
def test_unsupported_markdown_is_reported_by_kind(importer, name):
    for text in IN_MARKDOWN[name]:
        (line,) = importer.imports({"a.md": post("", text)}).splitlines()
        assert name in line


@pytest.mark.parametrize(
    ("markdown", "names", "html"),
    [
        ('<Buy on={() => go("a > b")}>**Now**</Buy>', ["<Buy>"], "<strong>Now</strong></Buy>"),
        ("Text <Chart data={[1, 2]} label={'it'} /> *on*", ["<Chart>"], " /> <em>on</em>"),
        ("<Note text={don't}>[a](https://a.example)</Note>", ["<Note>"], '<a href="https://a.example">a</a></Note>'),
        ('<Tabs>\n<Tab on={() => "}"}>\n\n*a*\n\n</Tab>\n</Tabs>', ["<Tabs>", "<Tab>"], "\n<p><em>a</em></p>\n"),
        ('<Tip title="a > b">*c*</Tip>', ["<Tip>"], '<Tip title="a > b"><em>c</em></Tip>'),
        ("<p className={a}>b</p>", ["<p>"], "b</p>"),
        ("<Map\n  data={[\n\n  1]}\n/>", ["<Map>"], "&lt;Map"),
        ("A Vec<String>\n\n<Tabs>\n<p>a</p>\n</Tabs>", ["<String>", "<Tabs>"], "<Tabs>\n<p>a</p>\n</Tabs>"),
    ],
)
def test_components_are_reported_and_their_content_stays(importer, markdown, names, html):
    (line,) = importer.imports({"a.md": post("", markdown)}).splitlines()
    assert "; ".join(f"{name} (1): a" for name in names) in line
    assert html in importer.only()["contentHtml"]


# Not reported


ORDINARY_TEXT = """
$5 and $6, $5–$6, US$100k or A$6, $ or $$ or $$$, $HOME/bin:$PATH, "$10" or "$20+", from 10:30:15 to 11:00:30

a::b::c, key:value:, :-) :), if a==b and c==d, C++ and ++i, [sic] [m] [ref] [signal] [m = 3 kg] [/about] [1]

[[1]](https://a.example), [[1, 2], [3]], 1 < 2 && 3 > 2, 3 ~ 4 ~ 5, 2^10, $(a).b($(c)), { a } or {b: 1}, <https://a.example/:b:/>

You import "x" from "y" or
export default settings. `:tada:` `$x^2$` `[[a]]` `==b==` `{{ c }}` `:::`

```
:::note
$$a = b$$ :tada: [[c]] ==d== {{ e }}
import f from "g"
[TOC]
{% if x %}
```
`[x a="b"]`

<div markdown="1">

*b*

</div>
"""
ORDINARY_HTML = """
<pre><code>&lt;T&gt; {.a} {: .b} {/* c */} $$ d $$</code></pre>
<svg><linearGradient id='a'/><foreignObject>b</foreignObject></svg><math><mi>x</mi></math>
<!-- <Note> --><script>let a = '<Note>'</script><DIV>a</DIV><details open><summary>b</summary></details>
<p>Costs $5 or $$, { a } and 1 < 2</p>
"""


@pytest.mark.parametrize(("name", "text"), [("a.md", ORDINARY_TEXT), ("a.html", ORDINARY_HTML)])
def test_ordinary_text_and_html_are_not_reported(importer, name, text):
    assert importer.imports({name: post("", text)}) == ""
