"""Shared test helpers: sample articles, commands, databases, a running service, requests, and waiting."""

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from click.testing import Result
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import make_url

try:
    import psycopg
except ImportError:  # only needed for PostgreSQL
    psycopg = None

from app import create_app
from models import db

LISTS = ("/api/public/v1/articles", "/api/public/v1/articles/preview")
SITEMAP = "/api/public/v1/sitemap"
ENDPOINTS = (*LISTS, SITEMAP)

# the contract with clients: the keys of each representation, in order
FULL_FIELDS = (
    "id title slug bannerUrl keywords metaTitle metaDesc publishedAt category readTime contentHtml schemaMarkup"
)
PREVIEW_FIELDS = "title slug bannerUrl publishedAt readTime category keywords"
DERIVED = {"metaTitle", "metaDesc", "readTime", "schemaMarkup"}

PROJECT = Path(__file__).parent.parent
OPENAPI = json.loads((PROJECT / "endpoints/openapi.json").read_text("utf-8"))
# the article that /openapi.json shows
EXAMPLE = {
    name: field["examples"][0] for name, field in OPENAPI["components"]["schemas"]["Article"]["properties"].items()
}
PAST = datetime(2025, 3, 1, 9, 30, tzinfo=UTC)
POSTGRESQL = os.environ.get("TEST_POSTGRESQL", "")  # URL of a server to run the tests on, instead of SQLite


def iso(moment: datetime) -> str:
    """Format an aware datetime as the API does: UTC with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def article_json(number: int, **fields: Any) -> dict[str, Any]:
    """Return a published article as import reads it; `fields` override its own."""
    own = {
        "id": f"id-{number:04}",
        "slug": f"slug-{number}",
        "status": "published",
        "publishedAt": iso(PAST + timedelta(hours=number)),
        "createdAt": iso(PAST),
        "updatedAt": iso(PAST),
        "views": number,
        "title": f"Title {number}",
        "bannerUrl": "https://www.example.com/banner.jpg",
        "category": "News",
        "keywords": ["one", "two"],
        "authors": ["Ann", "Bo"],
        "contentHtml": f"<p>Content of <em>number</em> {number}.</p>",
    }
    return {name: EXAMPLE[name] for name in EXAMPLE.keys() - DERIVED} | own | fields


def minimal_json(number: int, **fields: Any) -> dict[str, Any]:
    """Return an article with only the required fields, an id and a date, plus `fields`."""
    return {
        "id": f"id-{number:04}",
        "title": f"Title {number}",
        "slug": f"slug-{number}",
        "publishedAt": "2026-01-31T09:30:00Z",
        "contentHtml": "<p>Text</p>",
    } | fields


def json_lines(articles: Iterable[Any]) -> str:
    """Return articles as JSON Lines."""
    return "".join(json.dumps(article) + "\n" for article in articles)


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files, given by their path in the folder; create subfolders as needed."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def run_command(app: Flask, *arguments: Any, **options: Any) -> Result:
    """Run `flask ARGUMENTS` in this process."""
    return app.test_cli_runner().invoke(args=[str(argument) for argument in arguments], **options)


def assert_rejected(result: Result, *words: str, status: int = 1) -> None:
    """Check that a command failed, printed nothing but an error, and named these words in it."""
    assert (result.exit_code, result.stdout) == (status, ""), result.output
    assert all(word in result.stderr for word in words), result.stderr
    assert status == 2 or result.stderr.count("\n") <= 2, result.stderr  # click adds the usage to status 2


def read_page(name: str) -> str:
    """Return the text of a documentation page, such as `README` or `docs/import`."""
    return (PROJECT / f"{name}.md").read_text("utf-8")


def section(page: str, title: str) -> str:
    """Return the text under a heading of a page, up to the next heading."""
    return re.split(r"^##+ ", page.split(f"# {title}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]


def blocks(page: str, language: str, after: str = "") -> list[str]:
    """Return the code blocks in a language, from the line that begins with `after`."""
    start = re.search(f"^{re.escape(after)}", page, re.MULTILINE).start()
    return re.findall(rf"^```{language}\n(.*?)^```", page[start:], re.DOTALL | re.MULTILINE)


def run_in_shell(commands: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run documented commands in a shell with the virtual environment activated."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "FLASK_APP": str(PROJECT / "app.py")} | environment
    return subprocess.run(commands, shell=True, env=env, capture_output=True, text=True, timeout=300)  # noqa: S602


def run_line(app: Flask, line: str) -> str:
    """Run a documented line, which must succeed; return its stdout.

    `flask` commands run in this process, with variables before them, anything else in a shell.
    """
    if match := re.fullmatch(r"((?:[A-Z_]+=\S+ )*)flask ([^|>]+)", line):
        variables = dict(assignment.split("=", 1) for assignment in match[1].split())
        result = run_command(app, *shlex.split(match[2]), env=variables)
        assert result.exit_code == 0, result.output
        return result.stdout
    process = run_in_shell(line, DATABASE_URL=app.config["DATABASE_URL"])
    assert process.returncode == 0, process.stderr
    return process.stdout


def run_section(app: Flask, page: str, title: str) -> list[str]:
    """Run each line of a section's first shell block; all must succeed. Return their stdout."""
    return [run_line(app, line) for line in blocks(section(page, title), "sh")[0].splitlines()]


