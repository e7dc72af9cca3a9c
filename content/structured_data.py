"""Structured data (schema.org JSON-LD). Only custom markup is stored; the default is generated when it is read."""

import math
import re
from collections.abc import Mapping
from typing import Any

import orjson
from marshmallow import ValidationError

from fields import (
    SCRIPT_BREAKOUT,
    dump_json,
    dump_schema_markup,
    format_timestamp,
    parse_keywords,
    replace_lone_surrogates,
)

# the beginning of structured data that an import has stored
AS_IMPORTED = re.compile(r'\{"@context":"[^"\\]*","@graph":\[')


def generate_schema_markup(article: Mapping[Any, Any], customer_name: str) -> str:
    """Return JSON-LD as JSON text for an article, a mapping keyed by `Article` column.

    The graph is a BlogPosting with the properties that Google documents:
    https://developers.google.com/search/docs/appearance/structured-data/article. A space is inserted after any "<" that
    could end the surrounding script element.
    """
    organization = {"@type": "Organization", "name": customer_name}
    updated_at = article["updated_at"]
    published_at = article["published_at"]
    posting = {
        "@type": "BlogPosting",
        "headline": article["title"],
        "description": article["meta_desc"],
        "keywords": parse_keywords(article["keywords"]),
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


def stored_schema_markup(text: str | None) -> str | None:
    """Return structured data from an article's row in the form in which an import stores it, or None.

    Structured data that an import would reject, but another tool has stored, is ignored. The table makes sure that the
    text is a JSON object.
    """
    if text is None:
        return None
    if "\\u" not in text and AS_IMPORTED.match(text):  # parsing the text would double the time of a response
        return None if SCRIPT_BREAKOUT.search(text) else text
    try:
        return dump_schema_markup(orjson.loads(replace_lone_surrogates(text)))
    except (orjson.JSONDecodeError, ValidationError):
        return None


def custom_schema_markup(article: Mapping[Any, Any], customer_name: str) -> str | None:
    """Return an article's stored structured data, or None if it equals the generated default."""
    stored = stored_schema_markup(article["schema_markup"])
    if stored is None or stored == generate_schema_markup(article, customer_name):
        return None
    return stored


def canonical_row(row: Mapping[Any, Any], customer_name: str) -> dict[str, Any]:
    """Return a row of the article table in the form this service writes, even if another tool wrote it."""
    return {
        **row,
        "views": row["views"] if isinstance(row["views"], int) else 0,
        "keywords": dump_json(parse_keywords(row["keywords"])),
        "schema_markup": custom_schema_markup(row, customer_name),
    }
