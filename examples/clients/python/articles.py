"""Read articles with a generated client: keep what has not changed, and wait while the service is unavailable."""

import os
import time
from collections.abc import Iterator
from urllib.parse import urljoin

import httpx
from articles_api import AuthenticatedClient
from articles_api.api.articles import get_article_list
from articles_api.models import Article, ArticleList
from articles_api.types import UNSET


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
    urljoin(os.environ["ARTICLES_URL"], "../..").rstrip("/"),
    os.environ["ARTICLES_KEY"],
    prefix="",
    auth_header_name="x-api-key",
    httpx_args={"transport": KeepAndRetry()},
)


def read_articles(search: str = "") -> Iterator[Article]:
    """Yield every article that matches the search, or every article, the newest first."""
    skip, total = 0, 1
    while skip < total:
        page = get_article_list.sync(client=client, q=search or UNSET, take=100, skip=skip)
        if not isinstance(page, ArticleList):
            raise RuntimeError(f"{page.code}: {page.detail}" if page else "no articles")
        yield from page.data
        skip += page.meta.take
        total = page.meta.total if page.data else 0
