"""Checks of imported articles: problems, which reject them, and notes about accepted ones."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from marshmallow import ValidationError

from content.html import decode_references
from content.urls import has_relative_urls
from converters.article_urls import RELATIVE_URLS
from converters.articles import DECISIVE_FIELDS, ImportProblem, Note, SourceArticle
from converters.field_names import FIELD_BY_ALIAS, plain_name
from schemas import ArticleImportSchema
from transfer.report import show_value

# marshmallow's messages
REASONS = {
    "Missing data for required field.": "Missing.",
    "Field may not be null.": "Must not be null.",
    "Not a valid string.": "Must be text.",
    "Not a valid list.": "Must be a list.",
}
MAX_MISSPELLED_LENGTH = 50  # characters; no longer name is similar to an alias
# UTF-8 decoded as Latin-1 or Windows-1252, without sequences that also occur in real text, such as a quote after "Ã"
WRONG_ENCODING_STARTS = "Ãâ\N{REPLACEMENT CHARACTER}"
WRONG_ENCODING = re.compile("Ã[\x80-\x9f¡-ª¬-º¼-¿„Ÿœ‰˜Š]|â[€\x80]|\N{REPLACEMENT CHARACTER}")

# an article's values by column
ArticleRow = dict[str, Any]

schema = ArticleImportSchema()


def check_article(article: SourceArticle) -> tuple[ArticleRow, list[ImportProblem]]:
    """Return an article's columns, and its problems. If there are any, the columns are incomplete."""
    row, messages = _load(article.fields)
    if article.origin and messages:
        for field in sorted(messages.keys() - DECISIVE_FIELDS):
            article.reject(field, messages[field][0])
        row, messages = _load(article.fields)
    if not isinstance(article.fields, dict):
        return row, [ImportProblem(article.where, messages["_schema"][0])]
    found_by_converter = [problem._replace(where=locate(article)) for problem in article.problems]
    return row, [*found_by_converter, *_schema_problems(article, messages)]


def _load(fields: Any) -> tuple[ArticleRow, dict[str, list[str]]]:
    """Return an article's columns, which are incomplete if any field is invalid, and the messages by field."""
    try:
        return schema.load(fields), {}
    except ValidationError as error:
        return {}, error.messages_dict


def locate(article: SourceArticle) -> str:
    """Return an article's source and position, followed by its slug if it has one."""
    slug = article.fields.get("slug")
    return f"{article.where}, slug {show_value(slug)}" if slug and isinstance(slug, str) else article.where


def _schema_problems(article: SourceArticle, messages: dict[str, list[str]]) -> Iterator[ImportProblem]:
    """Yield the problems that marshmallow found, given by field, unless the converter found one in the same field."""
    explained = {problem.field for problem in article.problems}
    has_title = article.names.get("title", "title") not in explained and "title" not in messages
    if article.origin and not has_title and "slug" not in article.fields:
        explained.add("slug")  # Other systems' slugs are made from titles.
    for field, (message, *_) in sorted(messages.items()):
        name = article.names.get(field, field)
        if name in explained:
            continue
        if message == "Unknown field.":
            known = _closest_field(plain_name(field)[:MAX_MISSPELLED_LENGTH])
            advice = f"did you mean {known}?" if known else "check its name, or remove it."
            yield ImportProblem(locate(article), f"Unknown field: {advice}", name)
        else:
            yield ImportProblem(locate(article), REASONS.get(message, message), name, article.fields.get(field))


@lru_cache  # Many articles may have the same unknown field.
def _closest_field(name: str) -> str | None:
    """Return the field with the alias that is most similar to a plain name, or None."""
    closest = get_close_matches(name, FIELD_BY_ALIAS, n=1, cutoff=0.75)
    return FIELD_BY_ALIAS[closest[0]] if closest else None


def notes_about(row: ArticleRow, *, is_own: bool) -> Iterator[Note]:
    """Yield notes about what looks like a problem in an accepted article, given as a row.

    `is_own`: it is in a format of this service.
    """
    title = row["title"]
    html = row["content_html"]
    if not title.strip():
        yield Note("Articles with an empty title")
    if decode_references(title) != title:
        yield Note("Titles with HTML entities such as &amp;, which readers see", advice="Write titles as plain text.")
    if any(_has_wrong_encoding(value) for value in row.values() if isinstance(value, str)):
        yield Note(
            "Text with �, or decoded with the wrong encoding, such as Ã¼ for ü", advice="Correct them in the source."
        )
    if is_own and has_relative_urls(html):  # the converters of other systems know whether there is a site
        yield RELATIVE_URLS._replace(advice="Write absolute URLs.")


def _has_wrong_encoding(text: str) -> bool:
    """Return whether text looks as if it was decoded with the wrong encoding. Most text has none of the characters."""
    return any(start in text for start in WRONG_ENCODING_STARTS) and WRONG_ENCODING.search(text) is not None
