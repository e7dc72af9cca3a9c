"""The tables: customers, their keys and articles; and the selects that answer the API."""

from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import (
    BigInteger,
    BindParameter,
    CheckConstraint,
    ColumnElement,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Select,
    Text,
    TypeDecorator,
    UniqueConstraint,
    bindparam,
    case,
    func,
    or_,
    select,
    true,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: an aware datetime in Python, UTC to the millisecond in the database.

    Milliseconds are what the API shows. Were more stored, two articles could be ordered by digits that nobody sees.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        value = value.astimezone(UTC)
        return value.replace(microsecond=value.microsecond // 1000 * 1000)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# Text that is compared by its code points, as SQLite does: PostgreSQL's order would depend on its set-up.
PlainText = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")


class Base(DeclarativeBase):
    """What the tables below have in common: they belong to `db`."""


db = SQLAlchemy(model_class=Base)


class TablesVersion(Base):
    """One row: which version of the service's tables these are."""

    __tablename__ = "tables_version"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class Customer(Base):
    __tablename__ = "customer"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)


class ApiKey(Base):
    """A key, of which only the SHA-256 and the first characters are known."""

    __tablename__ = "api_key"

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey(Customer.id))
    hash: Mapped[str] = mapped_column(Text, unique=True)
    first_characters: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_on: Mapped[date | None]  # the last day, in UTC, on which the key is good
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


def _sqlite_check(rule: str) -> CheckConstraint:
    """Refuse, in SQLite, the types and forms that another tool could write and no endpoint could render."""
    return CheckConstraint(rule).ddl_if(dialect="sqlite")


def _list_indexes(name: str, *columns: str) -> tuple[Index, Index]:
    """Give the index that a list in some order walks, to find there all that it filters by.

    PostgreSQL's indexes hold no long texts: there it is all but what a search looks through.
    """
    own = "customer_id", "status", *columns
    return (
        Index(f"article_by_{name}", *own, "search_text").ddl_if(dialect="sqlite"),
        Index(f"article_by_{name}_alone", *own).ddl_if(dialect="postgresql"),
    )


class Article(Base):
    """An article. Its id and slug are the customer's own; `pk` ties its indexes to it.

    The long texts come last: a row that is read for its short columns leaves them on their own pages.
    """

    __tablename__ = "article"

    pk: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey(Customer.id))
    id: Mapped[str] = mapped_column(PlainText)
    slug: Mapped[str] = mapped_column(PlainText)
    status: Mapped[str] = mapped_column(Text)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    views: Mapped[int] = mapped_column(BigInteger)
    title: Mapped[str] = mapped_column(Text)
    folded_title: Mapped[str] = mapped_column(PlainText)  # see fold()
    search_text: Mapped[str] = mapped_column(PlainText)  # folded title, line feed, folded slug
    banner_url: Mapped[str] = mapped_column(Text)
    category: Mapped[str] = mapped_column(Text)
    keywords: Mapped[str] = mapped_column(Text)  # a JSON array of strings
    meta_title: Mapped[str] = mapped_column(Text)
    meta_desc: Mapped[str] = mapped_column(Text)
    read_time: Mapped[float] = mapped_column(Float)  # minutes
    markup_is_made: Mapped[bool]  # schema_markup: from the article, whose changes it follows
    content_html: Mapped[str] = mapped_column(Text)
    schema_markup: Mapped[str] = mapped_column(Text)  # a JSON object

    __table_args__ = (
        UniqueConstraint(customer_id, id),
        UniqueConstraint(customer_id, slug),
        *_list_indexes("publication", "published_at", "id"),
        *_list_indexes("creation", "created_at", "id", "published_at"),
        *_list_indexes("title", "folded_title", "id", "published_at"),
        *_list_indexes("views", "views", "id", "published_at"),
        Index("article_by_slug", customer_id, status, slug, published_at, updated_at),
        CheckConstraint("status = 'draft' OR status = 'published' AND published_at IS NOT NULL"),
        CheckConstraint("read_time >= 0 AND read_time < 1000000"),
        *(
            _sqlite_check(f"json_valid({name}) AND json_type({name}) = '{kind}' AND instr({name}, char(0)) = 0")
            for name, kind in (("keywords", "array"), ("schema_markup", "object"))
        ),
        *(
            _sqlite_check(f"json_type(schema_markup, '$.\"{name}\"') IS '{kind}'")
            for name, kind in (("@context", "text"), ("@graph", "array"))
        ),
        *(
            _sqlite_check(f"typeof({name}) = 'text'")
            for name in [
                "id",
                "slug",
                "title",
                "folded_title",
                "search_text",
                "banner_url",
                "category",
                "keywords",
                "meta_title",
                "meta_desc",
                "content_html",
                "schema_markup",
            ]
        ),
        *(
            # What sorts and compares as text: the form that SQLite's own datetime() gives, with or without a fraction.
            _sqlite_check(
                f"{name} IS datetime({name}, '+0 days') || substr({name}, 20)"
                f" AND rtrim(substr({name}, 20), '0123456789') IN ('', '.') AND substr({name}, 1, 4) > '0000'"
            )
            for name in ("published_at", "created_at", "updated_at")
        ),
    )


