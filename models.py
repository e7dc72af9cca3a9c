"""The tables: customers, their API keys and articles."""

from datetime import UTC, date, datetime
from itertools import product

from flask_sqlalchemy import SQLAlchemy
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Date,
    DateTime,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    bindparam,
    update,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from field_types import truncate_to_milliseconds


class UtcDateTime(TypeDecorator[datetime]):
    """An aware datetime in Python, UTC to the millisecond in the database.

    The API shows milliseconds. If more were stored, articles could be ordered by digits that nobody sees.
    """

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return truncate_to_milliseconds(value.astimezone(UTC)) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        if value.tzinfo is None:
            return datetime.combine(value, value.time(), UTC)  # It takes a fifth of the time of replace().
        return value.astimezone(UTC)


def publication_state(status: str, published_at: datetime | None, now: datetime) -> str:
    """Return "draft", "scheduled" or "published", for the two columns of an article."""
    return "scheduled" if status == "published" and published_at and published_at > now else status


# Such text is compared by code points, as SQLite does. PostgreSQL's order would depend on how it was set up.
BinaryCollatedText = Text(collation="C").with_variant(Text(), "sqlite")


class JsonColumn(Text):
    """JSON, stored as text: an "array" or an "object"."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind


class Base(DeclarativeBase):
    """The base class of the tables, which belong to `db`."""


db = SQLAlchemy(model_class=Base)


class TablesVersion(Base):
    """One row: the version of the service's tables."""

    __tablename__ = "tables_version"

    number: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)


class Customer(Base):
    __tablename__ = "customer"
    __table_args__ = ({"sqlite_autoincrement": True},)  # The ids of deleted rows are not used again.

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)


class ApiKey(Base):
    """An API key, of which only the SHA-256 and the first characters are stored."""

    __tablename__ = "api_key"
    __table_args__ = ({"sqlite_autoincrement": True},)

    id: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey(Customer.id))
    hash: Mapped[str] = mapped_column(Text, unique=True)
    prefix: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_on: Mapped[date | None]  # It is the last valid day, in UTC.
    revoked_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


def _covering_index(name: str, *columns: str) -> tuple[Index, Index]:
    """Return the index of a list in one order, with all the columns that the list filters by.

    PostgreSQL's indexes hold no long texts: there the index lacks the text that a search reads.
    """
    filtered = "customer_id", "status", *columns
    return (
        Index(f"article_by_{name}", *filtered, "search_text").ddl_if(dialect="sqlite"),
        Index(f"article_by_{name}_alone", *filtered).ddl_if(dialect="postgresql"),
    )


class Article(Base):
    """An article. Its id and slug are unique within the customer. Indexes refer to a row by its `pk`.

    The long texts come last, so that a row that is read for its short columns leaves them on their own pages.
    """

    __tablename__ = "article"

    pk: Mapped[int] = mapped_column(primary_key=True)
    customer_id: Mapped[int] = mapped_column(ForeignKey(Customer.id))
    id: Mapped[str] = mapped_column(BinaryCollatedText)
    slug: Mapped[str] = mapped_column(BinaryCollatedText)
    status: Mapped[str] = mapped_column(Text)
    published_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    updated_at: Mapped[datetime] = mapped_column(UtcDateTime)
    views: Mapped[int] = mapped_column(BigInteger)
    title: Mapped[str] = mapped_column(Text)
    folded_title: Mapped[str] = mapped_column(BinaryCollatedText)  # storage.search.fold returns it.
    # The folded title, a line feed, and the folded slug.
    search_text: Mapped[str] = mapped_column(BinaryCollatedText)
    banner_url: Mapped[str] = mapped_column(Text)
    category: Mapped[str] = mapped_column(Text)
    keywords: Mapped[str] = mapped_column(JsonColumn("array"))  # The array holds strings.
    meta_title: Mapped[str] = mapped_column(Text)
    meta_desc: Mapped[str] = mapped_column(Text)
    read_time: Mapped[float] = mapped_column(Float)  # It counts minutes.
    content_html: Mapped[str] = mapped_column(Text)
    # None means that storage.structured_data generates it.
    schema_markup: Mapped[str | None] = mapped_column(JsonColumn("object"))

    __table_args__ = (
        UniqueConstraint(customer_id, id),
        UniqueConstraint(customer_id, slug),
        *_covering_index("publication", "published_at", "id"),
        *_covering_index("creation", "created_at", "id", "published_at"),
        *_covering_index("title", "folded_title", "id", "published_at"),
        *_covering_index("views", "views", "id", "published_at"),
        Index("article_by_slug", customer_id, status, slug, published_at, updated_at),
        CheckConstraint("status = 'draft' OR status = 'published' AND published_at IS NOT NULL"),
        CheckConstraint("read_time >= 0 AND read_time < 1000000"),
    )


article_table: Table = Base.metadata.tables[Article.__tablename__]
# It runs with a list of changes.
UPDATE_BY_PK = update(article_table).where(article_table.c.pk == bindparam("article_pk"))

# Conditions for what other tools write, by the type of a column: a response must be able to show it. SQLite keeps
# values of any type in any column, and times as text in the form that datetime() returns, with or without a fraction.
# The modifier "+0 days" turns 30 February into 2 March, so that it differs from what is stored.
CHECKS = {
    "sqlite": {
        Text: "typeof({0}) IN ('text', 'null')",
        JsonColumn: "{0} IS NULL OR json_valid({0}) AND json_type({0}) = '{1.kind}'",
        UtcDateTime: "substr({0}, 1, 19) IS datetime({0}, '+0 days') AND substr({0}, 20) NOT GLOB '*[^.0-9]*'",
        Date: "{0} IS date({0}, '+0 days')",
    },
    "postgresql": {
        JsonColumn: "jsonb_typeof({0}::jsonb) = '{1.kind}'",
        UtcDateTime: "isfinite({0})",
        Date: "isfinite({0})",
    },
}

for table in Base.metadata.tables.values():
    for column, (dialect, checks) in product(table.columns, CHECKS.items()):
        for kind, condition in checks.items():
            if isinstance(column.type, kind):
                check = CheckConstraint(condition.format(column.name, column.type))
                table.append_constraint(check.ddl_if(dialect=dialect))
