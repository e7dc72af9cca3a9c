"""Old URLs of articles: in `permalink`, `url`, `aliases` and `redirect_from`, or by the pattern of --old-urls."""

import re
from contextlib import suppress
from datetime import tzinfo
from typing import Any
from urllib.parse import quote, urlsplit

from converters.articles import SourceArticle, SourceOptions
from converters.dates import parse_written_date
from converters.source_fields import SourceFields

OLD_URL_ALIASES = ("permalink", "url", "posturl", "aliases", "redirectfrom")
# template syntax of Eleventy and Jekyll, and the names of Jekyll's permalink styles
NOT_A_URL = re.compile(r"\{[{%]|[\s\0]|/:[a-z]|\A(?:date|pretty|ordinal|weekdate|none|true|false)?\Z")


def take_old_urls(fields: SourceFields, options: SourceOptions, folder: str) -> None:
    """Record an article's old URLs.

    `folder` is the folder of the article below the site's URL. Hugo's aliases may be relative to it. A value that is
    not a URL is reported as unknown, such as `permalink: false`, with which Eleventy builds no page.
    """
    article = fields.article
    root = f"{urlsplit(options.site).path.rstrip('/')}/"
    for alias in OLD_URL_ALIASES:
        field = fields.get(alias)
        if not field:
            continue
        values = field.value if isinstance(field.value, list) else [field.value]
        texts = [_read_url(value, root + folder if alias == "aliases" else "/") for value in values]
        urls = [text for text in texts if text]
        fields.take(alias)
        if len(urls) < len(values):
            article.note_unknown(field.name, field.value)
        article.old_urls = list(dict.fromkeys([*article.old_urls, *urls]))


def add_pattern_url(article: SourceArticle, pattern: str, date: Any, zone: tzinfo | None = None) -> None:
    """Add the old URL that a pattern gives an article, unless the pattern needs a date that is missing.

    `date` is the date of publication as it is written in the source. Most systems use that day as written. Jekyll first
    converts it to its time zone: pass that as `zone`.
    """
    values = {"slug": quote(article.fields.get("slug", ""))}
    with suppress(ValueError, OverflowError):
        moment = parse_written_date(str(date)).moment
        day = moment.astimezone(zone) if zone and moment.tzinfo else moment
        values |= {"year": f"{day:%Y}", "month": f"{day:%m}", "day": f"{day:%d}"}
    with suppress(KeyError):
        article.old_urls.append(pattern.format_map(values))


def encode_url(text: str) -> str:
    """Return a URL or a path with spaces and quotation marks percent-encoded, as redirects need it."""
    return text.replace(" ", "%20").replace('"', "%22")


def _read_url(value: Any, folder: str) -> str | None:
    """Return the absolute URL or the path that a value means, or None if it is something else, such as a template."""
    text = encode_url(str(value).strip())
    if value is None or isinstance(value, list | dict) or NOT_A_URL.search(text):
        return None
    with suppress(ValueError):  # such as https://[
        return text if text.startswith("/") or urlsplit(text).netloc else folder + text
    return None
