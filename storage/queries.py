"""Queries used by the endpoints and by some commands.

Statements are built once and executed with bound parameters, since building one takes longer than running it.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import ColumnElement, Select, Text, bindparam, case, cast, exists, func, or_, select
from sqlalchemy.dialects.postgresql import JSONB

from content.search import search_words
from models import ApiKey, Article, Customer

BATCH_SIZE = 500  # rows in memory at a time

# conditions for a valid key; they bind `today`, the UTC date
VALID_KEY = ApiKey.revoked_at.is_(None), or_(ApiKey.expires_on.is_(None), ApiKey.expires_on >= bindparam("today"))

# `id` and `name` of a key's customer, and the key's id as `key_id`; binds `hash` and `today`, the UTC date
OWNER_BY_KEY = (
    select(Customer.id, Customer.name, ApiKey.id.label("key_id"))
    .join(ApiKey, ApiKey.customer_id == Customer.id)
    .where(ApiKey.hash == bindparam("hash"), *VALID_KEY)
)

# conditions for a customer's published articles; they bind `customer_id` and `now`
_IS_OWN = Article.customer_id == bindparam("customer_id")
_HAS_STATUS_PUBLISHED = Article.status == "published"  # includes scheduled articles
PUBLISHED = _IS_OWN, _HAS_STATUS_PUBLISHED, Article.published_at <= bindparam("now")

# time at which the customer's next scheduled article is due
NEXT_PUBLICATION = select(func.min(Article.published_at)).where(
    _IS_OWN, _HAS_STATUS_PUBLISHED, Article.published_at > bindparam("now")
)

# `slug` and `changed_at` of published articles; publication counts as a change
_changed_at = case((Article.updated_at > Article.published_at, Article.updated_at), else_=Article.published_at)
PUBLISHED_SLUGS = select(Article.slug, _changed_at.label("changed_at")).where(*PUBLISHED).order_by(Article.slug)


# query parameters that must match exactly; `q` is a search
FILTERS = "slug", "category", "keyword"


def filter_parameters(query: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters to bind to the conditions of `matching`, given `q`, `slug`, `category` and `keyword`.

    Each word of `q` becomes a LIKE pattern in which wildcards are escaped.
    """
    escape = str.maketrans({"\\": "\\\\", "%": "\\%", "_": "\\_"})
    words = {f"word_{i}": f"%{word.translate(escape)}%" for i, word in enumerate(search_words(query.get("q", "")))}
    return words | {name: query[name] for name in FILTERS if name in query}


def matching(names: Iterable[str], dialect: str) -> list[ColumnElement[bool]]:
    """Return one condition per name, where the names are the keys of `filter_parameters`."""
    return [_condition(name, dialect) for name in names]


def _condition(name: str, dialect: str) -> Any:
    if name not in FILTERS:  # a word of the search
        return Article.search_text.like(bindparam(name), escape="\\")
    if name != "keyword":
        return getattr(Article, name) == bindparam(name)
    if dialect == "postgresql":
        return cast(Article.keywords, JSONB).has_key(bindparam(name, type_=Text))
    keywords: Any = func.json_each(Article.keywords).table_valued("value").columns
    return exists().where(keywords.value == bindparam(name))


@lru_cache
def count_published(names: tuple[str, ...], dialect: str) -> Select[int, datetime | None]:
    """Select the number of matching published articles, and the time at which the next scheduled article is due."""
    return (
        select(func.count(), NEXT_PUBLICATION.scalar_subquery())
        .select_from(Article)
        .where(*PUBLISHED, *matching(names, dialect))
    )


@lru_cache
def select_page(
    columns: tuple[str, ...], order_by: str, order: str, names: tuple[str, ...], dialect: str
) -> Select[Any]:
    """Select one page of the matching published articles. Also binds `take` and `skip`.

    `order` is "asc" or "desc". Ties are broken by id in the same direction. The subquery finds the page in an index.
    Without it, SQLite would sort entire rows for most orders, which takes up to a second for 10,000 articles.
    """
    sort_columns: list[Any] = [getattr(Article, order_by), Article.id]
    ordering = [column.desc() for column in sort_columns] if order == "desc" else sort_columns
    page = select(Article.pk).where(*PUBLISHED, *matching(names, dialect)).order_by(*ordering)
    page = page.limit(bindparam("take")).offset(bindparam("skip"))
    return select(*(getattr(Article, name) for name in columns)).where(Article.pk.in_(page)).order_by(*ordering)
