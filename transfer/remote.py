"""Read all published articles of another instance of this service."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import orjson

from converters.field_names import IMPORT_FIELDS
from converters.source_articles import ConvertedItems, SourceError, SourceOptions
from schemas import API_PATH, ListQuerySchema
from transfer.json_files import own_article

PAGE_SIZE = 100  # articles per request
TIMEOUT_SECONDS = 60  # without a byte from the instance
# query parameters that limit a list to some of the articles
FILTERS = ListQuerySchema().fields.keys() - {"take", "skip", "order_by", "order"}
LIST_CHANGED = "The articles changed while they were being read. Import them again later."
CHECK_URL = "Check that the URL belongs to an instance of this service, and that it is running."

# (items, label) -> context manager that yields the items
ShowProgress = Callable[[Iterable[Any], str], AbstractContextManager[Iterable[Any]]]


def is_url(source: str) -> bool:
    """Return whether `source` is an http(s) URL."""
    return source.lower().startswith(("http://", "https://"))


def has_credentials(source: str) -> bool:
    """Return whether a URL may contain a user name or password.

    Looks for `@` anywhere, because a password with an unescaped `/`, `?` or `#` seems to continue after the host.
    """
    return is_url(source) and "@" in source


def find_hosts(sources: Iterable[str]) -> set[str]:
    """Return the hosts, with their ports, of the URLs among the sources."""
    return {re.split("[/?#]", source)[2].lower() for source in sources if is_url(source)}


def find_filters(source: str) -> set[str]:
    """Return the query parameters that limit a URL to some of the articles."""
    query = source.partition("#")[0].partition("?")[2]
    return FILTERS & {name for name, _ in parse_qsl(query, keep_blank_values=True)} if is_url(source) else set()


def read_instance(source: str, key: str | None, options: SourceOptions, show_progress: ShowProgress) -> ConvertedItems:
    """Yield the articles of another instance, after downloading all of them.

    Raises SourceError if they cannot be read, or if the list changes: an article that is published or withdrawn shifts
    the pages.
    """
    url = _articles_url(source)
    with show_progress(_read_pages(url, key), url) as pages:
        records = list(pages)
    slugs = {record["slug"] for record in records}
    if len(slugs) < len(records) or (not find_filters(url) and slugs != _read_sitemap(url, key)):
        raise SourceError(LIST_CHANGED)
    name = options.source or f"instance:{urlsplit(url).netloc.lower()}"
    for number, record in enumerate(records, start=1):
        # Later versions of the API may add fields.
        known = {field: value for field, value in record.items() if field in IMPORT_FIELDS}
        yield own_article(f"{source}, article {number}", known, name)


def _read_pages(url: str, key: str | None) -> Iterator[dict[str, Any]]:
    """Yield the articles, oldest first, so that new ones come last.

    Raises SourceError if they cannot be read, or if the total changes from one page to the next.
    """
    articles, total = _read_page(url, key, 0)
    count = 0
    while True:
        yield from articles
        count += len(articles)
        if count >= total:
            return
        articles, new_total = _read_page(url, key, count)
        if new_total != total or not articles:
            raise SourceError(LIST_CHANGED)


def _articles_url(source: str) -> str:
    """Return the URL of an instance's articles endpoint, given that or the instance's base URL.

    Raises SourceError if the URL is malformed.
    """
    try:
        parts = urlsplit(source)
    except ValueError as error:
        raise SourceError(f"Cannot be read ({error}). {CHECK_URL}") from error
    path = parts.path.rstrip("/")
    if not path.endswith(f"{API_PATH}/articles"):
        path = f"{path.partition(API_PATH)[0]}{API_PATH}/articles"
    return parts._replace(path=path, fragment="").geturl()


def _read_page(url: str, key: str | None, skip: int) -> tuple[list[Any], int]:
    """Return the page that starts after `skip` articles, and the total. Raises SourceError if it cannot be read."""
    parts = urlsplit(url)
    page = {"take": PAGE_SIZE, "skip": skip, "orderBy": "publishedAt", "order": "asc"}
    # The first value of a repeated parameter wins, as in the API.
    query = urlencode(dict(reversed(parse_qsl(parts.query, keep_blank_values=True))) | page)
    match _fetch(parts._replace(query=query).geturl(), key):
        case {"data": list(articles), "meta": {"total": int(total)}} if _all_have("slug", articles):
            return articles, total
    raise SourceError(f"The response is not a list of articles. {CHECK_URL}")


def _read_sitemap(url: str, key: str | None) -> set[str]:
    """Return the slugs of all articles, given the URL of the articles endpoint.

    Raises SourceError if it cannot be read.
    """
    parts = urlsplit(url)
    path = f"{parts.path.removesuffix('/articles')}/sitemap"
    match _fetch(parts._replace(path=path).geturl(), key):
        case {"data": list(entries)} if _all_have("url", entries):
            return {entry["url"] for entry in entries}
    raise SourceError(f"The response is not a sitemap. {CHECK_URL}")


def _all_have(name: str, items: list[Any]) -> bool:
    """Return whether all items are objects in which `name` is text."""
    return all(isinstance(item, dict) and isinstance(item.get(name), str) for item in items)


class _NoRedirects(HTTPRedirectHandler):
    """A handler that treats redirects as errors: following one could send the key to another host."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def _fetch(url: str, key: str | None) -> Any:
    """Request a URL and return the parsed JSON. Raises SourceError if that fails."""
    headers = {"Accept": "application/json", "User-Agent": "article-delivery-api"}
    headers |= {"x-api-key": key} if key else {}
    try:
        with build_opener(_NoRedirects).open(Request(url, headers=headers), timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            return orjson.loads(response.read())
    except HTTPError as error:
        error.close()
        raise SourceError(_explain(error, key)) from error
    except (OSError, HTTPException, ValueError) as error:
        reason = getattr(error, "reason", error)
        reason = getattr(reason, "strerror", None) or reason
        raise SourceError(f"Cannot be read ({reason}). {CHECK_URL}") from error


def _explain(error: HTTPError, key: str | None) -> str:
    """Return what an error status means, and what to do."""
    if error.code == 401:
        problem = "That instance rejected the key" if key else "That instance requires a key"
        return f"{problem}. Set its key with --key or SOURCE_API_KEY."
    if "Location" in error.headers:
        return f"Redirects to {error.headers['Location']}. Use that URL."
    hint = "Try again later." if error.code >= 500 else CHECK_URL
    return f"Responds with {error.code} {error.reason}. {hint}"
