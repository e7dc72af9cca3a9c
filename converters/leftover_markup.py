"""Shortcodes and template tags of other systems, which readers see as text unless they are dropped."""

import re

from content.shortcodes import CODE, drop_shortcodes
from converters.source_articles import SourceArticle

VISIBLE = "Shortcodes and template tags that readers see as text"
DROPPED = "Shortcodes and template tags that were dropped"
# {% include a.html %}, {{< a >}} or {{ a }} in HTML
LIQUID = r"\{%-?\s*+(?:end)?(?P<tag>[\w-]++)[^{}]*+(?<=%)\}"
BRACES = r"\{\{(?:(?:<|&lt;|%)\s*+(?:/\s*+)?(?P<shortcode>[\w./-]++))?[^{}]*+\}\}"
CODE_OR_TEMPLATE = re.compile(f"{CODE}|{LIQUID}|{BRACES}", re.DOTALL)
EMPTY_PARAGRAPH = re.compile(r"<p>\s*</p>\n?")


def note_leftover_markup(article: SourceArticle, *, drop_tags: bool = False) -> None:
    """Note the shortcodes and template tags in an article's content or, with `drop_tags`, drop them."""
    html, shortcodes = drop_shortcodes(article.fields["contentHtml"])
    html, templates = _drop_templates(html)
    names = (*shortcodes, *templates)
    if names and drop_tags:
        article.fields["contentHtml"] = EMPTY_PARAGRAPH.sub("", html)
    for name in names:
        article.note(DROPPED if drop_tags else VISIBLE, name)


def _drop_templates(html: str) -> tuple[str, list[str]]:
    """Return HTML without template tags, except in code, and their names."""
    dropped: dict[str, None] = {}  # in order

    def drop(match: re.Match[str]) -> str:
        if not match[0].startswith("{"):
            return match[0]
        if match["tag"]:
            name = f"{{% {match['tag']} %}}"
        else:
            name = f"{{{{< {match['shortcode']} >}}}}" if match["shortcode"] else "{{ }}"
        dropped[name] = None
        return ""

    return CODE_OR_TEMPLATE.sub(drop, html), list(dropped)
