"""What other systems turn into HTML, and this service cannot: templates, components, and other Markdown."""

import re
from collections.abc import Iterator

from content.html import NOT_TEXT
from content.urls import OPENING_TAG
from converters.records import SourceArticle

# https://html.spec.whatwg.org/multipage/indices.html#elements-3, and obsolete elements that browsers still know
HTML = """
a abbr acronym address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br
button canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed
fieldset figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe img
input ins kbd label legend li link listing main map mark marquee menu meta meter nav nobr noembed noframes noscript
object ol optgroup option output p param picture plaintext pre progress q rb rp rt rtc ruby s samp script search
section select slot small source span strike strong style sub summary sup table tbody td template textarea tfoot th
thead time title tr track tt u ul var video wbr xmp svg math
"""
ELEMENTS = frozenset(HTML.split())
# Between these tags stand the elements of other languages.
FOREIGN = re.compile(r"<(svg|math)(?=[\s>]).*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
CODE = re.compile(r"<(pre|code)(?=[\s>]).*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
TAG_NAME = re.compile(r"<([a-zA-Z][^\s/>]*)")
# The tags of Liquid, Nunjucks and Hugo with their names, and variables
TEMPLATE = re.compile(r"\{(?:%-?\s*(?!end)([\w-]+)|\{(?:&lt;|<|%)\s*/?\s*([\w.-]+)|(\{))")
SHORTCODE = re.compile(r"\[/([a-z][\w-]*)\]|\[([a-z][\w-]*)\s[^\[\]<>]*=|\[(gallery)\]")
COMMENT = re.compile(r"\{/(?:\*|<em>|<strong>)")  # Markdown takes the asterisks for emphasis
# Attributes, abbreviations, and Markdown inside of HTML, as kramdown has them; formulas
OTHER_MARKDOWN = {
    "{: …}": re.compile(r"\{:\s?[.#\w]"),
    "{.class}": re.compile(r"\{[.#][a-zA-Z][^{}]*\}"),
    "*[abbreviation]: …": re.compile(r"\*\[[^\]\n]{1,100}\]:"),
    'markdown="1"': re.compile(r"<[a-zA-Z][^<>]*\smarkdown=", re.IGNORECASE),
    "$$ … $$": re.compile(r"\$\$[^$]+\$\$"),
}


def note_markup(article: SourceArticle) -> None:
    """Note what readers would see as text, or would miss, in an article's content."""
    html = article.fields.get("contentHtml")
    if not isinstance(html, str):
        return
    for name in dict.fromkeys(_templates(html)):
        article.note("Templates, which visitors see as text", name)
    for names in dict.fromkeys(SHORTCODE.findall(html)):
        article.note("Shortcodes, which stay as text", f"[{''.join(names)}]")
    for name in dict.fromkeys(_components(html)):
        article.note("Components, which browsers do not know and do not show", name)
    prose = CODE.sub("", html)
    if COMMENT.search(prose):
        article.note("Comments of MDX, which visitors see as text", "{/* … */}")
    for name, pattern in OTHER_MARKDOWN.items():
        if pattern.search(prose):
            article.note("Markdown that is not supported, which visitors see as text", name)


def _templates(html: str) -> Iterator[str]:
    for tag, shortcode, _ in TEMPLATE.findall(html):
        yield f"{{% {tag} %}}" if tag else f"{{{{< {shortcode} >}}}}" if shortcode else "{{ }}"


def _components(html: str) -> Iterator[str]:
    """Yield the tags that HTML does not have, and those that are capitalized as components are."""
    visible = FOREIGN.sub("", NOT_TEXT.sub("", html))
    for tag in OPENING_TAG.findall(visible):
        name = TAG_NAME.match(tag)
        if name and (name[1].lower() not in ELEMENTS or (name[1][0].isupper() and not name[1].isupper())):
            yield f"<{name[1][:60]}>"
