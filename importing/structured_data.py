"""Structured data of schema.org, generated from an article."""

import math
from typing import Any

from orjson import Fragment

from field_types import SCRIPT_BREAKOUT, dump_json, format_timestamp


def schema_markup(article: dict[str, Any], publisher: str) -> str:
    """Return the JSON-LD graph of a complete article, by `Article` column, as JSON text.

    A BlogPosting, with the properties that search engines document:
    https://developers.google.com/search/docs/appearance/structured-data/article. In text that would break out of a
    page's script element, a space follows the "<".
    """
    organization = {"@type": "Organization", "name": publisher}
    modified, published = article["updated_at"], article["published_at"]
    posting = {
        "@type": "BlogPosting",
        "headline": article["title"],
        "description": article["meta_desc"],
        "keywords": Fragment(article["keywords"]),
        "articleSection": article["category"],
        "timeRequired": f"PT{math.ceil(article['read_time'])}M",
        "dateModified": format_timestamp(max(modified, published or modified)),
        "author": organization,
        "publisher": organization,
    }
    if article["banner_url"]:
        posting["image"] = [article["banner_url"]]
    if published:
        posting["datePublished"] = format_timestamp(published)
    return SCRIPT_BREAKOUT.sub("< ", dump_json({"@context": "https://schema.org", "@graph": [posting]}))
