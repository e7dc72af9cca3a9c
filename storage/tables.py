"""Creating the tables, and migrating those of an earlier version."""

import os

from sqlalchemy import Connection, Inspector, delete, insert, inspect, select

from models import Base, SchemaVersion, db
from storage import StorageError
from storage.engine import MIGRATION_LOCK, release_connection, write_options
from storage.migration import RENAMED_COLUMNS, upgrade_tables
from storage.sqlite import checkpoint, create_file, require_file, require_writable, sqlite_path

# Increase it whenever a column with a server_default is added. For other changes, extend upgrade_tables too.
SCHEMA_VERSION = 3
OLDEST_TABLES = {"customer", "api_key", "article"}  # which every version has


def open_database(*, create: bool = False) -> str | None:
    """Open the database for a command: create its tables if there are none, and migrate those of an earlier version.

    Only with `create` is a database file that does not exist created; its path is returned then. Otherwise a running
    service would reject every key (401) instead of reporting the missing database (503). A read-only
    database can be used if its tables are of this version. Raises StorageError for a file that is missing, cannot be
    created or may not be written, and for the tables of a newer version or of another program.
    """
    release_connection()  # it might be of a file that is no longer there
    path = sqlite_path(db.engine.url)
    new_file = path if create and path and not os.path.exists(path) else None
    if new_file:
        create_file(new_file)
    if path:
        require_file(path)
    with db.engine.connect() as connection:
        if db.engine.dialect.name == "postgresql":
            _check_encoding(connection)
        version = _schema_version(connection)
    if version != SCHEMA_VERSION:
        if path:
            require_writable(path)
        with db.engine.execution_options(**write_options(MIGRATION_LOCK)).begin() as connection:
            migrate(connection)
    if path:
        checkpoint(path, timeout=0)
    return new_file


def has_own_tables(connection: Connection) -> bool:
    """Return whether the database has this service's tables, of any version."""
    inspector = inspect(connection)
    return all(inspector.has_table(name) and _has_columns(inspector, name) for name in OLDEST_TABLES)


def refuse_foreign_tables(connection: Connection) -> None:
    """Raise StorageError for another program's tables of the same names, and for another program's SQLite file."""
    if has_own_tables(connection):
        return
    inspector = inspect(connection)
    is_file = connection.dialect.name == "sqlite"
    if any(map(inspector.has_table, OLDEST_TABLES)) or (is_file and inspector.get_table_names()):
        name = connection.engine.url.database
        raise StorageError(f"{name} is another program's database. Set DATABASE_URL to another one.")


def _has_columns(inspector: Inspector, name: str) -> bool:
    """Return whether a table has the columns of every version: those added later may be null, or have a default."""
    renamed = {old: new for table, old, new in RENAMED_COLUMNS if table == name}
    existing = {renamed.get(column["name"], column["name"]) for column in inspector.get_columns(name)}
    columns = Base.metadata.tables[name].columns
    return existing >= {column.name for column in columns if not (column.nullable or column.server_default)}


def _schema_version(connection: Connection) -> int | None:
    """Return the version of the tables, 0 for those from before versions, None if there are none.

    Raises StorageError for a newer version than this service knows, and for the tables of another program.
    """
    refuse_foreign_tables(connection)
    if not has_own_tables(connection):
        return None
    if not inspect(connection).has_table(SchemaVersion.__tablename__):
        return 0
    version = connection.scalar(select(SchemaVersion.number))
    if version and version > SCHEMA_VERSION:
        raise StorageError(
            f"A newer version of this service made the database (its tables are of version {version}, this one knows "
            f"{SCHEMA_VERSION}). Install the newer one, or restore a backup from before."
        )
    return version


def _check_encoding(connection: Connection) -> None:
    """Raise StorageError for a PostgreSQL database that cannot hold every text."""
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
    if encoding != "UTF8":
        raise StorageError(
            f"The database's encoding is {encoding}. Make one that holds every text: "
            "CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'"
        )


def migrate(connection: Connection) -> None:
    """Create the tables, or upgrade those of an earlier version, in the connection's transaction.

    Raises StorageError for a newer version, and for an article that the tables of this version cannot hold.
    """
    version = _schema_version(connection)
    if version == SCHEMA_VERSION:  # another process may have been faster
        return
    if version is not None:
        upgrade_tables(connection, version)
    Base.metadata.create_all(connection)
    connection.execute(delete(SchemaVersion))
    connection.execute(insert(SchemaVersion).values(number=SCHEMA_VERSION))
