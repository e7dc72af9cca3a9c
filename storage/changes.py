"""Change detection: whether anybody has committed to the database since a response was rendered."""

from typing import Any, Protocol

from sqlalchemy import Engine

from storage import sqlite_changes
from storage.sqlite import sqlite_path


class ChangeDetector(Protocol):
    """Detects commits to a database by any process.

    A version is read before the data, so that what is stored under it may be newer than the version, but never older.
    """

    def version(self) -> Any:
        """Return a hashable value that differs after each commit, or None if that is unknown."""

    def is_current(self, version: Any, *, allow_checkpoint: bool) -> bool:
        """Return whether what was read since `version` is of the database that `version` is of, and of no other one.

        With `allow_checkpoint`, what a checkpoint does to a SQLite file does not make it another one.
        """


def attach_change_detector(engine: Engine) -> ChangeDetector | None:
    """Return a detector of changes to the engine's database, or None if there is none for it."""
    path = sqlite_path(engine.url)
    if path:
        return sqlite_changes.attach(engine, path)
    if engine.dialect.name == "postgresql" and engine.dialect.driver == "psycopg":
        from storage import postgresql_changes  # needs psycopg, which nothing else does

        return postgresql_changes.attach(engine)
    return None
