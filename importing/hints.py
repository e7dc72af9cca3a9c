"""Messages about an article: why an import refuses it, and warnings about one that it accepts."""

import re
from collections.abc import Iterator
from typing import Any

from importing.dates import DATE_FORMS
from importing.derived import ANY_TAG, decode_references
from importing.report import SourceArticle
from importing.urls import has_relative_urls
from schemas import ArticleImportSchema

DATES = {"publishedAt", "createdAt", "updatedAt"}
FIELD_BY_ALIAS = {  # by `plain_name`; the own name first, and then in the order in which they count
    alias: field.data_key or name
    for name, field in ArticleImportSchema().fields.items()
    for alias in ((field.data_key or name).lower(), *field.metadata.get("aliases", ()))
}
MARKDOWN = re.compile(r"^(?:#{1,6} |[*-] |> |```)|\]\(\S|\*\*\w", re.MULTILINE)
# UTF-8 that was read as Latin-1 or as Windows-1252, but for what a text may hold by chance, such as a quote after "Ã"
WRONG_ENCODING = re.compile("Ã[\x80-\x9f¡-ª¬-º¼-¿„Ÿœ‰˜Š]|â[€\x80]|\N{REPLACEMENT CHARACTER}")


def plain_name(name: str) -> str:
    """Return a field's name as `FIELD_BY_ALIAS` has it."""
    return re.sub("[_ -]", "", name.lower())


def explain(record: Any, messages: dict[str, list[str]]) -> Iterator[tuple[str, str, Any]]:
    """Yield what is wrong with a record: its author's name of a field, the reason, and the value if it has one."""
    if not isinstance(record, dict):
        yield "", messages["_schema"][0], None
        return
    names = record.names if isinstance(record, SourceArticle) else {}
    for field, (reason, *_) in sorted(messages.items()):
        value = record.get(field)
        if reason == "Unknown field.":
            known = FIELD_BY_ALIAS.get(plain_name(field))
            reason, value = f"Unknown field: {f'did you mean {known}?' if known else 'leave it out.'}", None
        elif field in DATES and isinstance(record, SourceArticle):
            reason = DATE_FORMS
        yield names.get(field, field), reason, value


def warnings_about(article: dict[str, Any]) -> Iterator[str]:
    """Yield what looks wrong with an article, by `Article` column, that is accepted nevertheless."""
    title, html = article["title"], article["content_html"]
    if decode_references(title) != title:
        yield "Warning: Titles with HTML entities such as &amp;. Write titles as plain text"
    if has_relative_urls(html):
        yield "Warning: Pictures or links whose URL is relative. Write whole URLs, or name your site with --site"
    if MARKDOWN.search(html) and not ANY_TAG.search(html):
        yield "Warning: Content that looks like Markdown. Write HTML, or import a .md file"
    if WRONG_ENCODING.search(title) or WRONG_ENCODING.search(html):
        yield "Warning: Text that was read in a wrong encoding, such as Ã¼ for ü. Save the source in UTF-8"
