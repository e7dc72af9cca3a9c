"""Compare the throughput of the service with reference servers that return the same content.

    python -m benchmarks.served [--articles 10000] [--rounds 5] [--seconds 2] [--baseline FOLDER] [--postgresql URL]

Each contestant is a separate process on this machine: the service (`python app.py`) with default settings and with
`CACHE_MB=0`, and the servers in `benchmarks.references`: F (`flask`) and N (`straightforward`). Every response is
verified before it is timed. The servers share one core, and wrk uses another.

`--baseline` adds the version of the service in FOLDER, with the same interpreter and the same articles. `--postgresql`
adds the setups from docs/postgresql.md: one instance that uses a temporary database on the PostgreSQL server at URL,
and two such instances behind nginx. In that case, processes are not pinned to cores.
"""

import gzip
import sqlite3
from collections.abc import Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import orjson

from benchmarks.data import article_json, fill_database, write_json_lines
from benchmarks.measure import API, Request, Table, check, pin_client, print_versions
from benchmarks.servers import PROJECT, nginx, run_server

PAGES = {"full": f"{API}/articles", "preview": f"{API}/articles/preview", "sitemap": f"{API}/sitemap"}


class Contestants:
    """Servers of the same articles. Each dictionary maps a server's name to a request to it, without a path."""

    def __init__(self, folder: Path, count: int, stack: ExitStack, core: int | None) -> None:
        """Write `count` articles to import. Servers run until the stack is closed, pinned to `core` if it is given."""
        self.folder, self.stack, self.core = folder, stack, core
        self.source = folder / "articles.jsonl"
        write_json_lines(self.source, map(article_json, range(count)))
        self.cached, self.uncached = dict[str, Request](), dict[str, Request]()
        self.bare, self.straightforward = dict[str, Request](), dict[str, Request]()

    def run(self, headers: Mapping[str, str], *arguments: str, project: Path = PROJECT, **environment: str) -> Request:
        """Run a server from a checkout, and return a request to it."""
        server = run_server(*arguments, project=project, core=self.core, **environment)
        return Request(self.stack.enter_context(server), "", headers)

    def add_service(self, name: str, url: str, project: Path = PROJECT) -> None:
        """Run a checkout's service on a new database, with and without its cache."""
        headers = {"x-api-key": fill_database(url, self.source, project)}
        self.cached[name] = self.run(headers, "app.py", project=project, DATABASE_URL=url)
        self.uncached[name] = self.run(headers, "app.py", project=project, DATABASE_URL=url, CACHE_MB="0")

    def add_postgresql(self, server: str) -> None:
        """Run the service on a database of a PostgreSQL server, and nginx in front of two instances of it."""
        import psycopg

        connection = self.stack.enter_context(psycopg.connect(server, autocommit=True))
        connection.execute("CREATE DATABASE benchmark")
        self.stack.callback(connection.execute, "DROP DATABASE benchmark WITH (FORCE)")
        url = server.rpartition("/")[0] + "/benchmark"
        self.add_service("PostgreSQL", url)
        first = self.cached["PostgreSQL"]
        second = self.run({}, "app.py", DATABASE_URL=url)
        proxy = self.stack.enter_context(nginx(self.folder, first.server.port, second.server.port))
        self.cached["nginx, two instances"] = first._replace(server=proxy)

    def add_references(self) -> None:
        """Run the reference servers, which return the same content as the service."""
        bodies = {page: self.cached["service"]._replace(path=path).send().body for page, path in PAGES.items()}
        for page, body in (bodies | {"small": b"x" * 2000}).items():
            (self.folder / f"{page}.json").write_bytes(body)
        database = self.folder / "straightforward.db"
        headers = {"x-api-key": fill_database(f"sqlite:///{database}", self.source)}
        store_structured_data(database, bodies["full"])
        program = ("-m", "benchmarks.references")
        self.bare["F"] = self.run({}, *program, "flask", str(self.folder))
        self.straightforward["N"] = self.run(headers, *program, "straightforward", str(self.folder))


def store_structured_data(database: Path, page: bytes) -> None:
    """Store the structured data of a page's articles, because the straightforward server does not generate it."""
    rows = [(orjson.dumps(article["schemaMarkup"]).decode(), article["id"]) for article in orjson.loads(page)["data"]]
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany("UPDATE article SET schema_markup = ? WHERE id = ?", rows)


def to_path(requests: Mapping[str, Request], path: str, **headers: str) -> dict[str, Request]:
    """Return the requests with this path and additional headers."""
    return {
        name: request._replace(path=path, headers={**request.headers, **headers}) for name, request in requests.items()
    }


def compare_page(table: Table, contestants: Contestants, page: str, path: str) -> None:
    """Verify and measure all contestants on one of the service's pages."""
    plain = {} if page == "sitemap" else to_path(contestants.straightforward, path)
    cached = to_path(contestants.cached, path) | to_path(contestants.bare, f"/{page}") | plain
    uncached = to_path(contestants.uncached, path) | plain
    compressed = to_path(contestants.cached, path, **{"Accept-Encoding": "gzip"})
    expected = cached["service"].send()
    for request in (*cached.values(), *uncached.values()):
        check(orjson.loads(request.send().body) == orjson.loads(expected.body), f"Wrong response: {request}")
    for request in compressed.values():
        check(gzip.decompress(request.send().body) == expected.body, f"Wrong response: {request}")
    conditional = to_path(contestants.cached, path, **{"If-None-Match": expected.headers["ETag"]})
    for request in conditional.values():
        check(request.send().status == 304, f"Wrong response: {request}")
    table.compare(f"cached, {page}", cached)
    table.compare(f"uncached, {page}", uncached)
    table.compare(f"gzip, {page}", compressed)
    table.compare(f"304, {page}", conditional | to_path({"F, 2 KB": contestants.bare["F"]}, "/small"))


@click.command()
@click.option("--articles", "count", default=10_000, show_default=True, help="Articles of 8 KB.")
@click.option("--rounds", default=5, show_default=True, help="Measurements per contestant.")
@click.option("--seconds", default=2, show_default=True, help="Seconds per measurement.")
@click.option("--baseline", type=click.Path(exists=True, path_type=Path), help="Folder of another checkout.")
@click.option("--postgresql", metavar="URL", help="PostgreSQL server, to compare two more setups.")
def main(count: int, rounds: int, seconds: int, baseline: Path | None, postgresql: str | None) -> None:
    """Compare the service, with and without its cache, with the reference servers and other setups."""
    print_versions()
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        contestants = Contestants(folder, count, stack, core=None if postgresql else pin_client())
        contestants.add_service("service", f"sqlite:///{folder}/service.db")
        if baseline:
            contestants.add_service("baseline", f"sqlite:///{folder}/baseline.db", baseline)
        if postgresql:
            contestants.add_postgresql(postgresql)
        contestants.add_references()
        table = Table(rounds, seconds)
        for page, path in PAGES.items():
            compare_page(table, contestants, page, path)


if __name__ == "__main__":
    main()
