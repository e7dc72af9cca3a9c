"""The application factory, and `python app.py`, which serves the API with waitress."""

from collections.abc import Mapping
from typing import Any

import click
from flask import Blueprint, Flask

import auth
import errors
from commands.support.command_errors import report_errors
from commands.support.groups import GROUPS
from commands.support.session import command_session
from commands.support.start_message import print_start_message, warn_about_demo_key
from endpoints import articles, caching, cors, health, openapi, page, previews, security_headers, sitemap
from schemas import API_PATH
from serving import server
from serving.listener import listen
from serving.log import AccessLog, log_to_stderr
from settings import PROJECT_FOLDER, SERVICE_NAME, __version__, load_environment, read_settings
from storage import database_setup
from storage.changes import change_detector

# endpoints that require a key; paths are relative to API_PATH
ENDPOINTS = {
    "/articles": articles.blueprint,
    "/articles/preview": previews.blueprint,
    "/sitemap": sitemap.blueprint,
}


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """Create the Flask application.

    Settings in `config`, as text or as parsed values, override the environment and `.env`. SQLALCHEMY_DATABASE_URI is
    an alias for DATABASE_URL; any other name is passed to Flask. Raises SettingsError if a setting is invalid.
    """
    # Flask's default instance path depends on whether this module is run or imported.
    app = Flask(__name__, instance_path=str(PROJECT_FOLDER / "instance"), static_folder=None)
    config = dict(config or {})
    alias = {"DATABASE_URL": config.get("SQLALCHEMY_DATABASE_URI", "")}
    settings = read_settings(load_environment(), alias, config)  # later sources take precedence
    app.config.update(config | settings)  # parsed values replace the text in config
    database_setup.init_app(app)
    errors.init_app(app)
    security_headers.init_app(app)
    auth.init_app(app)
    caching.init_app(app)
    cors.init_app(app)
    _register_endpoints(app)
    for group in GROUPS:
        app.cli.add_command(group)
    return app


def _register_endpoints(app: Flask) -> None:
    """Register all blueprints, with those of the API behind the key check."""
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # Merging would redirect "//" with an HTML page.
    api = Blueprint(auth.API_BLUEPRINT, __name__, url_prefix=API_PATH)
    for path, blueprint in ENDPOINTS.items():
        api.register_blueprint(blueprint, url_prefix=path)
    for blueprint in (api, health.blueprint, openapi.blueprint, page.blueprint):
        app.register_blueprint(blueprint)


@click.command()
@click.version_option(__version__, message=f"{SERVICE_NAME} %(version)s")
def main() -> None:
    """Serve the API on the configured HOST and PORT."""
    app = create_app()
    settings = app.config
    log_to_stderr(settings["LOG_LEVEL"])
    with app.app_context(), report_errors():
        listener = listen(settings["HOST"], settings["PORT"])
        address, port, *_ = listener.getsockname()
        with command_session(writes=False, create=True):
            # Before anybody knows the URL, this opens the connection that keeps SQLite's -shm file, so that reads keep
            # working if the disk fills up.
            change_detector(app).version()
            print_start_message(settings["HOST"], port)
            warn_about_demo_key(address)
    server.serve(AccessLog(app), listener, settings["THREADS"])


if __name__ == "__main__":
    main()
