"""Engine options, connections and transactions."""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Literal

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError, OperationalError

from models import db
from storage.sqlite import WAL_CHECKPOINT, run_pragma, sqlite_path

WRITE_LOCK_TIMEOUT_SECONDS = 60  # writing 10,000 articles takes a few seconds
# PostgreSQL locks for transactions that "edit" rows or "upgrade" the tables
POSTGRESQL_LOCKS = {
    # excludes all other writers, including those in other programs, but not readers
    "edit": "LOCK TABLE article IN SHARE ROW EXCLUSIVE MODE",
    # an advisory lock with an arbitrary number, because there may be no table yet; the upgrade then also locks the
    # tables that it alters
    "upgrade": "SELECT pg_advisory_xact_lock(4171826905)",
}


def add_listener(engine: Engine) -> None:
    """Register the listener that begins transactions, on this engine only."""
    event.listen(engine, "begin", _begin_sqlite if engine.dialect.name == "sqlite" else _begin_postgresql)


def engine_options(url: URL, threads: int, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for `create_engine`: ours, overridden by those `given` to Flask, `connect_args` one by one.

    `threads` is the number of worker threads that read the database.
    """
    connect_args: dict[str, Any] = {}
    options: dict[str, Any] = {"pool_size": threads}
    if url.get_backend_name() == "postgresql":
        # REPEATABLE READ: one snapshot per transaction. pool_pre_ping: a restarted server has closed its connections.
        options |= {"isolation_level": "REPEATABLE READ", "pool_pre_ping": True}
        connect_args = _postgresql_connect_args(url)
    return {**options, **given, "connect_args": {**connect_args, **given.get("connect_args", {})}}


def _postgresql_connect_args(url: URL) -> dict[str, Any]:
    """Return connection parameters to use in addition to those in the URL.

    They make connecting and waiting for locks time out within seconds, and set the time zone, date style and encoding
    regardless of the server's defaults. Prepared statements are disabled because a pooler in transaction mode may run
    each transaction in a different session (https://www.psycopg.org/psycopg3/docs/advanced/prepare.html).
    """
    timeouts = {"connect_timeout": 2, "tcp_user_timeout": 2500, "keepalives_idle": 5, "keepalives_interval": 2}
    connect_args: dict[str, Any] = {name: value for name, value in timeouts.items() if name not in url.query}
    connect_args["options"] = f"-c lock_timeout=2s {url.query.get('options', '')} -c timezone=utc -c datestyle=iso"
    return connect_args | {"client_encoding": "utf8", "prepare_threshold": None}


def _begin_sqlite(connection: Connection) -> None:
    """Begin a transaction; one that writes, as soon as other writers have finished.

    Python's driver begins none for reads, so two reads could see different snapshots. SQLite's busy timeout cannot be
    interrupted by Ctrl+C, so it is kept short and repeated.
    """
    write = connection.get_execution_options().get("write")
    if not write:
        connection.exec_driver_sql("BEGIN")
        return
    # An upgrade drops and recreates tables, which must not affect rows that reference them.
    connection.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if write == 'upgrade' else 'ON'}")
    connection.exec_driver_sql("PRAGMA busy_timeout = 1000")  # milliseconds
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
    """Lock out other writers before a write transaction, so that it sees everything they have committed."""
    if write := connection.get_execution_options().get("write"):
        connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{WRITE_LOCK_TIMEOUT_SECONDS}s'")
        connection.exec_driver_sql(POSTGRESQL_LOCKS[write])


def write_options(write: Literal["edit", "upgrade"] = "edit") -> dict[str, Any]:
    """Return execution options for a transaction that edits rows or upgrades the tables, one at a time."""
    # With REPEATABLE READ, the snapshot could be older than the lock.
    isolation = {"isolation_level": "READ COMMITTED"} if db.engine.dialect.name == "postgresql" else {}
    return {"write": write} | isolation


@contextmanager
def write_transaction() -> Iterator[None]:
    """Run a write transaction in the session, commit it, and checkpoint SQLite's WAL.

    Waits for other writers up front, so they cannot make it fail halfway. Raises DBAPIError if the database cannot be
    written, and InvalidRequestError if the session is already in a transaction, whose reads might be outdated.
    """
    with db.session.begin():
        db.session.connection(execution_options=write_options())
        yield
    if path := sqlite_path(db.engine.url):
        run_pragma(path, WAL_CHECKPOINT)


def close_connections() -> None:
    """Close the session and all pooled connections, for example while a command waits for a person."""
    close_session()
    db.engine.dispose()


def close_session(_error: BaseException | None = None) -> None:
    """Close the session, even if its connection has been lost."""
    with suppress(DBAPIError):  # raised by the rollback, after which the session is usable again
        db.session.remove()
