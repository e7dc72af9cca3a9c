"""Text that other people wrote, made safe to show."""


def printable(text: str) -> str:
    """Return `text` on one line, with each character that a terminal could act on replaced by a space."""
    return "".join(character if character.isprintable() else " " for character in text)
