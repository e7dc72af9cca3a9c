"""A database file of its own for each test, the application on it, and ways to fill and ask it."""

import http.client
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Engine, event, make_url

try:
    import psycopg
except ImportError:  # which is needed on PostgreSQL alone
    psycopg = None

from app import SettingsSchema, create_app
from auth import add_key, find_or_add_customer
from content import save_articles
from database import begin_write, commit_write, create_tables
from errors import Faults, Place
from watch import Watch

LISTS = ("/api/public/v1/articles", "/api/public/v1/articles/preview")
SITEMAP = "/api/public/v1/sitemap"
ENDPOINTS = (*LISTS, SITEMAP)

# As far from UTC as clocks go, so that a local time in place of a UTC one is noticed.
os.environ["TZ"] = "Pacific/Kiritimati"
time.tzset()

PROJECT = Path(__file__).parent.parent

PAST = datetime(2025, 3, 1, 9, 30, tzinfo=UTC)


def article(number: int, **columns: Any) -> dict[str, Any]:
    """Make a published article, as a dictionary by column, with whatever `columns` say instead."""
    return {
        "id": f"id-{number:04}",
        "slug": f"slug-{number}",
        "status": "published",
        "published_at": PAST + timedelta(hours=number),
        "created_at": PAST,
        "updated_at": PAST,
        "views": number,
        "title": f"Title {number}",
        "banner_url": "https://www.example.com/banner.jpg",
        "category": "News",
        "keywords": '["one","two"]',
        "content_html": f"<p>Content of <em>number</em> {number}.</p>",
    } | columns


def simple(number: int, **fields: Any) -> dict[str, Any]:
    """Make an article with little more than it needs, as JSON gives it, with whatever `fields` say instead."""
    return {
        "id": f"id-{number:04}",
        "title": f"Title {number}",
        "slug": f"slug-{number}",
        "publishedAt": "2026-01-31T09:30:00Z",
        "contentHtml": "<p>Text</p>",
    } | fields


made_databases: list[str] = []
POSTGRESQL = os.environ.get("TEST_POSTGRESQL", "")  # a server's address, to run the tests on it instead of SQLite


def url_of(database: Path) -> str:
    """Give the address of a test's database: the file, or one of PostgreSQL's that is made for it."""
    if not POSTGRESQL:
        return f"sqlite:///{database}"
    name = "test_" + sha256(str(database).encode()).hexdigest()[:16]
    with psycopg.connect(POSTGRESQL, autocommit=True) as server:
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            server.execute(f"CREATE DATABASE {name}")
            made_databases.append(name)
    return make_url(POSTGRESQL.replace("postgresql:", "postgresql+psycopg:")).set(database=name).render_as_string(False)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out, on PostgreSQL, what is about SQLite's files."""
    if POSTGRESQL:
        items[:] = [item for item in items if not item.get_closest_marker("sqlite")]


@pytest.fixture(autouse=True)
def default_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no setting of the shell that runs the tests reach them."""
    for name in SettingsSchema().fields:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def no_open_connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close what the pools and caches of a test's applications still hold: Python 3.13 warns of what is left open."""
    opened: list[sqlite3.Connection | Watch] = []
    open_watch = Watch._open

    def note_watch(watch: Watch, file: tuple[int, ...]) -> None:
        opened.append(watch)
        open_watch(watch, file)

    monkeypatch.setattr(Watch, "_open", note_watch)

    def note(connection: sqlite3.Connection, _record: object) -> None:
        opened.append(connection)

    event.listen(Engine, "connect", note)
    yield
    event.remove(Engine, "connect", note)
    for connection in opened:
        connection.close()
    while made_databases:
        with psycopg.connect(POSTGRESQL, autocommit=True) as server:
            server.execute(f"DROP DATABASE {made_databases.pop()} WITH (FORCE)")


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "articles.db"


@pytest.fixture
def app(database: Path) -> Flask:
    app = create_app({"DATABASE_URL": url_of(database)})
    with app.app_context():
        create_tables()
    return app


