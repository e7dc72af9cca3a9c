"""Text that must not change while the HTML around it does: code, and comments."""

import re

# Unclosed elements and comments extend to the end, as in browsers.
VERBATIM = re.compile(
    r"<!--.*?(?:-->|\Z)|(<(?i:(pre|script|style|textarea))(?=[\s/>])[^>]*>?)(.*?)(?=</(?i:\2)\s*>|\Z)", re.DOTALL
)
PLACEHOLDER_MARK = "\0"  # neither HTML nor XML can contain it
PLACEHOLDER = re.compile(f"{PLACEHOLDER_MARK}([0-9]+){PLACEHOLDER_MARK}")


class Verbatim:
    """The pieces of text that placeholders replace."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def keep(self, text: str) -> str:
        """Return a placeholder for `text`."""
        self.texts.append(text)
        return f"{PLACEHOLDER_MARK}{len(self.texts) - 1}{PLACEHOLDER_MARK}"

    def keep_elements(self, html: str) -> str:
        """Replace comments, and the content of pre, script, style and textarea, with placeholders."""
        return VERBATIM.sub(lambda part: part[1] + self.keep(part[3]) if part[1] else self.keep(part[0]), html)

    def restore(self, html: str) -> str:
        """Return HTML with the original text instead of its placeholders."""
        return PLACEHOLDER.sub(lambda number: self.restore(self.texts[int(number[1])]), html)
