"""Convert other systems' values to those of the import schema. An invalid value is a mistake."""

import re
from typing import Any
from unicodedata import normalize

from converters import note_kinds
from converters.dates import parse_date
from converters.old_urls import encode_url
from converters.records import DATE_FIELDS, EMPTY_VALUES, SourceArticle, SourceOptions
from converters.scalars import NON_TEXT_FIELDS, Unquoted, parse_scalars
from converters.slugs import normalize_slug, slug_from_title

# Fields that front matter can unset with `false`
OPTIONAL_TEXTS = ("category", "keywords", "bannerUrl", "metaTitle", "metaDesc")
IMAGE_KEYS = ("src", "url", "feature", "image", "path")
# The path of an image contains a dot or a slash. Variables, build aliases, wiki links and formulas are not URLs.
IMAGE_URL = re.compile(r"(?![@~=\[{]|[^/]*\()[^\s]*[./].*", re.DOTALL)
SPREADSHEET_ERROR = re.compile(r"#(?:[A-ZÀ-Þ/0-9]{2,}[!?]|N/?[ADV])")
REPLACEMENT_CHARACTER = "\ufffd"  # stands for bytes that could not be decoded


def normalize_values(article: SourceArticle, options: SourceOptions) -> None:
    """Convert the values of an article's fields, which have the import schema's names. Empty ones are removed."""
    for field, value in list(article.fields.items()):
        is_unset = field in OPTIONAL_TEXTS and isinstance(value, Unquoted) and value.lower() == "false"
        if (value in EMPTY_VALUES or is_unset) and field != "contentHtml":
            del article.fields[field]
        elif SPREADSHEET_ERROR.fullmatch(str(value)):
            article.reject(field, "Is a spreadsheet error. Correct the cell.", value)
        elif field in DATE_FIELDS:
            _normalize_date(article, field, value, options)
        elif field == "keywords":
            article.fields[field] = read_list(article, field, value) or []
        elif field == "bannerUrl":
            article.fields[field] = _read_image(article, article.names.get(field, field), value)
        elif field in NON_TEXT_FIELDS:
            article.fields.update(parse_scalars({field: value}))
        elif isinstance(value, list | dict):
            article.reject(field, "Must be text, not a list or a mapping.", value)
        else:
            article.fields[field] = str(value)
    _normalize_title(article)


def _normalize_title(article: SourceArticle) -> None:
    """Join the lines of a title. A blank one is missing."""
    lines = article.fields.pop("title", "").split("\n")
    title = " ".join(filter(None, map(str.strip, lines)))
    if title:
        article.fields["title"] = title


def _normalize_date(article: SourceArticle, field: str, value: Any, options: SourceOptions) -> None:
    try:
        article.fields[field] = parse_date(str(value), options.zone).isoformat()
    except ValueError as error:
        article.reject(field, str(error), value)


def read_list(article: SourceArticle, field: str, value: Any) -> list[str]:
    """Return the strings in a list or in comma-separated text."""
    items = value if isinstance(value, list) else [value] if isinstance(value, dict) else str(value).split(",")
    if any(isinstance(item, list | dict) for item in items):
        article.reject(field, "Must be a list of strings, or text separated by commas.", value)
        return []
    texts = [str(item).strip() for item in items if item is not None]
    return [text for text in texts if text]


def _read_image(article: SourceArticle, name: str, value: Any) -> str:
    """Return the URL of an image, given as text, a list (the first item) or a mapping with a key such as `src`."""
    if isinstance(value, list):
        if len(value) > 1:
            article.note_dropped(note_kinds.DROPPED, f"{name} after the first")
        return _read_image(article, name, value[0]) if value else ""
    if isinstance(value, dict):
        key = next((key for key in IMAGE_KEYS if value.get(key)), None)
        for other, rest in value.items():
            if other != key and rest not in EMPTY_VALUES:
                article.note_unknown(note_kinds.UNKNOWN_FIELDS, f"{name}.{other}")
        return _read_image(article, f"{name}.{key}", value[key]) if key else ""
    url = "" if value is None else str(value).strip()
    if not url or IMAGE_URL.fullmatch(url):
        return url
    article.note_dropped("Dropped banners that are not the URL or path of a picture", url[:80])
    return ""


def set_slug(article: SourceArticle, name: str = "") -> None:
    """Set an article's slug: the given one, otherwise `name`, otherwise one made from the title."""
    title = article.fields.get("title", "")
    given = article.fields.get("slug", "").strip(" /")
    slug = normalize_slug(given) or normalize_slug(name) or slug_from_title(title)
    if given and slug != normalize("NFC", given):
        article.note("Slugs with spaces, /, ? or # were changed, so these articles have new URLs")
        article.old_urls.append(f"/{encode_url(given)}")
    if REPLACEMENT_CHARACTER in slug:
        article.note("Slugs with �, from text in another encoding", advice="Correct them before you publish.")
    if slug:
        article.fields["slug"] = slug
    elif title and article.names.get("slug", "slug") not in [mistake.field for mistake in article.mistakes]:
        article.reject("slug", f"The title {title[:80]!r} has no letter or digit to make a slug from. Add a slug.")
