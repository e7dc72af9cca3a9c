"""Notes about markup of other systems that stays in the content, where readers see it as text or do not see it."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from content.html import NOT_TEXT, REST_OF_TAG, decode_references
from content.shortcodes import find_shortcodes
from converters.articles import SourceArticle
from converters.html_elements import ELEMENTS, FOREIGN_ELEMENT

CODE = re.compile(r"<(pre|code)(?=[\s>]).*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
# Tags of Liquid and Nunjucks, and shortcodes of Hugo
TEMPLATE = re.compile(r"\{%-?\s*(?!end)(\w[\w-]*)|\{\{[<%]\s*/?\s*([\w.-]+)")
# Each begins with a character, for speed. (?<![^>\n]…) matches at the beginning of a line or an element.
PATTERNS = {
    "{{ }}": r"\{\{(?![<%])",
    "{: }": r"\{:\s?[.#\w]",
    "{.class}": r"\{[.#][a-zA-Z][^{}]*\}",
    "{/* */}": r"\{/(?:\*|<em>|<strong>)",  # Markdown takes the asterisks for emphasis
    ":::": r":(?<![^>\n]:)::+[ \t]*[\w{\[]",
    "!!!": r"!(?<![^>\n]!)!! +[a-z]+",
    "[!NOTE]": r"\[(?<![^>\n]\[)![a-zA-Z]+\]",
    # A formula, unlike two prices, has a math symbol or no space.
    "$$ $$": r"\$\$(?<!\$\$\$)(?:[^\s$]{1,40}|(?=[^$]*?[\\^_=+{])[^$]++)\$\$(?!\$)",
    # import Chart from "./chart", in MDX
    "import": r"""import(?<![^>\n]import)\b(?:[^<>{}"'\n]|\{[^<>{}]*+\})*?\s["'“‘]""",
    r"\( \)": r"\\\((?=[^()\n]{0,400}\\\))|\\\[(?=[^\[\]\n]{0,400}\\\])",
}
MARKUP = {name: re.compile(pattern) for name, pattern in PATTERNS.items()}
SCRIPT_OR_FORM = re.compile(r"<(script|form)(?=[\s>])")
VISIBLE_SHORTCODES = "Shortcodes that readers will see as text"
CLOSING_TAG = re.compile("</[a-zA-Z]|>\\s*$")  # or a line that ends with a tag
BLOCK_MARK = re.compile(r"\s*(?:#{1,6} |```|~~~|[-*+] |1[.)] )")
OPENING_TAG = re.compile(rf"<[a-zA-Z]{REST_OF_TAG}")  # <Chart data={sales}>
TAG_NAME = re.compile(r"<([a-zA-Z][^\s/>]*)")


def note_leftover_markup(article: SourceArticle, shortcodes: Iterable[str] | None = None) -> None:
    """Note the markup in an article's content that its old site would have replaced.

    `shortcodes` are the names of visible ones, if the converter has found them itself.
    """
    html = article.fields["contentHtml"]
    prose = _without_code(html)
    _note_names(article, VISIBLE_SHORTCODES, find_shortcodes(prose) if shortcodes is None else shortcodes)
    _note_names(article, "Markup that readers will see as text", _markup_names(decode_references(prose)))
    _note_names(article, "Scripts and forms, which may not work on another site", SCRIPT_OR_FORM.findall(html))


def note_components(article: SourceArticle) -> None:
    """Note the components in an article's content: tags that HTML does not have."""
    names = _component_names(_without_code(article.fields["contentHtml"]))
    _note_names(article, "Components, which browsers do not show", names)


def note_raw_markdown(article: SourceArticle) -> None:
    """Note headings, lists and fences that are not rendered, because a line of an HTML block precedes them."""
    lines = _without_code(article.fields["contentHtml"]).split("\n")
    if any(CLOSING_TAG.search(before) and BLOCK_MARK.match(line) for before, line in pairwise(lines)):
        article.note("Markdown that readers will see as text", "", "Put an empty line between HTML and Markdown.")


def _without_code(html: str) -> str:
    """Return HTML without scripts, comments and code, which shows markup on purpose."""
    return CODE.sub("", NOT_TEXT.sub("", html))


def _note_names(article: SourceArticle, kind: str, names: Iterable[str]) -> None:
    for name in dict.fromkeys(names):
        article.note(kind, name)


def _markup_names(text: str) -> Iterator[str]:
    """Yield the templates in a text by name, and other markup by kind."""
    for tag, shortcode in TEMPLATE.findall(text):
        yield f"{{% {tag} %}}" if tag else f"{{{{< {shortcode} >}}}}"
    yield from (name for name, pattern in MARKUP.items() if pattern.search(text))


def _component_names(html: str) -> Iterator[str]:
    """Yield tags that HTML does not have, capitalized tags, and tags with props in braces."""
    for tag in dict.fromkeys(OPENING_TAG.findall(FOREIGN_ELEMENT.sub("", html))):  # Most are repeated.
        name = TAG_NAME.match(tag)
        if name and (_is_component(name[1]) or "={" in tag):
            yield f"<{name[1]}>"


def _is_component(name: str) -> bool:
    return name.lower() not in ELEMENTS or (name[0].isupper() and not name.isupper())
