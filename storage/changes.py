"""Change detection: whether anybody has committed to the database since a response was rendered."""

from typing import Any, Protocol

from sqlalchemy import Engine

from storage import sqlite_changes
from storage.sqlite import sqlite_path

# In a request's WSGI environment: when its response changes without a commit, in seconds since 1970.
FRESH_UNTIL = "article_delivery.fresh_until"


class ChangeDetector(Protocol):
    """Detects commits to a database by any process.

    A version is read before the data, so that what is stored under it may be newer than the version, but never older.
    """

    def version(self) -> Any:
        """Return a hashable value that differs after each commit, or None if that is unknown."""

    def was_replaced(self, version: Any, *, certainly: bool) -> bool:
        """Return whether another database may have taken this one's place since `version`.

        With `certainly`, what a checkpoint does to a SQLite file does not count.
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
