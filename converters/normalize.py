"""Normalize articles from other systems: map their field names and values to those of the import schema.

Used values are removed from the source's fields, and the rest is reported.
"""

import re
from typing import Any
from unicodedata import normalize
from urllib.parse import urljoin

from converters.dates import parse_date
from converters.front_matter import JSON_FIELDS, parse_scalars
from converters.old_urls import take_old_urls
from converters.publication import DECISIVE, take_publication
from converters.records import DATE_FIELDS, FIELD_BY_ALIAS, Publication, SourceArticle, SourceOptions
from converters.site_urls import resolve_banner, resolve_urls
from converters.slugs import normalize_slug, slug_from_title
from converters.unsupported_markup import note_markup
from converters.unused_fields import DROPPED, EMPTY, UnusedFields

OTHER_CATEGORIES = "Other categories were dropped"
TEXT = "Must be text, not a list or a mapping."
IMAGE_KEYS = "src", "url", "feature", "image", "path"
# Fields that front matter can unset with `false`
OPTIONAL_TEXTS = "category", "keywords", "bannerUrl", "metaTitle", "metaDesc"
# The path of an image contains a dot or a slash. Variables, build aliases, wiki links and formulas are not URLs.
IMAGE_URL = re.compile(r"(?![@~=\[{]|[^/]*\()[^\s]*[./].*", re.DOTALL)
SPREADSHEET_ERROR = re.compile(r"#(?:[A-ZÀ-Þ/0-9]{2,}[!?]|N/?[ADV])")


def normalize_article(
    where: str, fields: dict[str, Any], options: SourceOptions, *, date: str = "", slug: str = "", folder: str = ""
) -> SourceArticle:
    """Return an article of another system, with its fields keyed by the import schema's names.

    `fields` has the source's names; None, "", [] and {} are missing values. `date` and `slug` are used if the fields
    have none. `folder` is the path of the article's folder below the site's URL.
    """
    article = SourceArticle(where, {})
    unused = UnusedFields(article, fields, decisive=DECISIVE)
    is_public = take_publication(article, unused, options)
    _take_categories(article, unused)
    for field in dict.fromkeys(FIELD_BY_ALIAS.values()):
        if field not in article.fields:
            unused.take_field(field)
    if date:
        article.fields.setdefault("publishedAt", date)
    _normalize_values(article, options)
    _default_status(article, is_public=is_public)
    _set_slug(article, slug)
    take_old_urls(article, unused, options, folder)
    unused.drop_rest()
    _resolve_urls(article, urljoin(options.base, folder) if options.site else "")
    note_markup(article)
    status = article.fields.pop("status", None)
    if status == "draft":
        article.publication = Publication.DRAFT
    elif status == "published" or "publishedAt" in article.fields:
        article.publication = Publication.PUBLISHED
    else:
        article.publication = Publication.NOTHING
    return article


def _resolve_urls(article: SourceArticle, base: str) -> None:
    """Complete the URLs of an article's banner and content."""
    resolve_banner(article, base)
    if isinstance(html := article.fields.get("contentHtml"), str):
        article.fields["contentHtml"] = resolve_urls(article, html, base, has_source_files=True)


def _take_categories(article: SourceArticle, unused: UnusedFields) -> None:
    """Use the first of several categories as the category."""
    alias = "category" if "category" in unused.values else "categories"
    if alias not in unused.values or (alias == "category" and not isinstance(unused.values[alias][1], list)):
        return
    article.names["category"], value = unused.pop_alias(alias)
    categories = _read_list(article, "category", value)
    if categories:
        article.fields["category"] = categories[0]
        for name in categories[1:]:
            article.drop(OTHER_CATEGORIES, name)


def _normalize_values(article: SourceArticle, options: SourceOptions) -> None:
    """Parse the values of an article's fields. An invalid value is a mistake."""
    for field, value in list(article.fields.items()):
        if field in OPTIONAL_TEXTS and str(value).lower() == "false":
            del article.fields[field]
        elif SPREADSHEET_ERROR.fullmatch(str(value)):
            article.reject(field, "Is a spreadsheet error. Correct the cell.", value)
        elif field in DATE_FIELDS:
            _normalize_date(article, field, value, options)
        elif field == "keywords":
            article.fields[field] = _read_list(article, field, value) or []
        elif field == "bannerUrl":
            article.fields[field] = _read_image(article, article.names.get(field, field), value)
        elif field in JSON_FIELDS:
            article.fields.update(parse_scalars({field: value}))
        elif isinstance(value, list | dict):
            article.reject(field, TEXT, value)
        else:
            article.fields[field] = str(value)
    if "title" in article.fields:
        title = " ".join(filter(None, map(str.strip, article.fields.pop("title").split("\n"))))
        article.fields |= {"title": title} if title else {}  # treat a blank title as missing


def _normalize_date(article: SourceArticle, field: str, value: Any, options: SourceOptions) -> None:
    try:
        article.fields[field] = parse_date(str(value), options.zone).isoformat()
    except ValueError as error:
        article.reject(field, str(error), value)


def _read_list(article: SourceArticle, field: str, value: Any) -> list[str]:
    """Return the strings in a list or in comma-separated text."""
    items = value if isinstance(value, list) else [value] if isinstance(value, dict) else str(value).split(",")
    if any(isinstance(item, list | dict) for item in items):
        article.reject(field, "Must be a list of strings, or text separated by commas.", value)
        return []
    return [text for item in items if item is not None and (text := str(item).strip())]


def _read_image(article: SourceArticle, name: str, value: Any) -> str:
    """Return the URL of an image, given as text, a list (the first item) or a mapping with a key such as `src`."""
    if isinstance(value, list):
        if len(value) > 1:
            article.drop(DROPPED, f"{name} after the first")
        return _read_image(article, name, value[0]) if value else ""
    if not isinstance(value, dict):
        url = "" if value is None else str(value).strip()
        if not url or IMAGE_URL.fullmatch(url):
            return url
        article.drop("Dropped banners that are not the URL or path of an image", url[:80])
        return ""
    key = next((key for key in IMAGE_KEYS if value.get(key)), None)
    for other, rest in value.items():
        if other != key and rest not in EMPTY:
            article.drop(DROPPED, f"{name}.{other}")
    return _read_image(article, f"{name}.{key}", value[key]) if key else ""


def _default_status(article: SourceArticle, *, is_public: bool) -> None:
    """Publish an article with a date if a switch makes it public.

    If its status remains unset, a stored article keeps its own.
    """
    if "publishedAt" in article.fields and is_public:
        article.fields["status"] = "published"
    if not {"publishedAt", "status"} & article.fields.keys() and not article.mistakes:
        article.note("No date, so new articles are saved as drafts")


def _set_slug(article: SourceArticle, name: str) -> None:
    """Set the slug: the given one, else the one in the file name, else one made from the title."""
    title = article.fields.get("title", "")
    given = article.fields.get("slug", "").strip(" /")
    slug = normalize_slug(given) or normalize_slug(name) or slug_from_title(title)
    if given and slug != normalize("NFC", given):
        article.note("Slugs with spaces, /, ? or # were changed, so these articles have new addresses")
        article.old_urls.append(f"/{given}")
    if slug:
        article.fields["slug"] = slug
    elif title and not any(mistake.field == article.names.get("slug", "slug") for mistake in article.mistakes):
        article.reject("slug", f"The title {title[:80]!r} has no letter or digit to make a slug from. Add a slug.")
