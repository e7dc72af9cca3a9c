"""The tables: customers, their API keys, and articles.

CHECK constraints keep out statuses, times and JSON that another tool might write but the API could not represent.
SQLite stores timestamps as text, in the format of its datetime() function.
"""

from datetime import UTC, date, datetime

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from schema_fields import truncate_to_milliseconds


class Base(DeclarativeBase):
    """The declarative base for `db.Model`."""


db = SQLAlchemy(model_class=Base)


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC with millisecond precision.

    The API returns milliseconds. If more digits were stored, they would affect the sort order invisibly.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return truncate_to_milliseconds(value.astimezone(UTC)) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


# sorts by code point, like SQLite; PostgreSQL's default depends on the locale
BinaryText = Text(collation="C").with_variant(Text(), "sqlite")


PUBLICATION_STATES = ("published", "scheduled", "pending", "draft")


def publication_state(status: str, published_at: datetime | None, now: datetime) -> str:
    """Return an article's state, one of `PUBLICATION_STATES`.

    Pending articles are hidden until somebody here agrees to publish them.
    """
    return "scheduled" if status == "published" and published_at and published_at > now else status


def sqlite_check(condition: str) -> CheckConstraint:
    """Return a CHECK constraint for SQLite only."""
    return CheckConstraint(condition).ddl_if(dialect="sqlite")


def postgresql_check(condition: str) -> CheckConstraint:
    """Return a CHECK constraint for PostgreSQL only."""
    return CheckConstraint(condition).ddl_if(dialect="postgresql")


def json_checks(column: str, kind: str) -> tuple[CheckConstraint, CheckConstraint]:
    """Return the CHECK constraints for a JSON column; `kind` is "array" or "object"."""
    return (
        sqlite_check(f"{column} IS NULL OR json_valid({column}) AND json_type({column}) = '{kind}'"),
        postgresql_check(f"jsonb_typeof({column}::jsonb) = '{kind}'"),
    )


def timestamp_checks(column: str) -> tuple[CheckConstraint, CheckConstraint]:
    """Return the CHECK constraints for a timestamp. Python can only represent the years 1 to 9999."""
    # "+0 days" normalizes invalid dates: 30 February becomes 2 March, which no longer equals the stored text
    is_valid_to_the_second = f"substr({column}, 1, 19) IS datetime({column}, '+0 days')"
    rest_is_fraction = f"substr({column}, 20) NOT GLOB '*[^.0-9]*'"
    return (
        sqlite_check(f"{is_valid_to_the_second} AND {rest_is_fraction} AND {column} >= '0001-01-01'"),
        postgresql_check(f"{column} >= '0001-01-01 00:00:00+00' AND {column} < '10000-01-01 00:00:00+00'"),
    )


def date_checks(column: str) -> tuple[CheckConstraint, CheckConstraint]:
    """Return the CHECK constraints for a date, like those for timestamps."""
    return (
        sqlite_check(f"{column} IS date({column}, '+0 days') AND {column} >= '0001-01-01'"),
        postgresql_check(f"{column} BETWEEN '0001-01-01' AND '9999-12-31'"),
    )


class SchemaVersion(db.Model):
    """The version of the tables, in a single row."""

    __tablename__ = "tables_version"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class Customer(db.Model):
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    site: Mapped[str] = mapped_column(Text, server_default="")  # where the customer's own site shows articles

    __table_args__ = (
        UniqueConstraint("name"),
        {"sqlite_autoincrement": True},  # never reuse the id of a deleted row
    )


class ApiKey(db.Model):
    """An API key. Only its SHA-256 and its first characters are stored."""

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int]
    hash: Mapped[str] = mapped_column(Text)
    prefix: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_on: Mapped[date | None]  # last valid day (UTC)
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)

    __table_args__ = (
        ForeignKeyConstraint(["customer_id"], ["customer.id"]),
        UniqueConstraint("hash"),
        *timestamp_checks("created_at"),
        *date_checks("expires_on"),
        *timestamp_checks("revoked_at"),
        {"sqlite_autoincrement": True},
    )


def covering_index(name: str, *columns: str) -> tuple[Index, Index]:
    """Return an index for one sort order: a definition for SQLite, and one for PostgreSQL.

    It contains every column needed for paging and, on SQLite, the search text. PostgreSQL limits the size of an index
    row (to 2,704 bytes), so the search text might not fit.
    """
    needed = "customer_id", "status", *columns
    return (
        Index(f"article_by_{name}", *needed, "search_text").ddl_if(dialect="sqlite"),
        Index(f"article_by_{name}", *needed).ddl_if(dialect="postgresql"),
    )


class Article(db.Model):
    """An article. Per customer, `id` and `slug` are unique, and so are `source` and `source_key` together.

    `pk` is internal, and SQLite's rowid.

    Long texts come last, so that reading a row's short columns does not touch its overflow pages.
    """

    pk: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int]
    id: Mapped[str] = mapped_column(BinaryText)
    slug: Mapped[str] = mapped_column(BinaryText)
    status: Mapped[str] = mapped_column(Text)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    views: Mapped[int] = mapped_column(BigInteger)
    source: Mapped[str | None] = mapped_column(BinaryText)  # that it comes from; NULL for the customer's own
    source_key: Mapped[str | None] = mapped_column(BinaryText)  # which article of the source it is
    # changed here, so that imports leave it alone: title, slug, text and other fields; status and date
    text_edited: Mapped[bool] = mapped_column(server_default=false())
    publication_edited: Mapped[bool] = mapped_column(server_default=false())
    title: Mapped[str] = mapped_column(Text)
    folded_title: Mapped[str] = mapped_column(BinaryText)  # content.search.fold(title)
    search_text: Mapped[str] = mapped_column(BinaryText)  # folded title, line feed, folded slug
    banner_url: Mapped[str] = mapped_column(Text)
    category: Mapped[str] = mapped_column(Text)
    keywords: Mapped[str] = mapped_column(Text)  # JSON array of strings
    authors: Mapped[str] = mapped_column(Text, server_default="[]")  # JSON array of strings
    meta_title: Mapped[str] = mapped_column(Text)
    meta_desc: Mapped[str] = mapped_column(Text)
    read_time: Mapped[float] = mapped_column(Float)  # minutes
    content_html: Mapped[str] = mapped_column(Text)
    # JSON object; NULL if content.structured_data generates it
    schema_markup: Mapped[str | None] = mapped_column(Text)

    __table_args__ = (
        UniqueConstraint("customer_id", "id"),
        UniqueConstraint("customer_id", "slug"),
        UniqueConstraint("customer_id", "source", "source_key"),  # NULLs are distinct
        *covering_index("publication", "published_at", "id"),
        *covering_index("creation", "created_at", "id", "published_at"),
        *covering_index("title", "folded_title", "id", "published_at"),
        *covering_index("views", "views", "id", "published_at"),
        Index("article_by_slug", "customer_id", "status", "slug", "published_at", "updated_at"),
        CheckConstraint("status IN ('draft', 'pending') OR status = 'published' AND published_at IS NOT NULL"),
        ForeignKeyConstraint(["customer_id"], ["customer.id"]),
        *timestamp_checks("published_at"),
        *timestamp_checks("created_at"),
        *timestamp_checks("updated_at"),
        *json_checks("keywords", "array"),
        *json_checks("authors", "array"),
        *json_checks("schema_markup", "object"),
    )