def create_key(app: Flask, customer: str = "Acme", *options: str) -> str:
    """Create a key, and the customer if necessary; return the key."""
    result = run_command(app, "keys", "create", customer, *options)
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def import_articles(app: Flask, *articles: Any, customer: str = "Acme", options: Iterable[str] = ()) -> Result:
    """Import articles as JSON Lines on stdin, for an existing customer."""
    command = ["articles", "import", "-", "--customer", customer, *options]
    return run_command(app, *command, input=json_lines(articles))


def save_articles(app: Flask, *articles: Any, customer: str = "Acme") -> None:
    """Import articles, creating the customer if necessary."""
    result = import_articles(app, *articles, customer=customer)
    if "There is no customer" in result.stderr:
        create_key(app, customer)
        result = import_articles(app, *articles, customer=customer)
    assert result.exit_code == 0, result.output


def client_with_key(app: Flask, key: str) -> FlaskClient:
    """Return a client that sends the key with every request."""
    client = app.test_client()
    client.environ_base["HTTP_X_API_KEY"] = key
    return client


def titles(client: FlaskClient) -> list[str]:
    """Return the titles that the API shows, in alphabetical order."""
    page = client.get(f"{LISTS[1]}?orderBy=title&order=asc&take=100").get_json()
    return [article["title"] for article in page["data"]]


created_databases: list[str] = []  # on PostgreSQL


def server_connection() -> Any:
    """Connect to the PostgreSQL server under test."""
    return psycopg.connect(POSTGRESQL, autocommit=True)


def database_name(database: Path) -> str:
    """Return the PostgreSQL database name for a test's database path."""
    return "test_" + sha256(str(database).encode()).hexdigest()[:16]


def database_url(database: Path) -> str:
    """Return the URL of a test's database: its file, or on PostgreSQL a database that is created on demand."""
    if not POSTGRESQL:
        return f"sqlite:///{database}"
    name = database_name(database)
    with server_connection() as server:
        if not server.execute("SELECT 1 FROM pg_database WHERE datname = %s", [name]).fetchone():
            server.execute(f"CREATE DATABASE {name}")
            created_databases.append(name)
    return make_url(POSTGRESQL.replace("postgresql:", "postgresql+psycopg:")).set(database=name).render_as_string(False)


def copy_database(source: Path, target: Path) -> None:
    """Copy a database that is not open anywhere."""
    if not POSTGRESQL:
        shutil.copyfile(source, target)
        return
    with server_connection() as server:
        server.execute(f"CREATE DATABASE {database_name(target)} TEMPLATE {database_name(source)}")
    created_databases.append(database_name(target))


@contextmanager
def temporary_databases(folder: Path) -> Iterator[Path]:
    """Yield a database path in the folder; afterwards drop the PostgreSQL databases created in the block."""
    before = len(created_databases)
    try:
        yield folder / "articles.db"
    finally:
        while len(created_databases) > before:
            with server_connection() as server:
                server.execute(f"DROP DATABASE IF EXISTS {created_databases.pop()} WITH (FORCE)")


def connect_as_another_tool(database: Path) -> Any:
    """Return a separate connection to a test's database."""
    if POSTGRESQL:
        return psycopg.connect(database_url(database).replace("+psycopg", ""))
    return sqlite3.connect(database, isolation_level=None, check_same_thread=False)


def run_sql(database: Path, statement: str, *parameters: Any) -> list[Any]:
    """Run a statement on its own connection, as another tool would; return the rows."""
    with closing(connect_as_another_tool(database)) as connection, connection:
        if POSTGRESQL:
            statement = statement.replace("%", "%%").replace("?", "%s")
        cursor = connection.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def other_writer(database: Path) -> Iterator[Any]:
    """Yield a connection of another tool with an open write transaction."""
    with closing(connect_as_another_tool(database)) as connection:
        if not POSTGRESQL:
            connection.execute("BEGIN IMMEDIATE")
        yield connection


def assert_problem(response: Any, status: int, code: str = "") -> dict[str, Any]:
    """Check that a response is a well-formed problem document that leaks nothing; return its body."""
    assert (response.status_code, response.content_type) == (status, "application/problem+json")
    assert response.headers["Cache-Control"] == "no-store"
    problem = response.get_json()
    assert (problem["type"], problem["status"]) == ("about:blank", status)
    assert code in ("", problem["code"])
    assert problem["title"]
    assert problem["detail"]
    assert list(problem) == ["type", "title", "status", "detail", "code", "errors"][: len(problem)]
    assert ("errors" in problem) == (problem["code"] == "invalid_parameters")
    assert not re.search(r"Traceback|SELECT|sqlite|\.py|\.db", response.get_data(as_text=True))
    return problem


