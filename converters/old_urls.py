"""Old URLs of articles, which static sites name in `permalink`, `url`, `aliases` and `redirect_from`."""

import re
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, urlsplit

from converters.records import SourceArticle, SourceOptions
from converters.unused_fields import UnusedFields

OLD_URLS = "permalink", "url", "aliases", "redirectfrom"
MOVED = "Old URLs, which need redirects (list them with --redirects FILE)"
# templates of Eleventy and Jekyll, and the names of Jekyll's own
NOT_A_URL = re.compile(r"\{[{%]|[\s\0]|/:[a-z]|\A(?:date|pretty|ordinal|weekdate|none|true|false)?\Z")


def take_old_urls(article: SourceArticle, unused: UnusedFields, options: SourceOptions, folder: str) -> None:
    """Give an article, which has its slug, the URLs that led to it on the old site, apart from the new one.

    `folder` is the folder of the article below the site's URL. Hugo's aliases may be relative to it.
    """
    root = f"{urlsplit(options.site).path.rstrip('/')}/"
    new_path = root + article.fields.get("slug", "")
    for alias in OLD_URLS:
        name, value = unused.values.get(alias, ("", None))
        values = value if isinstance(value, list) else [value]
        urls = list(filter(None, (_read_url(item, root + folder if alias == "aliases" else "/") for item in values)))
        if len(urls) == len(values):
            unused.pop_alias(alias)
        moved = [url for url in urls if not options.site or _path(url) != new_path]
        article.old_urls = list(dict.fromkeys([*article.old_urls, *moved]))
        if moved:
            article.drop(MOVED, name)


def _read_url(value: Any, folder: str) -> str | None:
    """Return the absolute URL or the path that a value means, or None if it is something else, such as a template."""
    text = str(value).strip().replace(" ", "%20")
    if value is None or isinstance(value, list | dict) or NOT_A_URL.search(text):
        return None
    with suppress(ValueError):  # such as https://[
        return text if text.startswith("/") or urlsplit(text).netloc else folder + text
    return None


def _path(url: str) -> str:
    """Return the decoded path of a URL without a slash at its end."""
    return unquote(urlsplit(url).path).rstrip("/")
