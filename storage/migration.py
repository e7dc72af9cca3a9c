"""Upgrade tables created by an earlier version, in the caller's transaction."""

from sqlalchemy import Column, Connection, Table, column, insert, inspect, select, table, text
from sqlalchemy.exc import DataError, IntegrityError

from models import TablesVersion, db
from storage import StorageError

# renamed or dropped columns, keyed by the schema version that changed them: {5: {"article.category": "section"}}
RENAMED: dict[int, dict[str, str]] = {}
DROPPED: dict[int, set[str]] = {3: {"article.schema_markup_generated"}}

# SQLite records the last id of each AUTOINCREMENT table; PostgreSQL uses one sequence per generated id column.
LAST_IDS = {
    "sqlite": "SELECT name, seq FROM sqlite_sequence",
    "postgresql": "SELECT sequencename, last_value FROM pg_sequences"
    " WHERE schemaname = current_schema() AND last_value > 0",
}
SET_LAST_ID = {
    "sqlite": "REPLACE INTO sqlite_sequence (rowid, name, seq)"
    " VALUES ((SELECT rowid FROM sqlite_sequence WHERE name = :name), :name, :last_id)",
    "postgresql": "SELECT setval(CAST(:name AS regclass), :last_id)",
}


def upgrade_tables(connection: Connection, version: int) -> None:
    """Recreate the tables as defined in `models`, and copy their rows. New columns get their server default.

    Afterwards, the database has exactly the same tables as a new one. Raises StorageError if a column would be lost, or
    if a row violates the new constraints.
    """
    existing = set(inspect(connection).get_table_names()) - {TablesVersion.__tablename__}
    tables = [new for new in db.metadata.sorted_tables if new.name in existing]
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"LOCK TABLE {', '.join(new.name for new in tables)}")
    columns = {new: _columns_to_copy(connection, new, version) for new in tables}
    last_ids = _read_last_ids(connection, tables, version)
    for new in tables:
        connection.exec_driver_sql(f"CREATE TEMP TABLE old_{new.name} AS SELECT * FROM {new.name}")  # noqa: S608
    if version == 2:  # it stored generated markup, which is no longer stored
        connection.exec_driver_sql("UPDATE old_article SET schema_markup = NULL WHERE schema_markup_generated")
    db.metadata.drop_all(connection)
    db.metadata.create_all(connection)
    for new in tables:
        _copy_rows(connection, new, columns[new])
    for name, last_id in last_ids.items():
        connection.execute(text(SET_LAST_ID[connection.dialect.name]), {"name": name, "last_id": last_id})


def _columns_to_copy(connection: Connection, new: Table, version: int) -> dict[str, Column[object]]:
    """Map each old column, except dropped ones, to its new column. Raises StorageError if one would be lost."""
    new_columns = {new_column.name: new_column for new_column in new.columns}
    found = {}
    for old in inspect(connection).get_columns(new.name):
        name = _current_name(new.name, old["name"], version)
        if name and name not in new_columns:
            raise StorageError(
                f"The upgrade would lose the column {old['name']} of {new.name}, which this version does not have. "
                "If you added it, move its data to a table of your own, drop the column, and try again."
            )
        if name:
            found[old["name"]] = new_columns[name]
    return found


def _current_name(table_name: str, name: str, version: int) -> str | None:
    """Return the current name of a column of an earlier version, or None if it has been dropped since."""
    for later in sorted(RENAMED.keys() | DROPPED.keys()):
        if later > version:
            if f"{table_name}.{name}" in DROPPED.get(later, ()):
                return None
            name = RENAMED.get(later, {}).get(f"{table_name}.{name}", name)
    return name


def _read_last_ids(connection: Connection, tables: list[Table], version: int) -> dict[str, int]:
    """Return the last generated id per table or sequence, so that ids of deleted rows are never reused."""
    dialect = connection.dialect.name
    if (dialect, version) == ("sqlite", 2):  # before AUTOINCREMENT
        return {}
    generated = [(new.name, new.autoincrement_column.name) for new in tables if new.autoincrement_column is not None]
    own = {f"{name}_{id_column}_seq" if dialect == "postgresql" else name for name, id_column in generated}
    return {name: last_id for name, last_id in connection.exec_driver_sql(LAST_IDS[dialect]) if name in own}


def _copy_rows(connection: Connection, new: Table, columns: dict[str, Column[object]]) -> None:
    """Copy rows from the temporary table to the new one, then drop the temporary table.

    Raises StorageError if a row violates a constraint.
    """
    old = table(f"old_{new.name}")
    try:
        rows = insert(new).from_select(list(columns.values()), select(*map(column, columns)).select_from(old))
        connection.execute(rows)
    except (IntegrityError, DataError) as error:
        reason = " ".join(str(error.orig).split())
        raise StorageError(f"Cannot upgrade a row of {new.name} ({reason}). Correct it and try again.") from error
    connection.exec_driver_sql(f"DROP TABLE {old.name}")
