"""Markdown and HTML content: what is rendered, and which tags are reported or dropped."""

import re
from datetime import UTC

import pytest
from importer import SITE, ghost, post

from converters.ghost import read_ghost
from converters.markdown import read_folder
from converters.source_articles import SourceArticle, SourceOptions

MARKDOWN = """"Hello" -- it's a 501(c)(3) ~~old~~ https://a.example/a--b. README.md me@a.example H~2~O

- [x] done

| a |
|---|
| b |

## Part *two*: `a_b`
## Part two a_b
### Prices {#cost}

HTTP
: A protocol[^1]

[^1]: word
"""
HTML = [
    "<p>“Hello” – it’s a 501(c)(3) <s>old</s> ",
    '<a href="https://a.example/a--b">https://a.example/a--b</a>. README.md ',
    '<a href="mailto:me@a.example">me@a.example</a> H~2~O</p>',
    'type="checkbox" checked=""> done',
    "<th>a</th>",
    '<h2 id="part-two-a_b">Part <em>two</em>: <code>a_b</code></h2>',
    '<h2 id="part-two-a_b-1">Part two a_b</h2>',
    '<h3 id="cost">Prices</h3>',
    "<dt>HTTP</dt>\n<dd>A protocol<sup",
    '<li id="fn1" class="footnote-item"><p>word <a href="#fnref1"',
]


def test_markdown_is_rendered_with_its_extensions(importer):
    assert importer.imports({"a.md": post("", MARKDOWN)}) == ""
    html = importer.only()["contentHtml"]
    assert [part for part in HTML if part not in html] == []


RENDERED = {
    "{% highlight c++ linenos %}\n#include <a>\n\n    b * c\n{% endhighlight %}\nText": (
        '<pre><code class="language-c++">#include &lt;a&gt;\n\n    b * c\n</code></pre>\n<p>Text</p>'
    ),
    "```liquid\n{% highlight a %}\n```": '<pre><code class="language-liquid">{% highlight a %}\n</code></pre>',
    "`[a]({{ site.url }}/)`": "<p><code>[a]({{ site.url }}/)</code></p>",
    '{{< figure src="https://a.example/b c.jpg" alt="d" caption="By [e](https://e.example)" >}}': (
        '<p><img src="https://a.example/b%20c.jpg" alt="d" /><br>By <a href="https://e.example">e</a></p>'
    ),
    "{{< youtube w7Ft2ymGmfc >}}": (
        '<p><a href="https://www.youtube.com/watch?v=w7Ft2ymGmfc">https://www.youtube.com/watch?v=w7Ft2ymGmfc</a></p>'
    ),
}


@pytest.mark.parametrize("markdown", RENDERED)
def test_templates_of_static_sites_are_understood(importer, markdown):
    importer.imports({"a.md": post("", markdown)})
    assert importer.only()["contentHtml"] == f"{RENDERED[markdown]}\n"


TEMPLATE_LINKS = {
    '{{ "/2015/07/08/openfec-api/" | url }}': "/2015/07/08/openfec-api/",
    "{{ '/a b/(c)' | relative_url }}#d": "/a%20b/%28c%29#d",
    "{{- 'a.html'|absolute_url -}}": "/a.html",
    "{{site.url}}a": "/a",
    "{{ site.url }}{{ site.baseurl }}/a.jpg": "/a.jpg",
    "{{ site.url }}": "/",
}


@pytest.mark.parametrize("link", TEMPLATE_LINKS)
def test_templates_in_links_and_pictures_are_resolved(importer, link):
    text = '[a]({} "t") ![b](<{}>) [c] <b><a href="{}">d</a></b>\n\n[c]: {}\n\n<img src=\'{}\'>'
    importer.run("import", {"a.md": post("", text.replace("{}", link))}, "--site", SITE)
    urls = re.findall(r"""(?:href|src)=["']?([^\s"'>]+)""", importer.only()["contentHtml"])
    assert urls == [SITE + TEMPLATE_LINKS[link]] * 5


# Tags that stay


