"""Structured data (schema.org JSON-LD). Only custom markup is stored; the default is generated when it is read."""

import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from content.urls import article_url
from schema_fields import SCRIPT_BREAKOUT, format_timestamp

SCHEME_AND_HOST = re.compile("https?://[^/?#]+", re.IGNORECASE)


class Publisher(NamedTuple):
    """A customer, as the publisher of its articles."""

    name: str
    site: str  # pattern of the articles' URLs on the customer's own site, or ""


def generate_schema_markup(article: Mapping[Any, Any], publisher: Publisher) -> str:
    """Return JSON-LD as JSON text for an article, a mapping keyed by `Article` column.

    The graph is a BlogPosting with the properties that Google documents, without empty ones:
    https://developers.google.com/search/docs/appearance/structured-data/article. A space is inserted after any "<" that
    could end the surrounding script element.
    """
    root = SCHEME_AND_HOST.match(publisher.site)
    organization = {"@type": "Organization", "name": publisher.name} | ({"url": root[0]} if root else {})
    authors = [{"@type": "Person", "name": name} for name in orjson.loads(article["authors"]) if name.strip()]
    updated_at = article["updated_at"]
    published_at = article["published_at"]
    url = article_url(publisher.site, article["slug"]) if root else ""
    properties = {
        "headline": article["title"],
        "description": article["meta_desc"],
        "keywords": [keyword for keyword in orjson.loads(article["keywords"]) if keyword.strip()],
        "articleSection": article["category"],
        "timeRequired": f"PT{math.ceil(article['read_time'])}M",
        "dateModified": format_timestamp(max(updated_at, published_at or updated_at)),
        "author": authors or organization,
        "publisher": organization,
        "image": [article["banner_url"]] if article["banner_url"] else [],
        "datePublished": format_timestamp(published_at) if published_at else "",
        "url": url,
        "mainEntityOfPage": url,
    }
    posting = {"@type": "BlogPosting"} | {name: value for name, value in properties.items() if not _is_empty(value)}
    text = orjson.dumps({"@context": "https://schema.org", "@graph": [posting]}).decode()
    return SCRIPT_BREAKOUT.sub("< ", text)


def _is_empty(value: Any) -> bool:
    return not (value.strip() if isinstance(value, str) else value)
