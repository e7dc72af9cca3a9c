"""Articles on their way into the database: what they lack is made from what they have."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from html import unescape
from itertools import islice
from typing import Any

import orjson
from sqlalchemy import insert, select, update

from models import Article, db, fold
from schemas import timestamp

WORDS_PER_MINUTE = 238  # adults reading silently: Brysbaert (2019), doi:10.1016/j.jml.2019.104047
META_DESC_LENGTH = 155  # what search engines show of a description
BATCH = 500  # articles held in memory at a time

NOT_TEXT = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
INLINE_TAG = re.compile(
    r"</?(?:a|abbr|b|cite|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u)\b[^>]*>", re.IGNORECASE
)
ANY_TAG = re.compile(r"<[^>]*>")


def text_of(html: str) -> str:
    """Give the words that a reader of `html` sees, with single spaces between them."""
    html = INLINE_TAG.sub("", NOT_TEXT.sub(" ", html))
    return " ".join(unescape(ANY_TAG.sub(" ", html)).split())


def start_of(text: str, length: int) -> str:
    """Give at most `length` characters of `text`, cut at a space where there is one."""
    if len(text) <= length:
        return text
    return text[: length + 1].rsplit(" ", 1)[0][:length]


def complete(article: dict[str, Any], publisher: str) -> dict[str, Any]:
    """Give a copy of `article`, a dictionary by `Article` column, with what it lacks made from its content.

    That is `read_time`, `meta_title`, `meta_desc` and `schema_markup`, of which `publisher` names the publisher.
    """
    text = text_of(article["content_html"])
    made = {
        "read_time": max(1.0, math.ceil(len(text.split()) / WORDS_PER_MINUTE)),
        "meta_title": article["title"],
        "meta_desc": start_of(text, META_DESC_LENGTH),
    }
    whole = made | article
    return {"schema_markup": schema_markup(whole, publisher)} | whole


def schema_markup(article: dict[str, Any], publisher: str) -> dict[str, Any]:
    """Describe a complete article to search engines as a schema.org BlogPosting: https://schema.org/BlogPosting."""
    organization = {"@type": "Organization", "name": publisher}
    posting = {
        "@type": "BlogPosting",
        "headline": article["title"],
        "description": article["meta_desc"],
        "keywords": article["keywords"],
        "articleSection": article["category"],
        "timeRequired": f"PT{math.ceil(article['read_time'])}M",
        "dateModified": timestamp(article["updated_at"]),
        "author": organization,
        "publisher": organization,
    }
    if article["banner_url"]:
        posting["image"] = [article["banner_url"]]
    if article["published_at"]:
        posting["datePublished"] = timestamp(article["published_at"])
    return {"@context": "https://schema.org", "@graph": [posting]}


def save_articles(customer_id: int, articles: Iterable[dict[str, Any]]) -> Counter[str]:
    """Write complete articles in the session's transaction, which the caller begins and commits.

    An article that the customer has by its id is overwritten where it differs. Articles may come by the hundred
    thousand: they are taken a batch at a time. Returns how many are "new", "changed" and "unchanged".
    """
    counts: Counter[str] = Counter()
    for batch in _batches(articles):
        rows = [_row(customer_id, article) for article in batch]
        same_ids = Article.id.in_([row["id"] for row in rows])
        stored = {
            row["id"]: row
            for row in db.session.execute(
                select(Article.__table__).where(Article.customer_id == customer_id, same_ids)
            ).mappings()
        }
        new = [row for row in rows if row["id"] not in stored]
        changed = [
            {"pk": stored[row["id"]]["pk"], **row}
            for row in rows
            if row["id"] in stored and any(stored[row["id"]][name] != value for name, value in row.items())
        ]
        if new:
            db.session.execute(insert(Article), new)
        if changed:
            db.session.execute(update(Article), changed)
        counts.update(new=len(new), changed=len(changed), unchanged=len(rows) - len(new) - len(changed))
    return counts


def _batches(articles: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    iterator = iter(articles)
    while batch := list(islice(iterator, BATCH)):
        yield batch


def _row(customer_id: int, article: dict[str, Any]) -> dict[str, Any]:
    """Give the article as its columns store it."""
    folded_title = fold(article["title"])
    return {
        **article,
        "customer_id": customer_id,
        "folded_title": folded_title,
        "search_text": f"{folded_title}\n{fold(article['slug'])}",
        "keywords": orjson.dumps(article["keywords"]).decode(),
        "schema_markup": orjson.dumps(article["schema_markup"]).decode(),
    }
