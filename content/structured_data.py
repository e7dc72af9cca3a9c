"""Structured data (schema.org JSON-LD). Only custom markup is stored; the rest is generated when an article is read."""

import math
from collections.abc import Mapping
from typing import Any

import orjson
from marshmallow import ValidationError

from fields import SCRIPT_BREAKOUT, dump_json, format_timestamp


def generate_schema_markup(article: Mapping[Any, Any], publisher: str) -> str:
    """Return the JSON-LD graph of an article, given by `Article` column, as JSON text.

    A BlogPosting with the properties that search engines document:
    https://developers.google.com/search/docs/appearance/structured-data/article. A "<" that could end a page's script
    element is followed by a space.
    """
    organization = {"@type": "Organization", "name": publisher}
    updated_at, published_at = article["updated_at"], article["published_at"]
    posting = {
        "@type": "BlogPosting",
        "headline": article["title"],
        "description": article["meta_desc"],
        "keywords": orjson.Fragment(article["keywords"]),
        "articleSection": article["category"],
        "timeRequired": f"PT{math.ceil(article['read_time'])}M",
        "dateModified": format_timestamp(max(updated_at, published_at or updated_at)),
        "author": organization,
        "publisher": organization,
    }
    if article["banner_url"]:
        posting["image"] = [article["banner_url"]]
    if published_at:
        posting["datePublished"] = format_timestamp(published_at)
    text = orjson.dumps({"@context": "https://schema.org", "@graph": [posting]}).decode()
    return SCRIPT_BREAKOUT.sub("< ", text)


def custom_schema_markup(article: Mapping[Any, Any], publisher: str) -> str | None:
    """Return the structured data that an article holds, or None if it equals what would be generated."""
    if article["schema_markup"] is None:
        return None
    stored = canonical_json(article["schema_markup"])
    return None if stored == canonical_json(generate_schema_markup(article, publisher)) else stored


def canonical_json(text: str) -> str:
    """Return JSON text as `dump_json` writes it, so that equal values are equal text."""
    try:
        return dump_json(orjson.loads(text))
    except (ValueError, ValidationError):  # lone surrogates or deep nesting, which SQLite accepts
        return text.replace("\r", " ").replace("\n", " ")


def canonical_row(row: Mapping[Any, Any], publisher: str) -> dict[str, Any]:
    """Return a row of the article table as this service would have written it, whatever tool did."""
    return {
        **row,
        "keywords": canonical_json(row["keywords"]),
        "schema_markup": custom_schema_markup(row, publisher),
    }
