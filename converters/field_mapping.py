"""Map the named fields of a Markdown file or a CSV row to the fields of an article."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from converters.claims import note_claim, take_claim
from converters.field_names import (
    FIELD_BY_ALIAS,
    IMPORT_FIELDS,
    OWN_FIELDS,
    NamedField,
    NamedFields,
    plain_name,
    word_of,
)
from converters.old_urls import pattern_url, take_old_urls
from converters.source_articles import DECISIVE_FIELDS, EMPTY_VALUES, ImportProblem, SourceArticle, SourceOptions
from converters.values import normalize_values, read_names, set_slug


class FilePlace(NamedTuple):
    """Values for an article from the name and the folder of its file."""

    date: str = ""  # used if the fields have none
    slug: str = ""  # used if the fields have none
    folder: str = ""  # of its page, below the site's URL, with a trailing slash
    is_draft: bool = False
    is_in_jekyll: bool = False


NO_FILE = FilePlace()
MAPPED_FIELDS = [field for field in IMPORT_FIELDS if field not in (*OWN_FIELDS, "status", "category")]


def map_fields(
    where: str,
    values: Mapping[str, Any],
    options: SourceOptions,
    place: FilePlace = NO_FILE,
    *,
    state_is_status: bool = False,
) -> SourceArticle:
    """Return the article that a source's fields describe, without its origin. Its URLs are still those of the source.

    `state_is_status` is as in `take_claim`.
    """
    article = SourceArticle(where, {})
    fields = _by_alias(article, values)
    claim = take_claim(article, fields, options.zone, state_is_status=state_is_status)
    categories = _take_categories(article, fields)
    article.fields["category"] = categories
    for import_field in MAPPED_FIELDS:
        _take(article, fields, import_field)
    date = str(article.fields.setdefault("publishedAt", place.date))
    article.claim = "withheld" if place.is_draft else claim or ("published" if date else None)
    normalize_values(article, options)
    set_slug(article, place.slug)
    present = pattern_url(article, options, date, categories, is_in_jekyll=place.is_in_jekyll)
    take_old_urls(article, fields, options, folder=place.folder, present=present)
    for field in fields.values():
        article.note_unknown(field.name, field.value)
    note_claim(article)
    return article


def _by_alias(article: SourceArticle, values: Mapping[str, Any]) -> NamedFields:
    """Return the fields that are not empty. Spellings of the same name must not contradict each other."""
    fields: NamedFields = {}
    for name, value in values.items():
        alias = plain_name(name)
        if value in EMPTY_VALUES and alias != "contenthtml":
            continue
        first = fields.setdefault(alias, NamedField(name, value))
        if first.value != value:
            reason = f"Contradicts {first.name}, another spelling of the same name. Remove one."
            article.problems.append(ImportProblem(article.where, reason, name, value))
    return fields


@cache
def _aliases(import_field: str) -> list[str]:
    """Return the aliases of a field by precedence."""
    return [alias for alias, name in FIELD_BY_ALIAS.items() if name == import_field]


def _take(article: SourceArticle, fields: NamedFields, import_field: str) -> None:
    """Set a field of an article to the first of the given ones. An optional one may be unset by `false`."""
    given = [fields.pop(alias) for alias in _aliases(import_field) if alias in fields]
    if given and (import_field in DECISIVE_FIELDS or word_of(given[0].value) != "false"):
        article.fields[import_field] = given[0].value
        article.names[import_field] = given[0].name


def _take_categories(article: SourceArticle, fields: NamedFields) -> list[str]:
    """Return the names of all categories. Text is split like a list only in `categories`."""
    names: list[str] = []
    for alias in _aliases("category"):
        field = fields.pop(alias, None)
        if field and word_of(field.value) != "false":
            article.names.setdefault("category", field.name)
            names += read_names(article, field.name, field.value, is_list=alias == "categories")
    return names
