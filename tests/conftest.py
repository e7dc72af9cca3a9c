"""Fixtures: a separate database for each test, the application on it, and services that a module's tests share."""

import filecmp
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
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

# A shell that runs the tests in the background ignores SIGINT, and so would the commands that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# As far from UTC as clocks go, so that a local time in the place of a UTC one is noticed.
os.environ["TZ"] = "Pacific/Kiritimati"
time.tzset()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the slow tests too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip slow tests without `--slow`, and tests of SQLite's files on PostgreSQL."""
    for item in items:
        if "slow" in item.keywords and not config.getoption("--slow"):
            item.add_marker(pytest.mark.skip(reason="needs --slow"))
        if "sqlite" in item.keywords and POSTGRESQL:
            item.add_marker(pytest.mark.skip(reason="is about SQLite's files"))


@pytest.fixture(scope="session", autouse=True)
def default_settings() -> None:
    """Remove the settings of the shell that runs the tests, and ignore `.env`."""
    os.environ["FLASK_SKIP_DOTENV"] = "1"
    for name in (*SettingsSchema().fields, "DEMO_KEY", "SOURCE_API_KEY"):
        os.environ.pop(name, None)


@pytest.fixture(scope="session")
def template(default_settings: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A database that holds the tables and nothing else."""
    with helpers.temporary_databases(tmp_path_factory.mktemp("template")) as database:
        database.touch()
        with helpers.application(database) as app:
            assert run_command(app, "keys", "list").exit_code == 0
        yield database


@pytest.fixture(scope="session")
def acme(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A database that holds the customer Acme with a key and nothing else, and the key."""
    with helpers.temporary_databases(tmp_path_factory.mktemp("acme")) as database:
        helpers.copy_database(template, database)
        with helpers.application(database) as app:
            key = create_key(app)
        yield database, key


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Path]:
    """Where a test's database is, or will be."""
    with helpers.temporary_databases(tmp_path) as database:
        yield database


@pytest.fixture
def app(template: Path, database: Path) -> Iterator[Flask]:
    """The application on an empty database."""
    helpers.copy_database(template, database)
    with helpers.application(database) as app:
        yield app


@pytest.fixture
def key(app: Flask, template: Path, database: Path, acme: tuple[Path, str]) -> str:
    """A key of the customer Acme."""
    if POSTGRESQL or Path(f"{database}-wal").exists() or not filecmp.cmp(template, database, shallow=False):
        return create_key(app)
    helpers.copy_database(acme[0], database)  # a fifth of the time that the command takes
    return acme[1]


@pytest.fixture
def client(app: Flask, key: str) -> FlaskClient:
    """A client that sends Acme's key with every request."""
    return client_with_key(app, key)


@pytest.fixture
def run(app: Flask) -> Callable[..., Result]:
    """Run `flask` with some arguments, in this process."""
    return partial(run_command, app)


@pytest.fixture
def articles(app: Flask, key: str) -> Callable[..., Result]:
    """Run `flask articles`; there is one customer, Acme."""
    return partial(run_command, app, "articles")


@pytest.fixture
def importer(articles: Callable[..., Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Importer:
    """Import from files in the test's folder; there is one customer, Acme."""
    monkeypatch.chdir(tmp_path)
    return Importer(articles, tmp_path)


@pytest.fixture
def save(app: Flask) -> Callable[..., None]:
    """Import articles for a customer, Acme unless another one is named, who is created if need be."""
    return partial(helpers.save_articles, app)


@pytest.fixture
def sql(database: Path) -> Callable[..., list[Any]]:
    """Run one statement on the test's database as another tool would."""
    return partial(helpers.run_sql, database)


@pytest.fixture
def start(database: Path) -> Iterator[Callable[..., Server]]:
    """Start the service on the test's database, with settings of its environment; stop it at the end."""
    servers = []

    def start(*prefix: str, **environment: str) -> Server:
        servers.append(Server(database, *prefix, **environment))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


@pytest.fixture
def server(app: Flask, start: Callable[..., Server]) -> Server:
    """A separate service, for a test that stops it, configures it or reads its whole log."""
    return start()


@pytest.fixture(scope="session")
def shared(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The application, and a running service on the same database, for all tests."""
    with helpers.temporary_databases(tmp_path_factory.mktemp("shared")) as database:
        helpers.copy_database(template, database)
        with helpers.running_service(database) as service:
            yield service


@pytest.fixture
def site(shared: tuple[Flask, Server]) -> Site:
    """A new customer of the shared service, with its own articles, so that tests do not see each other's."""
    return Site(*shared)
