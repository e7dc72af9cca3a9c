"""Paragraphs and line breaks as WordPress adds them to a post of its classic editor (`wpautop`).

WordPress works on text and does not parse HTML: whatever follows a "<" is a tag, the names of blocks are lower case,
and a blank line always ends a paragraph. Some of its output is invalid, and browsers repair it. Unlike WordPress, this
module never changes comments or the content of `pre`, `script`, `style` and `textarea`.

Each pattern looks at each character a fixed number of times, so the time is linear in the length of the text.
"""

import re
from collections.abc import Callable

BLOCKS = (
    "address area article aside blockquote caption col colgroup dd details div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hgroup hr legend li map math menu nav ol p pre PRE section style STYLE summary "
    "table tbody td tfoot th thead tr ul"
)
# Unclosed elements and comments extend to the end, as in browsers.
CODE = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|(?P<tag><(?P<name>(?i:pre|script|style|textarea))(?=[\s/>])[^>]*>?)(?P<content>.*?)(?=</(?i:(?P=name))\s*>|\Z)",
    re.DOTALL,
)
PLACEHOLDER_MARK = "\0"  # neither HTML nor XML can contain it
PLACEHOLDER = re.compile(f"{PLACEHOLDER_MARK}([0-9]+){PLACEHOLDER_MARK}")
KEPT_LINE_FEED = "\1"  # stands for one that is not a line break; neither HTML nor XML can contain it
WHITESPACE = " \t\n\f\v"  # PHP's \s; a no-break space is text
SPACE = f"[{WHITESPACE}]"
SVG_OR_MATH = re.compile(r"<(svg|math)(?=[\s>]).*?(?:</\1>|\Z)", re.DOTALL)
TAG = re.compile("<[^<>]*>?")
NAME = rf"</?(?:{'|'.join(BLOCKS.split())})"
SEPARATED_TAG = re.compile(rf"{NAME}(?=[\s/>{KEPT_LINE_FEED}])[^<>]*>")
BLOCK = f"{NAME}[^<>]*>"  # also a tag whose name only begins like a block's, such as picture
ONE_BLOCK = re.compile(f"{SPACE}*({BLOCK}){SPACE}*")
# Paragraph tags go inside a quotation.
QUOTE_START = re.compile("<blockquote[^<>]*>")
QUOTE_END = "</blockquote>"
# Text without tags: its paragraph ends before the closing tag of these blocks.
TEXT_IN_BLOCK = re.compile(rf"(<p>)?([^<]+)(</(?:address|div|form)>){SPACE}*")
START_BEFORE_BLOCK = re.compile(f"<p>{SPACE}*({BLOCK})")
END_AFTER_BLOCK = re.compile(f"({BLOCK}){SPACE}*</p>")
TWO_BREAKS = re.compile(rf"<br{SPACE}*/?>{SPACE}*<br{SPACE}*/?>")  # <br /> <br>
PARAGRAPH_END = re.compile(rf"\n{SPACE}*\n")
BREAK = "<br />"
OTHER_BREAK = re.compile("<br/?>")
LINE_END = re.compile(rf"(?:({BREAK})|(?<!{SPACE})){SPACE}*\n")
BREAK_AFTER_BLOCK = re.compile(f"({BLOCK}){SPACE}*{BREAK}")
BREAK_BEFORE_BLOCK = re.compile(f"{BREAK}(?={SPACE}*</?(?:d[dlt]|div|li|ol|p|td|th|ul)[^<>]*>)")
PARAM = "</?(?:param|embed)[^<>]*>"
SOURCE = "<(?:source|track)[^<>]*>"
# (before, after, condition): strip whitespace before `before` and after `after`, but only if `condition` occurs.
INNER_PATTERNS = [
    ("<option", "</option>", "<option|</option"),
    (f"</object>|{PARAM}", f"<object[^<>]*>|{PARAM}", "<object"),
    (rf"[<\[]/(?:audio|video)[>\]]|{SOURCE}", rf"[<\[](?:audio|video)[^<>\[\]]*[>\]]|{SOURCE}", SOURCE),
    ("<figcaption[^<>]*>", "</figcaption>", "<figcaption"),
]
INNER = [
    (re.compile(rf"(?<!{SPACE}){SPACE}+(?={before})"), re.compile(rf"({after}){SPACE}+"), re.compile(condition))
    for before, after, condition in INNER_PATTERNS
]


def change_outside_code(html: str, change: Callable[[str], str]) -> str:
    """Return the result of `change(html)` without changes to comments, `pre`, `script`, `style` and `textarea`.

    Meanwhile, placeholders that look like text stand for them.
    """
    kept: list[str] = []

    def keep(part: re.Match[str]) -> str:
        kept.append(part["content"] if part["tag"] else part[0])
        return f"{part['tag'] or ''}{PLACEHOLDER_MARK}{len(kept) - 1}{PLACEHOLDER_MARK}"

    changed = change(CODE.sub(keep, html.replace(PLACEHOLDER_MARK, "")))
    return PLACEHOLDER.sub(lambda number: kept[int(number[1])], changed)


def add_paragraphs(text: str) -> str:
    """Add paragraphs and line breaks to text without code."""
    if not text.strip():
        return ""
    html = f"{text}\n".replace(KEPT_LINE_FEED, "").replace("\r\n", "\n").replace("\r", "\n")
    paragraphs = (_add_paragraph(part.strip("\n")) for part in PARAGRAPH_END.split(_separate_blocks(html)) if part)
    html = "".join(f"{paragraph}\n" for paragraph in paragraphs)
    html = _add_breaks(END_AFTER_BLOCK.sub(r"\1", START_BEFORE_BLOCK.sub(r"\1", html)))
    return html.strip().replace(KEPT_LINE_FEED, "\n")


def _separate_blocks(html: str) -> str:
    """Put blank lines around blocks, and replace line feeds in tags."""

    def separate(tag: re.Match[str]) -> str:
        return f"{tag[0]}\n\n" if tag[0].startswith("</") else f"\n\n{tag[0]}"

    html = SEPARATED_TAG.sub(separate, TWO_BREAKS.sub("\n\n", html))
    html = TAG.sub(lambda tag: tag[0].replace("\n", KEPT_LINE_FEED), html)
    for before, after, condition in INNER:
        if condition.search(html):
            html = after.sub(r"\1", before.sub("", html))
    return html


def _add_paragraph(text: str) -> str:
    """Return text without blank lines as a paragraph, unless it is a block or a line that begins with a list item."""
    if block := ONE_BLOCK.fullmatch(text):
        return block[1]
    if not text.strip(WHITESPACE) or (text.startswith("<li") and "\n" not in text):
        return text.strip(WHITESPACE)
    if end := TEXT_IN_BLOCK.fullmatch(text):
        return f"{end[1] or '<p>'}{end[2]}</p>{end[3]}"
    quote = QUOTE_START.match(text)
    html = f"{quote[0]}<p>{text[quote.end() :]}" if quote else f"<p>{text}"
    return f"{html.removesuffix(QUOTE_END)}</p>{QUOTE_END}" if html.endswith(QUOTE_END) else f"{html}</p>"


def _add_breaks(html: str) -> str:
    """Put a break before each line feed, but not beside blocks or inside drawings."""
    html = SVG_OR_MATH.sub(lambda drawing: drawing[0].replace("\n", KEPT_LINE_FEED), OTHER_BREAK.sub(BREAK, html))
    html = LINE_END.sub(lambda end: end[0] if end[1] else f"{BREAK}\n", html)
    return BREAK_BEFORE_BLOCK.sub("", BREAK_AFTER_BLOCK.sub(r"\1", html))
