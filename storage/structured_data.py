"""Structured data of schema.org. It is stored only if it was given, and generated from the article when it is read."""

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import orjson
from marshmallow import ValidationError
from orjson import Fragment

from field_types import SCRIPT_BREAKOUT, dump_json, format_timestamp
from schemas import ArticleSchema

schema = ArticleSchema()


def fill_schema_markup(records: Iterable[dict[str, Any]], updated_at: Iterable[datetime], publisher: str) -> None:
    """Set the structured data of articles that were rendered without any. They were updated at these times."""
    for record, moment in zip(records, updated_at, strict=True):
        if record["schemaMarkup"] is None:
            record["schemaMarkup"] = Fragment(generate_schema_markup(record, moment, publisher))


def generate_schema_markup(record: dict[str, Any], updated_at: datetime, publisher: str) -> str:
    """Return the JSON-LD graph of an article that was rendered in its full form, as JSON text.

    A BlogPosting, with the properties that search engines document:
    https://developers.google.com/search/docs/appearance/structured-data/article. In text that would break out of a
    page's script element, a space follows the "<".
    """
    organization = {"@type": "Organization", "name": publisher}
    modified, published = format_timestamp(updated_at), record["publishedAt"]
    posting = {
        "@type": "BlogPosting",
        "headline": record["title"],
        "description": record["metaDesc"],
        "keywords": record["keywords"],
        "articleSection": record["category"],
        "timeRequired": f"PT{math.ceil(record['readTime'])}M",
        "dateModified": max(modified, published or modified),
        "author": organization,
        "publisher": organization,
    }
    if record["bannerUrl"]:
        posting["image"] = [record["bannerUrl"]]
    if published:
        posting["datePublished"] = published
    text = orjson.dumps({"@context": "https://schema.org", "@graph": [posting]}).decode()
    return SCRIPT_BREAKOUT.sub("< ", text) if "<" in text else text


def normalize_json(text: str) -> str:
    """Return JSON text in the form of `dump_json`, so that equal values are equal text."""
    try:
        return dump_json(orjson.loads(text))
    except (ValueError, ValidationError):  # SQLite allows more levels, and lone surrogates.
        return text.replace("\r", " ").replace("\n", " ")


def given_schema_markup(article: dict[str, Any], publisher: str) -> str | None:
    """Return the structured data of an article, by `Article` column, or None if it is just what would be generated."""
    if article["schema_markup"] is None:
        return None
    stored = normalize_json(article["schema_markup"])
    (record,) = schema.render([[article[name] for name in schema.columns]])
    generated = generate_schema_markup(record, article["updated_at"], publisher)
    return None if stored == normalize_json(generated) else stored


def normalize_row(row: dict[str, Any], publisher: str) -> dict[str, Any]:
    """Return a row of the table as this service would write it: its JSON in its own form, no generated structured data.

    Another tool may have written it.
    """
    keywords, schema_markup = normalize_json(row["keywords"]), given_schema_markup(row, publisher)
    return {**row, "keywords": keywords, "schema_markup": schema_markup}
