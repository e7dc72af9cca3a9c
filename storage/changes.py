"""Change detection: whether any process has committed to the database since an earlier request."""

from collections.abc import Hashable
from typing import Protocol

from sqlalchemy import Engine

from storage.sqlite import sqlite_path
from storage.sqlite_changes import SQLiteChangeDetector


class ChangeDetector(Protocol):
    """Detects commits to a database by any process.

    Read the version before the data: what you then store under the version may be newer, but never older.
    """

    def version(self) -> Hashable:
        """Return a value that changes with every commit, or None if the database is unavailable.

        If the database has been replaced, the engine's next connections are to the new one.
        """

    def close(self) -> None:
        """Close the detector's connection and the engine's idle ones. The next version reconnects."""


def attach_change_detector(engine: Engine) -> ChangeDetector:
    """Return a change detector for the engine's database."""
    if path := sqlite_path(engine.url):
        return SQLiteChangeDetector(engine, path)
    from storage.postgresql_changes import PostgreSQLChangeDetector  # needs psycopg

    return PostgreSQLChangeDetector(engine)
