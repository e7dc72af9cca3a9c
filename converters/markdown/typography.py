"""Typographic punctuation, as Hugo makes it by default: quotes, `--` (–), `---` (—) and `...` (…)."""

import re
from itertools import pairwise
from unicodedata import category

from markdown_it.rules_core import StateCore
from markdown_it.token import Token

# Each alternative begins with a character, which makes the search seven times as fast.
PUNCTUATION = re.compile(
    r"""
      \{[{%:][^{}]*\}  # a template, such as {{ "x" }}, {% x "y" %} or {: title="x"}, which stays as it is
    | '(?=(?P<shortened>\d\ds|n|em|tis|twas)\b)  # the '90s, 'tis
    | -(?<!--)-{1,2}(?!-)
    | \.\.\.
    | '
    | "
    """,
    re.VERBOSE,
)
REPLACEMENTS = {"--": "–", "---": "—", "...": "…"}
APOSTROPHE = "’"
FILLER = "\0"  # keeps the length of a text; the parser has replaced NUL characters
OBJECT = "\ufffc"  # stands for code, a picture or a bare URL


def add_typography(state: StateCore) -> None:
    """Replace the punctuation of each paragraph, heading and so on."""
    for block in state.tokens:
        if block.type == "inline" and PUNCTUATION.search(block.content):
            _change_tokens(block.children or [])


def _change_tokens(tokens: list[Token]) -> None:
    """Replace the punctuation in the text of a block. The direction of a quote depends on the text around its token."""
    start_of_block = Token("softbreak", "br", 0)
    texts = [_text(before, token) for before, token in pairwise([start_of_block, *tokens])]
    changed = _change_text("".join(texts))
    position = 0
    for token, text in zip(tokens, texts, strict=True):
        if token.type == "text" and text != OBJECT:
            token.content = changed[position : position + len(text)].replace(FILLER, "")
        position += len(text)


def _text(before: Token, token: Token) -> str:
    """Return what a token, which follows `before`, contributes to the text of its block."""
    if token.type in ("softbreak", "hardbreak"):
        return "\n"
    is_bare_url = before.type == "link_open" and before.info == "auto"
    if is_bare_url or token.type in ("code_inline", "image"):
        return OBJECT
    return token.content if token.type == "text" else ""


def _change_text(text: str) -> str:
    """Return text with typographic punctuation and of the same length."""
    characters = list(text)
    open_quotes = 0
    for match in PUNCTUATION.finditer(text):
        start, end = match.span()
        found = match[0]
        if found.startswith("{"):
            continue
        if match["shortened"]:
            characters[start] = APOSTROPHE
        elif found in REPLACEMENTS:
            characters[start:end] = REPLACEMENTS[found].rjust(len(found), FILLER)
        else:
            before = characters[start - 1] if start else " "
            after = text[end : end + 1] or " "
            characters[start] = _quote(found, before, after, is_open=open_quotes > 0)
            open_quotes += {"“": 1, "”": -1}.get(characters[start], 0)
    return "".join(characters)


def _quote(quote: str, before: str, after: str, *, is_open: bool) -> str:
    """Return the typographic form of a quote between two characters, or the quote itself if it may mean feet or inches.

    `is_open` is whether a double quote is open. See https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run.
    """
    is_left = not after.isspace() and (not _is_punctuation(after) or not _is_word(before))
    is_right = not before.isspace() and (not _is_punctuation(before) or not _is_word(after))
    if is_left and not is_right:
        return "“" if quote == '"' else "‘"
    if quote == '"':
        return "”" if is_right and is_open else quote
    return quote if after.isdigit() else APOSTROPHE


def _is_punctuation(character: str) -> bool:
    return character != OBJECT and category(character)[0] in "PS"


def _is_word(character: str) -> bool:
    return not character.isspace() and not _is_punctuation(character)
