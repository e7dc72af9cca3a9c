"""Upgrading the tables of an earlier version, in one transaction."""

from sqlalchemy import Connection, Table, column, insert, inspect, select, table, text
from sqlalchemy.exc import DataError, IntegrityError

from models import TablesVersion, db
from storage import StorageError

# The last ids that were given to rows, by dialect: SQLite's entry for a table, and PostgreSQL's sequences.
LAST_IDS = {
    "sqlite": "SELECT name, seq FROM sqlite_sequence WHERE name IN ('customer', 'api_key')",
    "postgresql": "SELECT sequencename, last_value FROM pg_sequences WHERE schemaname = current_schema()"
    " AND last_value > 0 AND sequencename IN ('customer_id_seq', 'api_key_id_seq', 'article_pk_seq')",
}
SET_LAST_ID = {
    "sqlite": "REPLACE INTO sqlite_sequence (rowid, name, seq)"
    " VALUES ((SELECT rowid FROM sqlite_sequence WHERE name = :name), :name, :last_id)",
    "postgresql": "SELECT setval(CAST(:name AS regclass), :last_id)",
}


def upgrade_tables(connection: Connection, version: int) -> None:
    """Replace the tables by new ones, as `models` declares them, and copy the rows.

    An upgraded database thus equals a new one. A new column gets its server default. Raises StorageError for a row that
    the new tables cannot hold.
    """
    dialect = connection.dialect.name
    tables = [new for new in db.metadata.sorted_tables if new is not TablesVersion.__table__]
    if dialect == "postgresql":
        connection.exec_driver_sql("LOCK TABLE customer, api_key, article")
    # SQLite's tables of version 2 did not keep their last ids.
    last_ids = [] if (dialect, version) == ("sqlite", 2) else connection.exec_driver_sql(LAST_IDS[dialect]).all()
    for new in tables:
        connection.exec_driver_sql(f"CREATE TEMP TABLE old_{new.name} AS SELECT * FROM {new.name}")  # noqa: S608
    if version == 2:  # It stored what is now generated when an article is read.
        connection.exec_driver_sql("UPDATE old_article SET schema_markup = NULL WHERE schema_markup_generated")
    db.metadata.drop_all(connection)
    db.metadata.create_all(connection)
    for new in tables:
        _copy_rows(connection, new)
    for name, last_id in last_ids:
        # The ids of deleted customers and keys are not used again.
        connection.execute(text(SET_LAST_ID[dialect]), {"name": name, "last_id": last_id})


def _copy_rows(connection: Connection, new: Table) -> None:
    """Copy the rows that an old table held into the new one. Raises StorageError for a row that it cannot hold."""
    old = f"old_{new.name}"
    names = [found["name"] for found in inspect(connection).get_columns(old) if found["name"] in new.columns]
    try:
        connection.execute(insert(new).from_select(names, select(*map(column, names)).select_from(table(old))))
    except (IntegrityError, DataError) as error:
        reason = " ".join(str(error.orig).split())
        raise StorageError(f"A row of {new.name} cannot be upgraded ({reason}). Correct it, and try again.") from error
    connection.exec_driver_sql(f"DROP TABLE {old}")
