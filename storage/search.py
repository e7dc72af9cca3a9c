"""Search: how text is folded, so that case and accents do not matter, and matched."""

import unicodedata


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


def search_parameters(q: str) -> dict[str, str]:
    """Return what the selects bind for a search: a LIKE pattern for each of its words, which matches it literally.

    The words are folded, and each occurs once. An empty dictionary filters nothing.
    """
    words = dict.fromkeys(map(fold, q.split()))
    escape = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})
    # A lone accent folds to a space.
    patterns = (f"%{word.translate(escape)}%" for word in words if word.strip())
    return {f"word_{number}": pattern for number, pattern in enumerate(patterns)}
