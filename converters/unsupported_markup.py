"""Markup that other systems turn into HTML and this service cannot: templates, shortcodes, components, Markdown."""

import re
from collections import Counter
from collections.abc import Iterator

from content.html import ANY_TAG, NOT_TEXT, decode_references
from converters.components import component_names
from converters.records import SourceArticle

# Tags of Liquid, Nunjucks and Hugo (with their names), and variables
TEMPLATE = re.compile(r"\{(?:%-?\s*(?!end)([\w-]+)|\{(?:&lt;|<|%)\s*/?\s*([\w.-]+))")
VARIABLE = re.compile(r"\{\{(?!&lt;|[<%])")
SHORTCODE = re.compile(r"\[([a-z][\w-]*)(?:\s+[\w-]+=[\"'\w&“”][^\[\]<>]*)\]|\[(gallery)\]")
PAIRED_SHORTCODE = re.compile(r"\[(/?)([a-z][\w-]*)(?:[\s=][^\[\]]*)?\]")
UNCLOSED = re.compile(r"&lt;([a-zA-Z][\w.]*)\s[^<>]{0,200}?=\{")
CODE = re.compile(r"<(pre|code)(?=[\s>]).*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
HEADING_ID = re.compile(r'<h[1-6] id="([^"]*)"')
BLOCK = "p|h[1-6]|[uod]l|pre|blockquote|table|hr"  # Markdown that was rendered
# Searched in HTML, after Markdown has rendered quotes and attributes:
IN_HTML = {
    "{/* … */}": r"\{/(?:\*|<em>|<strong>)",  # Markdown takes the asterisks for emphasis
    'markdown="1"': rf"(?><[a-zA-Z][^<>]*\smarkdown=[^<>]*)(?!>\n<(?:{BLOCK})[\s>])",
}
# A formula, unlike two prices, contains a math symbol or a function, or is as short as $x$.
MATH = r"(?:[^$]{0,500}?(?:[\\^_=+<>{]|[a-zA-Z]\()|\w{0,3}[a-zA-Z]\w{0,3}\$)"
# Searched in the text without tags:
IN_TEXT = {
    "> [!NOTE] alerts": r"^[ \t]*\[![a-zA-Z]+\]",
    "{: …}": r"\{:\s?[.#\w]",
    "{::comment} and the like": r"\{:[:/]",
    "{# … #}": r"\{#-?\s",
    "{% # … %}": r"\{%-?\s*#",
    "[TOC]": r"^[ \t]*\[(?i:TOC|\[_?TOC_?\])\]$",
    "::: containers": r"^[ \t]*:{3,}[ \t]*[\w{\[]",
    "!!! admonitions": r"^[ \t]*!!! +[a-z]+",
    "{.class}": r"\{[.#][a-zA-Z][^{}]*\}",
    "*[abbreviation]: …": r"\*\[[^\]\n]{1,100}\]:",
    "$$ … $$ formulas": rf"\$\$(?<!\$\$\$)(?!\$)(?={MATH})[^$]+\$\$(?!\$)",
    "$ … $ formulas": rf"\$(?<![\w$\\]\$)(?=[^\s(])(?!\d[\d.,]*\s)(?={MATH})[^$\n]{{1,400}}(?<![\s\\])\$(?![\w$])",
    r"\( … \) formulas": r"\\\((?=[^()\n]{0,400}\\\))|\\\[(?=[^\[\]\n]{0,400}\\\])",
    ":emoji: codes": r":(?<![\w:/]:)(?:[a-z][a-z0-9_+-]+|[+-]1):(?![\w:/])",
    "==mark==": r"==(?<![\w=]==)(?=[^\s=])[^=\n]{1,200}(?<!\s)==(?![\w=])",
    "[[wiki links]]": r"\[\[(?!(?i:_?TOC_?)\]\])(?=[^\[\]\n]*[^\W\d])[^\s\[\]][^\[\]\n]{0,200}\]\]",
    "x^2^": r"\^(?<=\w\^)\w{1,20}\^",
    "H~2~O": r"~(?<=[^\W\d]~)\w{1,20}~",
    "import": r"^import\s(?:(?:[\w$]+,?\s*)?(?:\{[^{}]*\}|\*\s+as\s+\w+)?\s*from\s*)?[\"'][^\"'\n]+[\"'];?[ \t]*$",
    "export": r"^export\s+(?:const\s+\w+\s*=|default\s+(?:function|class|\(|\{)|function\s+\w+\()",
}


def note_markup(article: SourceArticle) -> None:
    """Note what readers would see as text, or would miss, in an article's content."""
    html = article.fields.get("contentHtml")
    if not isinstance(html, str):
        return
    prose = CODE.sub("", html)  # code shows markup on purpose
    found = {
        "Templates that visitors will see as text": _templates(prose),
        "Shortcodes that visitors will see as text": _shortcodes(prose),
        "Components, which browsers do not show": component_names(html),
        "Components that visitors will see as text": _unclosed_components(prose),
        "Unsupported Markdown that visitors will see as text": _other_markdown(html),
        "Headings that share an id, so that links lead to the first one": _repeated_ids(html),
    }
    for kind, names in found.items():
        for name in dict.fromkeys(names):
            article.note(kind, name)


def _templates(html: str) -> Iterator[str]:
    for tag, shortcode in TEMPLATE.findall(html):
        yield f"{{% {tag} %}}" if tag else f"{{{{< {shortcode} >}}}}"
    if VARIABLE.search(html):
        yield "{{ }}"


def _shortcodes(html: str) -> Iterator[str]:
    """Yield shortcodes with an attribute or an end tag, and [gallery]. Others, such as [sic] and [1], are text."""
    for names in SHORTCODE.findall(html):
        yield f"[{''.join(names)}]"
    opened = set()
    for is_end, name in PAIRED_SHORTCODE.findall(html):
        if not is_end:
            opened.add(name)
        elif name in opened:
            yield f"[{name}]"


def _unclosed_components(html: str) -> Iterator[str]:
    """Yield the components that Markdown took for text, because they have a blank line among their props."""
    return (f"<{name[:60]}>" for name in UNCLOSED.findall(html))


def _other_markdown(html: str) -> Iterator[str]:
    """Yield the kinds of Markdown outside of code that were not rendered."""
    prose = CODE.sub("", NOT_TEXT.sub("", html))
    text = decode_references(ANY_TAG.sub("", prose))
    for kinds, searched in ((IN_HTML, prose), (IN_TEXT, text)):
        yield from (kind for kind, pattern in kinds.items() if re.search(pattern, searched, re.MULTILINE))


def _repeated_ids(html: str) -> Iterator[str]:
    """Yield the ids that several headings share."""
    yield from (id for id, count in Counter(HEADING_ID.findall(html)).items() if count > 1)
