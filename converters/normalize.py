"""Normalize articles of other systems: from their authors' field names and values to the import form's."""

import re
from datetime import UTC, datetime, tzinfo
from typing import Any
from urllib.parse import urljoin

from content.html import decode_references
from content.search import fold
from content.urls import change_urls, complete_url
from converters.dates import normalize_date, parse_date
from converters.front_matter import parse_scalars
from converters.records import DATES, FIELD_BY_ALIAS, SourceArticle, SourceOptions, plain_name

MISSING: tuple[Any, ...] = (None, "", [])
TRUE, FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
TAG = re.compile(r"</?[a-zA-Z][^<>]*>")
# Two patterns, since one that could begin with either bracket takes seven times as long.
SHORTCODE = re.compile(r"\[(?:/[a-z]|[a-z][\w-]*\s[^\[\]<>]*=|gallery\])")
# Templates of Jekyll, Hugo and Eleventy, and attributes of kramdown.
TEMPLATE = re.compile(r"\{(?:[%{]|:\s?[.#\w])")
MAX_TITLE_SLUG = 170  # A number of a post still fits behind as many characters.


def normalize_article(
    where: str, fields: dict[str, Any], options: SourceOptions, *, date: str = "", slug: str = "", folder: str = ""
) -> SourceArticle:
    """Return an article of another system in the import form.

    `fields` has the source's names; None and "" are missing values. `date` and `slug` are used if the fields have none.
    `folder` is the folder of the article below the site's URL.
    """
    article = SourceArticle(where, {})
    _rename(article, fields, options.zone)
    if date:
        article.fields.setdefault("publishedAt", date)
    for field in article.fields.keys() & DATES:
        article.fields[field] = normalize_date(_text(article.fields[field]), options.zone)
    if "publishedAt" in article.fields and "publishedAt" not in fields:
        # In other systems, a post with a date is published unless a switch makes it a draft.
        article.fields.setdefault("status", "published")
    if not {"publishedAt", "status"} & article.fields.keys():
        article.note("No date: drafts, if they are new")
    _normalize_texts(article.fields)
    given = normalize_slug(_text(article.fields.get("slug")) or slug)
    article.fields["slug"] = given or slug_from_title(article.fields.get("title", ""))
    _complete_urls(article, urljoin(f"{options.site.rstrip('/')}/", folder) if options.site else "")
    article.fields.update(parse_scalars(article.fields))
    return article


def _rename(article: SourceArticle, values: dict[str, Any], zone: tzinfo) -> None:
    """Fill in an article's fields by the import form's names; what is none of them is dropped."""
    fields = {name: value for name, value in values.items() if value not in MISSING or name == "contentHtml"}
    # The author's names of the fields. Each one that is used is removed; the rest is dropped.
    unused: dict[str, str] = {}
    for name in fields:
        unused.setdefault(plain_name(name), name)
    for name in fields:
        if name not in unused.values():
            article.drop("Left out", name)
    _use_switches(article, fields, unused, zone)
    if "categories" in unused and "category" not in unused:
        article.names["category"] = unused.pop("categories")
        categories = _texts(fields[article.names["category"]])
        article.fields["category"] = _text(categories)
        if len(categories) > 1:
            article.drop("Left out: categories after the first")
    for alias, field in FIELD_BY_ALIAS.items():
        # The aliases of a slug are for hints alone: they hold URLs.
        if alias in unused and field not in article.fields and (alias == "slug" or field != "slug"):
            article.names[field] = unused.pop(alias)
            article.fields[field] = fields[article.names[field]]
    for name in unused.values():
        article.drop("Left out", name)


def _use_switches(article: SourceArticle, fields: dict[str, Any], unused: dict[str, str], zone: tzinfo) -> None:
    """Set the status of an article that a switch or Hugo's date of expiry keeps from readers."""
    switches = "draft", "published", "expirydate"
    draft, published, expiry = (_text(fields.get(unused.get(name, ""))) for name in switches)
    unused.pop("draft", None)
    if published.lower() in (*TRUE, *FALSE):  # In Jekyll it is a switch, elsewhere a date.
        unused.pop("published")
    if draft.lower() in TRUE or published.lower() in FALSE:
        article.fields["status"] = "draft"
    expires_at = parse_date(expiry, zone)
    if expires_at and expires_at <= datetime.now(UTC):
        article.fields["status"] = "draft"
        name = unused.pop("expirydate")
        article.note(f"Drafts, because their {name} is past")


def _normalize_texts(fields: dict[str, Any]) -> None:
    if "title" in fields:
        fields["title"] = normalize_title(_text(fields["title"]))
    if "category" in fields:
        fields["category"] = _text(fields["category"])
    if "keywords" in fields:
        fields["keywords"] = _texts(fields["keywords"])


def normalize_title(html: str) -> str:
    """Return the text of a title in HTML, on one line."""
    return " ".join(decode_references(TAG.sub("", html)).split())


def normalize_slug(text: str) -> str:
    """Return text as a slug."""
    return re.sub(r"[\s/?#]+", "-", text.strip(" /"))


def slug_from_title(title: str, number: str = "") -> str:
    """Return a slug of the title's words and, behind them, the number."""
    words = "-".join(re.findall(r"\w+", fold(title)))[:MAX_TITLE_SLUG]
    return f"{words}-{number}".strip("-")


def _complete_urls(article: SourceArticle, base: str) -> None:
    """Complete the URLs in the content and that of the banner."""
    unbuilt: list[str] = []

    def complete(attribute: str, url: str) -> str:
        if attribute != "href" and url.startswith("../"):
            unbuilt.append(url)
            return url
        return complete_url(url, base)

    banner, html = _text(article.fields.pop("bannerUrl", "")), article.fields.get("contentHtml")
    url = re.sub("^//", "https://", complete("src", banner)) if banner else ""
    if url.startswith(("http://", "https://")):
        article.fields["bannerUrl"] = url
    elif url:
        article.drop("Left out: banners without a whole URL. Write it, or set --site or SITE_URL")
    if isinstance(html, str):
        article.fields["contentHtml"] = change_urls(html, complete)
        if SHORTCODE.search(html) or TEMPLATE.search(html):
            article.note("Shortcodes or templates, which stay as text")
    if unbuilt:
        article.note("Pictures whose path begins with ../, which your site has elsewhere when it is built")


def _text(value: Any) -> str:
    """Return the first text in a value: of a list, or of what an image or a category has besides its name."""
    if isinstance(value, dict):
        value = [value[name] for name in ("src", "url", "image", "path", "name") if name in value]
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    return "" if value is None else str(value)


def _texts(value: Any) -> list[str]:
    """Return the texts of a list, or of a text with commas."""
    items = value if isinstance(value, list) else _text(value).split(",")
    return [text for item in items if (text := _text(item).strip())]
