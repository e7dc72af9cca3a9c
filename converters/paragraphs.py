"""Paragraphs of texts that have empty lines between them."""

import re

# The text in these stays as it is.
CONTAINERS = ["dl", "figure", "form", "ol", "pre", "script", "style", "table", "ul"]
LINES = ["h1", "h2", "h3", "h4", "h5", "h6", "p"]
BLOCKS = ["address", "article", "aside", "blockquote", "details", "div", "footer", "header", "hr", "nav", "section"]
NAMES = "|".join([*CONTAINERS, *LINES, *BLOCKS])
# A tag ends before the next "<", so that the time is linear in the length of any text. Spelling out both cases takes
# half the time that IGNORECASE takes.
BLOCK_TAG = re.compile(rf"(</?(?:{NAMES}|{NAMES.upper()})(?=[\s/>])[^<>]*>)")
TAG_NAME = re.compile(r"\w+")
EMPTY_LINE = re.compile(r"\n[ \t]*\n")


def add_paragraphs(text: str) -> str:
    """Return HTML with a paragraph for each one of `text`, and a line break for each single one.

    As WordPress does when it shows a post of its classic editor.
    """
    depth, is_line, parts = 0, False, []
    for number, part in enumerate(BLOCK_TAG.split(text.replace("\r\n", "\n"))):
        if number % 2:  # It is a tag.
            name, is_end = TAG_NAME.findall(part)[0].lower(), part.startswith("</")
            depth = max(0, depth + (-1 if is_end else 1)) if name in CONTAINERS else depth
            is_line = name in LINES and not is_end
            parts.append(part)
        elif depth or is_line:
            parts.append(part)
        else:
            paragraphs = filter(None, map(str.strip, EMPTY_LINE.split(part)))
            parts += ["\n", *("<p>" + paragraph.replace("\n", "<br>\n") + "</p>\n" for paragraph in paragraphs)]
    return "".join(parts).strip()
