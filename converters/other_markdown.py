"""Markdown that other systems know and this service's renderer does not, so that visitors see it as text."""

import re
from collections import Counter
from collections.abc import Iterator

from content.html import ANY_TAG, NOT_TEXT, decode_references

CODE = re.compile(r"<(pre|code)(?=[\s>]).*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
HEADING_ID = re.compile(r'<h[1-6] id="([^"]*)"')
# What shows in HTML, in which Markdown has made quotes and attributes.
IN_HTML = {
    "{/* … */}": re.compile(r"\{/(?:\*|<em>|<strong>)"),  # Markdown takes the asterisks for emphasis
    "> [!NOTE] alerts": re.compile(r"<blockquote>\s*<p>\s*\[![a-zA-Z]+\]"),
    "{: …}": re.compile(r"\{:\s?[.#\w]"),
    'markdown="1"': re.compile(r"<[a-zA-Z][^<>]*\smarkdown=", re.IGNORECASE),
    "[TOC]": re.compile(r"<p>\s*\[(?:TOC|\[(?:_|<em>)?TOC(?:_|</em>)?\])\]", re.IGNORECASE),
}
# What shows in text. A formula, unlike two prices, has a sign of mathematics or a function, or is as short as $x$.
MATH = r"(?:[^$]{0,500}?(?:[\\^_=+<>{]|[a-zA-Z]\()|\w{0,3}[a-zA-Z]\w{0,3}\$)"
IN_TEXT = {
    "::: containers": re.compile(r"^[ \t]*:{3,}[ \t]*[\w{\[]", re.MULTILINE),
    "!!! admonitions": re.compile(r"^[ \t]*(?:!!!|\?\?\?)\+?[ \t]+[a-z]+", re.MULTILINE),
    "{.class}": re.compile(r"\{[.#][a-zA-Z][^{}]*\}"),
    "*[abbreviation]: …": re.compile(r"\*\[[^\]\n]{1,100}\]:"),
    "$$ … $$ formulas": re.compile(rf"(?<!\$)\$\$(?!\$)(?={MATH})[^$]+\$\$(?!\$)|\\[(\[]"),
    "$ … $ formulas": re.compile(rf"(?<![\w$\\])\$(?=[^\s(])(?={MATH})[^$\n]{{1,400}}(?<![\s\\])\$(?![\w$])"),
    ":emoji: codes": re.compile(r"(?<![\w:/]):(?:[a-z][a-z0-9_+-]+|[+-]1):(?![\w:/])"),
    "==mark==": re.compile(r"(?<![\w=])==(?=[^\s=])[^=\n]{1,200}(?<!\s)==(?![\w=])"),
    "[[wiki links]]": re.compile(r"\[\[(?!(?i:_?TOC_?)\]\])(?=[^\[\]\n]*[^\W\d])[^\s\[\]][^\[\]\n]{0,200}\]\]"),
    "x^2^, H~2~O": re.compile(r"\w(?:\^\w{1,20}\^|~\w{1,20}~)"),
    "import": re.compile(
        r"^import\s(?:(?:[\w$]+,?\s*)?(?:\{[^{}]*\}|\*\s+as\s+\w+)?\s*from\s*)?[\"'][^\"'\n]+[\"'];?[ \t]*$",
        re.MULTILINE,
    ),
    "export": re.compile(
        r"^export\s+(?:const\s+\w+\s*=|default\s+(?:function|class|\(|\{)|function\s+\w+\()", re.MULTILINE
    ),
}


def other_markdown(html: str) -> Iterator[str]:
    """Yield the names of Markdown outside of code that was not rendered."""
    prose = CODE.sub("", NOT_TEXT.sub("", html))
    yield from (name for name, pattern in IN_HTML.items() if pattern.search(prose))
    text = decode_references(ANY_TAG.sub("", prose))
    yield from (name for name, pattern in IN_TEXT.items() if pattern.search(text))


def repeated_ids(html: str) -> Iterator[str]:
    """Yield the ids that several headings have."""
    yield from (id for id, count in Counter(HEADING_ID.findall(html)).items() if count > 1)
