"""Read all published articles of another instance of this service."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode

from converters.decoding import parse_json
from converters.field_names import IMPORT_FIELDS
from converters.http_client import request
from converters.source_articles import ConvertedItems, SourceError, SourceOptions
from schemas import API_PATH, ListQuerySchema
from transfer.json_files import own_article

PAGE_SIZE = 100  # articles per request
# query parameters that limit a list to some of the articles
FILTERS = ListQuerySchema().fields.keys() - {"take", "skip", "order_by", "order"}
LIST_CHANGED = "The articles changed while they were being read. Import them again later."
CHECK_URL = "Check that the URL belongs to an instance of this service, and that it is running."
SET_KEY = "Set the key of that instance with --key or SOURCE_API_KEY."


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


def read_instance(source: str, key: str | None, options: SourceOptions) -> ConvertedItems:
    """Yield the articles of another instance, given the URL of its articles or its base URL.

    Raises SourceError if they cannot be read, or if the list changes: an article that is published or withdrawn shifts
    the pages.
    """
    address, _, query = source.partition("#")[0].partition("?")
    api = address.partition(API_PATH)[0].rstrip("/") + API_PATH
    (host,) = find_hosts([source])
    slugs: set[str] = set()
    for number, record in enumerate(_read_pages(api, query, key), start=1):
        if record["slug"] in slugs:
            raise SourceError(LIST_CHANGED)
        slugs.add(record["slug"])
        # Later versions of the API may add fields.
        known = {field: value for field, value in record.items() if field in IMPORT_FIELDS}
        yield own_article(f"{source}, article {number}", known, options.source or f"instance:{host}")
    if not find_filters(source) and slugs != _read_sitemap(api, key):
        raise SourceError(LIST_CHANGED)


def _read_pages(api: str, query: str, key: str | None) -> Iterator[dict[str, Any]]:
    """Yield the articles, oldest first, so that new ones come last.

    Raises SourceError if they cannot be read, or if the total changes from one page to the next.
    """
    articles, total = _read_page(api, query, key, 0)
    count = 0
    while True:
        yield from articles
        count += len(articles)
        if count >= total:
            return
        articles, new_total = _read_page(api, query, key, count)
        if new_total != total or not articles:
            raise SourceError(LIST_CHANGED)


def _read_page(api: str, query: str, key: str | None, skip: int) -> tuple[list[Any], int]:
    """Return the page that starts after `skip` articles, and the total. Raises SourceError if it cannot be read."""
    page = {"take": PAGE_SIZE, "skip": skip, "orderBy": "publishedAt", "order": "asc"}
    parameters = dict(parse_qsl(query, keep_blank_values=True)) | page
    match _fetch(f"{api}/articles?{urlencode(parameters)}", key):
        case {"data": list(articles), "meta": {"total": int(total)}} if _all_have("slug", articles):
            return articles, total
    raise SourceError(f"The response is not a list of articles. {CHECK_URL}")


def _read_sitemap(api: str, key: str | None) -> set[str]:
    """Return the slugs of all articles. Raises SourceError if it cannot be read."""
    match _fetch(f"{api}/sitemap", key):
        case {"data": list(entries)} if _all_have("url", entries):
            return {entry["url"] for entry in entries}
    raise SourceError(f"The response is not a sitemap. {CHECK_URL}")


def _fetch(url: str, key: str | None) -> Any:
    """Return the JSON of a response. Raises SourceError if that fails."""
    return parse_json(request(url, CHECK_URL, SET_KEY, key).content, CHECK_URL)


def _all_have(name: str, items: list[Any]) -> bool:
    """Return whether all items are objects in which `name` is text."""
    return all(isinstance(item, dict) and isinstance(item.get(name), str) for item in items)