@pytest.fixture
def save(app: Flask) -> Callable[..., None]:
    """Write articles of a customer, Acme where none is named."""
    return partial(write_articles, app)


def write_articles(app: Flask, *articles: dict[str, Any], customer: str = "Acme") -> None:
    with app.app_context():
        begin_write()
        faults = Faults()
        save_articles(find_or_add_customer(customer), [(Place("test", "1"), each) for each in articles], faults)
        faults.raise_any()
        commit_write()


@pytest.fixture
def key(app: Flask) -> str:
    return make_key(app, "Acme")


def make_key(app: Flask, customer: str, **options: Any) -> str:
    with app.app_context():
        begin_write()
        key, _ = add_key(find_or_add_customer(customer), **options)
        commit_write()
    return key


@pytest.fixture
def client(app: Flask, key: str) -> FlaskClient:
    """A client that sends a good key with every request."""
    client = app.test_client()
    client.environ_base["HTTP_X_API_KEY"] = key
    return client


@pytest.fixture
def sql(database: Path) -> Callable[..., list[Any]]:
    """Run one statement on the database file as another tool would."""

    def sql(statement: str, *parameters: Any) -> list[Any]:
        if POSTGRESQL:
            url = url_of(database).replace("+psycopg", "")
            with psycopg.connect(url) as connection:
                cursor = connection.execute(statement.replace("%", "%%").replace("?", "%s"), parameters)
                return cursor.fetchall() if cursor.description else []
        with closing(sqlite3.connect(database)) as connection, connection:
            return connection.execute(statement, parameters).fetchall()

    return sql


def assert_problem(response: Any, status: int) -> dict[str, Any]:
    """Check that an answer has the shape of every error; return its body."""
    assert response.status_code == status
    assert response.content_type == "application/problem+json"
    assert response.headers["Cache-Control"] == "no-store"
    problem = response.get_json()
    assert problem["type"] == "about:blank"
    assert problem["status"] == status
    assert problem["title"]
    assert problem["detail"]
    assert set(problem) - {"errors"} == {"type", "title", "status", "detail"}
    for leak in ("Traceback", "SELECT", "sqlite", ".py", ".db"):
        assert leak not in response.get_data(as_text=True)
    return problem


def program(database: Path, *arguments: str, prefix: Iterable[str] = (), **environment: str) -> dict[str, Any]:
    """Give what `subprocess` needs to run one of the project's programs on a test's database, and keep its output."""
    return {
        "args": [*prefix, sys.executable, *arguments],
        "cwd": PROJECT,
        "env": os.environ | {"DATABASE_URL": url_of(database), "PORT": "0"} | environment,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }


class Server:
    """`python app.py`, as a user starts it, on a free port, by a command before it where there is one."""

    def __init__(self, database: Path, *prefix: str, **environment: str) -> None:
        self.printed_path, self.log_path = database.parent / "printed", database.parent / "log"
        with self.printed_path.open("w") as printed, self.log_path.open("w") as log:
            self.process = subprocess.Popen(
                **program(database, "app.py", prefix=prefix, **environment) | {"stdout": printed, "stderr": log}
            )
        self.address = wait_for(lambda: re.search(r"Serving on http://(\S+):(\d+) ", self.printed()), self.log)
        self.host, self.port = self.address[1].strip("[]"), int(self.address[2])

    def printed(self) -> str:
        return self.printed_path.read_text()

    def log(self) -> str:
        return self.log_path.read_text()

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=20)


def get(server: Server, path: str, method: str = "GET", **headers: str) -> Any:
    """Ask a running service; give its response, read to the end, with its `body`."""
    connection = http.client.HTTPConnection(server.host, server.port, timeout=20)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer: Any = connection.getresponse()
    answer.body = answer.read()
    connection.close()
    return answer


def wait_for(find: Callable[[], Any], explain: Callable[[], str]) -> Any:
    """Ask until there is an answer, for ten seconds."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        if found := find():
            return found
        time.sleep(0.02)
    raise AssertionError(explain())


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
def server(start: Callable[..., Server]) -> Server:
    return start()
