"""Read articles with a generated client: keep what has not changed, and wait while the service is unavailable."""

import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import httpx
from articles_api import AuthenticatedClient
from articles_api.api.articles import get_article_list, get_sitemap_entry_list
from articles_api.models import Article, ArticleList, Problem, SitemapEntryList
from articles_api.types import UNSET

T = TypeVar("T")

API_MEANING = "the URL of your service's API, such as http://127.0.0.1:8000/api/public/v1"
KEY_MEANING = "an API key of your service"


def read_variable(name: str, pattern: str, meaning: str) -> str:
    """Return the first group of the pattern in an environment variable, or exit."""
    value = os.environ.get(name, "")
    match = re.fullmatch(pattern, value)
    return match[1] if match else sys.exit(f"{name} is {'invalid' if value else 'missing'}. Set it to {meaning}.")


BASE_URL = read_variable("ARTICLES_URL", r"(https?://[^\s?#]+)/api/public/v1/*", API_MEANING)
KEY = read_variable("ARTICLES_KEY", "([!-~]+)", KEY_MEANING)


class CachingRetryTransport(httpx.HTTPTransport):
    """A transport that keeps responses until they change (304), and waits while the service is unavailable (503)."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[httpx.URL, httpx.Response] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        kept = self.kept.get(request.url)
        if kept:
            request.headers["If-None-Match"] = kept.headers["ETag"]
        response = super().handle_request(request)
        for _ in range(4):
            if response.status_code == 503:
                response.close()
                time.sleep(int(response.headers.get("Retry-After", 5)))
                response = super().handle_request(request)
        if kept and response.status_code == 304:
            return kept
        if response.status_code == 200:
            response.read()
            self.kept[request.url] = response
        return response


client = AuthenticatedClient(
    BASE_URL,
    KEY,
    prefix="",
    auth_header_name="x-api-key",
    httpx_args={"transport": CachingRetryTransport()},
)


def request(kind: type[T], get: Callable[..., Any], **parameters: Any) -> T:
    """Return a response of this kind. Raises RuntimeError if the service is unreachable or responds with an error."""
    try:
        response = get(client=client, **parameters)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise RuntimeError(f"{BASE_URL}: {error}. Start the service, or set ARTICLES_URL to {API_MEANING}.") from error
    except (AttributeError, KeyError, TypeError, ValueError):
        response = None
    if isinstance(response, kind):
        return response
    if not isinstance(response, Problem):
        raise RuntimeError(f"{BASE_URL}: This response is not from the API. Set ARTICLES_URL to {API_MEANING}.")
    advice = f" Set ARTICLES_KEY to {KEY_MEANING}." if response.code == "invalid_key" else ""
    raise RuntimeError(f"{BASE_URL}: {response.code}: {response.detail}{advice}")


def read_articles(search: str = "") -> Iterator[Article]:
    """Yield the articles that match the search, newest first."""
    skip = 0
    total = 1
    while skip < total:
        page = request(ArticleList, get_article_list.sync, q=search or UNSET, take=100, skip=skip)
        yield from page.data
        skip += page.meta.take
        total = page.meta.total if page.data else 0


def read_all() -> list[Article]:
    """Return all articles, newest first.

    Pages shift if the list changes while they are read. In that case, they are read again.
    """
    for _ in range(3):
        before = read_slugs()
        articles = list(read_articles())
        slugs = {article.slug for article in articles}
        if before == read_slugs() and before <= slugs and len(slugs) == len(articles):
            return articles
    raise RuntimeError("The articles changed while they were being read, three times in a row. Run the program again.")


def read_slugs() -> set[str]:
    """Return the slugs of all articles, from the sitemap."""
    return {entry.url for entry in request(SitemapEntryList, get_sitemap_entry_list.sync).data}
