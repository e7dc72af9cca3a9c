"""Old URLs of articles: in `permalink`, `url`, `aliases` and `redirect_from`, or by the pattern of --old-urls."""

import re
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlsplit

from converters.dates import parse_written_date
from converters.field_names import NamedFields
from converters.slugs import slug_from_title
from converters.source_articles import SourceArticle, SourceOptions
from converters.values import encode_url

PRESENT_ALIASES = ("permalink", "url", "posturl")
# template syntax of Eleventy and Jekyll, and the names of Jekyll's permalink styles
NOT_A_URL = re.compile(r"\{[{%]|[\s\0]|/:[a-z]|\A(?:date|pretty|ordinal|weekdate|none|true|false)?\Z")


def take_old_urls(
    article: SourceArticle, fields: NamedFields, options: SourceOptions, *, folder: str, present: str
) -> None:
    """Set an article's old URLs: its present one on the old site, then former ones.

    `present` is the present URL by the pattern, used if no field has one. `folder` is the folder of the article below
    the site's URL, to which Hugo's aliases may be relative. A field without a URL, such as Eleventy's
    `permalink: false`, remains.
    """
    root = f"{urlsplit(options.site).path.rstrip('/')}/"
    current = [url for alias in PRESENT_ALIASES for url in _take_urls(fields, alias, "/")] or [present]
    former = _take_urls(fields, "aliases", root + folder) + _take_urls(fields, "redirectfrom", "/")
    article.old_urls = list(dict.fromkeys(filter(None, [*current, *former, *article.old_urls])))


def pattern_url(
    article: SourceArticle, options: SourceOptions, date: str, categories: list[str], *, is_in_jekyll: bool
) -> str:
    """Return the old URL by the pattern of the options, or "" without one, or if it needs a date that is missing.

    `date` is the date of publication as it is written in the source. Most systems use that day as written. Jekyll first
    converts it to its time zone.
    """
    if not options.old_urls:
        return ""
    path = "/".join(quote(slug_from_title(name)) for name in categories)
    values = {"slug": quote(article.fields.get("slug", "")), "categories": path}
    with suppress(ValueError, OverflowError):
        moment = parse_written_date(date).moment
        day = moment.astimezone(options.zone) if is_in_jekyll and moment.tzinfo else moment
        values |= {"year": f"{day:%Y}", "month": f"{day:%m}", "day": f"{day:%d}"}
    with suppress(KeyError):
        return options.old_urls.format_map(values).replace("//", "/")  # an article without categories
    return ""


def _take_urls(fields: NamedFields, alias: str, folder: str) -> list[str]:
    """Remove a field with URLs, and return them. Relative ones are below `folder`."""
    field = fields.get(alias)
    values = [] if not field else field.value if isinstance(field.value, list) else [field.value]
    urls = list(filter(None, (_read_url(value, folder) for value in values)))
    if urls:
        del fields[alias]
    return urls


def _read_url(value: Any, folder: str) -> str:
    """Return the absolute URL or the path that a value means, or "" if it is something else, such as a template."""
    text = encode_url(str(value).strip())
    if value is None or isinstance(value, list | dict) or NOT_A_URL.search(text):
        return ""
    with suppress(ValueError):  # such as https://[
        return text if text.startswith("/") or urlsplit(text).netloc else folder + text
    return ""
