"""Case and accent folding for search and title order."""

import unicodedata

# typographic quotes (U+2018 to U+201F), and hyphens and dashes (U+2010 to U+2015, U+2212), as people type them
ASCII_PUNCTUATION = str.maketrans("‘’‚‛“”„‟‐‑‒–—―−", "''''\"\"\"\"-------")

PUNCTUATION = "\"'«»‹›.,;:!?()"  # that people type around the words they search for


def fold(text: str) -> str:
    """Remove case, accents, invisible characters and typographic variants, in any script.

    Decomposes to NFKD (https://www.unicode.org/reports/tr15/), drops characters with a non-zero combining class and
    format characters such as soft hyphens, writes quotes and dashes as in ASCII, and case-folds the rest.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(filter(_is_searchable, decomposed)).translate(ASCII_PUNCTUATION).casefold()


def _is_searchable(character: str) -> bool:
    return not unicodedata.combining(character) and unicodedata.category(character) != "Cf"


def search_columns(title: str, slug: str) -> dict[str, str]:
    """Return the values of the `Article` columns that are used for search and for sorting by title."""
    folded_title = fold(title)
    return {"folded_title": folded_title, "search_text": f"{folded_title}\n{fold(slug)}"}


def search_words(q: str) -> list[str]:
    """Split a search into its distinct folded words, without the punctuation around them.

    An article matches if its `search_text` contains every word.
    """
    words = dict.fromkeys(_strip_punctuation(fold(word)) for word in q.split())
    return [word for word in words if word.strip()]  # a lone accent folds to a space, a soft hyphen to nothing


def _strip_punctuation(word: str) -> str:
    """Remove punctuation at both ends of a word, unless nothing else remains."""
    stripped = word.strip(PUNCTUATION)
    return stripped if stripped.strip() else word
