"""The content of a WordPress post, as WordPress shows it: blocks, synced patterns, footnotes, captions, embeds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

from converters.autop import VERBATIM, autop
from converters.records import Note, SourceError
from converters.wordpress_blocks import PAYWALL, PAYWALL_BLOCK, parse_json, remove_hidden
from converters.wordpress_items import Pattern
from converters.wordpress_shortcodes import NAME, find_code, find_shortcodes, unescape_shortcodes

MAX_LENGTH = 1 << 22  # characters of the patterns and footnotes inserted into a post
MAX_INSERTIONS = 1 << 14  # patterns and footnotes per post
MAX_DEPTH = 10  # of patterns in patterns
# A block's name and attributes. In a comment, WordPress escapes "<" and ">" of the attributes.
BLOCK = re.compile(r"<!-- wp:([\w/-]+)\s+(?:(\{[^<>]*\})\s+)?/-->")
SHORTCODE_BLOCK = re.compile(r"<!-- wp:shortcode -->(.*?)(?:<!-- /wp:shortcode -->|\Z)", re.DOTALL)
# The block editor writes paragraphs itself, and its settings in comments.
BLOCK_COMMENT = re.compile(r"<!--(?: /?wp:[^<>]*|more[^<>]*|nextpage)-->\n?")
# In a possessive repetition, Python before 3.11.5 keeps what a failed alternative has matched
# (https://github.com/python/cpython/issues/106052). Instead, a tag ends before the next "<" and a text before the next
# caption, which keeps the time linear.
ATTRIBUTES = r"""\s(?:[^<>"']|"[^<"]*"|'[^<']*')*>"""
# A caption's attributes, its picture, and its text, which older versions have as an attribute
CAPTION = re.compile(
    rf"\[caption(?<!\[\[caption)([^\[\]]*+)\]\s*((?:<a{ATTRIBUTES}\s*)?<img{ATTRIBUTES}(?:\s*</a>)?)"
    r"((?:[^\[]|\[(?!/?caption))*)\[/caption\]"
)
ATTRIBUTE = re.compile(r"""\s(align|caption|class|id|width)=(?:"([^"]*)"|'([^']*)'|([^\s"']+))""")
NOT_IN_CLASS = re.compile(r"[^\w -]", re.ASCII)
URL = r"""(https?://[^\s<>"\[\]]+)"""
EMBED = re.compile(r"\[embed(?<!\[\[embed)[^\[\]]*+\]\s*([^\s\[\]<>]+)\s*\[/embed\]")
# a URL alone on a line, or in a paragraph
LONE_URLS = re.compile(rf"(\n[ \t]*){URL}(?=[ \t\r]*\n)"), re.compile(rf"(<p>\s*){URL}(?=\s*</p>)")
OPENING = re.compile(rf"\[{NAME}")
EXPORT_ALL = "Export All content, and import all files in one command"
PLACEHOLDER = re.compile("<!--\2([0-9]+)-->")  # stands for protected text; XML cannot contain this character


@dataclass
class Content:
    """A post's content as HTML, with notes for the report."""

    html: str = ""
    notes: list[Note] = field(default_factory=list)  # missing or changed content
    patterns: set[str] = field(default_factory=set)  # ids of the synced patterns in it
    uses_footnotes: bool = False


def render(text: str, patterns: Mapping[str, Pattern], footnotes: str) -> Content:
    """Return a post's content as HTML. `patterns` are those of its blog by id, and `footnotes` is JSON.

    Raises SourceError if patterns within patterns multiply the text.
    """
    content = Content()
    html = _Blocks(content, patterns, footnotes).fill(text).partition(PAYWALL_BLOCK)[0]
    shortcodes: list[str] = []

    def render_shortcodes(block: re.Match[str]) -> str:
        shortcodes.extend(OPENING.findall(block[1]))
        return autop(block[1])

    html = SHORTCODE_BLOCK.sub(render_shortcodes, html)
    kept: list[str] = []
    html = _protect_code(BLOCK_COMMENT.sub("", html), kept)
    html = _link_embeds(CAPTION.sub(_figure, html))
    html = html.strip() if "<!-- wp:" in text else autop(html)
    for name in dict.fromkeys([*shortcodes, *find_shortcodes(html)]):
        content.notes.append(Note("Shortcodes that visitors will see as text", name))
    content.html = PLACEHOLDER.sub(lambda number: kept[int(number[1])], unescape_shortcodes(html))
    return content


class _Blocks:
    """The blocks of a post that WordPress renders on each visit."""

    def __init__(self, content: Content, patterns: Mapping[str, Pattern], footnotes: str) -> None:
        self.content, self.patterns, self.footnotes = content, patterns, footnotes
        self.length = self.insertions = 0  # characters inserted so far, and how often

    def fill(self, text: str, outer: tuple[str, ...] = ()) -> str:
        """Return public text with its synced patterns and footnotes. `outer` are the ids of the patterns around it."""
        public_text, notes = remove_hidden(text)
        self.content.notes += map(Note, sorted(notes))
        return BLOCK.sub(lambda block: self._fill_block(block, outer), public_text)

    def _fill_block(self, block: re.Match[str], outer: tuple[str, ...]) -> str:
        name = block[1].removeprefix("core/")
        if name == "block":
            return self._insert_pattern(block[2], outer)
        if name == "footnotes":
            return self._list_footnotes()
        if name == PAYWALL:  # also ends the text around a pattern
            return block[0]
        return self._miss("Blocks that are missing because WordPress fills them on each visit", name)

    def _insert(self, html: str) -> str:
        """Count `html` towards the limits, and return it. Raises SourceError if a limit is exceeded."""
        self.length += len(html)
        self.insertions += 1
        if self.length > MAX_LENGTH or self.insertions > MAX_INSERTIONS:
            raise SourceError("Its synced patterns contain each other too often.")
        return html

    def _miss(self, kind: str, detail: str = "") -> str:
        """Note missing content, and return the empty text in its place."""
        self.content.notes.append(Note(kind, detail))
        return ""

    def _insert_pattern(self, json_attributes: str, outer: tuple[str, ...]) -> str:
        attributes = parse_json(json_attributes)
        id = str(attributes.get("ref")) if isinstance(attributes, dict) else ""
        pattern = self.patterns.get(id)
        if not pattern or id in outer or len(outer) >= MAX_DEPTH:
            return self._miss(f"Synced patterns that the export lacks. {EXPORT_ALL}")
        if not pattern.is_public:
            return self._miss("Synced patterns that are missing because they are not published", pattern.title)
        if attributes.get("content"):
            self._miss("Pattern overrides were ignored")
        self.content.patterns.add(id)
        return self.fill(self._insert(pattern.content), (*outer, id))

    def _list_footnotes(self) -> str:
        """Return the post's footnotes as WordPress' block renders them."""
        notes = parse_json(self.footnotes)
        if not notes or not isinstance(notes, list) or not all(isinstance(note, dict) for note in notes):
            return self._miss("Footnotes that the export lacks")
        self.content.uses_footnotes = True
        items = (
            f'<li id="{(id := escape(str(note.get("id", ""))))}">{note.get("content", "")} '
            f'<a href="#{id}-link" aria-label="Jump to footnote reference {number}">↩︎</a></li>'
            for number, note in enumerate(notes, start=1)
        )
        return self._insert(f'<ol class="wp-block-footnotes">{"".join(items)}</ol>')


def _protect_code(html: str, kept: list[str]) -> str:
    """Replace the content of pre, script, style, textarea and code shortcodes, and comments, with placeholders."""

    def keep(text: str) -> str:
        kept.append(text)
        return f"<!--\2{len(kept) - 1}-->"

    def keep_content(match: re.Match[str]) -> str:
        if not match[1]:
            return keep(match[0])
        text = unescape_shortcodes(match[3]) if match[2].lower() == "pre" else match[3]
        return f"<{match[1]}{keep(text)}{match[4]}"

    parts, end = [], 0
    for start, stop in find_code(html):
        parts += [VERBATIM.sub(keep_content, html[end:start]), keep(html[start:stop])]
        end = stop
    return "".join([*parts, VERBATIM.sub(keep_content, html[end:])])


def _figure(caption: re.Match[str]) -> str:
    """Return a caption as WordPress shows it in themes that support HTML5."""
    attributes = {name: "".join(values) for name, *values in ATTRIBUTE.findall(caption[1])}
    id, align, classes = (
        NOT_IN_CLASS.sub("", attributes.get(name, default))
        for name, default in (("id", ""), ("align", "alignnone"), ("class", ""))
    )
    width = re.match("[1-9][0-9]{0,4}", attributes.get("width", ""))
    start = f' id="{id.replace(" ", "")}"' if id else ""
    start += f' style="width: {width[0]}px"' if width else ""
    start += f' class="{" ".join(f"wp-caption {align} {classes}".split())}"'
    text = attributes.get("caption", caption[3].strip())
    return f'<figure{start}>{caption[2]}<figcaption class="wp-caption-text">{text}</figcaption></figure>'


def _link_embeds(html: str) -> str:
    """Replace each URL that WordPress embeds, such as a video's, with a link."""
    html = EMBED.sub(r'<a href="\1">\1</a>', f"\n{html}\n")
    for pattern in LONE_URLS:
        html = pattern.sub(r'\1<a href="\2">\2</a>', html)
    return html[1:-1]
