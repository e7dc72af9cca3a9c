"""Slugs from text and from titles in any script."""

import re
from unicodedata import category, normalize

MAX_SLUG_SOURCE = 2000  # characters that a slug is made from
MAX_TITLE_SLUG = 170  # leaves room for a date
ACCENTED_LATIN = re.compile("([a-z])[\u0300-\u036f]+")
EMOJI_STYLE = re.compile("[\ufe00-\ufe0f\u20d0-\u20ff]")  # variation selectors and enclosing marks


def normalize_slug(text: str) -> str:
    """Return text as a slug, without invisible characters."""
    visible = "".join(character for character in text if category(character) != "Cf")
    return normalize("NFC", re.sub(r"[\s/?#]+", "-", visible.strip(" /")))


def slug_from_title(title: str) -> str:
    """Return a slug of the title's words.

    Latin letters lose their accents. Other letters, and the marks that belong to them, stay as they are.
    """
    decomposed = normalize("NFD", EMOJI_STYLE.sub("", title[:MAX_SLUG_SOURCE].lower()))
    text = normalize("NFC", ACCENTED_LATIN.sub(r"\1", decomposed))
    slug = "-".join("".join(map(_word_character, text)).split())
    if len(slug) > MAX_TITLE_SLUG:
        slug = slug[: MAX_TITLE_SLUG + 1].rpartition("-")[0] or slug[:MAX_TITLE_SLUG]
    return slug


def _word_character(character: str) -> str:
    """Return a character of a word, a space for one between words, and "" for an invisible one."""
    kind = category(character)
    if kind == "Cf":
        return ""
    return character if kind[0] in "LMN" or character == "_" else " "
