"""Structured data of schema.org. It is stored only if it was given, and generated from the article when it is read."""

import math
from collections.abc import Iterable
from typing import Any

import orjson
from orjson import Fragment

from field_types import SCRIPT_BREAKOUT, normalize_json
from schemas import StoredArticleSchema

schema = StoredArticleSchema()


def fill_schema_markup(records: Iterable[dict[str, Any]], publisher: str) -> None:
    """Set the structured data of articles that were rendered without any, by their `updatedAt` too."""
    for record in records:
        if record["schemaMarkup"] is None:
            record["schemaMarkup"] = Fragment(generate_schema_markup(record, publisher))


def generate_schema_markup(record: dict[str, Any], publisher: str) -> str:
    """Return the JSON-LD graph of an article that was rendered with its `updatedAt`, as JSON text.

    A BlogPosting, with the properties that search engines document:
    https://developers.google.com/search/docs/appearance/structured-data/article. In text that would break out of a
    page's script element, a space follows the "<".
    """
    organization = {"@type": "Organization", "name": publisher}
    modified, published = record["updatedAt"], record["publishedAt"]
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


def given_schema_markup(article: dict[str, Any], publisher: str) -> str | None:
    """Return the structured data of an article, by `Article` column, or None if it is just what would be generated."""
    if article["schema_markup"] is None:
        return None
    given = normalize_json(article["schema_markup"])
    (record,) = schema.render([[article[name] for name in schema.columns]])
    return None if given == normalize_json(generate_schema_markup(record, publisher)) else given


def stored_article(row: dict[str, Any], publisher: str) -> dict[str, Any]:
    """Return a row of the table as this service would write it: its JSON in its own form, no generated structured data.

    Another tool may have written it.
    """
    keywords, schema_markup = normalize_json(row["keywords"]), given_schema_markup(row, publisher)
    return {**row, "keywords": keywords, "schema_markup": schema_markup}
