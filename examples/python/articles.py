"""Read the API, and prepare articles and lists for a site."""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen
from zoneinfo import ZoneInfo

LANGUAGE = "en"
LABELS = {
    "category": "Category",
    "keyword": "Keyword",
    "keywords": "Keywords",
    "newer": "Newer",
    "older": "Older",
    "newer_articles": "Newer articles",
    "older_articles": "Older articles",
    "newest_first": "newest articles first",
    "page": "page",
}
URL_PATTERN = r"https?://[^\s/?#]+(/[^\s?#]*)?"
ADVICE = "Check that the service is running, and that ARTICLES_URL and ARTICLES_KEY are correct."


def read_variable(name: str, pattern: str, meaning: str) -> str:
    """Return the value of an environment variable, or exit."""
    value = os.environ.get(name, "")
    if not re.fullmatch(pattern, value, re.IGNORECASE):
        sys.exit(f"{name} is {'invalid' if value else 'missing'}. Set it to {meaning}.")
    return value


def read_url(name: str, example: str) -> str:
    """Return a URL in an environment variable, without the slash at its end, or exit."""
    return read_variable(name, URL_PATTERN, f"a URL, such as {example}").rstrip("/")


def read_zone() -> tzinfo:
    name = os.environ.get("SITE_TIMEZONE") or "UTC"
    try:
        return UTC if name == "UTC" else ZoneInfo(name)  # ZoneInfo needs data that Windows lacks
    except (KeyError, OSError, ValueError):
        hint = ' If it is one, run "pip install tzdata".' if sys.platform == "win32" else ""
        sys.exit(f"SITE_TIMEZONE is invalid. Set it to a time zone, such as Europe/Berlin.{hint}")


API = read_url("ARTICLES_URL", "http://127.0.0.1:8000/api/public/v1")
KEY = read_variable("ARTICLES_KEY", "[!-~]+", "an API key of your service")
SITE = read_url("SITE", "https://www.example.com")
SITE_NAME = os.environ.get("SITE_NAME") or SITE.split("/")[2]
ZONE = read_zone()
Article = dict[str, Any]
Entry = dict[str, str]  # of the sitemap


def article_url(slug: str) -> str:
    return f"{SITE}/articles/{quote(slug, safe='')}/"


def list_url(path: str) -> str:
    """Return the URL of a list. The path is empty for the first list, otherwise something like `category/news/2`."""
    return f"{SITE}/{quote(path)}/" if path else f"{SITE}/"


def fetch_json(path: str, **query: Any) -> dict[str, Any]:
    """Return the response to a request. Raises OSError if it is not a list."""
    url = f"{API}/{path}?{urlencode(query)}".rstrip("?")
    status, body = download(url)
    response = parse_object(body)
    if isinstance(response.get("data"), list):
        return response
    raise OSError(f"{url}: {status} {response.get('detail', 'This response is not from the API.')} {ADVICE}")


def download(url: str) -> tuple[int, bytes]:
    """Return the status and the body of a response, even of an error."""
    try:
        with urlopen(Request(url, headers={"x-api-key": KEY}), timeout=60) as response:
            return response.status, response.read()
    except HTTPError as error:
        return error.code, error.read()
    except (HTTPException, OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise OSError(f"{url}: {getattr(reason, 'strerror', None) or reason}. {ADVICE}") from error


def parse_object(body: bytes) -> dict[str, Any]:
    """Return a JSON object, or an empty one if the body is something else."""
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def fetch_articles(**query: Any) -> Iterator[Article]:
    """Yield the articles that match the query, newest first."""
    skip = 0
    total = 1
    while skip < total:
        page = fetch_json("articles", **query, take=100, skip=skip)
        yield from page["data"]
        skip += page["meta"]["take"]
        total = page["meta"]["total"] if page["data"] else 0


def fetch_all() -> tuple[list[Article], list[Entry]]:
    """Return all articles, newest first, and the sitemap.

    Pages shift if the list changes while they are read. In that case, they are read again.
    """
    for _ in range(3):
        before = fetch_json("sitemap")["data"]
        articles = list(fetch_articles())
        sitemap = fetch_json("sitemap")["data"]
        slugs = [article["slug"] for article in articles]
        if before == sitemap and sorted(slugs) == sorted(entry["url"] for entry in sitemap):
            check_articles(articles)
            return articles, sitemap
    raise OSError("The articles changed while they were being read, three times in a row. Run the build again.")


def check_articles(articles: list[Article]) -> None:
    """Raise OSError if there are no articles, or if two slugs would be one folder on macOS or Windows."""
    if not articles:
        raise OSError("No article is published. The site stays as it is; to take it down, delete its folder.")
    slugs: dict[str, str] = {}
    for article in articles:
        slug = article["slug"]
        other = slugs.setdefault(fold_name(slug), slug)
        if other != slug:
            problem = "would be one folder on macOS or Windows, since they differ only in case or Unicode normalization"
            raise OSError(f"The slugs {other} and {slug} {problem}. Rename one of them.")


def fold_name(name: str) -> str:
    """Return a name as file systems of macOS and Windows compare it. To macOS, even ß is ss."""
    return unicodedata.normalize("NFD", name).casefold()


def fetch_article(slug: str) -> Article | None:
    """Return the article with this slug, or None. Other servers of this API may ignore the filter, so compare."""
    return next((article for article in fetch_articles(slug=slug) if article["slug"] == slug), None)


def assign_folders(names: Iterable[str]) -> dict[str, str]:
    """Return the folder of each name: `c` for "C#", `c-2` for "c" if it comes later, `other` for ".."."""
    folders: dict[str, str] = {}
    taken = set()
    for name in names:
        text = unicodedata.normalize("NFC", name.lower())
        letters = (character if unicodedata.category(character)[0] in "LMN" else " " for character in text)
        base = folder = "-".join("".join(letters).split())[:50] or "other"  # at most 200 bytes
        number = 1
        while fold_name(folder) in taken:
            number += 1
            folder = f"{base}-{number}"
        taken.add(fold_name(folder))
        folders[name] = folder
    return folders


@dataclass
class List:
    path: str
    title: str
    articles: list[Article] = field(default_factory=list)


def group_articles(articles: list[Article], kind: str, names_of: Callable[[Article], list[str]]) -> list[List]:
    """Return a list for each name that articles have, in the folder `kind`, and link the articles to these lists."""
    names = [name for article in articles for name in names_of(article) if name]
    folders = assign_folders(dict.fromkeys(reversed(names)))  # oldest first, so that lists never move
    lists = {name: List(f"{kind}/{folder}", f"{LABELS[kind]}: {name}") for name, folder in folders.items()}
    for article in articles:
        own = [name for name in dict.fromkeys(names_of(article)) if name]
        for name in own:
            lists[name].articles.append(article)
        article[f"{kind}Links"] = [(list_url(lists[name].path), name) for name in own]
    return list(lists.values())


def structured_data(article: Article) -> str:
    """Return an article's structured data as JSON that is safe inside a script element."""
    return json.dumps(article["schemaMarkup"], ensure_ascii=False).replace("<", "\\u003c")
