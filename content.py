"""Articles on their way into the database: what they lack is made from what they have; what differs is written."""

import math
import re
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from html import unescape
from itertools import islice
from typing import Any
from uuid import uuid4

from orjson import Fragment
from sqlalchemy import RowMapping, bindparam, insert, select, update

from errors import Faults, Place
from models import Customer, article_table, db
from schemas import WAY_OUT_OF_A_SCRIPT, json_text, read_timestamp, timestamp
from search import searchable

WORDS_PER_MINUTE = 238  # adults reading silently: Brysbaert (2019), doi:10.1016/j.jml.2019.104047
META_DESC_LENGTH = 155  # what search engines show of a description

BATCH = 500  # articles held in memory at a time

# What an import that leaves it out does not touch.
KEPT = "id", "status", "created_at", "published_at", "views"
# What moves `updated_at` where it changes, besides the structured data.
CONTENT = "title slug banner_url category keywords meta_title meta_desc read_time content_html".split()  # noqa: SIM905

# Tags as browsers read them: https://html.spec.whatwg.org/multipage/parsing.html#tag-open-state. What is not closed
# goes on to the end, and nothing is tried twice, so that no text takes longer than its length.
NOT_TEXT = re.compile(
    r"<(script|style)(?=[\s/>]).*?(?:</\1(?=[\s/>])[^>]*(?:>|\Z)|\Z)|<!--(?:-?>|.*?(?:--!?>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
REST_OF_TAG = r"""(?:[^>"']++|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+(?:>|\Z)"""
INLINE = "a abbr b cite code em i kbd mark q s small span strong sub sup u"
INLINE_TAG = re.compile(  # either case spelled out takes a third of the time that IGNORECASE does
    rf"</?(?:{'|'.join(f'{INLINE} {INLINE.upper()}'.split())})(?=[\s/>]|\Z){REST_OF_TAG}"
)
ANY_TAG = re.compile(rf"<[a-zA-Z/!?]{REST_OF_TAG}")


# A decimal character reference, and as much of it as tells which character it is, or that it is none.
REFERENCE = re.compile(r"&#0*([0-9]{1,8})[0-9]*")


def words_of(html: str) -> list[str]:
    """Give the words that a reader of `html` sees."""
    html = INLINE_TAG.sub("", NOT_TEXT.sub(" ", html))
    html = REFERENCE.sub(r"&#\1", ANY_TAG.sub(" ", html))  # Python makes no number of thousands of digits
    return unescape(html).split()


def start_of(words: list[str], length: int) -> str:
    """Give at most `length` characters of a text, cut between two words where it can be."""
    text = " ".join(words[: length + 1])
    if len(text) <= length:
        return text
    return text[: length + 1].rsplit(" ", 1)[0][:length]


def complete(article: dict[str, Any]) -> dict[str, Any]:
    """Give `article`, a dictionary by `Article` column, with its reading time, meta title and meta description."""
    if {"read_time", "meta_title", "meta_desc"} <= article.keys():
        return article
    words = words_of(article["content_html"])
    made = {
        "read_time": float(max(1, math.ceil(len(words) / WORDS_PER_MINUTE))),
        "meta_title": article["title"],
        "meta_desc": start_of(words, META_DESC_LENGTH),
    }
    return made | article


def schema_markup(article: dict[str, Any], publisher: str) -> str:
    """Describe a complete article, a dictionary by `Article` column, to search engines; return JSON text.

    A schema.org BlogPosting, with what search engines document for one:
    https://developers.google.com/search/docs/appearance/structured-data/article. In words that would break out of a
    page's script element, a space follows the "<".
    """
    organization = {"@type": "Organization", "name": publisher}
    posting = {
        "@type": "BlogPosting",
        "headline": article["title"],
        "description": article["meta_desc"],
        "keywords": Fragment(article["keywords"]),
        "articleSection": article["category"],
        "timeRequired": f"PT{math.ceil(article['read_time'])}M",
        "dateModified": timestamp(max(article["updated_at"], article["published_at"] or article["updated_at"])),
        "author": organization,
        "publisher": organization,
    }
    if article["banner_url"]:
        posting["image"] = [article["banner_url"]]
    if article["published_at"]:
        posting["datePublished"] = timestamp(article["published_at"])
    text = json_text({"@context": "https://schema.org", "@graph": [posting]})
    return WAY_OUT_OF_A_SCRIPT.sub("< ", text)


def save_articles(customer: Customer, articles: Iterable[tuple[Place, dict[str, Any]]], faults: Faults) -> Counter[str]:
    """Write articles, as `ArticleImportSchema` loads them, in the session's transaction.

    The caller begins the transaction and ends it: where anything was noted in `faults`, it must not be committed.
    Articles may come by the hundred thousand; they are taken a batch at a time. Returns how many are "new", "changed"
    and "unchanged".
    """
    writer = _Writer(customer, faults)
    iterator = iter(articles)
    while batch := list(islice(iterator, BATCH)):
        writer.write(batch)
    writer.settle_slugs()
    return writer.counts


class _Writer:
    """One import into one customer's articles."""

    def __init__(self, customer: Customer, faults: Faults) -> None:
        self.customer_id, self.publisher = customer.id, customer.name
        self.faults = faults
        self.now = read_timestamp(timestamp(datetime.now(UTC)))
        self.counts: Counter[str] = Counter()
        self.ids: set[str] = set()
        self.slugs: set[str] = set()
        self.left: dict[str, str] = {}  # slugs that articles of this import had before, with the articles' ids
        self.waiting: list[tuple[Place, str, str]] = []  # articles, by id, whose slug another one has

    def write(self, batch: list[tuple[Place, dict[str, Any]]]) -> None:
        """Write those of the batch that are new or differ from what is there."""
        by_id, by_slug = self._stored([article for _, article in batch])
        new, changed = [], []
        for place, article in batch:
            stored = by_id.get(article["id"]) if "id" in article else by_slug.get(article["slug"])
            row = self._row(place, article, stored)
            if row is None:
                continue
            holder = by_slug.get(row["slug"])
            if holder and holder["id"] != row["id"]:
                self.waiting.append((place, row["id"], row["slug"]))
                row["slug"] = f" {row['id']}"  # no article's slug, for it has a space
            if not stored:
                new.append(row)
            elif any(stored[name] != value for name, value in row.items() if name != "markup_is_made"):
                changed.append({"article_pk": stored["pk"], **row})
                self.left[stored["slug"]] = stored["id"]
            else:
                self.counts["unchanged"] += 1
        if new:
            db.session.execute(insert(article_table), new)
        if changed:
            db.session.execute(update(article_table).where(article_table.c.pk == bindparam("article_pk")), changed)
        self.counts.update(new=len(new), changed=len(changed))

    def _stored(self, articles: list[dict[str, Any]]) -> tuple[dict[str, RowMapping], dict[str, RowMapping]]:
        """Give what the database has under any of the articles' ids and slugs, by id and by slug."""
        columns = article_table.c
        own = select(columns.pk).where(columns.customer_id == self.customer_id)
        same_ids = own.where(columns.id.in_([article["id"] for article in articles if "id" in article]))
        same_slugs = own.where(columns.slug.in_([article["slug"] for article in articles]))
        # A union, for with "or" SQLite would look at each of the customer's articles.
        same = select(article_table).where(columns.pk.in_(same_ids.union(same_slugs)))
        rows = db.session.execute(same).mappings().all()
        return {row["id"]: row for row in rows}, {row["slug"]: row for row in rows}

    def _row(self, place: Place, article: dict[str, Any], stored: RowMapping | None) -> dict[str, Any] | None:
        """Give all columns of an article but its `pk`, or None where something is wrong with it."""
        row = {name: stored[name] for name in KEPT} if stored else self._first(article)
        row |= article
        for field, seen in (("id", self.ids), ("slug", self.slugs)):
            if row[field] in seen:
                self.faults.add(place, f"The article with the {field} {row[field]!r} stands in this import already.")
                return None
            seen.add(row[field])
        row = complete(row | searchable(row["title"], row["slug"])) | {"customer_id": self.customer_id}
        if row["status"] == "published" and not row["published_at"]:
            row["published_at"] = self.now

        made = row["markup_is_made"] = "schema_markup" not in article
        same = (
            stored
            and all(row[name] == stored[name] for name in CONTENT)
            and (stored["markup_is_made"] if made else row["schema_markup"] == stored["schema_markup"])
        )
        row.setdefault("updated_at", stored["updated_at"] if stored and same else self.now)
        if made:
            row["schema_markup"] = schema_markup(row, self.publisher)
        return row

    def _first(self, article: dict[str, Any]) -> dict[str, Any]:
        """Give what `KEPT` names for an article that is new."""
        published_at = article.get("published_at")
        return {
            "id": self.left.get(article["slug"]) or str(uuid4()),
            "status": "published" if published_at else "draft",
            "created_at": published_at if published_at and published_at < self.now else self.now,
            "published_at": published_at,
            "views": 0,
        }

    def settle_slugs(self) -> None:
        """Give the articles that had to wait their slugs, which other articles may have left by now."""
        own = article_table.c.customer_id == self.customer_id
        for place, id, slug in self.waiting:
            holder = db.session.scalar(select(article_table.c.id).where(own, article_table.c.slug == slug))
            if holder in self.faults.refused:
                continue  # who knows what slug it was to have
            if holder:
                way_out = "Give that id, or none, or first give that article another slug."
                self.faults.add(place, f"slug: The article with the id {holder!r} has it. {way_out}")
            else:
                db.session.execute(update(article_table).where(own, article_table.c.id == id).values(slug=slug))
