"""Detect commits to the database by any process, so that cached data can be invalidated."""

from typing import Any, Protocol

from flask import Flask, current_app
from sqlalchemy import Engine

from storage.sqlite import SQLiteFile, sqlite_path

DatabaseVersion = tuple[int, int | str]  # differs after every commit; the first number counts connections


class ChangeDetector(Protocol):
    """Detects commits to a database by any process.

    To cache data, read the version first. The data may then be newer than its version, but never older.
    """

    def version(self) -> DatabaseVersion:
        """Return the database's version. Raises StorageError while it cannot be read."""

    def close(self) -> None:
        """Close the detector's connection and the engine's idle ones. The next call to `version` reconnects."""


def create_change_detector(engine: Engine, connect_args: dict[str, Any]) -> ChangeDetector:
    """Create the change detector for an engine with these `connect_args`. For SQLite, it also opens the connections."""
    if path := sqlite_path(engine.url):
        return SQLiteFile(path, engine)
    from storage.postgresql_changes import PostgreSQLChangeDetector  # requires psycopg

    return PostgreSQLChangeDetector(engine, connect_args)


def change_detector(app: Flask | None = None) -> ChangeDetector:
    """Return the change detector of an application, by default of the current one."""
    detector: ChangeDetector = (app or current_app).extensions["change_detector"]
    return detector
