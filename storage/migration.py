"""Upgrading the tables of an earlier version, in one transaction."""

from sqlalchemy import Connection, insert, inspect, select, text
from sqlalchemy.exc import DataError, IntegrityError
from sqlalchemy.schema import CreateColumn

from models import ARTICLE_CHECKS, Base, SchemaVersion
from storage import StorageError

GIVEN_MARKUP = "CASE WHEN NOT schema_markup_generated THEN schema_markup END"  # the rest is no longer stored


def upgrade_tables(connection: Connection, version: int) -> None:
    """Upgrade the tables to this version. Raises StorageError for an article that the new tables cannot hold.

    A column that has a server default is added whatever the version is.
    """
    inspector = inspect(connection)
    for table in filter(lambda table: inspector.has_table(table.name), Base.metadata.sorted_tables):
        existing = {column["name"] for column in inspector.get_columns(table.name)}
        for new in (column for column in table.columns if column.name not in existing):
            definition = CreateColumn(new).compile(dialect=connection.dialect)
            connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {definition}")
    try:
        if version < 3:
            (_rebuild_tables if connection.dialect.name == "sqlite" else _alter_article)(connection)
    except (IntegrityError, DataError) as error:
        reason = " ".join(str(error.orig).split())
        raise StorageError(f"An article cannot be upgraded ({reason}). Correct it, and try again.") from error


def _rebuild_tables(connection: Connection) -> None:
    """Copy the tables into new ones, since SQLite cannot change the constraints of a table.

    Views, triggers and indexes of other tools are created again (https://www.sqlite.org/lang_altertable.html).
    """
    tables = [table for table in Base.metadata.sorted_tables if table is not SchemaVersion.__table__]
    query = "SELECT type, name, sql FROM sqlite_schema WHERE type != 'table' AND sql IS NOT NULL"
    definitions = connection.exec_driver_sql(query).all()
    for kind, name, _ in definitions:
        connection.exec_driver_sql(f'DROP {kind} "{name}"')
    for table in tables:
        connection.exec_driver_sql(f"ALTER TABLE {table.name} RENAME TO old_{table.name}")
    for table in tables:
        table.create(connection)
        names = table.columns.keys()
        values = [text(GIVEN_MARKUP if name == "schema_markup" else name) for name in names]
        rows = select(*values).select_from(text(f"old_{table.name}"))
        connection.execute(insert(table).from_select(names, rows))
    for table in reversed(tables):
        connection.exec_driver_sql(f"DROP TABLE old_{table.name}")
    own = {index.name for table in tables for index in table.indexes}
    for _, name, sql in definitions:
        if name not in own:
            connection.exec_driver_sql(sql)


def _alter_article(connection: Connection) -> None:
    """Change the table as `_rebuild_tables` does, in PostgreSQL."""
    for statement in (
        "ALTER TABLE article ALTER COLUMN schema_markup DROP NOT NULL",
        "UPDATE article SET schema_markup = NULL WHERE schema_markup_generated",
        "ALTER TABLE article DROP COLUMN schema_markup_generated",
        *(f"ALTER TABLE article ADD CHECK ({condition})" for condition in ARTICLE_CHECKS["postgresql"]),
    ):
        connection.exec_driver_sql(statement)
