"""Set up the application's database from DATABASE_URL, and open it."""

import os
import re
from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from models import db
from settings import SettingsError
from storage import StorageError
from storage.changes import create_change_detector
from storage.engine import add_listener, close_connections, close_session, engine_options, write_options
from storage.queries import PUBLIC
from storage.sqlite import WAL_MODE, run_pragma, sqlite_path
from storage.tables import SCHEMA_VERSION, migrate, read_schema_version

DRIVERS = {"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"}


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
    """Prepare the database for use: upgrade outdated tables and, if `create` is true, create a missing file or tables.

    If every command created them, a running service would find an empty database and reject all keys (401) instead of
    reporting that its database is missing (503).

    Returns messages about what was created or upgraded. Raises StorageError if the file or its tables are missing, or
    if the tables are incomplete, of an unsupported version, or belong to another program. Raises OSError if the file
    cannot be created.
    """
    close_connections()  # those of requests are read-only
    name = str(db.engine.url.database)
    advice = "Check DATABASE_URL, restore a backup, or create the database: flask keys create CUSTOMER"
    path = sqlite_path(db.engine.url)
    if path and not os.path.exists(path):
        if not create:
            raise StorageError(f"The database {name} does not exist. {advice}")
        Path(path).touch(0o600)  # SQLite would create a world-readable file
    with db.engine.connect() as connection:
        version = read_schema_version(connection, name)
    if version is None and not create:
        raise StorageError(f"The database {name} is empty. {advice}")
    lines = []
    if version != SCHEMA_VERSION:
        with db.engine.execution_options(**write_options("upgrade")).begin() as connection:
            lines = migrate(connection, name)
    if path:
        run_pragma(path, WAL_MODE)
    return lines


def _create_engine(app: Flask) -> dict[str, Any]:
    """Create the engine. Returns its options. Raises SettingsError if DATABASE_URL is invalid."""
    try:
        url = _parse_database_url(app.config["DATABASE_URL"])
        options = engine_options(url, app.config["THREADS"], app.config.get("SQLALCHEMY_ENGINE_OPTIONS", {}))
        app.config.update(SQLALCHEMY_DATABASE_URI=url, SQLALCHEMY_ENGINE_OPTIONS=options)
        db.init_app(app)
    except ImportError as error:
        advice = "Run: pip install -r requirements-postgresql.txt"
        raise SettingsError(f"DATABASE_URL: the PostgreSQL driver cannot be loaded. {advice}") from error
    except OSError as error:  # Flask-SQLAlchemy creates the folder of a relative path
        advice = "Choose a file in an existing, writable folder."
        raise SettingsError(f"DATABASE_URL: cannot create {error.filename} ({error.strerror}). {advice}") from error
    except (ArgumentError, TypeError, ValueError) as error:
        shown = re.sub(r":.*@|\?.*", "…", str(app.config["DATABASE_URL"]))  # without parts that may contain a password
        examples = "sqlite:////path/to/articles.db (without options) or postgresql://user:password@host/articles"
        raise SettingsError(f"DATABASE_URL={shown!r:.100}: Must be a URL such as {examples}.") from error
    return options


def _parse_database_url(given: str | URL) -> URL:
    """Parse the URL of a SQLite file or of a PostgreSQL database. Raises ValueError or ArgumentError if it is neither.

    In-memory SQLite databases are rejected because every command would start with an empty one.
    """
    url = make_url(given)
    if url.drivername not in DRIVERS:
        raise ValueError("not a supported database")
    if url.get_backend_name() == "sqlite":
        is_file = url.database and "\0" not in url.database and not url.database.startswith((":memory:", "file:"))
        if not is_file or url.query:  # Options such as mode=ro would have no effect.
            raise ValueError("not a file, or with options")
    return url
