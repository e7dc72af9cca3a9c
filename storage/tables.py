"""Creating and upgrading the tables, and checking whose they are."""

import os

from sqlalchemy import Connection, insert, inspect, select

from models import TablesVersion, db
from storage import StorageError
from storage.engine import release_connection, write_options
from storage.migration import upgrade_tables
from storage.sqlite import create_file, require_file, set_wal_mode, sqlite_path

# Increase it with every change of the tables. CONTRIBUTING.md lists the steps.
TABLES_VERSION = 4
OLDEST_VERSION = 2  # of 1.0.0
TABLES_OF_EVERY_VERSION = {"customer", "api_key", "article"}


def open_database(*, create: bool = False) -> list[str]:
    """Prepare the database for a command: create its tables if there are none, or upgrade those of an earlier version.

    A missing database file is created only with `create`. Otherwise a running service would find an empty database and
    reject every key (401) instead of reporting the missing one (503).

    Returns lines for standard error about what was created or upgraded. Raises StorageError if the file is missing or
    cannot be created, or if the tables are incomplete, another program's, or of an unsupported version.
    """
    release_connection()  # may be to a file that has been replaced
    created = []
    path, name = sqlite_path(db.engine.url), str(db.engine.url.database)
    if path and create and not os.path.exists(path):
        create_file(path)
        created = [f"Created the database {path}."]
    if path:
        require_file(path)
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
    """Return whether the database has this service's tables, of any version."""
    return inspect(connection).has_table(TablesVersion.__tablename__)


def refuse_foreign_tables(connection: Connection) -> None:
    """Raise StorageError if the tables are another program's."""
    names = set(inspect(connection).get_table_names())
    # A SQLite file belongs to one program, while a PostgreSQL schema may be shared.
    taken = names if connection.dialect.name == "sqlite" else names & db.metadata.tables.keys()
    if taken and not has_tables(connection):
        raise StorageError(f"{connection.engine.url.database} is another program's database. Correct DATABASE_URL.")


def migrate(connection: Connection, name: str) -> list[str]:
    """Create the tables, or upgrade those of an earlier version, in the connection's transaction.

    Returns a line about what was done, if anything. Messages call the database `name`. Raises StorageError if the
    tables are incomplete, another program's, or cannot be upgraded.
    """
    version = _read_version(connection, name)
    if version == TABLES_VERSION:  # another process was faster
        return []
    if version:
        upgrade_tables(connection, version)
        line = f"Upgraded the tables of {name} from version {version} to {TABLES_VERSION}."
    else:
        db.metadata.create_all(connection)
        line = f"Created the tables of {name}, which was empty. If it should hold articles, restore a backup."
    connection.execute(insert(TablesVersion).values(number=TABLES_VERSION))
    return [line]


def _read_version(connection: Connection, name: str) -> int | None:
    """Return the version of the tables, or None if there are none.

    Raises StorageError if they are incomplete, of an unsupported version, or another program's.
    """
    if not has_tables(connection):
        refuse_foreign_tables(connection)
        return None
    version = connection.scalar(select(TablesVersion.number))
    if version not in range(OLDEST_VERSION, TABLES_VERSION + 1):
        raise StorageError(
            f"The tables of {name} are of version {version}, and this release supports {OLDEST_VERSION} to "
            f"{TABLES_VERSION}. Install a release that supports them, or restore a backup."
        )
    required = db.metadata.tables.keys() if version == TABLES_VERSION else TABLES_OF_EVERY_VERSION
    if missing := required - set(inspect(connection).get_table_names()):
        names = ", ".join(sorted(missing))
        raise StorageError(f"The tables of {name} are incomplete: {names} is missing. Restore an intact backup.")
    return version
