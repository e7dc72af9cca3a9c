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
NOT_A_URL = re.compile(r"[{}\s\0]|/:[a-z]|\A(?:date|pretty|ordinal|weekdate|none|true|false)?\Z")


def take_old_urls(article: SourceArticle, unused: UnusedFields, options: SourceOptions, folder: str) -> None:
    """Give an article, which has its slug, the URLs that led to it on the old site, apart from the new one.

    `folder` is the folder of the article below the site's URL. Hugo's aliases may be relative to it.
    """
    root = f"{urlsplit(options.site).path.rstrip('/')}/"
    new_path = root + article.fields.get("slug", "")
    for alias in OLD_URLS:
        name, value = unused.values.get(alias, ("", None))
        urls = _read_urls(value, root + folder if alias == "aliases" else "/")
        if urls:
            unused.pop(alias)
        moved = [url for url in urls if not options.site or _path(url) != new_path]
        article.old_urls = list(dict.fromkeys([*article.old_urls, *moved]))
        if moved:
            article.drop(MOVED, name)


def _read_urls(value: Any, folder: str) -> list[str]:
    """Return the URLs of a text or a list, or no URL if one of them is something else, such as a template."""
    texts = [str(item).strip().replace(" ", "%20") for item in (value if isinstance(value, list) else [value])]
    if value is not None and not any(map(NOT_A_URL.search, texts)):
        with suppress(ValueError):  # such as https://[
            return [text if text.startswith("/") or urlsplit(text).netloc else folder + text for text in texts]
    return []


def _path(url: str) -> str:
    """Return the decoded path of a URL without a slash at its end."""
    return unquote(urlsplit(url).path).rstrip("/")
