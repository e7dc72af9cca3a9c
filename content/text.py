"""Make untrusted text safe for terminals and logs."""

JOINERS = "\u200c\u200d"  # part of the spelling in Persian, Sinhala and others


def printable(text: str) -> str:
    """Replace line breaks, control characters and other unprintable characters with spaces, but keep joiners."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() or character in JOINERS else " " for character in text)
