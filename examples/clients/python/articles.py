"""Read articles with a generated client: keep what has not changed, and wait while the service is unavailable."""

import os
import re
import sys
import time
from collections.abc import Iterator

import httpx
from articles_api import AuthenticatedClient
from articles_api.api.articles import get_article_list
from articles_api.models import Article, ArticleList
from articles_api.types import UNSET

API_MEANING = "your service's API, such as http://127.0.0.1:8000/api/public/v1"
KEY_MEANING = "an API key of your service"


def read_variable(name: str, pattern: str, meaning: str) -> str:
    """Return the first group of the pattern in an environment variable, or exit."""
    value = os.environ.get(name, "")
    match = re.fullmatch(pattern, value)
    return match[1] if match else sys.exit(f"{name} is {'invalid' if value else 'missing'}. Set it to {meaning}.")


BASE_URL = read_variable("ARTICLES_URL", r"(https?://[^\s?#]+)/api/public/v1/*", API_MEANING)
KEY = read_variable("ARTICLES_KEY", "([!-~]+)", KEY_MEANING)


class KeepAndRetry(httpx.HTTPTransport):
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
    httpx_args={"transport": KeepAndRetry()},
)


def read_page(search: str, skip: int) -> ArticleList:
    """Return up to 100 articles. Raises RuntimeError if the service is unreachable or responds with an error."""
    try:
        page = get_article_list.sync(client=client, q=search or UNSET, take=100, skip=skip)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise RuntimeError(f"{BASE_URL}: {error}. Start the service, or set ARTICLES_URL to {API_MEANING}.") from error
    except (AttributeError, KeyError, TypeError, ValueError):
        page = None
    if isinstance(page, ArticleList):
        return page
    if not page:
        raise RuntimeError(f"{BASE_URL}: This response is not from the API. Set ARTICLES_URL to {API_MEANING}.")
    advice = f" Set ARTICLES_KEY to {KEY_MEANING}." if page.code == "invalid_key" else ""
    raise RuntimeError(f"{BASE_URL}: {page.code}: {page.detail}{advice}")


def read_articles(search: str = "") -> Iterator[Article]:
    """Yield the articles that match the search, by default all of them, newest first."""
    skip, total = 0, 1
    while skip < total:
        page = read_page(search, skip)
        yield from page.data
        skip += page.meta.take
        total = page.meta.total if page.data else 0
