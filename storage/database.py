"""Set up the application's database from DATABASE_URL, and open it."""

import os
import re
from typing import Any

from flask import Flask
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from models import db
from settings import SettingsError
from storage.changes import create_change_detector
from storage.engine import add_listener, close_connections, close_session, engine_options, write_options
from storage.queries import PUBLIC
from storage.sqlite import create_database_file, require_database_file, set_wal_mode, sqlite_path
from storage.tables import SCHEMA_VERSION, migrate, read_schema_version

DRIVERS = {"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"}
DRIVER_OPTIONS = {"cached_statements", "timeout"}  # options of sqlite3.connect that a SQLite URL may set


def init_app(app: Flask) -> None:
    """Create the engine and change detector without connecting. Raises SettingsError if DATABASE_URL is invalid."""
    options = _create_engine(app)
    # Flask-SQLAlchemy's teardown raises if the connection has been lost. Ours is registered later, so it runs first.
    app.teardown_appcontext(close_session)
    with app.app_context():
        add_listener(db.engine)
        app.extensions["access_rule"] = PUBLIC
        app.extensions["change_detector"] = create_change_detector(db.engine, options["connect_args"])


def prepare_database(*, create: bool = False) -> list[str]:
    """Prepare the database for use: create its tables if there are none, or upgrade them if they are outdated.

    A missing file is only created if `create` is true. If every command did so, a running service would find an empty
    database and reject all keys (401) instead of reporting that its database is missing (503).

    Returns messages about what was created or upgraded. Raises StorageError if the file is missing or cannot be
    created, or if the tables are incomplete, of an unsupported version, or belong to another program.
    """
    close_connections()  # those of requests are read-only
    created = []
    path = sqlite_path(db.engine.url)
    name = str(db.engine.url.database)
    if path and create and not os.path.exists(path):
        create_database_file(path)
        created = [f"Created the database {path}."]
    if path:
        require_database_file(path)
    with db.engine.connect() as connection:
        version = read_schema_version(connection, name)
    changed = []
    if version != SCHEMA_VERSION:
        with db.engine.execution_options(**write_options("upgrade")).begin() as connection:
            changed = migrate(connection, name)
    if path:
        set_wal_mode(path)
    return created or changed


def _create_engine(app: Flask) -> dict[str, Any]:
    """Create the engine. Returns its options. Raises SettingsError if DATABASE_URL is invalid."""
    try:
        url = _parse_database_url(app.config["DATABASE_URL"])
        options = engine_options(url, app.config["THREADS"], app.config.get("SQLALCHEMY_ENGINE_OPTIONS", {}))
        app.config.update(SQLALCHEMY_DATABASE_URI=url, SQLALCHEMY_ENGINE_OPTIONS=options)
        db.init_app(app)
    except ImportError as error:
        reason = str(error).partition("\n")[0]
        raise SettingsError(
            f"DATABASE_URL: the PostgreSQL driver cannot be loaded ({reason}). "
            "Run: pip install -r requirements-postgresql.txt"
        ) from error
    except OSError as error:  # Flask-SQLAlchemy creates the folder of a relative path
        raise SettingsError(
            f"DATABASE_URL: cannot create the folder {error.filename} ({error.strerror}). "
            "Choose a file in an existing, writable folder."
        ) from error
    except (ArgumentError, TypeError, ValueError) as error:
        raise SettingsError(_explain_url(str(app.config["DATABASE_URL"]))) from error
    return options


def _explain_url(url: str) -> str:
    """Return a message about an invalid URL, without the parts of it that may contain a password."""
    before_options, question_mark, _ = url.partition("?")
    shown = re.sub(":.*@", ":***@", before_options)
    hint = " Remove the options after the question mark." if question_mark else ""
    return (
        f"DATABASE_URL={shown!r:.100}: Must be the URL of a SQLite file (such as sqlite:////path/to/articles.db) "
        f"or of a PostgreSQL database (such as postgresql://user:password@host/articles).{hint}"
    )


def _parse_database_url(given: str | URL) -> URL:
    """Parse the URL of a SQLite file or of a PostgreSQL database. Raises ValueError or ArgumentError if it is neither.

    `postgres://`, which many hosting services use, is accepted for PostgreSQL. In-memory SQLite databases are rejected
    because every command would start with an empty one.
    """
    url = make_url(given)
    if url.drivername == "postgres":
        url = url.set(drivername="postgresql")
    if url.drivername not in DRIVERS:
        raise ValueError("not a supported database")
    if url.get_backend_name() == "sqlite":
        if not url.database or "\0" in url.database or url.database.startswith((":memory:", "file:")):
            raise ValueError("not a file")
        if url.query.keys() - DRIVER_OPTIONS:  # such as mode=ro, which has no effect here
            raise ValueError("unsupported options")
    return url
