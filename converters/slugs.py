"""Slugs from text and from titles in any script."""

import re
from unicodedata import category, combining, normalize
from unicodedata import name as character_name

from content.text import JOINERS

MAX_SLUG_SOURCE = 2000  # characters that a slug is made from
MAX_TITLE_SLUG = 170  # leaves room for a post's number


def normalize_slug(text: str) -> str:
    """Return text as a slug."""
    return normalize("NFC", re.sub(r"[\s/?#]+", "-", text.strip(" /")))


def slug_from_title(title: str, number: str = "") -> str:
    """Return a slug of the title's words, followed by the number.

    Latin letters lose their accents. Other letters, and the marks that belong to them, stay as they are.
    """
    words: list[str] = [""]
    for character in _without_latin_accents(title[:MAX_SLUG_SOURCE].lower()):
        if category(character)[0] in "LN" or character == "_" or (words[-1] and _extends_word(character)):
            words[-1] += character
        elif words[-1]:
            words.append("")
    slug = _shorten("-".join(word.strip(JOINERS) for word in words if word))
    return normalize("NFC", f"{slug}-{number}".strip("-"))


def _extends_word(character: str) -> bool:
    # Variation selectors and enclosing marks belong to emoji.
    is_emoji = "\ufe00" <= character <= "\ufe0f" or category(character) == "Me"
    return character in JOINERS or (category(character)[0] == "M" and not is_emoji)


def _without_latin_accents(text: str) -> str:
    """Return text in NFC in which Latin letters have no marks."""
    kept: list[str] = []
    base = ""
    for character in normalize("NFD", text):
        if not combining(character):
            base = character
        elif character_name(base, "").startswith("LATIN"):
            continue
        kept.append(character)
    return normalize("NFC", "".join(kept))


def _shorten(slug: str) -> str:
    """Return the beginning of a long slug, which ends after a word if possible and never inside a character."""
    if len(slug) <= MAX_TITLE_SLUG:
        return slug
    end = slug.rfind("-", 0, MAX_TITLE_SLUG + 1)
    if end < 1:
        end = MAX_TITLE_SLUG
        while end > 1 and category(slug[end])[0] == "M":
            end -= 1
    return slug[:end]
