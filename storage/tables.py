"""Create, check and upgrade the tables.

An upgrade alters the tables on PostgreSQL. On SQLite, which can alter little, it copies their rows to new tables:

    CREATE TEMP TABLE old_article AS SELECT * FROM article      -- the migration alters this copy without constraints
    INSERT INTO article (pk, …) SELECT pk, … FROM old_article   -- article has been recreated as defined in models.py
"""

from sqlalchemy import Connection, insert, inspect, select, update

from models import SchemaVersion, db
from storage import StorageError
from storage.engine import POSTGRESQL_LOCKS
from storage.migrations import migrate_article

SCHEMA_VERSION = 7
PREVIOUS_VERSION = 6  # of release 3.0.0


def migrate(connection: Connection, name: str) -> list[str]:
    """Create or upgrade the tables in the connection's transaction. Messages refer to the database as `name`.

    Upgraded tables are the same as new ones. Returns messages about what was done, if anything. Raises StorageError if
    the tables are incomplete, of an unsupported version, or belong to another program.
    """
    version = read_schema_version(connection, name)
    if version == SCHEMA_VERSION:  # another process upgraded them in the meantime
        return []
    if version:
        upgrade = _alter_tables if connection.dialect.name == "postgresql" else _recreate_tables
        messages = upgrade(connection)
        connection.execute(update(SchemaVersion).values(number=SCHEMA_VERSION))
        return [f"Upgraded the tables in {name} from version {version} to {SCHEMA_VERSION}.", *messages]
    db.metadata.create_all(connection)
    connection.execute(insert(SchemaVersion).values(number=SCHEMA_VERSION))
    return [f"Created the tables in {name}."]


def read_schema_version(connection: Connection, name: str) -> int | None:
    """Return the version of the tables, or None if there are none.

    Raises StorageError if they are incomplete, of an unsupported version, or belong to another program.
    """
    if not has_tables(connection):
        refuse_foreign_tables(connection)
        return None
    version: int | None = connection.scalar(select(SchemaVersion.number))
    if version not in (PREVIOUS_VERSION, SCHEMA_VERSION):
        is_older = version is not None and version < PREVIOUS_VERSION
        advice = "Install 3.0.0 first, and run it once" if is_older else "Install the release that wrote it"
        raise StorageError(f"The tables of {name} have version {version}. {advice}, or restore another backup.")
    if missing := db.metadata.tables.keys() - set(inspect(connection).get_table_names()):
        names = ", ".join(sorted(missing))
        raise StorageError(f"Tables are missing from {name}: {names}. Restore an intact backup.")
    return version


def has_tables(connection: Connection) -> bool:
    """Return whether the database has this service's tables, in any version."""
    return inspect(connection).has_table(SchemaVersion.__tablename__)


def refuse_foreign_tables(connection: Connection) -> None:
    """Raise StorageError if the tables belong to another program."""
    names = set(inspect(connection).get_table_names())
    # A SQLite file belongs to a single program, whereas a PostgreSQL schema may be shared.
    taken = names if connection.dialect.name == "sqlite" else names & db.metadata.tables.keys()
    if taken and not has_tables(connection):
        raise StorageError(f"{connection.engine.url.database} contains tables of another program. Check DATABASE_URL.")


def _alter_tables(connection: Connection) -> list[str]:
    """Alter the tables on PostgreSQL. Requests wait until the upgrade has ended."""
    connection.exec_driver_sql(POSTGRESQL_LOCKS["edit"])  # writers lock article before they read customer
    connection.exec_driver_sql("SET CONSTRAINTS ALL IMMEDIATE")  # pending triggers would prevent ALTER TABLE
    # in the order in which requests read them, so that a request and the upgrade never wait for each other
    connection.exec_driver_sql("LOCK TABLE customer, api_key, article")
    return migrate_article(connection, "article")


def _recreate_tables(connection: Connection) -> list[str]:
    """Recreate the tables on SQLite, and copy their rows. Fails if another tool has added a column."""
    tables = [table.name for table in db.metadata.sorted_tables]
    last_ids = connection.exec_driver_sql("SELECT name, seq FROM sqlite_sequence").all()
    for table in tables:
        connection.exec_driver_sql(f"CREATE TEMP TABLE old_{table} AS SELECT * FROM {table}")  # noqa: S608
    messages = migrate_article(connection, "old_article")
    db.metadata.drop_all(connection)
    db.metadata.create_all(connection)
    for table in tables:
        columns = ", ".join(connection.exec_driver_sql(f"SELECT * FROM old_{table} LIMIT 0").keys())  # noqa: S608
        connection.exec_driver_sql(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM old_{table}")  # noqa: S608
        connection.exec_driver_sql(f"DROP TABLE old_{table}")
    for name, last_id in last_ids:  # so that ids of deleted rows are never reused
        connection.exec_driver_sql("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        connection.exec_driver_sql("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, last_id))
    return messages
