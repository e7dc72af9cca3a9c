"""The application. `python app.py` serves it."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import click
from flask import Blueprint, Flask, Response, request
from sqlalchemy import select
from sqlalchemy.exc import ArgumentError

import auth
import errors
from commands import announce_file, name_flask_commands, silence_stdout, translate_database_errors
from commands.articles import articles as article_commands
from commands.customers import customers as customer_commands
from commands.database import database as database_commands
from commands.keys import keys as key_commands
from endpoints import articles, health, lists, openapi, page, previews, sitemap
from models import ApiKey, Article, db
from schemas import API
from serving import server
from serving.log import AccessLog, log_to_stderr
from serving.response_cache import MEGABYTE, ResponseCache
from settings import SettingsError, load_environment, read_settings, read_version
from storage import StorageError
from storage.changes import attach_change_detector
from storage.engine import add_listeners, end_transaction, engine_options, parse_database_url, release_connection
from storage.tables import open_database

NAME = "Article Delivery API"
# The endpoints that need a key, and the parameters that each knows.
ENDPOINTS = {
    f"{API}/articles": (articles.blueprint, lists.PARAMETERS),
    f"{API}/articles/preview": (previews.blueprint, lists.PARAMETERS),
    f"{API}/sitemap": (sitemap.blueprint, ()),
}


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """Return the application. Settings in `config` replace those of the environment and of `.env`.

    They are text or values. SQLALCHEMY_DATABASE_URI counts as DATABASE_URL, and other names are Flask's. Raises
    SettingsError, with a line that says what to do, if a setting is not valid.
    """
    # Flask's own guess at the folder depends on whether this module is run or imported.
    folder = str(Path(__file__).resolve().parent / "instance")
    app = Flask(__name__, instance_path=folder, static_folder=None)
    config = dict(config or {})
    alias = {"DATABASE_URL": config.get("SQLALCHEMY_DATABASE_URI", "")}
    app.config.update(config | read_settings(load_environment(), alias, config))
    _init_database(app)
    errors.init_app(app)
    if app.config["CORS_ORIGINS"]:
        _allow_origins(app, app.config["CORS_ORIGINS"])
    _add_endpoints(app)
    for commands in (key_commands, customer_commands, article_commands, database_commands):
        app.cli.add_command(commands)
    name_flask_commands()
    # "flask articles preview" serves another instance, and no command imports this module.
    app.extensions["create_app"] = create_app
    app.wsgi_app = ResponseCache(  # type: ignore[method-assign]  # as Flask documents it
        app.wsgi_app,
        app.extensions["change_detector"],
        app.config["CACHE_MB"] * MEGABYTE,
        {path: parameters for path, (_, parameters) in ENDPOINTS.items()},
        vary_by_origin=bool(app.config["CORS_ORIGINS"]),
    )
    return app


def _add_endpoints(app: Flask) -> None:
    """Register the endpoints, behind the key check, which requires a key for those of the API."""
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # its redirect would be an HTML page
    app.before_request(auth.check_key)
    api = Blueprint("api", __name__, url_prefix=API)
    for blueprint, _ in ENDPOINTS.values():
        api.register_blueprint(blueprint)
    for blueprint in (api, health.blueprint, openapi.blueprint, page.blueprint):
        app.register_blueprint(blueprint)


def _init_database(app: Flask) -> None:
    """Connect `app` to its database. Raises SettingsError if DATABASE_URL is not valid."""
    try:
        url = app.config["SQLALCHEMY_DATABASE_URI"] = parse_database_url(app.config["DATABASE_URL"])
        app.config["SQLALCHEMY_ENGINE_OPTIONS"] = engine_options(url, app.config["THREADS"])
        db.init_app(app)
        with app.app_context():
            add_listeners(db.engine)
            app.extensions["change_detector"] = attach_change_detector(db.engine)
    except ImportError as error:
        reason = str(error).partition("\n")[0]
        raise SettingsError(
            f"DATABASE_URL: its driver, or a library that the driver needs, is not installed ({reason}). "
            "Install it, or use SQLite. For PostgreSQL, run: pip install -r requirements-postgresql.txt"
        ) from error
    except StorageError as error:
        raise SettingsError(f"DATABASE_URL: {error}") from error
    except OSError as error:  # the folder of a relative path
        raise SettingsError(
            f"DATABASE_URL: the folder {error.filename} cannot be created ({error.strerror}). "
            "Name a file in a folder that exists and that you may write."
        ) from error
    except (ArgumentError, TypeError, ValueError) as error:
        raise SettingsError(
            f"DATABASE_URL: it is not a valid database URL ({type(error).__name__}). "
            "For a SQLite file: sqlite:////path/to/articles.db"
        ) from error
    app.teardown_appcontext(end_transaction)


def _allow_origins(app: Flask, origins: Collection[str]) -> None:
    """Send CORS headers to pages of these origins (https://fetch.spec.whatwg.org/#http-cors-protocol)."""

    @app.before_request
    def allow_preflight() -> Response | None:
        # On every path and before the key check: a page could not read a 404 or a 401 otherwise.
        is_preflight = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        return Response() if is_preflight else None

    @app.after_request
    def add_headers(response: Response) -> Response:
        response.vary.add("Origin")  # also in responses to clients that send none: a shared cache may store both kinds
        if request.headers.get("Origin") in origins:
            response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
            response.headers["Access-Control-Expose-Headers"] = "ETag, Link, Retry-After"
            if request.method == "OPTIONS":
                response.headers["Access-Control-Allow-Methods"] = "GET, HEAD"
                response.headers["Access-Control-Allow-Headers"] = "x-api-key, If-None-Match, Accept, Content-Type"
                response.headers["Access-Control-Max-Age"] = "7200"
        return response


def _print_start(url: str) -> None:
    """Print where the service listens, and how to create a key and articles if the database has none."""
    lines = [f"{NAME} {read_version()}: serving on {url} (Ctrl+C stops)"]
    if not db.session.scalar(select(ApiKey.id).limit(1)):
        lines.append("There is no API key yet. To create one: flask keys create CUSTOMER")
    if not db.session.scalar(select(Article.pk).limit(1)):
        lines.append("There is no article yet. To write demo articles: python seed.py")
    try:
        click.echo("\n".join(lines))
    except OSError:  # a full disk is no reason not to serve
        silence_stdout()


@click.command()
@click.version_option(read_version(), message=f"{NAME} %(version)s")
@translate_database_errors()
def main() -> None:
    """Serve the API at the HOST and PORT of the settings."""
    app = create_app()
    settings = app.config
    log = log_to_stderr(settings["LOG_LEVEL"])
    listener = server.listen(settings["HOST"], settings["PORT"])
    with app.app_context():
        announce_file(open_database(create=True))
        _print_start(server.base_url(settings["HOST"], listener.getsockname()[1]))
        release_connection()
    logged_app = AccessLog(app, log.write) if log else app
    server.serve(logged_app, listener, settings["THREADS"], allow_origins=bool(settings["CORS_ORIGINS"]))


if __name__ == "__main__":
    main()
