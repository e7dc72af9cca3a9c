"""Structured data (schema.org JSON-LD). Only custom markup is stored; the default is generated when it is read."""

import math
from collections.abc import Mapping
from typing import Any

import orjson
from marshmallow import ValidationError

from fields import SCRIPT_BREAKOUT, dump_json, format_timestamp


def generate_schema_markup(article: Mapping[Any, Any], publisher: str) -> str:
    """Return JSON-LD as JSON text for an article, a mapping keyed by `Article` column.

    The graph is a BlogPosting with the properties that Google documents:
    https://developers.google.com/search/docs/appearance/structured-data/article. A space is inserted after any "<" that
    could end the surrounding script element.
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
    """Return an article's stored structured data, or None if it equals the generated default."""
    if article["schema_markup"] is None:
        return None
    stored = canonical_json(article["schema_markup"])
    return None if stored == canonical_json(generate_schema_markup(article, publisher)) else stored


def canonical_json(text: str) -> str:
    """Reformat JSON text like `dump_json`, so that equal values have equal text."""
    try:
        return dump_json(orjson.loads(text))
    except (ValueError, ValidationError):  # SQLite accepts lone surrogates and deep nesting
        return text.replace("\r", " ").replace("\n", " ")


def canonical_row(row: Mapping[Any, Any], publisher: str) -> dict[str, Any]:
    """Return a row of the article table in the form this service writes, even if another tool wrote it."""
    return {
        **row,
        "keywords": canonical_json(row["keywords"]),
        "schema_markup": custom_schema_markup(row, publisher),
    }
