"""Engine options, and how connections and transactions begin and end."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import has_request_context
from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError

from models import db
from storage.sqlite import checkpoint, connect_existing, sqlite_path

WRITE_LOCK_TIMEOUT_SECONDS = 60  # an import of 100,000 articles takes about 30
# The locks of PostgreSQL transactions that write "rows" or "tables". The first excludes every other writer, of any
# program, but no readers. Before an upgrade there may be no table to lock, so the second is an advisory lock with an
# arbitrary number. Upgrades then lock the tables that they replace.
POSTGRESQL_LOCKS = {
    "rows": "LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE",
    "tables": "SELECT pg_advisory_xact_lock(4171826905)",
}


def add_listeners(engine: Engine) -> None:
    """Set up the connections and transactions of this engine only, not of other engines in the process."""
    if engine.dialect.name == "sqlite":
        event.listen(engine, "do_connect", _connect_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    else:
        event.listen(engine, "begin", _begin_postgresql)


def engine_options(url: URL, threads: int) -> dict[str, Any]:
    """Return the options of `create_engine` for a database that this many threads read."""
    options: dict[str, Any] = {"pool_size": threads}
    if url.get_backend_name() == "postgresql":
        # REPEATABLE READ gives a transaction one snapshot. A restarted server has closed the pool's connections.
        options |= {"isolation_level": "REPEATABLE READ", "pool_pre_ping": True}
        options["connect_args"] = postgresql_connect_args(url)
    return options


def postgresql_connect_args(url: URL) -> dict[str, Any]:
    """Return the connection parameters to use in addition to those in the URL.

    Connecting and waiting for locks time out within seconds. Time zone, date style and encoding do not depend on the
    server's defaults. Prepared statements are off because a pooler in transaction mode may run each transaction in
    another session (https://www.psycopg.org/psycopg3/docs/advanced/prepare.html).
    """
    timeouts = {"connect_timeout": 2, "tcp_user_timeout": 2500, "keepalives_idle": 5, "keepalives_interval": 2}
    connect_args: dict[str, Any] = {name: value for name, value in timeouts.items() if name not in url.query}
    connect_args["options"] = f"-c lock_timeout=2s {url.query.get('options', '')} -c timezone=utc -c datestyle=iso"
    return connect_args | {"client_encoding": "utf8", "prepare_threshold": None}


def _connect_sqlite(_dialect: Any, _record: Any, arguments: list[str], options: dict[str, Any]) -> Any:
    """Open a SQLite file that exists: read-only in a request, so that no view can write.

    When the last connection to a file is closed, a read-only one also leaves the WAL alone. Whoever connects outside of
    a request calls `release_connection` before requests begin, since the pool would hand that connection to them.
    """
    return connect_existing(arguments[0], read_only=has_request_context(), **options)


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction, since Python's driver begins none for reads: two reads could see different snapshots.

    A write transaction waits for other writers. SQLite's own wait cannot be interrupted, so it is short and repeated.
    """
    writes = connection.get_execution_options().get("writes")
    if not writes:
        connection.exec_driver_sql("BEGIN")
        return
    # An upgrade drops tables and creates them again, which must not affect rows that refer to theirs.
    connection.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if writes == 'tables' else 'ON'}")
    connection.exec_driver_sql("PRAGMA busy_timeout = 1000")  # milliseconds
    # NORMAL may lose the last commits in a power failure (https://www.sqlite.org/pragma.html#pragma_synchronous).
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
    """Wait for other writers before a write transaction, which then sees what they have committed."""
    writes = connection.get_execution_options().get("writes")
    if writes:
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WRITE_LOCK_TIMEOUT_SECONDS}s'")
        connection.exec_driver_sql(POSTGRESQL_LOCKS[writes])


def write_options(writes: str = "rows") -> dict[str, Any]:
    """Return the execution options of a connection that writes "rows", or "tables" as well."""
    # At REPEATABLE READ, the snapshot might be older than the lock.
    isolation = {"isolation_level": "READ COMMITTED"} if db.engine.dialect.name == "postgresql" else {}
    return {"writes": writes} | isolation


@contextmanager
def write_transaction() -> Iterator[None]:
    """Run a write transaction in the session, commit it, and checkpoint SQLite's WAL.

    It waits for other writers at its beginning, so that it cannot fail halfway because of them. Raises DBAPIError if
    the database cannot be written, and InvalidRequestError if the session is already in a transaction, which might have
    read data that has changed since.
    """
    db.engine.dispose()  # the pool's connections may be to a file that has been replaced
    with db.session.begin():
        db.session.connection(execution_options=write_options())
        yield
    if path := sqlite_path(db.engine.url):
        checkpoint(path)


def release_connection() -> None:
    """End the session and close the pool's connections, before a command waits for a person or another program.

    The next transaction opens the database again, even if the file has been replaced meanwhile.
    """
    end_transaction()
    db.engine.dispose()


def end_transaction(_error: BaseException | None = None) -> None:
    """End the session's transaction, even if its connection has been lost."""
    try:
        db.session.remove()
    except DBAPIError:
        db.session.registry.clear()
