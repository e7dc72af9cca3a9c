"""Map the named fields of a Markdown file or a CSV row to the fields of an article."""

from typing import Any, NamedTuple

from converters import note_kinds
from converters.articles import SourceArticle, SourceOptions, Subject
from converters.field_names import IMPORT_FIELDS, OWN_FIELDS
from converters.leftover_markup import note_components, note_leftover_markup
from converters.old_urls import add_pattern_url, take_old_urls
from converters.publication import take_publication
from converters.source_fields import SourceField, SourceFields
from converters.values import normalize_values, set_slug


class FilePlace(NamedTuple):
    """Values for an article from the name and the folder of its file."""

    date: str = ""  # used if the fields have none
    slug: str = ""  # used if the fields have none
    folder: str = ""  # of its page, below the site's URL, with a trailing slash
    is_draft: bool = False
    is_in_jekyll: bool = False


NO_FILE = FilePlace()


def map_fields(where: str, fields: dict[str, Any], options: SourceOptions, place: FilePlace = NO_FILE) -> SourceArticle:
    """Return the article that a source's fields describe, without its origin.

    Its URLs are still those of the source. Whatever is not used is reported.
    """
    article = SourceArticle(where, {})
    source = SourceFields(article, fields)
    _take_publication(source, place, options)
    _take_category(source)
    for field in IMPORT_FIELDS:
        if field not in OWN_FIELDS and field not in ("status", "publishedAt", "category"):
            source.assign(field, source.take_import_field(field))
    written_date = article.fields.get("publishedAt")
    normalize_values(article, options)
    set_slug(article, place.slug)
    take_old_urls(source, options, place.folder)
    if options.old_urls:
        add_pattern_url(article, options.old_urls, written_date, options.zone if place.is_in_jekyll else None)
    source.report_rest()
    if "contentHtml" in article.fields:
        note_leftover_markup(article)
        note_components(article)
    return article


def _take_publication(source: SourceFields, place: FilePlace, options: SourceOptions) -> None:
    """Set what the source says about the article's publication, and the date."""
    claim, dates = take_publication(source, options.zone, file_date=place.date, is_draft=place.is_draft)
    source.assign("publishedAt", dates)
    source.article.claim = claim
    if not claim:
        source.article.note(note_kinds.NO_DATE, subject=Subject.ACCESS)


def _take_category(source: SourceFields) -> None:
    """Assign all categories. The first one becomes the category, the others become keywords."""
    given = source.take_import_field("category")
    names: list[Any] = []
    for field in given:
        is_text_list = field.alias == "categories" and isinstance(field.value, str)
        value = field.value.split(",") if is_text_list else field.value
        names += value if isinstance(value, list) else [value]
    if given:
        source.assign("category", [SourceField(given[0].name, names)])
