"""Markdown that other systems know and this service's renderer does not, so that visitors see it as text."""

import re
from collections import Counter
from collections.abc import Iterator

from content.html import ANY_TAG, NOT_TEXT, decode_references

CODE = re.compile(r"<(pre|code)(?=[\s>]).*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
HEADING_ID = re.compile(r'<h[1-6] id="([^"]*)"')
# Each kind has text that it always contains, which is faster to find than the pattern.
# What shows in HTML, in which Markdown has made quotes and attributes:
IN_HTML = {
    "{/* … */}": ("{/", r"\{/(?:\*|<em>|<strong>)"),  # Markdown takes the asterisks for emphasis
    "> [!NOTE] alerts": ("[!", r"<blockquote>\s*<p>\s*\[![a-zA-Z]+\]"),
    "{: …}": ("{:", r"\{:\s?[.#\w]"),
    'markdown="1"': ("markdown=", r"<[a-zA-Z][^<>]*\smarkdown="),
    "[TOC]": ("[", r"<p>\s*\[(?i:TOC|\[(?:_|<em>)?TOC(?:_|</em>)?\])\]"),
}
# A formula, unlike two prices, has a sign of mathematics or a function, or is as short as $x$.
MATH = r"(?:[^$]{0,500}?(?:[\\^_=+<>{]|[a-zA-Z]\()|\w{0,3}[a-zA-Z]\w{0,3}\$)"
# What shows in text:
IN_TEXT = {
    "::: containers": (":::", r"^[ \t]*:{3,}[ \t]*[\w{\[]"),
    "!!! admonitions": ("!!! ", r"^[ \t]*!!! +[a-z]+"),
    "{.class}": ("{", r"\{[.#][a-zA-Z][^{}]*\}"),
    "*[abbreviation]: …": ("*[", r"\*\[[^\]\n]{1,100}\]:"),
    "$$ … $$ formulas": ("$$", rf"\$\$(?<!\$\$\$)(?!\$)(?={MATH})[^$]+\$\$(?!\$)"),
    "$ … $ formulas": ("$", rf"\$(?<![\w$\\]\$)(?=[^\s(])(?={MATH})[^$\n]{{1,400}}(?<![\s\\])\$(?![\w$])"),
    r"\( … \) formulas": ("\\", r"\\[(\[]"),
    ":emoji: codes": (":", r":(?<![\w:/]:)(?:[a-z][a-z0-9_+-]+|[+-]1):(?![\w:/])"),
    "==mark==": ("==", r"==(?<![\w=]==)(?=[^\s=])[^=\n]{1,200}(?<!\s)==(?![\w=])"),
    "[[wiki links]]": ("[[", r"\[\[(?!(?i:_?TOC_?)\]\])(?=[^\[\]\n]*[^\W\d])[^\s\[\]][^\[\]\n]{0,200}\]\]"),
    "x^2^": ("^", r"\^(?<=\w\^)\w{1,20}\^"),
    "H~2~O": ("~", r"~(?<=\w~)\w{1,20}~"),
    "import": (
        "import",
        r"^import\s(?:(?:[\w$]+,?\s*)?(?:\{[^{}]*\}|\*\s+as\s+\w+)?\s*from\s*)?[\"'][^\"'\n]+[\"'];?[ \t]*$",
    ),
    "export": ("export", r"^export\s+(?:const\s+\w+\s*=|default\s+(?:function|class|\(|\{)|function\s+\w+\()"),
}


def other_markdown(html: str) -> Iterator[str]:
    """Yield the names of Markdown outside of code that was not rendered."""
    prose = CODE.sub("", NOT_TEXT.sub("", html))
    yield from _find(IN_HTML, prose)
    yield from _find(IN_TEXT, decode_references(ANY_TAG.sub("", prose)))


def _find(kinds: dict[str, tuple[str, str]], text: str) -> Iterator[str]:
    return (kind for kind, (part, pattern) in kinds.items() if part in text and re.search(pattern, text, re.MULTILINE))


def repeated_ids(html: str) -> Iterator[str]:
    """Yield the ids that several headings have."""
    yield from (id for id, count in Counter(HEADING_ID.findall(html)).items() if count > 1)
