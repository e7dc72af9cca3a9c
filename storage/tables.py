"""Creating the tables, and migrating those of an earlier version."""

import os

from sqlalchemy import Connection, delete, insert, inspect, select

from models import Base, SchemaVersion, article_table, db
from storage import StorageError
from storage.engine import MIGRATION_LOCK, release_connection, write_options
from storage.migration import begin_migration, upgrade_tables
from storage.sqlite import checkpoint, create_file, require_file, require_writable, sqlite_path

# Increase it whenever a column with a server_default is added. For other changes, extend upgrade_tables too.
SCHEMA_VERSION = 3
OLDEST_VERSION = 2  # which can be upgraded: that of 1.0.0


def open_database(*, create: bool = False) -> str | None:
    """Open the database for a command: create its tables if there are none, and migrate those of an earlier version.

    Only with `create` is a database file that does not exist created; its path is returned then. Otherwise a running
    service would reject every key (401) instead of reporting the missing database (503). A read-only
    database can be used if its tables are of this version. Raises StorageError for a file that is missing, cannot be
    created or may not be written, and for tables of another program or of a version that it does not know.
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
        with begin_migration(db.engine.execution_options(**write_options(MIGRATION_LOCK))) as connection:
            migrate(connection)
    if path:
        checkpoint(path, timeout=0)
    return new_file


def has_own_tables(connection: Connection) -> bool:
    """Return whether the database has this service's tables, of any version.

    Of its articles every version has these columns: those added later may be null, or have a default.
    """
    inspector = inspect(connection)
    if not all(map(inspector.has_table, ("customer", "api_key", "article"))):
        return False
    oldest = {column.name for column in article_table.columns if not (column.nullable or column.server_default)}
    return oldest <= {column["name"] for column in inspector.get_columns("article")}


def refuse_foreign_tables(connection: Connection) -> None:
    """Raise StorageError for another program's tables of the same names, and for another program's SQLite file."""
    if has_own_tables(connection):
        return
    names = set(inspect(connection).get_table_names())
    if names if connection.dialect.name == "sqlite" else names & Base.metadata.tables.keys():
        name = connection.engine.url.database
        raise StorageError(f"{name} is another program's database. Set DATABASE_URL to another one.")


def _schema_version(connection: Connection) -> int | None:
    """Return the version of the tables, None if there are none.

    Raises StorageError for a newer version than this service knows or an older one than it upgrades, and for the tables
    of another program.
    """
    if not has_own_tables(connection):
        refuse_foreign_tables(connection)
        return None
    has_version = inspect(connection).has_table(SchemaVersion.__tablename__)
    version: int | None = connection.scalar(select(SchemaVersion.number)) if has_version else None
    if version is None or version < OLDEST_VERSION:
        raise StorageError(
            "A version of this service before 1.0.0 made the database. Upgrade to version 1.0.0 first: install it, and "
            "start it once."
        )
    if version > SCHEMA_VERSION:
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

    Raises StorageError for a version that it cannot upgrade, and for a row that the new tables cannot hold.
    """
    version = _schema_version(connection)
    if version == SCHEMA_VERSION:  # another process may have been faster
        return
    if version is not None:
        upgrade_tables(connection, version)
    Base.metadata.create_all(connection)
    connection.execute(delete(SchemaVersion))
    connection.execute(insert(SchemaVersion).values(number=SCHEMA_VERSION))
