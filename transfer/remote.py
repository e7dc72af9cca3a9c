"""Read all published articles of another instance of this service."""

import re
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import orjson

from converters.records import SourceError
from schemas import API_PATH

PAGE_SIZE = 100  # articles per request
TIMEOUT_SECONDS = 60  # without a byte from the instance
# query parameters that limit a list to some of the articles
FILTERS = {"q", "slug", "category", "keyword"}
CHECK_URL = "Check that the URL belongs to an instance of this service, and that it is running."


def is_url(source: str) -> bool:
    """Return whether `source` is another instance's URL."""
    return source.lower().startswith(("http://", "https://"))


def hosts(sources: Iterable[str]) -> set[str]:
    """Return the hosts, with their ports, of the URLs among the sources."""
    return {re.split("[/?#]", source)[2].lower() for source in sources if is_url(source)}


def filters(source: str) -> set[str]:
    """Return the query parameters that limit a URL to some of the articles."""
    query = source.partition("#")[0].partition("?")[2]
    return FILTERS & {name for name, _ in parse_qsl(query, keep_blank_values=True)} if is_url(source) else set()


def read_articles(source: str, key: str | None) -> Iterator[Any]:
    """Yield another instance's articles, oldest first, so that articles published during the import come last.

    Raises:
        SourceError: The instance rejected the request, or its articles changed between two pages.
        OSError, HTTPException, ValueError: A request failed, or the response is not JSON.
    """
    url = _articles_url(source)
    articles, total = _read_page(url, key, 0)
    count = 0
    while True:
        yield from articles
        count += len(articles)
        if count >= total:
            return
        articles, new_total = _read_page(url, key, count)
        if new_total != total or not articles:
            raise SourceError("The articles changed while they were being read. Import them again.")


def _articles_url(url: str) -> str:
    """Return the URL of an instance's articles endpoint, given that or the instance's base URL."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    if not path.endswith("/articles"):
        path = f"{path.partition(API_PATH)[0]}{API_PATH}/articles"
    return parts._replace(path=path, fragment="").geturl()


def _read_page(url: str, key: str | None, skip: int) -> tuple[list[Any], int]:
    """Return the page that starts after `skip` articles, and the total number. Raises SourceError."""
    parts = urlsplit(url)
    page = {"take": PAGE_SIZE, "skip": skip, "orderBy": "publishedAt", "order": "asc"}
    # the first value of a repeated parameter wins, as in the API
    query = urlencode(dict(reversed(parse_qsl(parts.query))) | page)
    match _fetch(parts._replace(query=query).geturl(), key):
        case {"data": list(articles), "meta": {"total": int(total)}}:
            return articles, total
    raise SourceError(f"The response is not a list of articles. {CHECK_URL}")


class _NoRedirects(HTTPRedirectHandler):
    """A handler that treats redirects as errors: following one could send the key to another host."""

    def redirect_request(self, *_args: Any) -> None:
        return None


def _fetch(url: str, key: str | None) -> Any:
    """Request a URL and return the parsed JSON. Raises SourceError for an error status."""
    headers = {"Accept": "application/json", "User-Agent": "article-delivery-api"}
    headers |= {"x-api-key": key} if key else {}
    try:
        with build_opener(_NoRedirects).open(Request(url, headers=headers), timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
            return orjson.loads(response.read())
    except HTTPError as error:
        error.close()
        if error.code == 401:
            problem = "That instance rejected the key" if key else "That instance requires a key"
            raise SourceError(f"{problem}. Set its key with --key or SOURCE_API_KEY.") from error
        if "Location" in error.headers:
            raise SourceError(f"Redirects to {error.headers['Location']}. Use that URL.") from error
        hint = "Try again later." if error.code >= 500 else CHECK_URL
        raise SourceError(f"Responds with {error.code} {error.reason}. {hint}") from error
