"""Templates that an import understands as the old site did: comments, and links to the site's own pages."""

import re
from urllib.parse import quote

COMMENTS = {  # the beginning after the brace, and the end
    "liquid": (r"%-?\s*comment\s*-?%\}", r"\{%-?\s*endcomment\s*-?%\}"),  # {% comment %} … {% endcomment %}
    "liquid_line": (r"%-?\s*\#", r"%\}"),  # {% # … %}
    "nunjucks": (r"\#-?\s", r"\s-?\#\}"),  # {# … #}
    "hugo": (r"\{-?\s?/\*", r"\*/\s?-?\}\}"),  # {{/* … */}}
    "kramdown": (r"::comment\}", r"\{:/(?:comment)?\}"),  # {::comment} … {:/comment}
}
COMMENT = r"\{(?:" + "|".join(f"(?P<{kind}>{start})" for kind, (start, _) in COMMENTS.items()) + ")"
# {{ site.baseurl }} and {{ "/about/" | url }}, one after the other or alone
SITE = r"(?: \{\{-?\s* site\.(?:url|baseurl) \s*-?\}\} ){1,2}"
PATH = r"""\{\{-?\s* (?: "[^"{}\n]*" | '[^'{}\n]*' ) (?: \s*\|\s* (?:url|relative_url|absolute_url)\b )+ \s*-?\}\}"""
TEMPLATES = rf"(?: {SITE}(?:{PATH})? | {PATH} )"
# the beginning of a link: [text]( or [label]: or href="
LINK = rf"(?: \]\(\s*<? | \]:[ \t]*<? | \b(?:href|src|srcset|poster)\s*=\s*[\"']? ) {TEMPLATES} (?!\{{)"
MAYBE_TEMPLATE = re.compile(rf"{COMMENT} | \{{\{{-?\s*(?:[\"']|site\.)", re.VERBOSE)
COMMENT_LINK_OR_CODE = re.compile(
    rf"""
      {COMMENT}
    | (?P<link> {LINK} )
    | ^[ \t>]* (?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}})
    | (?<!\\) (?P<span>`+)
    | < (?P<element>pre|code|script|style) (?=[\s>])
    """,
    re.VERBOSE | re.MULTILINE,
)
QUOTED_PATH = re.compile(r"""["']([^"']*)["']""")


def resolve_templates(text: str) -> str:
    """Return text without comments, and with paths instead of templates at the beginning of links.

    Those in fences, code spans, `pre`, `script` and `style` are examples, so they are kept.
    """
    if not MAYBE_TEMPLATE.search(text):  # true of most files, and faster than the search below
        return text
    parts: list[str] = []
    kept_from = position = 0
    unclosed: set[str] = set()  # patterns without a further match; searched once, so that the time is linear
    while opening := COMMENT_LINK_OR_CODE.search(text, position):
        position = opening.end()
        if opening.lastgroup == "link":
            parts += text[kept_from : opening.start()], _resolve_link(opening["link"], text[position : position + 1])
            kept_from = position
            continue
        pattern = _end_pattern(opening)
        end = None if pattern in unclosed else re.compile(pattern, re.MULTILINE).search(text, opening.end())
        if not end:
            unclosed.add(pattern)
            continue
        position = end.end()
        if opening.lastgroup in COMMENTS:
            parts.append(text[kept_from : opening.start()])
            kept_from = position
    return "".join([*parts, text[kept_from:]])


def _resolve_link(link: str, following: str) -> str:
    """Return the beginning of a link with a path instead of its templates. `following` is the next character."""
    start = link[: link.index("{{")]
    path = QUOTED_PATH.search(link, len(start))
    if path:
        needs_slash = "site." in link or "_url" in link[path.end() :]
        url = path[1] if not needs_slash or "//" in path[1] else f"/{path[1].lstrip('/')}"
        return start + quote(url, safe="/:?&=#%;,@+~!*$[]")
    return start if following == "/" else f"{start}/"


def _end_pattern(opening: re.Match[str]) -> str:
    """Return the pattern of what ends a comment, a fenced block, a code span or an element."""
    kind = opening.lastgroup or ""
    text = opening[kind]
    if kind == "fence":
        return rf"^[ \t>]*{text[0]}{{{len(text)},}}[ \t\r]*$|\Z"
    if kind == "span":
        return rf"(?<!`){text}(?!`)"
    return COMMENTS[kind][1] if kind in COMMENTS else f"</{text}"
