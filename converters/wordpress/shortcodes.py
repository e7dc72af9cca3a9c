"""Escaped shortcodes, and shortcodes whose content is code."""

import re

from content.shortcodes import CLOSING_SHORTCODE, OPENING, drop_shortcodes
from content.shortcodes import NAME as SHORTCODE_NAME
from converters.wordpress.verbatim import Verbatim

SHORTCODE = re.compile(OPENING)
# [[gallery]] or [[note]Text[/note]]
ESCAPED = re.compile(
    rf"\[(?P<shortcode>\[(?P<name>{SHORTCODE_NAME})(?P<arguments>[^\[\]]*+)\](?P<end>[^\[\]]*+\[/(?P=name)\])?)\]"
)
# Shortcodes whose content is code. Plugins name them after code in general or after the language.
CODE_NAME = re.compile(
    r".*code.*|crayon|pre|cci?(?:[be]?_\w+)?|highlight|prism|raw|html|latex|math|mermaid|as3?|actionscript3|applescript|"
    r"bash|shell|c|cpp|csharp|css|clojure|coldfusion|delphi|diff|erlang|fsharp|go|groovy|haskell|java|javafx|javascript|"
    r"js|jscript|json|kotlin|matlab|objc|perl|php|plain|powershell|ps|python|py|r|ruby|rust|scala|sql|swift|text|"
    r"typescript|vb|vbnet|xml|yaml",
    re.IGNORECASE,
)
LANGUAGE = re.compile(r"\slanguage\s*=")


def unescape_shortcodes(html: str) -> str:
    """Return HTML with `[gallery]` for `[[gallery]]`, which is how authors write about shortcodes."""

    def unescape(escaped: re.Match[str]) -> str:
        is_shortcode = escaped["end"] or drop_shortcodes(f"\n{escaped['shortcode']}\n")[1]
        return escaped["shortcode"] if is_shortcode else escaped[0]

    return ESCAPED.sub(unescape, html)


def keep_code(html: str, verbatim: Verbatim) -> str:
    """Replace the content of each shortcode for code with a placeholder."""
    last_ends = {closing["closing"]: closing.start() for closing in CLOSING_SHORTCODE.finditer(html)}
    parts: list[str] = []
    position = 0
    while opening := SHORTCODE.search(html, position):
        parts.append(html[position : opening.end()])
        position = opening.end()
        name = opening["name"]
        is_code = CODE_NAME.fullmatch(name) or LANGUAGE.search(opening["arguments"])
        if is_code and last_ends.get(name, -1) >= position:
            end = html.index(f"[/{name}]", position)
            parts.append(verbatim.keep(html[position:end]))
            position = end
    return "".join([*parts, html[position:]])
