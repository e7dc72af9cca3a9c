"""Shortcodes in WordPress posts (https://codex.wordpress.org/Shortcode_API).

An export does not list the shortcodes of its site, so they are recognized by attributes, closing tags and known names.
"""

import re

from converters.verbatim import Verbatim

VISIBLE_SHORTCODES = "Shortcodes that visitors will see as text"
NAME = r"([a-zA-Z][\w-]*+)"
# An opening shortcode and its attributes, unless a letter or another bracket precedes it, as in `a[b]`
SHORTCODE = re.compile(rf"\[(?<![\w\[]\[){NAME}([^\[\]]*+)\]")
OPENING = re.compile(rf"\[{NAME}")
CLOSING = re.compile(rf"\[/{NAME}\]")
ESCAPED = re.compile(rf"\[(\[{NAME}([^\[\]]*+)\])\]")
ESCAPED_START, ESCAPED_END = re.compile(rf"\[(\[{NAME}[^\[\]]*+\])(?!\])"), re.compile(rf"(\[/{NAME}\])\]")
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
# A bracketed word alone in its paragraph is unlikely to be prose.
ALONE = re.compile(r"(?:\A|\n|<p>|<br ?/?>)[ \t]*\[([a-z][\w-]{2,})\](?=[ \t]*(?:\Z|\n|</p>|<br))")
# Shortcodes whose content is code. Plugins name them after code in general or after the language.
CODE_NAME = re.compile(
    r".*code.*|crayon|pre|cci?(?:[be]?_\w+)?|highlight|prism|raw|html|latex|math|mermaid|as3?|actionscript3|applescript|"
    r"bash|shell|c|cpp|csharp|css|clojure|coldfusion|delphi|diff|erlang|fsharp|go|groovy|haskell|java|javafx|javascript|"
    r"js|jscript|json|kotlin|matlab|objc|perl|php|plain|powershell|ps|python|py|r|ruby|rust|scala|sql|swift|text|"
    r"typescript|vb|vbnet|xml|yaml",
    re.IGNORECASE,
)
LANGUAGE = re.compile(r"\slanguage\s*=")


def find_shortcodes(html: str) -> list[str]:
    """Return the names of the shortcodes outside of code."""
    if "[" not in html:
        return []
    text = INLINE_CODE.sub("", html)
    certain = {*CLOSING.findall(text), *ALONE.findall(text)} - {"sic"}
    return [name for name, rest in SHORTCODE.findall(text) if name in certain or _is_shortcode(name, rest)]


def _is_shortcode(name: str, rest: str) -> bool:
    """Return whether a word in brackets and the `rest` of the bracket look like an opening shortcode."""
    if ARGUMENTS.search(TAG.sub("", rest)):
        return True
    if rest:  # [vimeo 123] and [spotify=track:1], but not [Figure 3], [n=20] or [video of the evening]
        return name.islower() and len(name) > 2 and bool(SHORT_VALUE.fullmatch(rest))
    return name in KNOWN or "_" in name


def unescape_shortcodes(html: str) -> str:
    """Return HTML with `[gallery]` for `[[gallery]]`, which is how authors write about shortcodes."""
    html = ESCAPED.sub(lambda match: match[1] if _is_shortcode(match[2], match[3]) else match[0], html)
    names = {match[2] for match in ESCAPED_START.finditer(html)} & {match[2] for match in ESCAPED_END.finditer(html)}
    for pattern in ESCAPED_START, ESCAPED_END:
        html = pattern.sub(lambda match: match[1] if match[2] in names else match[0], html)
    return html


def keep_code(html: str, verbatim: Verbatim) -> str:
    """Replace the content of each shortcode for code with a placeholder."""
    last = {match[1]: match.start() for match in CLOSING.finditer(html)}
    parts, position = [], 0
    while opening := SHORTCODE.search(html, position):
        parts.append(html[position : opening.end()])
        position = opening.end()
        is_code = CODE_NAME.fullmatch(opening[1]) or LANGUAGE.search(opening[2])
        if is_code and last.get(opening[1], -1) >= position:
            end = html.index(f"[/{opening[1]}]", position)
            parts.append(verbatim.keep(html[position:end]))
            position = end
    return "".join([*parts, html[position:]])
