"""Create or upgrade the tables, and check that they belong to this service."""

from sqlalchemy import Connection, insert, inspect, select, update

from models import TablesVersion, db
from storage import StorageError
from storage.migration import upgrade_tables

# Increment with every change to the tables. CONTRIBUTING.md lists the steps.
TABLES_VERSION = 5
OLDEST_VERSION = 2  # release 1.0.0
TABLES_OF_EVERY_VERSION = {"customer", "api_key", "article"}


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
    version = read_tables_version(connection, name)
    if version == TABLES_VERSION:  # another process upgraded them in the meantime
        return []
    if version:
        messages = upgrade_tables(connection, version)
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