def subprocess_args(database: Path, *arguments: str, prefix: Iterable[str] = (), **environment: str) -> dict[str, Any]:
    """Return arguments for `subprocess.run` that run one of our programs on a test's database."""
    return {
        "args": [*prefix, sys.executable, *arguments],
        "cwd": PROJECT,
        "env": os.environ | {"DATABASE_URL": database_url(database), "PORT": "0"} | environment,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "text": True,
    }


def open_files(process: int | str = "self") -> dict[Path, str]:
    """Return the names of the files that a process has open, by their entries in /proc."""
    names = {}
    for entry in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed in the meantime
            names[entry] = os.readlink(entry)
    return names


def truncate(database: Path) -> None:
    """Empty the database; like the functions below, one way to damage it."""
    os.truncate(database, 0)


def halve(database: Path) -> None:
    os.truncate(database, database.stat().st_size // 2)


def overwrite(database: Path) -> None:
    """Overwrite all but the first page, so that the file can still be opened."""
    size = database.stat().st_size
    with database.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (size - 4096))


class Server:
    """A running `python app.py` on a free port; `prefix` is a command to run it with."""

    program: tuple[str, ...] = ("app.py",)
    url = r": serving on http://(\S+):(\d+) "  # as it is printed

    def __init__(self, database: Path, *prefix: str, **environment: str) -> None:
        self.database = database
        number = len(list(database.parent.glob("printed*")))
        self.printed_path, self.log_path = (database.parent / f"{name}{number}" for name in ("printed", "log"))
        arguments = subprocess_args(database, *self.program, prefix=prefix, **environment)
        with self.printed_path.open("w") as printed, self.log_path.open("w") as log:
            self.process = subprocess.Popen(**arguments | {"stdout": printed, "stderr": log})
        match = wait_for(lambda: re.search(self.url, self.printed() + self.log()), self.log, 60)
        self.host, self.port = match[1].strip("[]"), int(match[2])

    def printed(self) -> str:
        return self.printed_path.read_text()

    def log(self) -> str:
        return self.log_path.read_text()

    def wait_for_log(self, pattern: str) -> re.Match[str]:
        """Wait until the log matches the pattern."""
        return wait_for(lambda: re.search(pattern, self.log()), lambda: f"{pattern} is not in the log: {self.log()}")

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Stop the service; return its exit status."""
        self.process.send_signal(number)
        return self.process.wait(timeout=20)


def get(server: Any, path: str, method: str = "GET", **headers: str) -> Any:
    """Send a request to a running service; return the response with its complete `body`."""
    with closing(http.client.HTTPConnection(server.host, server.port, timeout=20)) as connection:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response: Any = connection.getresponse()
        response.body = response.read()
    return response


class Site:
    """A customer of the shared service, with a key of its own."""

    numbers = count(1)

    def __init__(self, app: Flask, server: Server) -> None:
        self.app, self.server = app, server
        self.customer = f"Customer {next(self.numbers)}"
        self.key = create_key(app, self.customer)

    def save(self, *articles: dict[str, Any]) -> None:
        """Import articles for this customer."""
        save_articles(self.app, *articles, customer=self.customer)

    def get(self, path: str, method: str = "GET", **headers: str) -> Any:
        """Send a request with this customer's key, unless another one is given."""
        return get(self.server, path, method, **{"x_api_key": self.key} | headers)


def wait_for(find: Callable[[], Any], explain: Callable[[], str], seconds: float = 10) -> Any:
    """Poll `find` until it returns a truthy value; fail with the message of `explain` after `seconds`."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := find():
            return found
        time.sleep(0.01)
    raise AssertionError(explain())


def create_application(database: Path, **settings: Any) -> Flask:
    """Create an application on a test's database."""
    return create_app({"DATABASE_URL": database_url(database)} | settings)


@contextmanager
def application(database: Path, **settings: Any) -> Iterator[Flask]:
    """Yield an application on a test's database; close its connections afterwards."""
    app = create_application(database, **settings)
    try:
        yield app
    finally:
        close(app)


def copy_project(folder: Path) -> Path:
    """Copy the project as it would be installed; return the copy's path."""
    ignored = shutil.ignore_patterns(".*", "tests", "benchmarks", "instance", "__pycache__")
    return Path(shutil.copytree(PROJECT, folder / "copy", ignore=ignored))


def close(app: Flask) -> None:
    """Close the application's connections to its database."""
    with app.app_context():
        db.engine.dispose()
