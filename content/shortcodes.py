"""Shortcodes such as `[gallery ids="1,2"]` (https://codex.wordpress.org/Shortcode_API).

Only the site knows which ones it has. A bracketed word may also be prose, so it counts as a shortcode only if it has
attributes or a closing tag, or is alone in its paragraph: `[gallery ids="1,2"]`, `[box]…[/box]` or `[toc]`, but not
`[Figure 3]` or `[sic]`.
"""

import re

NAME = r"[a-zA-Z][\w-]*+"
CODE = r"(?:<(?P<code>pre|code|script|style)(?=[\s>]).*?(?:</(?P=code)|\Z)|<!--.*?(?:-->|\Z))"
# without attributes at most a short value; [sic] is prose
ALONE = (
    r"(?P<start>\A|\n|<p>|<br ?/?>)[ \t]*\[(?!sic\])(?P<alone>[a-z][\w-]{2,})(?:\s\d+|=\S+)?\]"
    r"(?=[ \t]*(?:\Z|\n|</p>|<br))"
)
CLOSING = rf"\[/(?P<closing>{NAME})\]"
# An opening shortcode and its arguments, unless a letter or another bracket precedes it, as in `a[b]`
OPENING = rf"\[(?<![\w\[]\[)(?P<name>{NAME})(?P<arguments>[^\[\]]*+)\]"
CLOSING_SHORTCODE = re.compile(CLOSING)
CODE_OR_SHORTCODE = re.compile(f"{CODE}|{ALONE}|{CLOSING}|{OPENING}", re.DOTALL)
TAG = re.compile("<[^<>]*>")
# name="value" or name=value (whitespace around "=" occurs in prose), only a URL, or a slash at the end
ARGUMENTS = re.compile(r"""\s[\w-]+(?:=|\s*=\s*["'])|\A=?\s*https?://\S+\s*\Z|/\Z""")


def drop_shortcodes(html: str) -> tuple[str, list[str]]:
    """Return HTML without shortcodes, except in code, and their names. The text between two of them stays."""
    if "[" not in html:
        return html, []
    closed = set(CLOSING_SHORTCODE.findall(html))
    dropped: dict[str, None] = {}  # in order

    def drop(match: re.Match[str]) -> str:
        if match["closing"]:
            return "" if match["closing"] in dropped else match[0]
        name = match["alone"] or match["name"]
        if name and (match["alone"] or name in closed or ARGUMENTS.search(TAG.sub("", match["arguments"]))):
            dropped[name] = None
            return match["start"] or ""
        return match[0]

    return CODE_OR_SHORTCODE.sub(drop, html), list(dropped)
