"""Case and accent folding for search and title order."""

import unicodedata


def fold(text: str) -> str:
    """Return `text` without case and accents, in any script.

    Compatibility decomposition (NFKD, https://www.unicode.org/reports/tr15/), without characters of a non-zero
    combining class, case-folded.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(character for character in decomposed if not unicodedata.combining(character)).casefold()


def search_columns(title: str, slug: str) -> dict[str, str]:
    """Return the `Article` columns that search and title order use."""
    folded_title = fold(title)
    return {"folded_title": folded_title, "search_text": f"{folded_title}\n{fold(slug)}"}


def search_words(q: str) -> list[str]:
    """Return the folded words of a search, each of which must occur in an article's `search_text`."""
    words = dict.fromkeys(map(fold, q.split()))
    return [word for word in words if word.strip()]  # a lone accent folds to a space
