"""Change detection: whether anybody has committed to the database since a response was rendered."""

from collections.abc import Hashable
from typing import Protocol

from sqlalchemy import Engine

from storage.sqlite import sqlite_path
from storage.sqlite_changes import SQLiteChangeDetector


class ChangeDetector(Protocol):
    """A detector of commits to a database by any process.

    A version is read before the data, so that what is stored under it may be newer than the version, but never older.
    """

    def version(self) -> Hashable:
        """Return a value that differs after each commit, or None if it is unknown.

        If another database is there now, the engine connects to that from now on.
        """

    def close(self) -> None:
        """Close the connections. The next version opens them again."""


def attach_change_detector(engine: Engine) -> ChangeDetector:
    """Return a detector of changes to the engine's database."""
    if path := sqlite_path(engine.url):
        return SQLiteChangeDetector(engine, path)
    from storage.postgresql_changes import PostgreSQLChangeDetector  # psycopg is not installed for SQLite.

    return PostgreSQLChangeDetector(engine)
