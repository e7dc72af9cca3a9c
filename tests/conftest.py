"""Fixtures: a database and an application for each test, and services that tests share."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import helpers
import pytest
from click.testing import Result
from flask import Flask
from flask.testing import FlaskClient
from helpers import POSTGRESQL, Server, Site, client_with_key, create_key, run_command
from importer import Importer

from settings import SettingsSchema
from storage.database_setup import prepare_database

# Background jobs of a shell ignore SIGINT, and the commands that tests interrupt would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Commands are loaded when they are used. These must not import a function while a test has patched it.
for module in ("commands.import_articles", "commands.support.editor"):
    import_module(module)

# UTC+14: a local time used instead of UTC makes tests fail
os.environ["TZ"] = "Pacific/Kiritimati"
time.tzset()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip slow tests unless --slow is given, and SQLite tests on PostgreSQL."""
    for item in items:
        if "slow" in item.keywords and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="needs --slow"))
        if "sqlite" in item.keywords and POSTGRESQL:
            item.add_marker(pytest.mark.skip(reason="is about SQLite's files"))


@pytest.fixture(scope="session", autouse=True)
def default_settings() -> None:
    """Ignore the settings of the environment and of `.env`."""
    os.environ["FLASK_SKIP_DOTENV"] = "1"
    for name in (*SettingsSchema().fields, "DEMO_KEY", "SOURCE_API_KEY"):
        os.environ.pop(name, None)


@pytest.fixture(autouse=True)
def signal_handlers() -> Iterator[None]:
    """Restore the signal handlers, which some commands replace."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def template(default_settings: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty database with all tables."""
    with helpers.temporary_databases(tmp_path_factory.mktemp("template")) as database:
        with helpers.application(database) as app, app.app_context():
            prepare_database(create=True)
        yield database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    """The path of the test's database, which may not exist yet."""
    with helpers.temporary_databases(tmp_path) as database:
        yield database


@pytest.fixture
def app(template: Path, database: Path) -> Iterator[Flask]:
    """The application on an empty database."""
    helpers.copy_database(template, database)
    with helpers.application(database) as app:
        yield app


@pytest.fixture
def key(app: Flask) -> str:
    """A key of the customer Acme."""
    return create_key(app)


@pytest.fixture
def client(app: Flask, key: str) -> FlaskClient:
    """A client that sends Acme's key with every request."""
    return client_with_key(app, key)


@pytest.fixture
def run(app: Flask) -> Callable[..., Result]:
    """Run `flask ARGUMENTS` in this process."""
    return partial(run_command, app)


@pytest.fixture
def articles(app: Flask, key: str) -> Callable[..., Result]:
    """Run `flask articles ARGUMENTS`; the only customer is Acme."""
    return partial(run_command, app, "articles")


@pytest.fixture
def importer(articles: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Importer:
    """Import from files in the test's folder; the only customer is Acme."""
    monkeypatch.chdir(tmp_path)
    return Importer(articles, tmp_path)


@pytest.fixture
def save(app: Flask) -> Callable[..., None]:
    """Import articles for Acme or the given customer, which is created if necessary."""
    return partial(helpers.save_articles, app)


@pytest.fixture
def sql(database: Path) -> Callable[..., list[Any]]:
    """Run a statement on the test's database, as another tool would."""
    return partial(helpers.run_sql, database)


@pytest.fixture
def start(database: Path) -> Iterator[Callable[..., Server]]:
    """Start services on the test's database, with settings as environment variables; stop them afterwards."""
    servers = []

    def start(*prefix: str, **environment: str) -> Server:
        servers.append(Server(database, *prefix, **environment))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def server(app: Flask, start: Callable[..., Server]) -> Server:
    """A running service of the test's own."""
    return start()


@pytest.fixture(scope="session")
def shared(default_settings: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Flask, Server]]:
    """A running service, which has created its database, and an application on it, shared by all tests."""
    with helpers.temporary_databases(tmp_path_factory.mktemp("shared")) as database:
        server = Server(database, CORS_ORIGINS="https://www.example.com")
        with helpers.application(database) as app:
            yield app, server
        assert server.stop() == 0


@pytest.fixture
def site(shared: tuple[Flask, Server]) -> Site:
    """A new customer of the shared service, so that tests do not see each other's articles."""
    return Site(*shared)
