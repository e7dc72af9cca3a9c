"""Setting up the application's database from DATABASE_URL."""

import re
from typing import Any

from flask import Flask
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from models import db
from settings import SettingsError
from storage.changes import attach_change_detector
from storage.engine import add_listeners, end_transaction, engine_options

DRIVERS = {"sqlite", "sqlite+pysqlite", "postgresql", "postgresql+psycopg"}


def init_app(app: Flask) -> None:
    """Set up the engine and change detection, without connecting. Raises SettingsError if DATABASE_URL is invalid."""
    _create_engine(app)
    with app.app_context():
        add_listeners(db.engine)
        app.extensions["change_detector"] = attach_change_detector(db.engine)
    # Runs before Flask-SQLAlchemy's, which raises for a lost connection: the last one registered is the first to run.
    app.teardown_appcontext(end_transaction)


def _create_engine(app: Flask) -> None:
    try:
        url = app.config["SQLALCHEMY_DATABASE_URI"] = parse_database_url(app.config["DATABASE_URL"])
        app.config["SQLALCHEMY_ENGINE_OPTIONS"] = engine_options(url, app.config["THREADS"])
        db.init_app(app)
    except ImportError as error:
        reason = str(error).partition("\n")[0]
        raise SettingsError(
            f"DATABASE_URL: the driver for PostgreSQL cannot be used ({reason}). "
            "Run: pip install -r requirements-postgresql.txt"
        ) from error
    except OSError as error:  # Flask-SQLAlchemy creates the folder of a relative path
        raise SettingsError(
            f"DATABASE_URL: the folder {error.filename} cannot be created ({error.strerror}). "
            "Name a file in a folder that exists and that you may write."
        ) from error
    except (ArgumentError, TypeError, ValueError) as error:
        shown = printable_url(app.config["DATABASE_URL"])
        raise SettingsError(
            f"DATABASE_URL={shown!r:.100}: it must be the URL of a SQLite file, as in sqlite:////path/to/articles.db, "
            "or of a PostgreSQL database, as in postgresql://user:password@host/articles."
        ) from error


def printable_url(text: Any) -> str:
    """Return an invalid URL without the parts that may hold a password."""
    return re.sub(":.*@", ":***@", str(text).partition("?")[0])


def parse_database_url(text: str) -> URL:
    """Return a database's URL. Raises ValueError or ArgumentError unless it names a SQLite file or PostgreSQL.

    `postgres://`, which many hosting services use, means PostgreSQL. In-memory SQLite databases are rejected, because
    every command would start with an empty one.
    """
    url = make_url(text)
    if url.drivername == "postgres":
        url = url.set(drivername="postgresql")
    if url.drivername not in DRIVERS:
        raise ValueError("not a supported database")
    if url.get_backend_name() == "sqlite" and (not url.database or url.database.startswith((":memory:", "file:"))):
        raise ValueError("not a file")
    return url
