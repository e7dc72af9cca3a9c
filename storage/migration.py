"""Upgrading the tables of an earlier version, in one transaction."""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, FromClause, MetaData, Table, insert, inspect, select, text, update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateColumn, CreateTable

from field_types import printable
from models import ARTICLE_CHECKS, Base, Customer, SchemaVersion, article_table
from storage import StorageError
from storage.selects import BATCH_SIZE
from storage.structured_data import given_schema_markup

RENAMED_COLUMNS = (("api_key", "first_characters", "prefix"),)  # in version 2


def upgrade_tables(connection: Connection, version: int) -> None:
    """Upgrade the tables to this version. Raises StorageError for an article that the new tables cannot hold.

    A column that has a server default is added whatever the version is.
    """
    inspector = inspect(connection)
    for name, old, renamed in RENAMED_COLUMNS:
        if old in {column["name"] for column in inspector.get_columns(name)}:
            connection.exec_driver_sql(f"ALTER TABLE {name} RENAME COLUMN {old} TO {renamed}")
    inspector.clear_cache()
    for table in filter(lambda table: inspector.has_table(table.name), Base.metadata.sorted_tables):
        existing = {column["name"] for column in inspector.get_columns(table.name)}
        for new in (column for column in table.columns if column.name not in existing):
            definition = CreateColumn(new).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")
    if version < 3:
        _check_articles(connection)
        if connection.dialect.name == "sqlite":
            _rebuild_tables(connection)
        else:
            _alter_article(connection)


def _check_articles(connection: Connection) -> None:
    """Raise StorageError, which names the first article that breaks a check of the table, as of version 3."""
    checks = ARTICLE_CHECKS.get(connection.dialect.name, [])
    conditions = " AND ".join(f"({condition})" for _, condition in checks)
    if not checks or not _is_broken(connection, conditions):
        return
    article = article_table.c
    pks = connection.scalars(select(article.pk).order_by(article.pk)).all()
    pk = pks[bisect_left(pks, True, key=lambda pk: _is_broken(connection, conditions, f"pk <= {pk}"))]
    column = next(name for name, condition in checks if _is_broken(connection, condition, f"pk = {pk}"))
    owner = select(article.id, Customer.name).join(Customer.__table__).where(article.pk == pk)
    found = connection.execute(owner).one()
    raise StorageError(
        f"The article {printable(found.id)} of {printable(found.name)} cannot be upgraded: no response can show its "
        f"{column}. Correct that column of the table article in the row with pk {pk}, and try again."
    )


def _is_broken(connection: Connection, condition: str, articles: str = "true") -> bool:
    """Return whether one of the articles, by a condition of their `pk`, does not fulfil another condition."""
    broken = select(article_table.c.pk).where(text(f"{articles} AND NOT ({condition})")).limit(1)
    try:
        with connection.begin_nested():
            return connection.scalar(broken) is not None
    except DBAPIError:  # such as text that is no JSON
        return True


def _rebuild_tables(connection: Connection) -> None:
    """Copy the tables into new ones, since SQLite cannot change the constraints of a table.

    Views, triggers and indexes of other tools are created again (https://www.sqlite.org/lang_altertable.html).
    """
    tables = [table for table in Base.metadata.sorted_tables if table is not SchemaVersion.__table__]
    schema = connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_schema WHERE type != 'table'").all()
    own = {index.name for table in tables for index in table.indexes}
    others = [row for row in schema if row.sql and row.name not in own]
    for kind, name, _ in others:
        connection.exec_driver_sql(f'DROP {kind} "{name}"')
    for table in tables:
        connection.exec_driver_sql(f"ALTER TABLE {table.name} RENAME TO old_{table.name}")
    for table in tables:
        connection.execute(CreateTable(table))
        _copy_rows(connection, table)
    for table in reversed(tables):
        connection.exec_driver_sql(f"DROP TABLE old_{table.name}")
        for index in table.indexes:
            index.create(connection)
    for _, _, sql in others:
        connection.exec_driver_sql(sql)


def _copy_rows(connection: Connection, table: Table) -> None:
    old = table.to_metadata(MetaData(), name=f"old_{table.name}")
    if table is not article_table:
        connection.execute(insert(table).from_select(table.columns.keys(), select(old)))
        return
    for articles in _read_articles(connection, old):
        connection.execute(insert(table), articles)


def _alter_article(connection: Connection) -> None:
    connection.exec_driver_sql("ALTER TABLE article ALTER COLUMN schema_markup DROP NOT NULL")
    for articles in _read_articles(connection, article_table):
        generated = [article["pk"] for article in articles if article["schema_markup"] is None]
        connection.execute(update(article_table).where(article_table.c.pk.in_(generated)).values(schema_markup=None))
    for name in ("schema_markup_generated", "markup_is_made"):  # in versions 2 and 1
        connection.exec_driver_sql(f"ALTER TABLE article DROP COLUMN IF EXISTS {name}")
    for _, condition in ARTICLE_CHECKS["postgresql"]:
        connection.exec_driver_sql(f"ALTER TABLE article ADD CHECK ({condition})")


def _read_articles(connection: Connection, source: FromClause) -> Iterator[list[dict[str, Any]]]:
    """Yield batches of all articles, without structured data that would be generated."""
    publishers = {customer.id: customer.name for customer in connection.execute(select(Customer.id, Customer.name))}
    rows = connection.execute(select(source), execution_options={"yield_per": BATCH_SIZE})
    for batch in rows.mappings().partitions():
        articles = [dict(row) for row in batch]
        for article in articles:
            if given_schema_markup(article, publishers[article["customer_id"]]) is None:
                article["schema_markup"] = None
        yield articles
