"""Create, check and upgrade the tables.

An upgrade alters the tables on PostgreSQL. On SQLite, which can alter little, it copies their rows to new tables:

    CREATE TEMP TABLE old_article AS SELECT * FROM article      -- CHANGES alter this copy, which has no constraints
    INSERT INTO article (pk, …) SELECT pk, … FROM old_article   -- article has been recreated as defined in models.py
"""

from typing import Any

from sqlalchemy import Connection, Table, bindparam, insert, inspect, select, text, update
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, InternalError, NotSupportedError, ProgrammingError

from content.search import search_columns
from models import Article, TablesVersion, db
from storage import StorageError
from storage.engine import POSTGRESQL_LOCKS
from storage.queries import BATCH_SIZE
from storage.versions import CHANGES, ROW_NAMES, move_times_into_range

TABLES_VERSION = max(CHANGES)
OLDEST_VERSION = 2  # release 1.0.0
TABLES_OF_EVERY_VERSION = {"customer", "api_key", "article"}
# the condition of a CHECK constraint of PostgreSQL; binds `table` and `name`
CHECK_CONDITION = text(
    "SELECT pg_get_expr(conbin, conrelid) FROM pg_constraint WHERE conrelid = to_regclass(:table) AND conname = :name"
)


def migrate(connection: Connection, name: str) -> list[str]:
    """Create or upgrade the tables in the connection's transaction. Messages refer to the database as `name`.

    Upgraded tables are the same as new ones. Returns messages about what was done, if anything, and about values that
    had to change. Raises StorageError if the tables are incomplete or belong to another program, if a row violates a
    new constraint, or if something that was added is in the way: on SQLite a column, on PostgreSQL a view.
    """
    version = read_tables_version(connection, name)
    if version == TABLES_VERSION:  # another process upgraded them in the meantime
        return []
    if version:
        upgrade = _alter_tables if connection.dialect.name == "postgresql" else _recreate_tables
        messages = upgrade(connection, version)
        connection.execute(update(TablesVersion).values(number=TABLES_VERSION))
        return [f"Upgraded the tables in {name} from version {version} to {TABLES_VERSION}.", *messages]
    db.metadata.create_all(connection)
    connection.execute(insert(TablesVersion).values(number=TABLES_VERSION))
    return [f"Created the tables in {name}, which had none. If you expected articles in it, restore a backup."]


def read_tables_version(connection: Connection, name: str) -> int | None:
    """Return the version of the tables, or None if there are none.

    Raises StorageError if they are incomplete, of an unsupported version, or belong to another program.
    """
    if not has_tables(connection):
        refuse_foreign_tables(connection)
        return None
    version = connection.scalar(select(TablesVersion.number))
    if version not in range(OLDEST_VERSION, TABLES_VERSION + 1):
        raise StorageError(
            f"The tables of {name} have version {version}, but this release only supports versions {OLDEST_VERSION} to "
            f"{TABLES_VERSION}. Install a matching release, or restore another backup."
        )
    required = db.metadata.tables.keys() if version == TABLES_VERSION else TABLES_OF_EVERY_VERSION
    if missing := required - set(inspect(connection).get_table_names()):
        names = ", ".join(sorted(missing))
        raise StorageError(f"Tables are missing from {name}: {names}. Restore an intact backup.")
    return version


def has_tables(connection: Connection) -> bool:
    """Return whether the database has this service's tables, in any version."""
    return inspect(connection).has_table(TablesVersion.__tablename__)


def refuse_foreign_tables(connection: Connection) -> None:
    """Raise StorageError if the tables belong to another program."""
    names = set(inspect(connection).get_table_names())
    # A SQLite file belongs to a single program, whereas a PostgreSQL schema may be shared.
    taken = names if connection.dialect.name == "sqlite" else names & db.metadata.tables.keys()
    if taken and not has_tables(connection):
        raise StorageError(f"{connection.engine.url.database} contains tables of another program. Check DATABASE_URL.")


def _alter_tables(connection: Connection, version: int) -> list[str]:
    """Alter the tables on PostgreSQL. Requests wait while the tables are altered, but not for the search columns."""
    connection.exec_driver_sql(POSTGRESQL_LOCKS["edit"])  # writers lock article before they read customer
    connection.exec_driver_sql("SET CONSTRAINTS ALL IMMEDIATE")  # pending triggers would prevent ALTER TABLE
    _update_search_columns(connection)
    # in the order in which requests read them, so that a request and the upgrade never wait for each other
    connection.exec_driver_sql("LOCK TABLE customer, api_key, article")
    try:
        messages = _apply_changes(connection, version)
    except (DataError, IntegrityError, InternalError, NotSupportedError, ProgrammingError) as error:
        raise _upgrade_error(_find_violation(connection, error) or "the tables", error) from error
    db.metadata.create_all(connection)  # only creates tables that do not exist
    return messages


