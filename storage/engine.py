"""How the engine connects, and how transactions begin and end."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError

from models import db
from storage.sqlite import checkpoint, sqlite_path

WRITE_LOCK_TIMEOUT_SECONDS = 60  # An import of 100,000 articles takes half of it.
# How a transaction on PostgreSQL begins that writes "rows" or "tables". The first lets in no other writer, of whatever
# tool, and readers go on. There may be no tables to lock yet, so the second takes a lock with an arbitrary number: one
# upgrade runs at a time, and then locks the tables that it replaces.
POSTGRESQL_LOCKS = {
    "rows": "LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE",
    "tables": "SELECT pg_advisory_xact_lock(4171826905)",
}


def add_listeners(engine: Engine) -> None:
    """Set up the connections and transactions of this engine, and of no other one in the process."""
    event.listen(engine, "begin", _begin_sqlite if engine.dialect.name == "sqlite" else _begin_postgresql)


def engine_options(url: URL, threads: int) -> dict[str, Any]:
    """Return SQLAlchemy's engine options for a database.

    Each thread gets a connection. On PostgreSQL, a transaction sees one state only at this isolation level. Connections
    are tested before use, since a restarted server has closed them.
    """
    options: dict[str, Any] = {"pool_size": threads}
    if url.get_backend_name() == "postgresql":
        options |= {"isolation_level": "REPEATABLE READ", "pool_pre_ping": True}
        options["connect_args"] = postgresql_connect_args(url)
    return options


def postgresql_connect_args(url: URL) -> dict[str, Any]:
    """Return the parameters of a connection, besides those of the URL.

    Lost connections and locks are given up after some seconds. Timestamps are sent in UTC and in ISO format, text in
    UTF-8, whatever the server's defaults are. No statements are prepared, since a pooler in transaction mode may run
    each transaction in another process (https://www.psycopg.org/psycopg3/docs/advanced/prepare.html).
    """
    timeouts = {"connect_timeout": 2, "tcp_user_timeout": 2500, "keepalives_idle": 5, "keepalives_interval": 2}
    connect_args: dict[str, Any] = {name: value for name, value in timeouts.items() if name not in url.query}
    connect_args["options"] = f"-c lock_timeout=2s {url.query.get('options', '')} -c timezone=utc -c datestyle=iso"
    return connect_args | {"client_encoding": "utf8", "prepare_threshold": None}


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction. SQLite's driver begins none for reads, so that two reads could see two states.

    A writer waits for another one. SQLite's own wait cannot be interrupted, so it is short, and repeated.
    """
    writes = connection.get_execution_options().get("writes")
    if not writes:
        connection.exec_driver_sql("BEGIN")
        return
    # To replace a table, its rows are deleted. Those that refer to them must stay.
    connection.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if writes == 'tables' else 'ON'}")
    connection.exec_driver_sql("PRAGMA busy_timeout = 1000")
    # NORMAL may lose the last commits when the power fails (https://www.sqlite.org/pragma.html#pragma_synchronous).
    connection.exec_driver_sql("PRAGMA synchronous = FULL")
    deadline = time.monotonic() + WRITE_LOCK_TIMEOUT_SECONDS
    while True:
        try:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            return
        except OperationalError as error:
            code = getattr(error.orig, "sqlite_errorcode", None)
            if code not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_BUSY_RECOVERY) or time.monotonic() > deadline:
                raise


def _begin_postgresql(connection: Connection) -> None:
    """Admit one writer at a time, which then sees what others committed while it waited."""
    writes = connection.get_execution_options().get("writes")
    if writes:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WRITE_LOCK_TIMEOUT_SECONDS}s'")
        connection.exec_driver_sql(POSTGRESQL_LOCKS[writes])


def write_options(writes: str = "rows") -> dict[str, Any]:
    """Return the execution options of a connection that writes "rows", or "tables" too."""
    isolation = {"isolation_level": "READ COMMITTED"} if db.engine.dialect.name == "postgresql" else {}
    return {"writes": writes} | isolation


@contextmanager
def write_transaction() -> Iterator[None]:
    """Run the session's transaction as a writer; commit it at the end, and move it from SQLite's WAL into the file.

    A second writer waits at the beginning, and does not fail half-way. Raises DBAPIError if the database cannot be
    written, and InvalidRequestError inside another transaction, which may have read what has changed since.
    """
    with db.session.begin():
        db.engine.dispose()  # Another file may be in the database's place by now.
        db.session.connection(execution_options=write_options())
        yield
    if path := sqlite_path(db.engine.url):
        checkpoint(path)


def release_connection() -> None:
    """End the session, and close the engine's connections, before a command waits for a person or another program.

    The next transaction works on the database as it is then, even if another file has taken its place.
    """
    end_transaction()
    db.engine.dispose()


def end_transaction(_error: BaseException | None = None) -> None:
    """End the session's transaction. A lost connection has nothing left to end."""
    try:
        db.session.remove()
    except DBAPIError:
        db.session.registry.clear()
