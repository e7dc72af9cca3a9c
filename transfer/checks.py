"""Check the articles of an import, before the database is locked."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from marshmallow import ValidationError

from content.derived import fill_derived_fields
from content.html import decode_references
from content.urls import has_relative_urls
from converters.article_urls import RELATIVE_URLS
from converters.articles import (
    DECISIVE_FIELDS,
    Claim,
    ConvertedItems,
    IgnoredItem,
    ImportProblem,
    Note,
    Origin,
    SourceArticle,
    Subject,
)
from converters.field_names import FIELD_BY_ALIAS, plain_name
from schemas import ArticleImportSchema
from transfer.report import ImportReport, show_value

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


@dataclass
class CheckedArticles:
    """The articles of an import, in memory."""

    valid: list[SourceArticle] = field(default_factory=list)
    withdrawn: list[SourceArticle] = field(default_factory=list)  # in the trash, or without their text
    origins: set[Origin] = field(default_factory=set)  # of all articles, invalid ones too
    sources: set[str] = field(default_factory=set)
    incomplete_sources: set[str] = field(default_factory=set)  # with an invalid article whose key is unknown
    is_incomplete: bool = False  # has something invalid whose source is unknown
    _where: dict[tuple[str, Any], str] = field(default_factory=dict)  # by unique field and value

    def lacks(self, origin: Origin) -> bool:
        """Return whether an article is missing from its source. Nothing is if an article's origin is unknown."""
        if self.is_incomplete or origin.source in self.incomplete_sources:
            return False
        return origin.source in self.sources and origin not in self.origins

    def add(self, article: SourceArticle, report: ImportReport) -> None:
        """Add an article if it is valid. Otherwise, report its problems."""
        if article.origin:
            self.sources.add(article.origin.source)
            if not article.origin.key:
                self.incomplete_sources.add(article.origin.source)
        is_withdrawn = article.is_trashed or article.keeps_stored_text
        problems = article.problems if is_withdrawn else check_article(article)
        repeated = self._find_repeated(article)
        if problems or repeated:
            report.reject(*(problems or repeated))
        elif is_withdrawn:
            self.withdrawn.append(article)
        else:
            self.valid.append(article)

    def _find_repeated(self, article: SourceArticle) -> list[ImportProblem]:
        """Return a problem if an earlier article has the same origin, id or (in a format of this service) slug."""
        given = article.fields if isinstance(article.fields, dict) else {}
        origin = article.origin or (article.row.get("source"), article.row.get("source_key"))
        if article.origin:
            self.origins.add(article.origin)
        values = {
            "path, number or slug in the source": origin if origin[0] else None,
            "id": given.get("id"),
            "slug": None if article.origin else given.get("slug"),
        }
        for name, value in values.items():
            if not value or not isinstance(value, str | tuple):
                continue
            where = self._where.setdefault((name, value), article.where)
            if where != article.where:
                reason = f"Has the same {name} as {{}}. Remove one of the two, or name another source with --source."
                return [ImportProblem(locate(article), reason, other=where)]
        return []


def check_articles(items: ConvertedItems, report: ImportReport) -> CheckedArticles:
    """Return the articles of an import. Problems and ignored items go to the report."""
    checked = CheckedArticles()
    for item in items:
        if isinstance(item, SourceArticle):
            checked.add(item, report)
        elif isinstance(item, IgnoredItem):
            report.ignore(item)
        elif item.is_fatal:
            report.stop(item)
        else:
            checked.is_incomplete = True
            report.reject(item)
    return checked


def check_article(article: SourceArticle) -> list[ImportProblem]:
    """Set an article's columns, also the derived ones. Returns its problems."""
    row, messages = _load(article.fields)
    if article.origin and not article.is_own_format and messages:
        for name in sorted(messages.keys() - DECISIVE_FIELDS):
            article.reject(name, messages[name][0])
        row, messages = _load(article.fields)
    if not isinstance(article.fields, dict):
        return [ImportProblem(article.where, messages["_schema"][0])]
    problems = [problem._replace(where=locate(article)) for problem in article.problems]
    problems += _schema_problems(article, messages)
    if not problems:
        if article.is_own_format and article.origin:
            article.claim = _own_claim(row)
        if article.keeps_stored_authors:
            del row["authors"]
        article.row = fill_derived_fields(row)
    return problems


def _own_claim(row: ArticleRow) -> Claim | None:
    """Return what an article of another instance, or of a JSON file with a source, says about its publication."""
    if row.get("status") in ("draft", "pending"):
        return "withheld"
    return "published" if row.get("status") or row.get("published_at") else None


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
    for name, (message, *_) in sorted(messages.items()):
        shown = article.names.get(name, name)
        if shown in explained:
            continue
        if message == "Unknown field.":
            known = _closest_field(plain_name(name)[:MAX_MISSPELLED_LENGTH])
            advice = f"did you mean {known}?" if known else "check its name, or remove it."
            yield ImportProblem(locate(article), f"Unknown field: {advice}", shown)
        else:
            yield ImportProblem(locate(article), REASONS.get(message, message), shown, article.fields.get(name))


@lru_cache  # Many articles may have the same unknown field.
def _closest_field(name: str) -> str | None:
    """Return the field with the alias that is most similar to a plain name, or None."""
    closest = get_close_matches(name, FIELD_BY_ALIAS, n=1, cutoff=0.75)
    return FIELD_BY_ALIAS[closest[0]] if closest else None


def notes_about(article: SourceArticle) -> Iterator[Note]:
    """Yield notes about what looks like a problem in a valid article."""
    title = article.row["title"]
    if not title.strip():
        yield Note("Articles with an empty title")
    if decode_references(title) != title:
        yield Note("Titles with HTML entities such as &amp;, which readers see", advice="Write titles as plain text.")
    if any(_has_wrong_encoding(value) for value in article.row.values() if isinstance(value, str)):
        yield Note(
            "Text with �, or decoded with the wrong encoding, such as Ã¼ for ü", advice="Correct them in the source."
        )
    # The converters of other systems know whether there is a site.
    if article.is_own_format and has_relative_urls(article.row["content_html"]):
        yield RELATIVE_URLS._replace(advice="Write absolute URLs.", subject=Subject.OLD_SITE)


def _has_wrong_encoding(text: str) -> bool:
    """Return whether text looks as if it was decoded with the wrong encoding. Most text has none of the characters."""
    return any(start in text for start in WRONG_ENCODING_STARTS) and WRONG_ENCODING.search(text) is not None