def _find_violation(connection: Connection, error: DBAPIError) -> str | None:
    """Return a name for a row that violates the CHECK constraint in an error from PostgreSQL."""
    driver_error: Any = error.orig
    violated = driver_error.diag
    table = violated.table_name
    condition = connection.scalar(CHECK_CONDITION, {"table": table, "name": violated.constraint_name})
    if not condition:  # the error has another cause, such as a view that needs a dropped column
        return None
    find_rows = text(f"SELECT {ROW_NAMES[table]} FROM {table} WHERE NOT ({condition})")  # noqa: S608
    row: str | None = connection.scalar(find_rows)
    return row


def _recreate_tables(connection: Connection, version: int) -> list[str]:
    """Recreate the tables on SQLite, and copy their rows. New columns get their server default."""
    existing = set(inspect(connection).get_table_names())
    tables = [table for table in db.metadata.sorted_tables if table.name in existing]
    has_last_ids = version > 2  # version 2 had no AUTOINCREMENT
    last_ids = connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence").all() if has_last_ids else []
    for table in tables:
        connection.exec_driver_sql(f"CREATE TEMP TABLE old_{table.name} AS SELECT * FROM {table.name}")  # noqa: S608
    messages = _apply_changes(connection, version)
    db.metadata.drop_all(connection)
    db.metadata.create_all(connection)
    for table in tables:
        _copy_rows(connection, table)
    for name, last_id in last_ids:  # so that ids of deleted rows are never reused
        connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last_id))
    _update_search_columns(connection)
    return messages


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
    rows = f"INTO {new.name} ({names}) SELECT {names} FROM {old}"  # noqa: S608
    try:
        connection.exec_driver_sql(f"INSERT {rows}")
    except IntegrityError as error:
        connection.exec_driver_sql(f"INSERT OR IGNORE {rows}")  # all but the invalid rows
        raise _upgrade_error(_find_missing_row(connection, new), error) from error
    connection.exec_driver_sql(f"DROP TABLE {old}")


def _find_missing_row(connection: Connection, new: Table) -> str:
    """Return a name for the first row of the old table that the new one lacks."""
    (pk,) = new.primary_key.columns.keys()
    missing = f"FROM old_{new.name} WHERE {pk} NOT IN (SELECT {pk} FROM {new.name}) ORDER BY {pk}"  # noqa: S608
    name = ROW_NAMES.get(new.name, f"'a row of {new.name}'")
    return str(connection.exec_driver_sql(f"SELECT {name} {missing} LIMIT 1").scalar_one())


def _apply_changes(connection: Connection, version: int) -> list[str]:
    """Apply the changes of all later versions. Returns messages about values that had to change."""
    with connection.begin_nested():  # If it fails, PostgreSQL can still find the row.
        messages = move_times_into_range(connection) if version < 5 else []
    for later, changes in CHANGES.items():
        if later > version:
            for statement in changes[connection.dialect.name]:
                with connection.begin_nested():  # a failed statement is undone, those before it are not
                    connection.exec_driver_sql(statement)
    return messages


def _update_search_columns(connection: Connection) -> None:
    """Recompute the search columns, and update the articles whose values differ, a batch at a time.

    `content.search` may have changed since they were written. All versions have these columns.
    """
    columns = Article.pk, Article.title, Article.slug, Article.folded_title, Article.search_text
    batch = select(*columns).order_by(Article.pk).limit(BATCH_SIZE)
    rows = connection.execute(batch).all()
    while rows:
        changed = []
        for row in rows:
            values = search_columns(row.title, row.slug)
            if values != {"folded_title": row.folded_title, "search_text": row.search_text}:
                changed.append({"article": row.pk, **values})
        if changed:
            connection.execute(update(Article).where(Article.pk == bindparam("article")), changed)
        rows = connection.execute(batch.where(Article.pk > rows[-1].pk)).all()


def _upgrade_error(subject: str, error: DBAPIError) -> StorageError:
    reason = " ".join(str(error.orig).partition("HINT:")[0].split())
    return StorageError(f"Cannot upgrade {subject} ({reason}). Correct this in the database, and try again.")
