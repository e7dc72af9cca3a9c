"""Make untrusted text safe for terminals and logs."""


def printable(text: str) -> str:
    """Replace line breaks, control characters and other unprintable characters with spaces."""
    return "".join(character if character.isprintable() else " " for character in text)
