"""Creating the tables, and upgrading those of an earlier version."""

import os

from sqlalchemy import Connection, insert, inspect, select

from models import TablesVersion, db
from storage import StorageError
from storage.engine import release_connection, write_options
from storage.migration import upgrade_tables
from storage.sqlite import create_file, require_file, set_wal_mode, sqlite_path

# Increase it whenever the tables change. A new column that may not be null needs a server_default.
TABLES_VERSION = 4
OLDEST_VERSION = 2  # 1.0.0 made tables of this version.


def open_database(*, create: bool = False) -> list[str]:
    """Open the database for a command: create its tables if there are none, and upgrade those of an earlier version.

    Only with `create` is a database file that does not exist created. Otherwise a running service would reject every
    key (401) instead of reporting the missing database (503). Returns lines for standard error that say what was
    created or upgraded. Raises StorageError for a file that is missing or cannot be created, and for tables of another
    program or of a version that it does not know.
    """
    release_connection()  # It might be of a file that is no longer there.
    lines = []
    path = sqlite_path(db.engine.url)
    if path and create and not os.path.exists(path):
        create_file(path)
        lines.append(f"Created the database {path}.")
    if path:
        require_file(path)
    with db.engine.connect() as connection:
        version = _read_version(connection)
    if version != TABLES_VERSION:
        with db.engine.execution_options(**write_options("tables")).begin() as connection:
            lines += migrate(connection, str(db.engine.url.database))
    if path:
        set_wal_mode(path)
    return lines


def has_tables(connection: Connection) -> bool:
    """Return whether the database has this service's tables, of any version."""
    return inspect(connection).has_table(TablesVersion.__tablename__)


def refuse_foreign_tables(connection: Connection) -> None:
    """Raise StorageError for another program's SQLite file, and for another program's tables of the same names."""
    names = set(inspect(connection).get_table_names())
    # A SQLite file belongs to one program, and a schema of PostgreSQL may be shared.
    taken = names if connection.dialect.name == "sqlite" else names & db.metadata.tables.keys()
    if taken and not has_tables(connection):
        raise StorageError(f"{connection.engine.url.database} is another program's database. Correct DATABASE_URL.")


def _read_version(connection: Connection) -> int | None:
    """Return the version of the tables, or None if there are none.

    Raises StorageError for a version that this service does not know, and for the tables of another program.
    """
    if not has_tables(connection):
        refuse_foreign_tables(connection)
        return None
    version = connection.scalars(select(TablesVersion.number)).one()
    if not OLDEST_VERSION <= version <= TABLES_VERSION:
        raise StorageError(
            f"Another version of this service made the database: its tables are of version {version}, this one knows "
            f"{OLDEST_VERSION} to {TABLES_VERSION}. Install a version that knows them, or restore a backup."
        )
    return version


def migrate(connection: Connection, name: str) -> list[str]:
    """Create the tables, or upgrade those of an earlier version, in the connection's transaction.

    Returns a line that says so if tables were upgraded, with the database's `name`. Raises StorageError for a version
    that cannot be upgraded, and for a row that the new tables cannot hold.
    """
    version = _read_version(connection)
    if version == TABLES_VERSION:  # Another process may have been faster.
        return []
    if version:
        upgrade_tables(connection, version)
    else:
        db.metadata.create_all(connection)
    connection.execute(insert(TablesVersion).values(number=TABLES_VERSION))
    return [f"Upgraded the tables of {name} from version {version} to {TABLES_VERSION}."] if version else []
