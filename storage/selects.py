"""The selects behind the endpoints.

They are built once and then only given their parameters, since building one costs as much as running it. They read
columns of the table, as rows, on the session's connection: entities would cost more.
"""

from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Select, bindparam, case, func, or_, select, true

from models import ApiKey, Customer, article_table

BATCH_SIZE = 500  # So many articles are held in memory.

_article = article_table.c
_of_customer = _article.customer_id == bindparam("customer_id")


def _published(word_count: int, *, in_index_order: bool) -> tuple[ColumnElement[bool], ...]:
    """Return the conditions for a customer's published articles that match that many words of a search.

    If the select reads another index in its order, "IS true" keeps the planner from searching the index of publication
    instead, and then sorting.
    """
    due = _article.published_at <= bindparam("now")
    return (
        _of_customer,
        _article.status == "published",
        due.is_(true()) if in_index_order else due,
        *matching(word_count),
    )


def matching(word_count: int) -> Iterator[ColumnElement[bool]]:
    """Return the conditions of a search with that many words. Binds what `search_parameters` returns."""
    return (_article.search_text.like(bindparam(f"word_{number}"), escape="\\") for number in range(word_count))


_scheduled = _of_customer, _article.status == "published", _article.published_at > bindparam("now")


# The time at which the next of a customer's scheduled articles is published. Binds `customer_id` and `now`.
NEXT_PUBLICATION = select(func.min(_article.published_at)).where(*_scheduled)


@lru_cache
def count_published(word_count: int) -> Select[int, datetime | None]:
    """Select the number of a customer's published articles, and when the next scheduled one is published.

    Binds `customer_id`, `now`, and `word_0` … as `search_parameters` returns them. If the database holds one customer's
    articles alone, the few unpublished ones are counted and subtracted from the number of all rows, which SQLite knows
    without reading each. A first page then costs the same however many articles there are.
    """
    count = select(func.count()).select_from(article_table)
    total: Any = count.where(*_published(word_count, in_index_order=False)).scalar_subquery()
    if not word_count:
        drafts = count.where(_of_customer, _article.status == "draft").scalar_subquery()
        rest = count.scalar_subquery() - drafts - count.where(*_scheduled).scalar_subquery()
        # Two comparisons, each of which an index resolves with its first row: "other than" would read all rows.
        customer_id: BindParameter[int] = bindparam("customer_id")
        row = select(_article.pk)
        before = row.where(_article.customer_id < customer_id).exists()
        after = row.where(_article.customer_id > customer_id).exists()
        total = case((or_(before, after), total), else_=rest)
    return select(total, NEXT_PUBLICATION.scalar_subquery())


@lru_cache
def select_page(columns: tuple[str, ...], order_by: str, order: str, word_count: int) -> Select[Any]:
    """Select `columns` of one page of a customer's published articles.

    Columns are named as in `Article`; `order` is "asc" or "desc"; ties are broken by id, in the same direction. Binds
    what `count_published` does, and `take` and `skip`. The page is found in the index of its order alone, and only then
    are its articles read.
    """
    by = (_article[order_by], _article.id)
    ordering = by if order == "asc" else tuple(column.desc() for column in by)
    page = (
        select(_article.pk)
        .where(*_published(word_count, in_index_order=True))
        .order_by(*ordering)
        .limit(bindparam("take"))
        .offset(bindparam("skip"))
    )
    return select(*(_article[name] for name in columns)).where(_article.pk.in_(page)).order_by(*ordering)


@lru_cache
def select_published(columns: tuple[str, ...]) -> Select[Any]:
    """Select `columns` of all of a customer's published articles, ordered by id. Binds `customer_id` and `now`."""
    published = select(*(_article[name] for name in columns)).where(*_published(0, in_index_order=False))
    return published.order_by(_article.id)


# The `slug` and last change (`changed_at`) of a customer's published articles, ordered by slug. Binds `customer_id` and
# `now`. A publication after the last update is a change too.
_changed = case((_article.updated_at > _article.published_at, _article.updated_at), else_=_article.published_at)
_slugs = select(_article.slug, _changed.label("changed_at")).order_by(_article.slug)
PUBLISHED_SLUGS = _slugs.where(*_published(0, in_index_order=True))

# The id and name of the customer whose valid key has this `hash`, and the key's id, as `key_id`. Binds `today`, the UTC
# date, too.
CUSTOMER_BY_KEY = (
    select(Customer.__table__.c.id, Customer.__table__.c.name, ApiKey.__table__.c.id.label("key_id"))
    .join(ApiKey.__table__)
    .where(
        ApiKey.hash == bindparam("hash"),
        ApiKey.revoked_at.is_(None),
        or_(ApiKey.expires_on.is_(None), ApiKey.expires_on >= bindparam("today")),
    )
)
