"""The application: settings, the blueprints under their key check, the access log. `python app.py` serves it."""

import logging
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import quote

import click
from flask import Blueprint, Flask, Response, g, request
from flask_cors import CORS
from marshmallow import EXCLUDE, Schema, ValidationError, fields
from sqlalchemy import make_url, select
from sqlalchemy.exc import ArgumentError

import auth
import cache
import errors
import server
from articles import articles as article_commands
from connections import access_log
from database import create_tables, end_transaction, engine_options
from endpoints import articles, health, openapi, page, previews, sitemap
from models import ApiKey, Article, db
from schemas import WholeNumber, one_of


class Origins(fields.Field[list[str]]):
    """Web origins (RFC 6454), separated by commas."""

    def _deserialize(self, value: str, attr: str | None, data: Any, **kwargs: Any) -> list[str]:
        origins = [origin.strip() for origin in value.split(",")]
        if not all(re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?", origin) for origin in origins):
            raise ValidationError(
                "Must be origins as in https://www.example.com, separated by commas, in small letters."
            )
        return origins


class SettingsSchema(Schema):
    """The environment variables that the service reads."""

    class Meta:
        unknown = EXCLUDE

    DATABASE_URL = fields.String(load_default="sqlite:///articles.db")
    HOST = fields.String(load_default="127.0.0.1")
    PORT = WholeNumber(0, 65535, load_default=8000)  # 0 takes a free one
    THREADS = WholeNumber(1, 64, load_default=4)
    CACHE_MB = WholeNumber(0, 100_000, load_default=64)
    CORS_ORIGINS = Origins(load_default=())
    LOG_LEVEL = fields.String(load_default="info", validate=one_of(("debug", "info", "warning", "error")))


def read_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """Read the settings; an empty variable is one that is not set. Raises click.ClickException for bad ones."""
    try:
        settings: dict[str, Any] = SettingsSchema().load({name: value for name, value in environment.items() if value})
    except ValidationError as error:
        lines = [f"{name}: {reasons[0]}" for name, reasons in error.messages_dict.items()]
        raise click.ClickException(" ".join(lines)) from error
    return settings


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """Make the application with the environment's settings, or those that `config` gives instead.

    Raises click.ClickException, with a line that says what to do, where a setting is not valid.
    """
    # Flask's own guess at the folder depends on whether this module is run or imported.
    app = Flask(__name__, instance_path=str(Path(__file__).resolve().parent / "instance"))
    app.config.update(read_settings(os.environ) | dict(config or {}))
    _init_database(app, app.config["DATABASE_URL"])
    app.teardown_appcontext(end_transaction)
    errors.init_app(app)
    app.before_request(_start_clock)
    app.after_request(_log_request)
    app.after_request(errors.harden)
    if app.config["CORS_ORIGINS"]:
        _allow_origins(app, app.config["CORS_ORIGINS"])
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # its redirect would be a page of HTML
    api = Blueprint("api", __name__, url_prefix="/api/public/v1")
    api.before_request(auth.check_key)
    for endpoint in (articles, previews, sitemap):
        api.register_blueprint(endpoint.blueprint)
    app.register_blueprint(api)
    for endpoint in (health, openapi, page):
        app.register_blueprint(endpoint.blueprint)
    app.cli.add_command(auth.keys)
    app.cli.add_command(article_commands)
    return app


def _init_database(app: Flask, url: str) -> None:
    """Give `app` the database at `url`, and a cache. Raises click.ClickException where it can be none."""
    app.config["SQLALCHEMY_DATABASE_URI"] = url
    try:
        app.config["SQLALCHEMY_ENGINE_OPTIONS"] = engine_options(make_url(url), app.config["THREADS"])
        db.init_app(app)
        cache.init_app(app)
    except ImportError as error:
        reason = str(error).partition("\n")[0]
        raise click.ClickException(
            f"DATABASE_URL: its driver, or what that needs, is not installed ({reason}). "
            "For PostgreSQL: pip install 'psycopg[binary]'"
        ) from error
    except (ArgumentError, OSError, TypeError, ValueError) as error:
        raise click.ClickException(
            f"DATABASE_URL: no database can be reached by it ({type(error).__name__}). "
            "A SQLite file is sqlite:////path/to/articles.db."
        ) from error


def _allow_origins(app: Flask, origins: Iterable[str]) -> None:
    """Let pages of these origins ask from the browser (CORS: https://fetch.spec.whatwg.org/#http-cors-protocol)."""
    CORS(
        app,
        origins=[re.compile(re.escape(origin) + r"\Z") for origin in origins],  # else it guesses what is a pattern
        methods=["GET", "HEAD"],
        allow_headers=["x-api-key", "If-None-Match"],
        expose_headers=["ETag"],
        max_age=7200,
        vary_header=False,
    )
    app.after_request(_vary_by_origin)


def _vary_by_origin(response: Response) -> Response:
    """Tell caches that the CORS headers depend on who asks, also in answers to those who are no browsers."""
    response.vary.add("Origin")
    return response


def _start_clock() -> None:
    g.setdefault("started", perf_counter())  # a request that is read again began when it first did


def _log_request(response: Response) -> Response:
    """Log the request in one line: nothing of its headers or query string, where a key could be."""
    if access_log.isEnabledFor(logging.INFO):
        environ, noted = request.environ, vars(g)
        access_log.info(
            "%s %s %d %d bytes %.1f ms %s",
            environ["REQUEST_METHOD"][:20],
            quote(environ["PATH_INFO"], encoding="latin-1")[:200],
            response.status_code,
            response.content_length or 0,
            (perf_counter() - noted["started"]) * 1000,
            noted.get("customer", "-"),
        )
    return response


@click.command()
@errors.database_errors_in_one_line()
def main() -> None:
    """Serve the API, at the HOST and PORT that the environment gives."""
    app = create_app()
    settings = app.config
    # What no line shows need not be found out: https://docs.python.org/3/howto/logging.html#optimization
    logging.logThreads = logging.logMultiprocessing = logging.logProcesses = False
    logging._srcfile = None
    log = server.LogHandler(sys.stderr.fileno()) if sys.stderr else logging.NullHandler()
    logging.basicConfig(level=settings["LOG_LEVEL"].upper(), handlers=[log])
    listener = server.listen(settings["HOST"], settings["PORT"])
    with app.app_context():
        create_tables()
        has_key = db.session.scalar(select(ApiKey.id).limit(1))
        has_article = db.session.scalar(select(Article.pk).limit(1))
    lines = [f"Serving on {server.base_url(settings['HOST'], listener.getsockname()[1])} (Ctrl+C stops)"]
    if not has_key:
        lines.append("There is no API key yet. To make one: flask keys create CUSTOMER")
    if not has_article:
        lines.append("There is no article yet. For a demo: python seed.py")
    try:
        click.echo("\n".join(lines))
    except OSError:  # a full disk, which is no reason not to serve
        errors.drop_output()
    server.serve(app, listener, settings["THREADS"])


if __name__ == "__main__":
    main()
