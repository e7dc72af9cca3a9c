"""Read the API."""

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import HTTPRedirectHandler, Request, build_opener

URL_PATTERN = r"https?://[^\s/?#]+(/[^\s?#]*)?"
ADVICE = "Check that the service is running, and that ARTICLES_URL and ARTICLES_KEY are correct."
TIMEOUT_SECONDS = 60

Article = dict[str, Any]


def read_variable(name: str, pattern: str, meaning: str) -> str:
    """Return the value of an environment variable, or exit."""
    value = os.environ.get(name, "")
    if not re.fullmatch(pattern, value, re.IGNORECASE):
        sys.exit(f"{name} is {'invalid' if value else 'missing'}. Set it to {meaning}.")
    return value


def read_url(name: str, example: str) -> str:
    """Return a URL in an environment variable, without the slash at its end, or exit."""
    return read_variable(name, URL_PATTERN, f"a URL, such as {example}").rstrip("/")


class NoRedirects(HTTPRedirectHandler):
    """A redirect may lead to another host, which must not get the key."""

    def redirect_request(self, *_: Any) -> None:
        return None


API = read_url("ARTICLES_URL", "http://127.0.0.1:8000/api/public/v1")
KEY = read_variable("ARTICLES_KEY", "[!-~]+", "an API key of your service")
OPENER = build_opener(NoRedirects)


def fetch_json(path: str, **query: Any) -> dict[str, Any]:
    """Return the response to a request. Raises OSError if it is not a list."""
    url = f"{API}/{path}?{urlencode(query)}".rstrip("?")
    try:
        with OPENER.open(Request(url, headers={"x-api-key": KEY}), timeout=TIMEOUT_SECONDS) as response:
            body = response.read()
        problem = "This response is not from the API."
    except HTTPError as error:
        body = error.read()
        location = error.headers.get("Location")
        problem = f"{error.code} {error.reason}" + (f": it has moved to {location}." if location else ".")
    except (HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise OSError(f"{url}: {getattr(reason, 'strerror', None) or reason}. {ADVICE}") from error
    with suppress(ValueError):  # not JSON
        value = json.loads(body)
        if isinstance(value, dict):
            if isinstance(value.get("data"), list):
                return value
            problem = value.get("detail", problem)
    raise OSError(f"{url}: {problem} {ADVICE}")


def fetch_articles(**query: Any) -> Iterator[Article]:
    """Yield the articles that match the query, newest first. Raises OSError if their number changes."""
    page = fetch_json("articles", **query, take=100)
    total = page["meta"]["total"]
    skip = 0
    while page["data"]:
        yield from page["data"]
        skip += page["meta"]["take"]
        if skip >= total:
            break
        page = fetch_json("articles", **query, take=100, skip=skip)
        if page["meta"]["total"] != total:
            raise OSError("The articles changed while they were being read. Run this again.")


def fetch_all() -> tuple[list[Article], list[dict[str, str]]]:
    """Return all articles, newest first, and the sitemap. Raises OSError if there are none, or if the list changes."""
    articles = list(fetch_articles())
    sitemap = fetch_json("sitemap")["data"]
    if sorted(article["slug"] for article in articles) != sorted(entry["url"] for entry in sitemap):
        raise OSError("The articles changed while they were being read. Run this again.")
    if not articles:
        raise OSError("No article is published. The site stays as it is; to take it down, delete its folder.")
    return articles, sitemap


def fetch_article(slug: str) -> Article | None:
    """Return the article with this slug, or None. Other servers of this API may ignore the filter, so compare."""
    return next((article for article in fetch_articles(slug=slug) if article["slug"] == slug), None)


def structured_data(article: Article) -> str:
    """Return an article's structured data as JSON that is safe inside a script element."""
    return json.dumps(article["schemaMarkup"], ensure_ascii=False).replace("<", "\\u003c")
