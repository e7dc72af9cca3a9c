"""Create or upgrade the tables, and check that they belong to this service."""

import os

from sqlalchemy import Connection, insert, inspect, select, update

from models import TablesVersion, db
from storage import StorageError
from storage.engine import release_connection, write_options
from storage.migration import upgrade_tables
from storage.sqlite import create_file, refuse_truncated_file, require_file, set_wal_mode, sqlite_path

# Increment with every change to the tables. CONTRIBUTING.md lists the steps.
TABLES_VERSION = 5
OLDEST_VERSION = 2  # release 1.0.0
TABLES_OF_EVERY_VERSION = {"customer", "api_key", "article"}


def open_database(*, create: bool = False) -> list[str]:
    """Prepare the database for use: create its tables if there are none, or upgrade them if they are outdated.

    A missing file is only created if `create` is true. If every command did so, a running service would find an empty
    database and reject all keys (401) instead of reporting that its database is missing (503).

    Returns messages about what was created or upgraded. Raises StorageError if the file is missing or cannot be
    created, or if the tables are incomplete, of an unsupported version, or belong to another program.
    """
    release_connection()  # the file may have been replaced
    created = []
    path, name = sqlite_path(db.engine.url), str(db.engine.url.database)
    if path and create and not os.path.exists(path):
        create_file(path)
        created = [f"Created the database {path}."]
    if path:
        require_file(path)
        refuse_truncated_file(path)
    with db.engine.connect() as connection:
        version = _read_version(connection, name)
    changed = []
    if version != TABLES_VERSION:
        with db.engine.execution_options(**write_options("tables")).begin() as connection:
            changed = migrate(connection, name)
    if path:
        set_wal_mode(path)
    return created or changed


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


def migrate(connection: Connection, name: str) -> list[str]:
    """Create or upgrade the tables in the connection's transaction. Messages refer to the database as `name`.

    Returns messages about what was done, if anything. Raises StorageError if the tables are incomplete, belong to
    another program, or cannot be upgraded.
    """
    version = _read_version(connection, name)
    if version == TABLES_VERSION:  # another process upgraded them in the meantime
        return []
    if version:
        messages = upgrade_tables(connection, version)
        connection.execute(update(TablesVersion).values(number=TABLES_VERSION))
        return [f"Upgraded the tables in {name} from version {version} to {TABLES_VERSION}.", *messages]
    db.metadata.create_all(connection)
    connection.execute(insert(TablesVersion).values(number=TABLES_VERSION))
    return [f"Created the tables in {name}, which had none. If you expected articles in it, restore a backup."]


def _read_version(connection: Connection, name: str) -> int | None:
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
            f"{TABLES_VERSION}. Install a matching release, or restore a backup."
        )
    required = db.metadata.tables.keys() if version == TABLES_VERSION else TABLES_OF_EVERY_VERSION
    if missing := required - set(inspect(connection).get_table_names()):
        names = ", ".join(sorted(missing))
        raise StorageError(f"Tables are missing from {name}: {names}. Restore an intact backup.")
    return version
