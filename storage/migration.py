"""Upgrading the tables of an earlier version, in one transaction."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, Engine, insert, inspect, select, text
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.schema import CreateColumn

from models import ARTICLE_CHECKS, UPDATE_BY_PK, Base, Customer, SchemaVersion, article_table
from storage import StorageError
from storage.selects import BATCH_SIZE
from storage.structured_data import given_schema_markup


@contextmanager
def begin_migration(engine: Engine) -> Iterator[Connection]:
    """Yield a connection in a transaction in which tables can be replaced.

    In SQLite, other tools' tables that refer to them keep their rows and references: no foreign key is enforced in it,
    and renaming a table rewrites no reference (https://www.sqlite.org/lang_altertable.html#otheralter).
    """
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            for pragma in ("foreign_keys = OFF", "legacy_alter_table = ON"):
                connection.connection.cursor().execute(f"PRAGMA {pragma}")
        try:
            with connection.begin():
                yield connection
        finally:
            connection.invalidate()  # nobody else is to have it


def upgrade_tables(connection: Connection, version: int) -> None:
    """Upgrade the tables to this version. Raises StorageError for a row that the new tables cannot hold.

    A column that has a server default is added whatever the version is.
    """
    inspector = inspect(connection)
    for table in filter(lambda table: inspector.has_table(table.name), Base.metadata.sorted_tables):
        existing = {column["name"] for column in inspector.get_columns(table.name)}
        for new in (column for column in table.columns if column.name not in existing):
            definition = CreateColumn(new).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")
    if version < 3:
        try:
            if connection.dialect.name == "sqlite":
                _rebuild_tables(connection)
            else:
                _alter_article(connection)
        except (IntegrityError, DataError) as error:
            reason = " ".join(str(error.orig).split())
            raise StorageError(f"A row cannot be upgraded ({reason}). Correct it, and try again.") from error


def _rebuild_tables(connection: Connection) -> None:
    """Copy the tables into new ones, since SQLite cannot change the constraints of a table.

    Views, triggers and indexes of other tools are created again.
    """
    tables = [table for table in Base.metadata.sorted_tables if table is not SchemaVersion.__table__]
    query = "SELECT type, name, sql FROM sqlite_schema WHERE type != 'table' AND sql IS NOT NULL"
    definitions = connection.exec_driver_sql(query).all()
    for kind, name, _ in definitions:
        connection.exec_driver_sql(f'DROP {kind} IF EXISTS "{name}"')  # a view takes its triggers along
    for table in tables:
        connection.exec_driver_sql(f"ALTER TABLE {table.name} RENAME TO old_{table.name}")
    for table in tables:
        table.create(connection)
        names = table.columns.keys()
        rows = select(*map(text, names)).select_from(text(f"old_{table.name}"))
        connection.execute(insert(table).from_select(names, rows))
    for table in reversed(tables):
        connection.exec_driver_sql(f"DROP TABLE old_{table.name}")
    _remove_generated_markup(connection)  # before a trigger could see it
    own = {index.name for table in tables for index in table.indexes}
    for _, name, sql in definitions:
        if name not in own:
            connection.exec_driver_sql(sql)


def _alter_article(connection: Connection) -> None:
    """Change the table as `_rebuild_tables` does, in PostgreSQL."""
    for statement in (
        "ALTER TABLE article ALTER COLUMN schema_markup DROP NOT NULL",
        "ALTER TABLE article DROP COLUMN schema_markup_generated",
        *(f"ALTER TABLE article ADD CHECK ({condition})" for condition in ARTICLE_CHECKS["postgresql"]),
    ):
        connection.exec_driver_sql(statement)
    _remove_generated_markup(connection)


def _remove_generated_markup(connection: Connection) -> None:
    """Remove structured data that would be just what is generated when it is read. Another tool may have written it."""
    publishers = {customer.id: customer.name for customer in connection.execute(select(Customer.id, Customer.name))}
    rows = connection.execute(select(article_table), execution_options={"yield_per": BATCH_SIZE})
    generated = [
        {"article_pk": row["pk"]}
        for batch in rows.mappings().partitions()
        for row in batch
        if given_schema_markup(dict(row), publishers.get(row["customer_id"], "")) is None
    ]
    if generated:
        connection.execute(UPDATE_BY_PK.values(schema_markup=None), generated)
