"""Upgrade the tables of an earlier version, in the caller's transaction.

On PostgreSQL, the tables are altered. On SQLite, which can alter little, they are recreated as defined in `models`, and
their rows are copied. `storage.versions` lists the changes.
"""

from sqlalchemy import Connection, Table, bindparam, inspect, select, text, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InternalError, NotSupportedError, ProgrammingError

from content.search import search_columns
from models import ApiKey, Article, Customer, db
from storage import StorageError
from storage.engine import POSTGRESQL_LOCKS
from storage.invalid_rows import find_invalid_row
from storage.queries import BATCH_SIZE
from storage.versions import CHANGES, move_times_into_range

SET_LAST_ID = """
    REPLACE INTO sqlite_sequence (rowid, name, seq)
    VALUES ((SELECT rowid FROM sqlite_sequence WHERE name = :name), :name, :last_id)
"""


def upgrade_tables(connection: Connection, version: int) -> list[str]:
    """Upgrade the tables from this version to the current one. Returns messages about values that had to change.

    Afterwards, the database has the same tables as a new one. Raises StorageError if a row violates a new constraint,
    or if something that was added to the tables is in the way: on SQLite a column, on PostgreSQL a view.
    """
    upgrade = _alter_tables if connection.dialect.name == "postgresql" else _recreate_tables
    return upgrade(connection, version)


def _alter_tables(connection: Connection, version: int) -> list[str]:
    """Alter the tables on PostgreSQL. Requests wait while the tables are altered, but not for the search columns."""
    connection.exec_driver_sql(POSTGRESQL_LOCKS["edit"])  # writers lock article before they read customer
    connection.exec_driver_sql("SET CONSTRAINTS ALL IMMEDIATE")  # pending triggers would prevent ALTER TABLE
    _update_search_columns(connection)
    # in the order in which requests read them, so that a request and the upgrade never wait for each other
    connection.exec_driver_sql("LOCK TABLE customer, api_key, article")
    try:
        messages = _apply_changes(connection, version)
    except (IntegrityError, DataError) as error:
        raise _upgrade_error(_find_first_invalid_row(connection) or "the tables", error) from error
    except (InternalError, NotSupportedError, ProgrammingError) as error:
        raise _upgrade_error("the tables", error) from error
    db.metadata.create_all(connection)  # only creates tables that do not exist
    return messages


def _find_first_invalid_row(connection: Connection) -> str | None:
    """Return a name for the first row that violates a constraint on PostgreSQL, which checks updated rows only."""
    for model in (Customer, ApiKey, Article):
        table = model.__tablename__
        row = find_invalid_row(connection, model.__table__, f"UPDATE {table} SET id = id", table)  # noqa: S608
        if row:
            return row
    return None


def _recreate_tables(connection: Connection, version: int) -> list[str]:
    """Recreate the tables on SQLite, and copy their rows. New columns get their server default."""
    existing = set(inspect(connection).get_table_names())
    tables = [table for table in db.metadata.sorted_tables if table.name in existing]
    last_ids = _read_last_ids(connection, tables, version)
    for table in tables:
        connection.exec_driver_sql(f"CREATE TEMP TABLE old_{table.name} AS SELECT * FROM {table.name}")  # noqa: S608
    messages = _apply_changes(connection, version)
    db.metadata.drop_all(connection)
    db.metadata.create_all(connection)
    for table in tables:
        _copy_rows(connection, table)
    for name, last_id in last_ids.items():
        connection.execute(text(SET_LAST_ID), {"name": name, "last_id": last_id})
    _update_search_columns(connection)
    return messages


def _read_last_ids(connection: Connection, tables: list[Table], version: int) -> dict[str, int]:
    """Return the last id of each AUTOINCREMENT table, so that ids of deleted rows are never reused."""
    if version == 2:  # before AUTOINCREMENT
        return {}
    names = {new.name for new in tables}
    last_ids = connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence")
    return {name: last_id for name, last_id in last_ids if name in names}


def _copy_rows(connection: Connection, new: Table) -> None:
    """Copy the rows of the old table to the new one, then drop the old one.

    Raises StorageError if a column would be lost, or if a row violates a constraint.
    """
    old = f"old_{new.name}"
    columns = connection.exec_driver_sql(f"SELECT * FROM {old} LIMIT 0").keys()  # noqa: S608
    for column in columns:
        if column not in new.columns:
            raise StorageError(
                f"The upgrade would lose the column {column} of {new.name}, which this version does not have. "
                "If you added it, move its data to a table of your own, drop the column, and try again."
            )
    names = ", ".join(columns)
    statement = f"INSERT INTO {new.name} ({names}) SELECT {names} FROM {old}"  # noqa: S608
    try:
        connection.exec_driver_sql(statement)
    except IntegrityError as error:
        row = find_invalid_row(connection, new, statement, old)
        raise _upgrade_error(row or f"the table {new.name}", error) from error
    connection.exec_driver_sql(f"DROP TABLE {old}")


def _apply_changes(connection: Connection, version: int) -> list[str]:
    """Apply the changes of all later versions. Returns messages about values that had to change."""
    messages = move_times_into_range(connection) if version < 5 else []
    changes = CHANGES[connection.dialect.name]
    for later in sorted(changes):
        if later > version:
            for statement in changes[later]:
                with connection.begin_nested():  # a failed statement is undone, those before it are not
                    connection.exec_driver_sql(statement)
    return messages


def _update_search_columns(connection: Connection) -> None:
    """Recompute the search columns, and update the articles whose values differ, a batch at a time.

    `content.search` may have changed since they were written. All versions have these columns.
    """
    columns = Article.pk, Article.title, Article.slug, Article.folded_title, Article.search_text
    batch = select(*columns).order_by(Article.pk).limit(BATCH_SIZE)
    change = update(Article).where(Article.pk == bindparam("article"))
    rows = connection.execute(batch).all()
    while rows:
        changed = []
        for row in rows:
            values = search_columns(row.title, row.slug)
            if values != {"folded_title": row.folded_title, "search_text": row.search_text}:
                changed.append({"article": row.pk, **values})
        if changed:
            connection.execute(change, changed)
        rows = connection.execute(batch.where(Article.pk > rows[-1].pk)).all()


def _upgrade_error(subject: str, error: DBAPIError) -> StorageError:
    reason = " ".join(str(error.orig).partition("HINT:")[0].split())
    return StorageError(f"Cannot upgrade {subject} ({reason}). Correct this in the database, and try again.")
