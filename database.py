"""The database: how transactions begin and end, its tables and their version."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import click
from sqlalchemy import Connection, Engine, delete, event, insert, inspect, select
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError

from models import Article, Base, TablesVersion, db
from watch import may_write, sqlite_file, tend

VERSION = 1  # of the tables: one more whenever they change, with what brings the older ones forward
NO_CUSTOMER = "There is no customer yet. To make one, with a key: flask keys create CUSTOMER"
WRITERS_WAIT = 60  # seconds: an import of 100,000 articles takes half of it
WRITERS_LOCK = 4_171_826_905  # any number, but the same for all who write to a database of PostgreSQL


@event.listens_for(Engine, "connect")
def _set_up_sqlite(connection: Any, _record: object) -> None:
    """Make SQLite mind the references between tables, and keep what was committed when the power fails.

    NORMAL would keep the file whole too, but in WAL mode it may lose the last commits
    (https://www.sqlite.org/pragma.html#pragma_synchronous). The few commits of this service can wait for the disk.
    """
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")


def engine_options(url: URL, threads: int) -> dict[str, Any]:
    """Give what SQLAlchemy is to do otherwise for a database; all but the form of times and texts the address decides.

    Each of the threads finds a connection. In PostgreSQL a transaction sees one state only at this isolation;
    connections are tried before they are used, for a server that was started anew has closed them; one that is lost
    without a word is given up after some seconds, and so is a lock; times are sent in UTC, as no other zone has all of
    them, and in ISO's form; texts in UTF-8.
    """
    options: dict[str, Any] = {"pool_size": threads}
    if url.get_backend_name() != "postgresql":
        return options if sqlite_file(url) else {}
    patience = {"connect_timeout": 5, "tcp_user_timeout": 5000, "keepalives_idle": 5, "keepalives_interval": 2}
    given: dict[str, Any] = {name: value for name, value in patience.items() if name not in url.query}
    given["options"] = f"-c lock_timeout=2s {url.query.get('options', '')} -c timezone=utc -c datestyle=iso"
    given["client_encoding"] = "utf8"
    return options | {"isolation_level": "REPEATABLE READ", "pool_pre_ping": True, "connect_args": given}


@event.listens_for(Engine, "begin")
def _begin(connection: Connection) -> None:
    """Begin a transaction, and let one writer write at a time.

    SQLite's driver begins none for reads, which would each see another state. In PostgreSQL a writer has to see what
    others committed while it waited.
    """
    writes = connection.get_execution_options().get("write")
    if connection.dialect.name == "sqlite":
        if writes:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {WRITERS_WAIT * 1000}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
    elif writes:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WRITERS_WAIT}s'")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITERS_LOCK})")


def _to_write() -> dict[str, Any]:
    """Give the execution options of a connection for a writer."""
    later = {"isolation_level": "READ COMMITTED"} if db.engine.dialect.name == "postgresql" else {}
    return {"write": True} | later


def begin_write() -> None:
    """Begin the session's transaction as a writer, so that a second one waits at once instead of failing half-way."""
    db.session.connection(execution_options=_to_write())


def commit_write() -> None:
    """Commit the session's transaction, and leave a SQLite file whole, without a log beside it to be forgotten."""
    db.session.commit()
    path = sqlite_file(db.engine.url)
    if path:
        tend(path, timeout=1)


def end_transaction(_error: BaseException | None = None) -> None:
    """End the session's transaction, also where its connection was lost: nothing is left to be done with it then."""
    try:
        db.session.remove()
    except DBAPIError:
        db.session.registry.clear()


def create_tables() -> None:
    """Make the tables where there are none, and bring those of an earlier version forward.

    In SQLite, readers and a writer then no longer block each other (WAL). Where all is well nothing is written, so
    that a database that can only be read will do. Raises click.ClickException for the tables of a newer version, and
    for a database that cannot be used.
    """
    path = sqlite_file(db.engine.url)
    if path and not os.path.exists(path):
        try:
            Path(path).touch(0o644)
        except OSError as error:
            raise click.ClickException(
                f"The database {path} cannot be made ({error.strerror}). DATABASE_URL says where it is to be."
            ) from error
    if db.engine.dialect.name == "sqlite" and (not path or may_write(path)):
        with db.engine.connect() as connection:
            connection.exec_driver_sql("COMMIT")  # the mode cannot change inside a transaction
            connection.exec_driver_sql("PRAGMA journal_mode = WAL")
    with db.engine.connect() as connection:
        if db.engine.dialect.name == "postgresql":
            _check_encoding(connection)
        if _version_of(connection) == VERSION:
            return
    with db.engine.execution_options(**_to_write()).begin() as connection:
        version = _version_of(connection)
        if version != VERSION:  # or another process was faster
            _bring_forward(connection, version)


def _check_encoding(connection: Connection) -> None:
    """Raise click.ClickException for a database of PostgreSQL that cannot hold every text."""
    encoding = connection.exec_driver_sql("SHOW server_encoding").scalar()
    if encoding != "UTF8":
        raise click.ClickException(
            f"The database's encoding is {encoding}. Make one that holds every text: "
            "CREATE DATABASE … TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'"
        )


def missing_file() -> str | None:
    """Tell that the database is a file that nobody has made yet; None where it is there, or where it could not be made.

    A command that has no use for a new database is not to make one: the service would refuse every key then, where it
    had told that it cannot read the articles.
    """
    path = sqlite_file(db.engine.url)
    if not path or os.path.exists(path) or not os.path.isdir(os.path.dirname(path)):
        return None
    return f"{NO_CUSTOMER}. (DATABASE_URL names {path}, which does not exist.)"


def update_tables() -> None:
    """Do as `create_tables`, for a command that needs a customer: a missing file is one more click.ClickException."""
    missing = missing_file()
    if missing:
        raise click.ClickException(missing)
    create_tables()


def _version_of(connection: Connection) -> int | None:
    """Give the version of the tables, None where there are none. Raises click.ClickException for a newer one."""
    there = inspect(connection)
    if not there.has_table(TablesVersion.__tablename__):
        return 0 if there.has_table(Article.__tablename__) else None
    version = connection.scalar(select(TablesVersion.number))
    if version and version > VERSION:
        raise click.ClickException(
            f"A newer version of this service made the database (its tables are of version {version}, this one knows "
            f"{VERSION}). Install the newer one, or restore a backup from before."
        )
    return version


def _bring_forward(connection: Connection, version: int | None) -> None:
    """Make the tables, or change those of an earlier version, within the connection's transaction."""
    if version == 0:  # from before versions were written down; the first of them lacked a column
        columns = {column["name"] for column in inspect(connection).get_columns(Article.__tablename__)}
        if "markup_is_made" not in columns:
            connection.exec_driver_sql("ALTER TABLE article ADD COLUMN markup_is_made BOOLEAN DEFAULT false NOT NULL")
    Base.metadata.create_all(connection)
    connection.execute(delete(TablesVersion))
    connection.execute(insert(TablesVersion).values(number=VERSION))
