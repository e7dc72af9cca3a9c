"""Queries used by the endpoints and by some commands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from flask import current_app
from sqlalchemy import ColumnElement, Select, SQLColumnExpression, and_, bindparam, case, cast, exists, func, select
from sqlalchemy.dialects.postgresql import JSONB

from content.search import search_words
from models import ApiKey, Article, Customer, db

BATCH_SIZE = 500  # rows in memory at a time

# the short columns of articles, for commands and imports
ARTICLE_SUMMARIES = select(
    *(Article.pk, Article.id, Article.slug, Article.title, Article.status, Article.published_at),
    *(Article.source, Article.source_key, Article.text_edited, Article.publication_edited),
)

# conditions for a valid key; they bind `today`, the UTC date
VALID_KEY = ApiKey.revoked_at.is_(None), ApiKey.expires_on.is_(None) | (ApiKey.expires_on >= bindparam("today"))


class KeyOwner(NamedTuple):
    """The customer to whom an API key belongs. The cache keeps one per response, and a row would take up kilobytes."""

    customer_id: int
    name: str
    site: str
    key_id: int


# a `KeyOwner`; binds `hash` and `today`, the UTC date
OWNER_BY_KEY = (
    select(Customer.id.label("customer_id"), Customer.name, Customer.site, ApiKey.id.label("key_id"))
    .join(ApiKey, ApiKey.customer_id == Customer.id)
    .where(ApiKey.hash == bindparam("hash"), *VALID_KEY)
)

# conditions for a customer's articles and for published ones; they bind `customer_id` and `now`
_OF_CUSTOMER = Article.customer_id == bindparam("customer_id")
_HAS_STATUS_PUBLISHED = Article.status == "published"  # includes scheduled articles
IS_PUBLISHED = and_(_HAS_STATUS_PUBLISHED, Article.published_at <= bindparam("now"))

# time at which the customer's next scheduled article is due
NEXT_PUBLICATION: Select[datetime | None] = select(func.min(Article.published_at)).where(
    _OF_CUSTOMER, _HAS_STATUS_PUBLISHED, Article.published_at > bindparam("now")
)


@dataclass(frozen=True, eq=False)
class AccessRule:
    """Who may read which articles, as queries. Queries for articles may bind `customer_id` and `now`."""

    key_owner: Select[int, str, str, int]  # as `OWNER_BY_KEY`
    is_visible: ColumnElement[bool]  # of an article of the customer
    published_at: SQLColumnExpression[datetime | None]

    @cached_property
    def visible(self) -> tuple[ColumnElement[bool], ...]:
        """Conditions for the customer's visible articles."""
        return _OF_CUSTOMER, self.is_visible

    @cached_property
    def count(self) -> Select[int, datetime | None]:
        """The number of visible articles, and `next_publication_at`."""
        next_publication_at = NEXT_PUBLICATION.scalar_subquery().label("next_publication_at")
        return select(func.count(), next_publication_at).select_from(Article).where(*self.visible)

    @cached_property
    def slugs(self) -> Select[str, datetime | None]:
        """The `slug` and `changed_at` of visible articles. Publication counts as a change."""
        changed_at = case((Article.updated_at > self.published_at, Article.updated_at), else_=self.published_at)
        return select(Article.slug, changed_at.label("changed_at")).where(*self.visible).order_by(Article.slug)


# the rule of every service
PUBLIC = AccessRule(key_owner=OWNER_BY_KEY, is_visible=IS_PUBLISHED, published_at=Article.published_at)


def access_rule() -> AccessRule:
    """Return the rule of the current application: `PUBLIC`, except in the draft preview."""
    rule: AccessRule = current_app.extensions["access_rule"]
    return rule


def build_conditions(query: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    """Return the conditions for `q`, `slug`, `category` and `keyword`, those present in `query`.

    Requires an application context, because databases search JSON differently.
    """
    conditions: list[ColumnElement[bool]] = []
    if query.get("q"):
        conditions += [Article.search_text.contains(word, autoescape=True) for word in search_words(query["q"])]
    columns = {"slug": Article.slug, "category": Article.category}
    conditions += [column == query[name] for name, column in columns.items() if name in query]
    if "keyword" in query:
        conditions.append(_has_keyword(query["keyword"]))
    return conditions


def _has_keyword(keyword: str) -> ColumnElement[bool]:
    if db.engine.dialect.name == "postgresql":
        return cast(Article.keywords, JSONB).contains([keyword])
    keywords: Any = func.json_each(Article.keywords).table_valued("value").columns
    return exists().where(keywords.value == keyword)


def select_page(
    rule: AccessRule, columns: tuple[str, ...], order_by: str, order: str, conditions: Sequence[ColumnElement[bool]]
) -> Select[Any]:
    """Select one page of the visible articles that meet the conditions. Also binds `take` and `skip`.

    `order` is "asc" or "desc". Ties are broken by id in the same direction.
    """
    # Most requests have no conditions, and building the statement takes longer than running it.
    build_page = _build_page if conditions else _build_page_once
    return build_page(rule, columns, order_by, order, *conditions)


def _build_page(
    rule: AccessRule, columns: tuple[str, ...], order_by: str, order: str, *conditions: ColumnElement[bool]
) -> Select[Any]:
    """Build the statement of `select_page`. Its subquery finds the page in an index.

    Without it, SQLite would sort entire rows for most orders, which takes up to a second for 10,000 articles.
    """
    expressions: dict[str, Any] = {"published_at": rule.published_at}
    sort_columns = [expressions.get(order_by, getattr(Article, order_by)), Article.id]
    ordering = [column.desc() for column in sort_columns] if order == "desc" else sort_columns
    page = select(Article.pk).where(*rule.visible, *conditions).order_by(*ordering)
    page = page.limit(bindparam("take")).offset(bindparam("skip"))
    selected = [expressions.get(name, getattr(Article, name)).label(name) for name in columns]
    return select(*selected).where(Article.pk.in_(page)).order_by(*ordering)


_build_page_once = lru_cache(_build_page)