article_table = Base.metadata.tables[Article.__tablename__]


# The selects below are made once and then only given their parameters: making one costs as much as running it. They
# read columns of the table, as rows, and are run on the connection itself: entities and the session would cost more.
_article = article_table.c


def _published(words: int, *, ordered: bool) -> tuple[ColumnElement[bool], ...]:
    """Give the condition for a customer's published articles that hold so many words of a search.

    For a list in some order, "IS true" keeps the planner from searching the index by publication and then sorting.
    """
    due = _article.published_at <= bindparam("now")
    return (
        _article.customer_id == bindparam("customer_id"),
        _article.status == "published",
        due.is_(true()) if ordered else due,
        *(_article.search_text.like(bindparam(f"word_{number}"), escape="\\") for number in range(words)),
    )


@lru_cache
def published_total(words: int) -> Select[int]:
    """Count a customer's published articles. Binds `customer_id`, `now`, and `word_0` … as `word_parameters` gives.

    Where all articles are the customer's own, the few that are not published are counted instead, and taken from the
    number of all, which SQLite knows without looking at each: a first page costs the same however many there are.
    """
    count = select(func.count()).select_from(article_table)
    published = count.where(*_published(words, ordered=False))
    if words:
        return published
    customer_id: BindParameter[int] = bindparam("customer_id")
    own = count.where(_article.customer_id == customer_id)
    drafts = own.where(_article.status == "draft").scalar_subquery()
    scheduled = own.where(_article.status == "published", _article.published_at > bindparam("now")).scalar_subquery()
    # Two comparisons, each of which an index answers with its first row; "other than" would read them all.
    one = select(_article.pk)
    others = or_(
        one.where(_article.customer_id < customer_id).exists(), one.where(_article.customer_id > customer_id).exists()
    )
    return select(case((others, published.scalar_subquery()), else_=count.scalar_subquery() - drafts - scheduled))


@lru_cache
def published_page(columns: tuple[str, ...], order_by: str, order: str, words: int) -> Select[Any]:
    """Select `columns` of one page of a customer's published articles.

    Columns are named as in `Article`; `order` is "asc" or "desc"; ties go by id, in the same direction. Binds what
    `published_total` does, and `take` and `skip`. The page is found in the index of its order alone; only then are its
    articles read.
    """
    by = (_article[order_by], _article.id)
    ordering = by if order == "asc" else tuple(column.desc() for column in by)
    page = (
        select(_article.pk)
        .where(*_published(words, ordered=True))
        .order_by(*ordering)
        .limit(bindparam("take", type_=BigInteger))
        .offset(bindparam("skip", type_=BigInteger))
    )
    return select(*(_article[name] for name in columns)).where(_article.pk.in_(page)).order_by(*ordering)


@lru_cache
def published_slugs() -> Select[str, datetime]:
    """Select the `slug` and last change (`changed_at`) of a customer's published articles, ordered by slug.

    Binds `customer_id` and `now`. A publication later than the last update is a change too.
    """
    later = case((_article.updated_at > _article.published_at, _article.updated_at), else_=_article.published_at)
    return select(_article.slug, later.label("changed_at")).where(*_published(0, ordered=True)).order_by(_article.slug)


@lru_cache
def next_publication() -> Select[datetime | None]:
    """Select when the next of a customer's scheduled articles appears. Binds `customer_id` and `now`."""
    return select(func.min(_article.published_at)).where(
        _article.customer_id == bindparam("customer_id"),
        _article.status == "published",
        _article.published_at > bindparam("now"),
    )


@lru_cache
def customer_of_key() -> Select[int, str]:
    """Select the id and name of the customer to whom a good key belongs. Binds its `hash`, and `today` in UTC."""
    return (
        select(Customer.__table__.c.id, Customer.__table__.c.name)
        .join(ApiKey.__table__)
        .where(
            ApiKey.hash == bindparam("hash"),
            ApiKey.revoked_at.is_(None),
            or_(ApiKey.expires_on.is_(None), ApiKey.expires_on >= bindparam("today")),
        )
    )
