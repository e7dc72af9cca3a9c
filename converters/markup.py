"""What other systems turn into HTML, and this service cannot: templates, shortcodes, components, other Markdown."""

import re
from collections.abc import Iterator

from converters.components import component_names, unclosed_components
from converters.other_markdown import CODE, other_markdown, repeated_ids
from converters.records import SourceArticle

# The tags of Liquid, Nunjucks and Hugo with their names, and variables
TEMPLATE = re.compile(r"\{(?:%-?\s*(?!end)([\w-]+)|\{(?:&lt;|<|%)\s*/?\s*([\w.-]+))")
VARIABLE = "{{"
SHORTCODE = re.compile(r"\[([a-z][\w-]*)(?:\s+[\w-]+=[\"'\w&“”][^\[\]<>]*)\]|\[(gallery)\]")
PAIRED_SHORTCODE = re.compile(r"\[(/?)([a-z][\w-]*)(?:[\s=][^\[\]]*)?\]")


def note_markup(article: SourceArticle) -> None:
    """Note what readers would see as text, or would miss, in an article's content."""
    html = article.fields.get("contentHtml")
    if not isinstance(html, str):
        return
    found = {
        "Templates that visitors will see as text": _templates(html),
        "Shortcodes that visitors will see as text": _shortcodes(html),
        "Components, which browsers do not show": component_names(html),
        "Components that visitors will see as text": unclosed_components(html),
        "Unsupported Markdown that visitors will see as text": other_markdown(html),
        "Headings that share an id, so that links lead to the first one": repeated_ids(html),
    }
    for kind, names in found.items():
        for name in dict.fromkeys(names):
            article.note(kind, name)


def _templates(html: str) -> Iterator[str]:
    for tag, shortcode in TEMPLATE.findall(html):
        yield f"{{% {tag} %}}" if tag else f"{{{{< {shortcode} >}}}}"
    if VARIABLE in html and re.search(r"\{\{(?!&lt;|[<%])", CODE.sub("", html)):  # code often has variables of its own
        yield "{{ }}"


def _shortcodes(html: str) -> Iterator[str]:
    """Yield shortcodes that have an attribute or an end tag: [sic] and [1] are text."""
    for names in SHORTCODE.findall(html):
        yield f"[{''.join(names)}]"
    opened = set()
    for is_end, name in PAIRED_SHORTCODE.findall(html):
        if not is_end:
            opened.add(name)
        elif name in opened:
            yield f"[{name}]"
