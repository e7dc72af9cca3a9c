"""Convert other systems' values to those of the import schema, and reject values that are not understood."""

import re
from datetime import tzinfo
from typing import Any
from unicodedata import normalize

from converters import note_kinds
from converters.articles import DATE_FIELDS, EMPTY_VALUES, SourceArticle, SourceOptions
from converters.dates import parse_date
from converters.old_urls import encode_url
from converters.scalars import NON_TEXT_FIELDS, parse_scalars
from converters.slugs import normalize_slug, slug_from_title

NAME_FIELDS = ("category", "keywords", "authors")
IMAGE_KEYS = ("src", "url", "feature", "image", "path")
# The path of an image contains a dot or a slash. Variables, build aliases, wiki links and formulas are not URLs.
IMAGE_URL = re.compile(r"(?![@~=\[{]|[^/]*\()[^\s]*[./].*", re.DOTALL)


def normalize_values(article: SourceArticle, options: SourceOptions) -> None:
    """Convert the values of an article's fields, which have the import schema's names. Empty ones are removed.

    Of several categories, the first one becomes the category, and the others become keywords.
    """
    for field, value in list(article.fields.items()):
        if value in EMPTY_VALUES and field != "contentHtml":
            del article.fields[field]
        elif field in DATE_FIELDS:
            normalize_date(article, field, value, options.zone)
        elif field in NAME_FIELDS:
            article.fields[field] = _read_names(article, field, value)
        elif field == "bannerUrl":
            article.fields[field] = _read_image(article, article.names.get(field, field), value)
        elif field in NON_TEXT_FIELDS:
            article.fields.update(parse_scalars({field: value}))
        elif isinstance(value, list | dict):
            article.reject(field, "Must be text, not a list or a mapping.", value)
        else:
            article.fields[field] = str(value)
    _normalize_title(article)
    _normalize_category(article)


def _normalize_category(article: SourceArticle) -> None:
    """Keep the first category, and add the others to the keywords."""
    category, *others = dict.fromkeys(article.fields.pop("category", ())) or [""]
    if category:
        article.fields["category"] = category
    keywords = article.fields.get("keywords", [])
    if others:
        article.fields["keywords"] = list(dict.fromkeys([*keywords, *others]))


def _normalize_title(article: SourceArticle) -> None:
    """Join the lines of a title. A blank one is missing."""
    lines = article.fields.pop("title", "").split("\n")
    title = " ".join(filter(None, map(str.strip, lines)))
    if title:
        article.fields["title"] = title


def normalize_date(article: SourceArticle, field: str, value: Any, zone: tzinfo) -> None:
    """Set a date in the form of the import schema, or reject it. `zone` applies to times without one."""
    try:
        article.fields[field] = parse_date(str(value), zone).isoformat()
    except ValueError as error:
        article.reject(field, str(error), value)


def _read_names(article: SourceArticle, field: str, value: Any) -> list[str]:
    """Return names from a text, a mapping with a `name`, or a list of texts and mappings.

    Text for keywords is separated by commas. The name of an author or of a category may contain commas.
    """
    if isinstance(value, str) and field == "keywords":
        value = value.split(",")
    names = []
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            item = item.get(_read_mapping(article, article.names.get(field, field), item, ("name",)))
        if isinstance(item, list | dict):
            article.note(note_kinds.LEFT_OUT, article.names.get(field, field))
        elif item is not None:
            names.append(str(item).strip())
    return list(filter(None, names))


def _read_mapping(article: SourceArticle, name: str, mapping: dict[str, Any], keys: tuple[str, ...]) -> str:
    """Return the first of the keys that a mapping has, or "". The other ones are unknown fields."""
    used = next((key for key in keys if mapping.get(key)), "")
    if not used:
        article.note(note_kinds.LEFT_OUT, name)
    for key, value in mapping.items():
        if key != used:
            article.note_unknown(f"{name}.{key}", value)
    return used


def _read_image(article: SourceArticle, name: str, value: Any) -> str:
    """Return the URL of an image, given as text, a list (the first item) or a mapping with a key such as `src`."""
    if isinstance(value, list):
        return _read_image(article, name, value[0]) if value else ""
    if isinstance(value, dict):
        key = _read_mapping(article, name, value, IMAGE_KEYS)
        return _read_image(article, f"{name}.{key}", value[key]) if key else ""
    url = "" if value is None else str(value).strip()
    if not url or IMAGE_URL.fullmatch(url):
        return url
    article.note("Dropped banners that are not the URL or path of a picture", url)
    return ""


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
