"""Check the articles of an import, before the database is locked."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from marshmallow import ValidationError

from content.derived import fill_derived_fields
from converters.source_articles import (
    DECISIVE_FIELDS,
    Claim,
    ConvertedItems,
    IgnoredFile,
    ImportProblem,
    Origin,
    SourceArticle,
)
from schemas import ArticleImportSchema
from transfer.report import ImportReport, show_value

# marshmallow's messages
REASONS = {
    "Missing data for required field.": "Missing.",
    "Field may not be null.": "Must not be null.",
    "Not a valid string.": "Must be text.",
    "Not a valid list.": "Must be a list.",
    "Unknown field.": "Is in an unknown field. Check the field's name, or remove it.",
}

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
    _where: dict[tuple[str, Any], str] = field(default_factory=dict)  # by unique field and value

    def is_missing(self, origin: Origin) -> bool:
        """Return whether an article is missing from its source. If a key there is unknown, none is missing."""
        return origin.source in self.sources - self.incomplete_sources and origin not in self.origins

    def add(self, article: SourceArticle, report: ImportReport) -> None:
        """Add an article if it is valid. Otherwise, report its problems."""
        if article.origin:
            self.sources.add(article.origin.source)
            self.add_origin(article.origin)
        problems = article.problems if article.is_without_text else check_article(article)
        repeated = self._find_repeated(article)
        if problems or repeated:
            report.invalid.append(tuple(problems or repeated))
        elif article.is_without_text:
            self.withdrawn.append(article)
        else:
            self.valid.append(article)

    def add_origin(self, origin: Origin) -> None:
        """Add the origin of an article, which may be invalid."""
        self.origins.add(origin)
        if not origin.key:
            self.incomplete_sources.add(origin.source)

    def _find_repeated(self, article: SourceArticle) -> list[ImportProblem]:
        """Return a problem if an earlier article has the same origin, id or (in a format of this service) slug."""
        given = article.fields if isinstance(article.fields, dict) else {}
        origin = article.origin or (article.row.get("source"), article.row.get("source_key"))
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
        elif isinstance(item, IgnoredFile):
            report.ignore(item)
        elif item.is_fatal:
            report.fatal.append(item)
        else:
            report.invalid.append((item,))
            if item.origin:
                checked.add_origin(item.origin)
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
        if shown not in explained:
            yield ImportProblem(locate(article), REASONS.get(message, message), shown, article.fields.get(name))
