"""Shortcodes such as `[gallery ids="1,2"]` (https://codex.wordpress.org/Shortcode_API).

Only the site knows which ones it has, so they are recognized by attributes, closing tags and known names. For a report,
a likely one suffices. To be removed, it must be certain, because a bracketed word within a line may be prose.

| Text                                                                  | Reported | Removed |
|-----------------------------------------------------------------------|----------|---------|
| `[gallery ids="1,2"]`, `[box]…[/box]`, `[toc]` alone in its paragraph | yes      | yes     |
| `[toc]`, `[contact_form]` or `[vimeo 123]` within a line              | yes      | no      |
| `[Figure 3]`, `[n=20]`, `[sic]`                                       | no       | no      |
"""

import re

SHORTCODE_NAME = r"[a-zA-Z][\w-]*+"
# An opening shortcode and its arguments, unless a letter or another bracket precedes it, as in `a[b]`
SHORTCODE = re.compile(rf"\[(?<![\w\[]\[)(?P<name>{SHORTCODE_NAME})(?P<arguments>[^\[\]]*+)\]")
CLOSING_SHORTCODE = re.compile(rf"\[/(?P<closing>{SHORTCODE_NAME})\]")
TAG = re.compile("<[^<>]*>")
INLINE_CODE = re.compile(r"<code(?=[\s>]).*?(?:</code>|\Z)", re.DOTALL)
# name="value" or name=value (whitespace around "=" occurs in prose), only a URL, or a slash at the end
ARGUMENTS = re.compile(r"""\s[\w-]+(?:=|\s*=\s*["'])|\A=?\s*https?://\S+\s*\Z|/\Z""")
SHORT_VALUE = re.compile(r"\s\d+|=\S+")
# Shortcodes that are also written within a line and without attributes. Names with an underscore need not be listed.
KNOWN = {
    *("audio", "button", "caption", "contact-form", "contact-form-7", "divider", "embed", "form", "gallery", "icon"),
    *("playlist", "recipe", "spacer", "toc", "TOC", "tooltip", "video"),
}
# A bracketed word alone in its paragraph, with a short value at most, is unlikely to be prose.
ALONE = re.compile(
    r"(?P<start>\A|\n|<p>|<br ?/?>)[ \t]*\[(?!sic\])(?P<alone>[a-z][\w-]{2,})(?:\s\d+|=\S+)?\]"
    r"(?=[ \t]*(?:\Z|\n|</p>|<br))"
)
CODE_OR_SHORTCODE = re.compile(
    f"{INLINE_CODE.pattern}|{ALONE.pattern}|{CLOSING_SHORTCODE.pattern}|{SHORTCODE.pattern}", re.DOTALL
)


def find_shortcodes(html: str) -> list[str]:
    """Return the names of the likely shortcodes outside of code."""
    if "[" not in html:
        return []
    text = INLINE_CODE.sub("", html)
    certain = {*CLOSING_SHORTCODE.findall(text), *(match["alone"] for match in ALONE.finditer(text))}
    return [name for name, rest in SHORTCODE.findall(text) if name in certain or is_likely_shortcode(name, rest)]


def remove_shortcodes(html: str) -> str:
    """Return HTML without the tags that are certain to be shortcodes, except in code. The text between them stays."""
    if "[" not in html:
        return html
    closed = set(CLOSING_SHORTCODE.findall(html))

    def remove(match: re.Match[str]) -> str:
        if match["alone"]:
            return str(match["start"])
        is_opening = match["name"] and (match["name"] in closed or _has_arguments(match["arguments"]))
        return " " if match["closing"] or is_opening else match[0]

    return CODE_OR_SHORTCODE.sub(remove, html)


def is_likely_shortcode(name: str, rest: str) -> bool:
    """Return whether a word in brackets and the `rest` of the bracket look like an opening shortcode."""
    if _has_arguments(rest):
        return True
    if rest:  # [vimeo 123] and [spotify=track:1], but not [Figure 3], [n=20] or [video of the evening]
        return name.islower() and len(name) > 2 and bool(SHORT_VALUE.fullmatch(rest))
    return name in KNOWN or "_" in name


def _has_arguments(rest: str) -> bool:
    """Return whether the `rest` of a bracket, after its first word, has arguments like a shortcode's."""
    return bool(ARGUMENTS.search(TAG.sub("", rest)))
