"""Comments of template languages, which the old site removes before it renders a page."""

import re

COMMENT_ENDS = {
    "liquid": r"\{%-?\s*endcomment\s*-?%\}",  # {% comment %} … {% endcomment %}
    "liquid_line": r"%\}",  # {% # … %}
    "nunjucks": r"\s-?#\}",  # {# … #}
    "hugo": r"\*/\s?-?\}\}",  # {{/* … */}}
    "kramdown": r"\{:/(?:comment)?\}",  # {::comment} … {:/comment}
}
COMMENT = r"""
    \{ (?:
      (?P<liquid>%-?\s*comment\s*-?%\})
    | (?P<liquid_line>%-?\s*\#)
    | (?P<nunjucks>\#-?\s)
    | (?P<hugo>\{-?\s?/\*)
    | (?P<kramdown>::comment\})
    )
"""
COMMENT_OR_CODE = re.compile(
    rf"""
      {COMMENT}
    | ^[ \t>]* (?P<fence>`{{3,}}(?=[^`\n]*$)|~{{3,}})
    | (?<!\\) (?P<span>`+)
    | < (?P<element>pre|code|script|style) (?=[\s>])
    """,
    re.VERBOSE | re.MULTILINE,
)


def remove_comments(text: str) -> str:
    """Return text without its comments, except those in code, `pre`, `script` and `style`, which are examples."""
    if not re.search(COMMENT, text, re.VERBOSE):  # true of most files, and faster than the search below
        return text
    parts: list[str] = []
    kept_from = position = 0
    unclosed: set[str] = set()  # patterns without a further match; searched once, so that the time is linear
    while opening := COMMENT_OR_CODE.search(text, position):
        pattern = _end_pattern(opening)
        end = None if pattern in unclosed else re.compile(pattern, re.MULTILINE).search(text, opening.end())
        position = end.end() if end else opening.end()
        if not end:
            unclosed.add(pattern)
        elif opening.lastgroup in COMMENT_ENDS:
            parts.append(text[kept_from : opening.start()])
            kept_from = end.end()
    return "".join([*parts, text[kept_from:]])


def _end_pattern(opening: re.Match[str]) -> str:
    """Return the pattern of what ends a comment, a fenced block, a code span or an element."""
    kind = opening.lastgroup or ""
    text = opening[kind]
    if kind == "fence":
        return rf"^[ \t>]*{text[0]}{{{len(text)},}}[ \t\r]*$|\Z"
    if kind == "span":
        return rf"(?<!`){text}(?!`)"
    return COMMENT_ENDS.get(kind) or f"</{text}"