TAGS = {  # HTML -> names in the report, and the HTML without the tags
    "<p>{{ site.url }}</p>\n<p>a</p>": ("{{ }}", "<p>a</p>"),
    '<p>{%- include a.html b="c" %}</p><p>d</p>': ("{% include %}", "<p>d</p>"),
    "<p>{% aside %}a{% endaside %}</p>": ("{% aside %}", "<p>a</p>"),
    "{{&lt; figure src=a &gt;}}<p>a</p>": ("{{< figure >}}", "<p>a</p>"),
    '[gallery ids="1"]<p>a</p>': ("gallery", "<p>a</p>"),
    "<p>[gallery]</p>\n<p>a</p>": ("gallery", "<p>a</p>"),
    "<p>[note]Mind[/note] a</p>": ("note", "<p>Mind a</p>"),
}
NO_TAGS = [
    "<p>[Figure 3], [sic], a[b=c], $a['b'][c], [video of the evening], [1] and { a }</p>",
    '<pre><code>{% if x %} {{ c }} [x a="b"]</code></pre><script>[x a="b"]</script>',
    "<p>[[gallery ids=1]]</p>",
]


@pytest.mark.parametrize("html", TAGS)
def test_tags_that_readers_see_are_reported(importer, html):
    (line,) = importer.imports({"a.html": post("", html)}, "--site", SITE).splitlines()
    assert line.endswith(f"that readers see as text: {TAGS[html][0]} (1): a")
    assert importer.only()["contentHtml"] == html


def read_html(folder, html):
    """Return the article of a file and that of a Ghost post with this HTML, both read with --drop-tags."""
    options = SourceOptions(SITE, UTC, drop_tags=True)
    (folder / "a.html").write_text(post("", html))
    (folder / "a.json").write_text(ghost({"html": html})["ghost.json"])
    yield from read_folder(str(folder / "a.html"), options, lambda *_: None)
    yield from read_ghost(str(folder / "a.json"), options)


@pytest.mark.parametrize("html", TAGS)
def test_tags_can_be_dropped_with_the_text_between_them_kept(tmp_path, html):
    name, expected = TAGS[html]
    for article in read_html(tmp_path, html):
        assert article.fields["contentHtml"] == expected
        assert [note.detail for note in article.notes if "dropped" in note.kind] == [name]


@pytest.mark.parametrize("html", NO_TAGS)
def test_prose_and_code_in_brackets_are_no_tags(tmp_path, html):
    for article in read_html(tmp_path, html):
        assert (article.fields["contentHtml"], article.notes) == (html, [])


def test_article_without_text_is_reported(importer):
    assert "without any content (1): a\n" in importer.imports({"posts/a.md": post(), "posts/b.md": post("", "x")})


# Hostile text


UNITS = ['"', "'", '" ', "a'b ", "-- ", "...", "{{", "{% ", "`", "` ``", "``` \n", "~~~\n", "<pre>", "a@", "<a "]
UNITS += ["<http://", "x://y ", "http://a ", ":::\n", "[a b=", "\\'", "- [ ] a\n", "[", "# a\n", "a\n===\n"]
UNITS += ["{% highlight a %}\n", "{{< figure a=", "({{ site.url }}", "<<<<<<<\n", "> ", "[^a]", "{{ 'a' | url"]
HOSTILE = [unit * (100_000 // len(unit)) for unit in UNITS]
HOSTILE += [f"{beginning}{100_000 * 'a'}" for beginning in ("{%", "{% highlight ", "{{<")]
HOSTILE += [f"{beginning}{100_000 * ' '}x" for beginning in ("{%", "{{<", "{{< figure ")]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:15])
def test_hostile_text_is_converted_or_rejected(tmp_path, text):
    """In quadratic time, this would take minutes."""
    (tmp_path / "a.md").write_text(post("", text))
    (item,) = read_folder(str(tmp_path / "a.md"), SourceOptions(SITE, UTC), lambda *_: None)
    assert isinstance(item, SourceArticle) or "more than 5,000" in item.reason or "merge conflict" in item.reason
