"""Case and accent folding for search and title order."""

import unicodedata


def fold(text: str) -> str:
    """Remove case and accents, in any script.

    Decomposes to NFKD (https://www.unicode.org/reports/tr15/), drops characters with a non-zero combining class, and
    case-folds the rest.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def search_columns(title: str, slug: str) -> dict[str, str]:
    """Return the values of the `Article` columns that are used for search and for sorting by title."""
    folded_title = fold(title)
    return {"folded_title": folded_title, "search_text": f"{folded_title}\n{fold(slug)}"}


def search_words(q: str) -> list[str]:
    """Split a search into its distinct folded words. An article matches if its `search_text` contains every word."""
    words = dict.fromkeys(map(fold, q.split()))
    return [word for word in words if word.strip()]  # a lone accent folds to a space
