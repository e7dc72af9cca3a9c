"""The application. `python app.py` serves it."""

from collections.abc import Mapping
from typing import Any

import click
from flask import Blueprint, Flask

import auth
import commands
import errors
from commands.errors import report_errors
from commands.lookup import open_and_report
from commands.start_message import NAME, print_start_message, warn_of_demo_key
from endpoints import articles, caching, cors, health, openapi, page, previews, sitemap
from schemas import API_PATH
from serving.log import AccessLog, log_to_stderr
from settings import FOLDER, __version__, load_environment, read_settings
from storage import database
from storage.engine import release_connection

# the endpoints that need a key, by their path below API_PATH
ENDPOINTS = {
    "/articles": articles.blueprint,
    "/articles/preview": previews.blueprint,
    "/sitemap": sitemap.blueprint,
}


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """Return the application. Settings in `config` replace those of the environment and of `.env`.

    They are text or values. SQLALCHEMY_DATABASE_URI counts as DATABASE_URL, and other names are Flask's. Raises
    SettingsError, with a line that says what to do, if a setting is not valid.
    """
    # Flask's own guess at the folder depends on whether this module is run or imported.
    app = Flask(__name__, instance_path=str(FOLDER / "instance"), static_folder=None)
    config = dict(config or {})
    alias = {"DATABASE_URL": config.get("SQLALCHEMY_DATABASE_URI", "")}
    settings = read_settings(load_environment(), alias, config)  # later sources take precedence
    app.config.update(config | settings)  # parsed values replace the text in config
    database.init_app(app)
    errors.init_app(app)
    caching.init_app(app)
    auth.init_app(app)
    cors.init_app(app)
    _register_endpoints(app)
    commands.init_app(app)
    return app


def _register_endpoints(app: Flask) -> None:
    """Register the endpoints. Those of the API are in a blueprint that checks the key."""
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False  # The redirect to a path with fewer slashes would be an HTML page.
    api = Blueprint("api", __name__, url_prefix=API_PATH)
    api.before_request(auth.check_key)
    for path, blueprint in ENDPOINTS.items():
        api.register_blueprint(blueprint, url_prefix=path)
    for blueprint in (api, health.blueprint, openapi.blueprint, page.blueprint):
        app.register_blueprint(blueprint)


@click.command()
@click.version_option(__version__, message=f"{NAME} %(version)s")
@report_errors()
def main() -> None:
    """Serve the API at the HOST and PORT of the settings."""
    from serving import server  # The commands need no server, and start without it.

    app = create_app()
    settings = app.config
    log_to_stderr(settings["LOG_LEVEL"])
    listener = server.listen(settings["HOST"], settings["PORT"])
    with app.app_context():
        open_and_report(create=True)
        address, port, *_ = listener.getsockname()
        print_start_message(server.base_url(settings["HOST"], port))
        warn_of_demo_key(address)
        release_connection()  # These connections may write to the file, and those of requests must not.
    # SQLite creates its -shm file for this connection, so a disk that fills up later does not stop reads.
    app.extensions["change_detector"].version()
    server.serve(AccessLog(app), listener, settings["THREADS"], allow_origins=bool(settings["CORS_ORIGINS"]))


if __name__ == "__main__":
    main()
