"""Messages about an article: why an import refuses it, and warnings about one that it accepts."""

import re
import reprlib
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from importing.derived import decode_references
from schemas import ArticleImportSchema

FIELD_BY_ALIAS = {  # by `plain_name`; the own name first, and then in the order in which they count
    alias: field.data_key or name
    for name, field in ArticleImportSchema().fields.items()
    for alias in ((field.data_key or name).lower(), *field.metadata.get("aliases", ()))
}

ENTITY = re.compile(r"&(?:#[0-9]+|#x[0-9a-f]+|[a-z][a-z0-9]*);", re.IGNORECASE)
# A link or a picture whose URL begins neither with a scheme nor with // or #. Each "<" is looked at once, and only as
# far as the next one, so that the time is linear in the length of any text.
RELATIVE_URL = re.compile(
    r"""<(?:a|audio|iframe|img|source|video)\s(?:[^<>]*[\s"'])?(?:href|src)\s?=\s?["']?(?![a-z][a-z0-9+.-]{0,20}:|//|#)[^\s"'>]""",
    re.IGNORECASE,
)
MARKDOWN = re.compile(r"^(?:#{1,6} |[*-] |> |```)|\]\(\S|\*\*\w", re.MULTILINE)
TAG = re.compile("<[a-z/!]", re.IGNORECASE)
# UTF-8 that was read as Latin-1 or as Windows-1252, but for what a text may hold by chance, such as a quote after "Ã"
WRONG_ENCODING = re.compile("Ã[\x80-\x9f¡-ª¬-º¼-¿„Ÿœ‰˜Š]|â[€\x80]|\N{REPLACEMENT CHARACTER}")
CONTROL_CHARACTER = re.compile(r"[\x00-\x1f\x7f-\x9f]")
MAX_FIELDS = 20  # of an article, in a message
MAX_VALUE_LENGTH = 80  # characters of a value in a message

show = reprlib.Repr()
show.maxstring, show.fillvalue = MAX_VALUE_LENGTH, "…"


def plain_name(name: str) -> str:
    """Return a field's name as `FIELD_BY_ALIAS` has it."""
    return re.sub("[_ -]", "", name.lower())


def explain(record: Any, messages: dict[str, list[str]]) -> str:
    """Return what is wrong with a record: the values of its first bad fields, and why they cannot be."""
    if not isinstance(record, dict):
        return messages["_schema"][0]
    reasons: list[str] = []
    for name in sorted(messages)[:MAX_FIELDS]:
        message = messages[name][0]
        if message == "Unknown field.":
            message = unknown_field_message(name)
        elif record.get(name) is not None:
            message = f"{show.repr(record[name])} {message[0].lower()}{message[1:]}"
        reasons.append(f"{name}: {message}")
    return " ".join(reasons)


@lru_cache
def unknown_field_message(name: str) -> str:
    """Return the error message for a field that no article has."""
    close = get_close_matches(plain_name(name[:MAX_VALUE_LENGTH]), FIELD_BY_ALIAS, n=1, cutoff=0.8)
    return f"Unknown field: did you mean {FIELD_BY_ALIAS[close[0]]}?" if close else "Unknown field. Leave it out."


def warnings_about(article: dict[str, Any]) -> Iterator[str]:
    """Yield what looks wrong with an article, by `Article` column, that is accepted nevertheless."""
    title, html = article["title"], article["content_html"]
    if not title.strip():
        yield "Warning: Titles that are blank. Readers and search engines see nothing"
    if any(decode_references(entity) != entity for entity in ENTITY.findall(title)):
        yield "Warning: Titles with HTML entities such as &amp;. Write titles as plain text"
    if CONTROL_CHARACTER.search(title):
        yield "Warning: Titles with control characters, such as line feeds. Remove them"
    if RELATIVE_URL.search(html):
        yield "Warning: Pictures or links whose URL is relative. Write whole URLs, or name your site with --site"
    if MARKDOWN.search(html) and not TAG.search(html):
        yield "Warning: Content that looks like Markdown. Write HTML, or import a .md file"
    if WRONG_ENCODING.search(title) or WRONG_ENCODING.search(html):
        yield "Warning: Text that was read in a wrong encoding, such as Ã¼ for ü. Save the source in UTF-8"
