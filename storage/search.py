"""Search: how text is folded, so that case and accents do not matter, and matched."""

import unicodedata
from collections.abc import Sequence


def fold(text: str) -> str:
    """Return `text` as search and title order see it: without case and accents, in any script.

    Unicode's compatibility decomposition (NFKD), without characters of a non-zero combining class, case-folded:
    https://www.unicode.org/reports/tr15/.
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
    """Return the folded words of a search, each once. An empty list filters nothing."""
    return list(dict.fromkeys(filter(str.strip, map(fold, q.split()))))  # A lone accent folds to a space.


def word_parameters(words: Sequence[str]) -> dict[str, str]:
    """Return what the selects bind for `words`: LIKE patterns that match them literally."""
    escape = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})
    return {f"word_{number}": f"%{word.translate(escape)}%" for number, word in enumerate(words)}
