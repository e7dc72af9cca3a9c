"""Search: how texts are folded, so that case and accents do not matter, and looked through."""

import unicodedata
from collections.abc import Sequence


def fold(text: str) -> str:
    """Give `text` as search and title order see it: without case and accents, in any script.

    Unicode's compatibility decomposition (NFKD), less the characters of a non-zero combining class, case-folded.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    return "".join(filter(lambda character: not unicodedata.combining(character), decomposed)).casefold()


def searchable(title: str, slug: str) -> dict[str, str]:
    """Give the `Article` columns that search and title order use."""
    folded_title = fold(title)
    return {"folded_title": folded_title, "search_text": f"{folded_title}\n{fold(slug)}"}


def search_words(q: str) -> list[str]:
    """Give the folded words of a search, each once. None of them filters nothing."""
    return list(dict.fromkeys(filter(str.strip, map(fold, q.split()))))  # a lone accent folds to a space


def word_parameters(words: Sequence[str]) -> dict[str, str]:
    """Give what `published_page` and `published_total` bind for `words`: LIKE patterns of literal text."""
    escape = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})
    return {f"word_{number}": f"%{word.translate(escape)}%" for number, word in enumerate(words)}
