"""How the engine connects, and how transactions begin and end."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import DBAPIError

from models import db
from storage import StorageError
from storage.sqlite import checkpoint, is_writable, sqlite_path

WRITE_LOCK_TIMEOUT_SECONDS = 60  # an import of 100,000 articles takes half of it
ADVISORY_LOCK_ID = 4_171_826_905  # any number, but the same for every writer to a PostgreSQL database


@event.listens_for(Engine, "connect")
def _set_up_sqlite(connection: Any, _record: object) -> None:
    """Enforce foreign keys in SQLite, and keep what was committed when the power fails.

    NORMAL would keep the file whole too, but in WAL mode it may lose the last commits
    (https://www.sqlite.org/pragma.html#pragma_synchronous). The few commits of this service can wait for the disk.
    """
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")


def parse_database_url(text: str) -> URL:
    """Return the URL of a database. `postgres://` means PostgreSQL, as in what hosting services give out.

    Raises StorageError for a SQLite database in memory: each command would have another one, which is empty.
    """
    url = make_url(text)
    if url.drivername == "postgres":
        url = url.set(drivername="postgresql")
    if url.get_backend_name() == "sqlite" and (not url.database or url.database.startswith((":memory:", "file:"))):
        raise StorageError("A SQLite database must be a file, as in sqlite:////path/to/articles.db.")
    return url


def engine_options(url: URL, threads: int) -> dict[str, Any]:
    """Return SQLAlchemy's engine options for a database.

    Each thread gets a connection. On PostgreSQL, a transaction sees one state only at this isolation level. Connections
    are tested before use, since a restarted server has closed them.
    """
    options: dict[str, Any] = {"pool_size": threads}
    if url.get_backend_name() != "postgresql":
        return options
    connect_args = postgresql_connect_args(url)
    return options | {"isolation_level": "REPEATABLE READ", "pool_pre_ping": True, "connect_args": connect_args}


def postgresql_connect_args(url: URL) -> dict[str, Any]:
    """Return the parameters of a connection, besides those of the URL.

    Lost connections and locks are given up after some seconds. Timestamps are sent in UTC and in ISO format, text in
    UTF-8, whatever the server's defaults are. No statements are prepared, since a pooler in transaction mode may run
    each transaction in another process (https://www.psycopg.org/psycopg3/docs/advanced/prepare.html).
    """
    timeouts = {"connect_timeout": 2, "tcp_user_timeout": 5000, "keepalives_idle": 5, "keepalives_interval": 2}
    connect_args: dict[str, Any] = {name: value for name, value in timeouts.items() if name not in url.query}
    connect_args["options"] = f"-c lock_timeout=2s {url.query.get('options', '')} -c timezone=utc -c datestyle=iso"
    return connect_args | {"client_encoding": "utf8", "prepare_threshold": None}


@event.listens_for(Engine, "begin")
def _begin(connection: Connection) -> None:
    """Begin a transaction, and admit one writer at a time.

    SQLite's driver begins none for reads, so that two reads could see two states. On PostgreSQL a writer has to see
    what others committed while it waited.
    """
    writes = connection.get_execution_options().get("write")
    if connection.dialect.name == "sqlite":
        if writes:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {WRITE_LOCK_TIMEOUT_SECONDS * 1000}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
    elif writes:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WRITE_LOCK_TIMEOUT_SECONDS}s'")
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ADVISORY_LOCK_ID})")


def write_options() -> dict[str, Any]:
    """Return the execution options of a writing connection."""
    isolation = {"isolation_level": "READ COMMITTED"} if db.engine.dialect.name == "postgresql" else {}
    return {"write": True} | isolation


def require_writable() -> None:
    """Raise StorageError, which names the file or the folder, if this process may not write the database."""
    path = sqlite_path(db.engine.url)
    if path and os.path.exists(path) and not is_writable(path):
        folder = os.path.dirname(os.path.realpath(path))
        name = f"folder {folder}" if os.access(path, os.W_OK) else f"database file {path}"
        raise StorageError(
            f"Nothing was written: you may not write the {name}. "
            "Run the command as a user who may write the file and its folder."
        )


@contextmanager
def write_transaction() -> Iterator[None]:
    """Run the session's transaction as a writer; commit it at the end, and move it from SQLite's WAL into the file.

    A second writer waits at the beginning, and does not fail half-way. Raises StorageError if the database cannot be
    written, and InvalidRequestError within another transaction, which might have read what is no longer there.
    """
    require_writable()
    with db.session.begin():
        db.session.connection(execution_options=write_options())
        yield
    path = sqlite_path(db.engine.url)
    if path:
        checkpoint(path, timeout=1)


def release_connection() -> None:
    """End the session, and close the engine's connections, before a command waits for a person or another program.

    What happens to the database in that time, also to its file, is what the next transaction works on.
    """
    end_transaction()
    db.engine.dispose()


def end_transaction(_error: BaseException | None = None) -> None:
    """End the session's transaction. A lost connection has nothing left to end."""
    try:
        db.session.remove()
    except DBAPIError:
        db.session.registry.clear()
