"""The content of a WordPress post, as WordPress shows it: blocks, synced patterns, footnotes, captions, embeds."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape

from converters.autop import VERBATIM, autop
from converters.records import SourceError

MAX_LENGTH = 1 << 22  # characters that patterns add to a post
MAX_DEPTH = 10  # of patterns in patterns
# A block's name and attributes. In a comment, WordPress escapes "<" and ">" of the attributes.
BLOCK = re.compile(r"<!-- wp:([\w/-]+)\s+(?:(\{[^<>]*\})\s+)?/-->")
SHORTCODE_BLOCK = re.compile(r"<!-- wp:shortcode -->(.*?)(?:<!-- /wp:shortcode -->|\Z)", re.DOTALL)
# The block editor writes paragraphs itself, and its settings in comments.
BLOCK_COMMENT = re.compile(r"<!--(?: /?wp:[^<>]*|more[^<>]*|nextpage)-->\n?")
# In a possessive repetition, Python before 3.11.5 takes what an alternative has matched before it failed
# (https://github.com/python/cpython/issues/106052). A tag ends before the next "<" and a text before the next caption,
# so that the time is linear in the length of any text nevertheless.
ATTRIBUTES = r"""\s(?:[^<>"']|"[^<"]*"|'[^<']*')*>"""
# A caption's attributes, its picture, and its text, which older versions have as an attribute.
CAPTION = re.compile(
    rf"\[caption(?<!\[\[caption)([^\[\]]*+)\]\s*((?:<a{ATTRIBUTES}\s*)?<img{ATTRIBUTES}(?:\s*</a>)?)"
    r"((?:[^\[]|\[(?!/?caption))*)\[/caption\]"
)
CAPTION_TEXT = re.compile(r"""\scaption=(["'])(.*?)\1""")
URL = r"""(https?://[^\s<>"\[\]]+)"""
EMBED = re.compile(r"\[embed[^\[\]]*+\]\s*([^\s\[\]<>]+)\s*\[/embed\]")
# a URL alone on a line, or in a paragraph
LONE_URLS = re.compile(rf"(\n[ \t]*){URL}(?=[ \t\r]*\n)"), re.compile(rf"(<p>\s*){URL}(?=\s*</p>)")
# A word in brackets that no letter or bracket precedes, and its attributes
SHORTCODE = re.compile(r"\[(?<![\w\[]\[)/?([a-zA-Z][\w-]*)([^\[\]]*)\]")
INLINE_CODE = re.compile(r"<code(?=[\s>]).*?(?:</code>|\Z)", re.DOTALL)
# Shortcodes whose content is code, not text: WordPress' plugins for it use such names, or a language as an attribute.
CODE_NAME = re.compile(
    r".*code.*|crayon|pre|cci?(?:[be]?_\w+)?|highlight|prism|raw|html|latex|math|mermaid|as3?|actionscript3|applescript|"
    r"bash|shell|c|cpp|csharp|css|clojure|coldfusion|delphi|diff|erlang|fsharp|go|groovy|haskell|java|javafx|javascript|"
    r"js|jscript|json|kotlin|matlab|objc|perl|php|plain|powershell|ps|python|py|r|ruby|rust|scala|sql|swift|text|"
    r"typescript|vb|vbnet|xml|yaml",
    re.IGNORECASE,
)
LANGUAGE = re.compile(r"\slanguage\s*=")
CLOSING = re.compile(r"\[/([a-zA-Z][\w-]*)\]")
KEPT = re.compile("<!--\2([0-9]+)-->")  # stands for text that nothing may change; XML has no such character
MEDIA = re.compile(r"<(?:img|video|audio|iframe|svg|object|embed|picture|canvas|input|hr)(?=[\s/>])")
TEXT = re.compile(r">(?:\s|&nbsp;)*(?!&nbsp;)[^\s<]")


@dataclass
class Rendered:
    """The HTML of a post, and what WordPress would add to it."""

    html: str = ""
    dynamic_blocks: list[str] = field(default_factory=list)
    shortcodes: list[str] = field(default_factory=list)
    patterns: set[str] = field(default_factory=set)  # ids of the patterns that it contains
    uses_footnotes: bool = False
    overrides_patterns: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether visitors see nothing."""
        return not TEXT.search(f">{self.html}") and not MEDIA.search(self.html)


def render(content: str, patterns: Mapping[str, str], footnotes: str) -> Rendered:
    """Return a post's content as HTML. `patterns` has the texts of synced patterns by id, `footnotes` is JSON.

    Raises SourceError if the patterns contain each other without an end.
    """
    rendered = Rendered()
    html = _fill_blocks(content, patterns, footnotes, rendered)
    html = SHORTCODE_BLOCK.sub(lambda block: autop(block[1]), html)
    kept: list[str] = []
    html = _keep_code(BLOCK_COMMENT.sub("", html), kept)
    html = _link_embeds(CAPTION.sub(_figure, html))
    html = html.strip() if "<!-- wp:" in content else autop(html)
    rendered.shortcodes = list(dict.fromkeys(_find_shortcodes(html)))
    rendered.html = KEPT.sub(lambda number: kept[int(number[1])], html)
    return rendered


def _fill_blocks(
    content: str, patterns: Mapping[str, str], footnotes: str, rendered: Rendered, outer: tuple[str, ...] = ()
) -> str:
    """Return content with its synced patterns and footnotes. `rendered` records other blocks that WordPress fills."""
    length = 0

    def fill(block: re.Match[str]) -> str:
        nonlocal length
        name, text = block[1].removeprefix("core/"), None
        if name == "block":
            attributes = _parse_object(block[2])
            reference = str(attributes.get("ref"))
            if reference in patterns and reference not in outer and len(outer) < MAX_DEPTH:
                rendered.patterns.add(reference)
                rendered.overrides_patterns |= bool(attributes.get("content"))
                text = _fill_blocks(patterns[reference], patterns, "", rendered, (*outer, reference))
        elif name == "footnotes":
            text = _list_footnotes(footnotes)
            rendered.uses_footnotes |= text is not None
        if text is None:
            rendered.dynamic_blocks.append(name)
            return ""
        length += len(text)
        if length > MAX_LENGTH:
            raise SourceError("Its synced patterns contain each other too often.")
        return text

    return BLOCK.sub(fill, content)


def _parse_object(text: str | None) -> dict[str, object]:
    try:
        value = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _list_footnotes(text: str) -> str | None:
    """Return a post's footnotes as WordPress' block shows them, or None if there are none."""
    try:
        notes = [(str(note["id"]), str(note["content"])) for note in json.loads(text)]
    except (KeyError, RecursionError, TypeError, ValueError):
        return None
    items = (
        f'<li id="{escape(id)}">{content} <a href="#{escape(id)}-link" '
        f'aria-label="Jump to footnote reference {number}">↩︎</a></li>'
        for number, (id, content) in enumerate(notes, start=1)
    )
    return f'<ol class="wp-block-footnotes">{"".join(items)}</ol>' if notes else ""


def _keep_code(html: str, kept: list[str]) -> str:
    """Replace code with stand-ins: what pre, script, style, textarea and shortcodes for code contain, and comments."""

    def keep(text: str) -> str:
        kept.append(text)
        return f"<!--\2{len(kept) - 1}-->"

    def keep_content(match: re.Match[str]) -> str:
        return f"<{match[1]}{keep(match[3])}{match[4]}" if match[1] else keep(match[0])

    parts, end = [], 0
    for start, stop in _find_code(html):
        parts += [VERBATIM.sub(keep_content, html[end:start]), keep(html[start:stop])]
        end = stop
    return "".join([*parts, VERBATIM.sub(keep_content, html[end:])])


def _find_code(html: str) -> Iterator[tuple[int, int]]:
    """Yield where the content of a shortcode for code starts and ends."""
    last = {match[1]: match.start() for match in CLOSING.finditer(html)}
    position = 0
    while opening := SHORTCODE.search(html, position):
        position = opening.end()
        is_code = CODE_NAME.fullmatch(opening[1]) or LANGUAGE.search(opening[2])
        if is_code and last.get(opening[1], -1) >= position:
            position = html.index(f"[/{opening[1]}]", position)
            yield opening.end(), position


def _find_shortcodes(html: str) -> Iterator[str]:
    """Yield the names of shortcodes outside of code. Several words in brackets without a value are prose."""
    for shortcode in SHORTCODE.finditer(INLINE_CODE.sub("", html)) if "[" in html else ():
        name, attributes = shortcode.groups()
        if not attributes or attributes[0] in "=/" or (attributes[0].isspace() and _are_attributes(attributes)):
            yield name


def _are_attributes(text: str) -> bool:
    return len(text.split(None, 2)) < 2 or any(character in text for character in '=/"')


def _figure(caption: re.Match[str]) -> str:
    attribute = CAPTION_TEXT.search(caption[1])
    text = attribute[2] if attribute else caption[3].strip()
    return f"<figure>{caption[2]}<figcaption>{text}</figcaption></figure>"


def _link_embeds(html: str) -> str:
    """Return HTML with a link for each URL that WordPress replaces by a video or another page's content."""
    html = EMBED.sub(r'<a href="\1">\1</a>', f"\n{html}\n")
    for pattern in LONE_URLS:
        html = pattern.sub(r'\1<a href="\2">\2</a>', html)
    return html[1:-1]
