"""Convert other systems' values to those of the import schema, and reject values that are not understood."""

import re
from contextlib import suppress
from datetime import tzinfo
from typing import Any
from unicodedata import normalize

import orjson

from converters.dates import parse_date
from converters.field_names import IMPORT_FIELDS
from converters.slugs import normalize_slug, slug_from_title
from converters.source_articles import DATE_FIELDS, EMPTY_VALUES, LEFT_OUT, SourceArticle, SourceOptions
from schema_fields import Flag, Minutes, SchemaMarkup, WholeNumber

# The scalars of YAML, TOML and CSV stay text, unless their field takes a number, true or false.
NON_TEXT_FIELDS = {
    name for name, field in IMPORT_FIELDS.items() if isinstance(field, Flag | WholeNumber | Minutes | SchemaMarkup)
}
NAME_FIELDS = ("category", "keywords", "authors")
IMAGE_KEYS = ("src", "url", "feature", "image", "path")
# The path of an image contains a dot or a slash. Variables, build aliases, wiki links and formulas are not URLs.
IMAGE_URL = re.compile(r"(?![@~=\[{]|[^/]*\()[^\s]*[./].*", re.DOTALL)


class Unquoted(str):
    """Text that was written without quotes, so a field may read it as a number, true or false."""


def normalize_values(article: SourceArticle, options: SourceOptions) -> None:
    """Convert the values of an article's fields, which have the import schema's names. Empty ones are removed.

    Of several categories, the first one becomes the category, and the others become keywords.
    """
    for field, value in list(article.fields.items()):
        name = article.names.get(field, field)
        if value in EMPTY_VALUES and field != "contentHtml":
            del article.fields[field]
        elif field in DATE_FIELDS:
            normalize_date(article, field, value, options.zone)
        elif field in NAME_FIELDS:
            article.fields[field] = read_names(article, name, value, is_list=field == "keywords")
        elif field == "bannerUrl":
            article.fields[field] = _read_image(article, name, value)
        elif field in NON_TEXT_FIELDS:
            article.fields.update(parse_scalars({field: value}))
        elif isinstance(value, list | dict):
            article.reject(field, "Must be text, not a list or a mapping.", value)
        else:
            article.fields[field] = str(value)
    if "title" in article.fields:
        article.fields["title"] = " ".join(filter(None, map(str.strip, article.fields["title"].split("\n"))))
    _normalize_category(article)


def normalize_date(article: SourceArticle, field: str, value: Any, zone: tzinfo) -> None:
    """Set a date in the form of the import schema, or reject it. `zone` applies to times without one."""
    try:
        article.fields[field] = parse_date(str(value), zone).isoformat()
    except ValueError as error:
        article.reject(field, str(error), value)


def parse_scalars(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with unquoted numbers and booleans parsed, in the fields that take them."""
    return record | {name: _parse_unquoted(record[name]) for name in record.keys() & NON_TEXT_FIELDS}


def read_names(article: SourceArticle, name: str, value: Any, *, is_list: bool) -> list[str]:
    """Return names from a text, a mapping with a `name`, or a list of texts and mappings.

    `name` is the field's. With `is_list`, text is split at commas or vertical bars.
    """
    if isinstance(value, str) and is_list:
        value = re.split("[,|]", value)
    names = []
    for item in value if isinstance(value, list) else [value]:
        text = item.get("name") if isinstance(item, dict) else item
        if text is None or isinstance(text, list | dict):
            article.note(LEFT_OUT, name)
        else:
            names.append(str(text).strip())
    return list(filter(None, names))


def set_slug(article: SourceArticle, name: str = "") -> None:
    """Set an article's slug: the given one, otherwise `name`, otherwise one made from the title."""
    title = article.fields.get("title", "")
    given = article.fields.get("slug", "").strip(" /")
    slug = normalize_slug(given) or normalize_slug(name) or slug_from_title(title)
    if given and slug != normalize("NFC", given):
        article.note("Slugs with spaces, /, ? or # were changed, so these articles have new URLs")
        article.old_urls.append(f"/{encode_url(given)}")
    if slug:
        article.fields["slug"] = slug
    elif title and article.names.get("slug", "slug") not in [problem.field for problem in article.problems]:
        article.reject("slug", f"The title {title[:80]!r} has no letter or digit to make a slug from. Add a slug.")


def encode_url(text: str) -> str:
    """Return a URL or a path with spaces and quotation marks percent-encoded, as redirects need it."""
    return text.replace(" ", "%20").replace('"', "%22")


def _normalize_category(article: SourceArticle) -> None:
    """Keep the first category, and add the others to the keywords."""
    category, *others = dict.fromkeys(article.fields.pop("category", ())) or [""]
    if category:
        article.fields["category"] = category
    if others:
        article.fields["keywords"] = list(dict.fromkeys([*article.fields.get("keywords", []), *others]))


def _read_image(article: SourceArticle, name: str, value: Any) -> str:
    """Return the URL of an image, given as text, a list (the first item) or a mapping with a key such as `src`."""
    if isinstance(value, list):
        value = value[0] if value else ""
    if isinstance(value, dict):
        value = next((value[key] for key in IMAGE_KEYS if value.get(key)), "")
    url = value.strip() if isinstance(value, str) else ""
    if IMAGE_URL.fullmatch(url):
        return url
    article.note(LEFT_OUT, name)
    return ""


def _parse_unquoted(value: Any) -> Any:
    """Return a value with each unquoted number, true and false in it parsed."""
    if isinstance(value, dict):
        return {str(name): _parse_unquoted(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_parse_unquoted(item) for item in value]
    if isinstance(value, Unquoted):
        with suppress(orjson.JSONDecodeError):  # A number such as 1e999 is too large.
            scalar = orjson.loads(value.encode())
            return scalar if isinstance(scalar, int | float) else str(value)
    return value
