"""Time the service, as a user runs it, next to other servers that respond with the same bytes.

    python -m benchmarks.served [--articles 10000] [--large 100000] [--rounds 5] [--seconds 2] [--unpinned]
                                [--baseline FOLDER] [--postgresql URL]

Everything is a separate process on this machine: the service (`python app.py`) with its defaults and with
`CACHE_MB=0`, and the servers of `benchmarks.references`: W (`wsgi`), F (`flask`) and N (`straightforward`). Every
response is checked before it is timed. The servers run on one core and wrk on another, unless they are `--unpinned`.
Then the same service serves many more articles: what requests take there, and the memory after many different queries.

`--baseline` compares with another version of the service: the checkout in FOLDER runs in every place where the service
does, with the same interpreter, on a copy of the same database. `--postgresql` compares the larger set-ups of
docs/operate.md instead: an instance on the PostgreSQL server at URL, in a database that is created and dropped, and two
of them behind nginx.
"""

import gzip
import shutil
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import click
import orjson

from benchmarks.data import fill_database
from benchmarks.measure import (
    API,
    PATHS,
    PROJECT,
    Request,
    Table,
    check,
    pin_client,
    print_environment,
    run_server,
)


class Checkouts:
    """The checkouts of this project that are compared: this one, "service", and perhaps another one, "baseline"."""

    def __init__(self, baseline: Path | None, core: int | None, stack: ExitStack) -> None:
        """Servers run on the core, or on any, until the stack is closed."""
        self.folders = {"service": PROJECT} | ({"baseline": baseline} if baseline else {})
        self.core, self.stack = core, stack

    def fill_databases(self, folder: Path, count: int) -> dict[str, str]:
        """Create equal databases for the checkouts, in folders of their names; return the header with the API key.

        The last checkout, the older one, creates them: the tables of a newer one it might not know.
        """
        *others, oldest = self.folders
        (folder / oldest).mkdir(parents=True)
        key = fill_database(f"sqlite:///{folder / oldest}/articles.db", count, self.folders[oldest])
        for other in others:  # nothing has the database open, so its WAL is gone or copied too
            shutil.copytree(folder / oldest, folder / other)
        return {"x-api-key": key}

    def run(self, databases: Path, headers: Mapping[str, str], **environment: str) -> dict[str, Request]:
        """Run the service of all checkouts; return a request to each of them, without a path."""
        requests = {}
        for name, folder in self.folders.items():
            url = f"sqlite:///{databases / name}/articles.db"
            server = run_server("app.py", folder=folder, core=self.core, DATABASE_URL=url, **environment)
            requests[name] = Request(self.stack.enter_context(server), "", headers)
        return requests

    def run_reference(self, kind: str, folder: Path, headers: Mapping[str, str]) -> Request:
        """Run a reference; return a request to it, without a path."""
        server = run_server("-m", "benchmarks.references", kind, str(folder), core=self.core)
        return Request(self.stack.enter_context(server), "", headers)


def to_path(requests: Mapping[str, Request], path: str, **headers: str) -> dict[str, Request]:
    """Return the requests with this path and these further headers."""
    return {
        name: request._replace(path=path, headers={**request.headers, **headers}) for name, request in requests.items()
    }


def compare_with_references(checkouts: Checkouts, folder: Path, count: int, table: Table) -> None:
    """Print the table that compares the service, with and without its cache, with the references."""
    headers = checkouts.fill_databases(folder, count)
    cached, uncached = checkouts.run(folder, headers), checkouts.run(folder, headers, CACHE_MB="0")
    expected = {page: cached["service"]._replace(path=path).send().body for page, path in PATHS.items()}
    for page, body in (expected | {"small": b"x" * 2000}).items():
        (folder / f"{page}.json").write_bytes(body)
    bare = {"W": checkouts.run_reference("wsgi", folder, {}), "F": checkouts.run_reference("flask", folder, {})}
    store_structured_data(folder, orjson.loads(expected["full"])["data"])
    plain = {"N": checkouts.run_reference("straightforward", folder / "plain", headers)}
    for page, path in PATHS.items():
        lists = {} if page == "sitemap" else to_path(plain, path)
        contestants = to_path(cached, path) | to_path(bare, f"/{page}") | lists
        for name, request in (contestants | to_path(uncached, path)).items():
            check(orjson.loads(request.send().body) == orjson.loads(expected[page]), f"{name}, {page}")
        table.compare(f"cached, {page}", contestants)
        if lists:
            table.compare(f"uncached, {page}", to_path(uncached, path) | lists)
        compare_headers(table, cached, page, expected[page], to_path({"F, 2 KB": bare["F"]}, "/small"))


def store_structured_data(folder: Path, articles: Iterable[Mapping[str, Any]]) -> None:
    """Copy the service's database for the straightforward reference, which does not generate structured data."""
    copy = folder / "plain/articles.db"
    copy.parent.mkdir()
    with closing(sqlite3.connect(folder / "service/articles.db")) as connection:
        connection.execute("VACUUM INTO ?", [str(copy)])
    with closing(sqlite3.connect(copy)) as connection, connection:
        rows = [(orjson.dumps(article["schemaMarkup"]).decode(), article["id"]) for article in articles]
        connection.executemany("UPDATE article SET schema_markup = ? WHERE id = ?", rows)


def compare_headers(
    table: Table, cached: Mapping[str, Request], page: str, body: bytes, small: Mapping[str, Request]
) -> None:
    """Compare compressed responses with plain ones, and responses to conditional requests with a Flask view's."""
    compressed = to_path(cached, PATHS[page], **{"Accept-Encoding": "gzip"})
    for name, request in compressed.items():
        check(gzip.decompress(request.send().body) == body, f"gzip, {name}, {page}")
    plain = cached["service"]._replace(path=PATHS[page])
    table.compare(f"gzip, {page}", {**compressed, "plain": plain})
    etag = plain.send().headers["ETag"]
    conditional = to_path(cached, PATHS[page], **{"If-None-Match": etag})
    for name, request in conditional.items():
        check(request.send().status == 304, f"304, {name}, {page}")
    table.compare(f"304, {page}", {**conditional, **small})


def median_latencies(requests: Mapping[str, Request], repeats: int) -> dict[str, float]:
    """Return the median milliseconds of each request, sent in turns, one after another on one connection each."""
    times: dict[str, list[float]] = {name: [] for name in requests}
    with ExitStack() as stack:
        connections = {name: stack.enter_context(closing(request.connect())) for name, request in requests.items()}
        for _ in range(repeats):
            for name, request in requests.items():
                began = perf_counter()
                response = request.send(connections[name])
                times[name].append((perf_counter() - began) * 1000)
                check(response.status == 200, f"{name}, {request.path}")
    return {name: median(values) for name, values in times.items()}


def print_row(title: str, values: Mapping[str, float], decimals: int = 1) -> None:
    """Print a value for each checkout."""
    click.echo(f"{title:43}" + "".join(f"{value:10.{decimals}f}" for value in values.values()))


def time_large_dataset(checkouts: Checkouts, folder: Path, count: int, rounds: int) -> None:
    """Print the latency of the first page with 1,000 and with `count` articles, and of the slowest requests."""
    latencies = []
    for size, databases in ((min(1000, count), folder / "small"), (count, folder / "large")):
        headers = checkouts.fill_databases(databases, size)
        requests = checkouts.run(databases, headers, CACHE_MB="0")
        latencies.append(median_latencies(to_path(requests, PATHS["full"]), rounds * 20))
    click.echo(f"\n{f'Uncached, {count} articles, milliseconds':43}" + "".join(f"{name:>10}" for name in requests))
    small, large = latencies
    print_row("first page", large)
    print_row("first page, ratio to that of 1,000 articles", {name: large[name] / small[name] for name in large}, 2)
    for title, path in (
        ("last page", f"/articles?skip={count - 50}"),
        ("last page by title", f"/articles?orderBy=title&skip={count - 50}"),
        ("middle page", f"/articles?skip={count // 2}"),
        ("search that matches nothing", "/articles?q=no+such+word"),
        ("search that matches all", "/articles?q=article"),
        ("sitemap", "/sitemap"),
    ):
        print_row(title, median_latencies(to_path(requests, API + path), rounds * 2))
    click.echo(f"\nMegabytes after {count // 10} different queries")
    for title, environment in (("CACHE_MB=16", {"CACHE_MB": "16"}), ("default CACHE_MB", {})):
        requests = checkouts.run(folder / "large", headers, **environment)
        for request in requests.values():
            send_queries(request, count // 10)
        print_row(title, {name: request.server.resident_megabytes() for name, request in requests.items()}, 0)


def send_queries(request: Request, count: int) -> None:
    """Send requests for different pages on one connection."""
    with closing(request.connect()) as connection:
        for number in range(count):
            path = f"{API}/articles?take={number % 100 + 1}&skip={number}"
            check(request._replace(path=path).send(connection).status == 200, path)


@click.command()
@click.option("--articles", "count", default=10_000, show_default=True, help="Articles of 8 KB.")
@click.option("--large", default=100_000, show_default=True, help="Articles of the large database.")
@click.option("--rounds", default=5, show_default=True, help="Turns of each contestant of a comparison.")
@click.option("--seconds", default=2, show_default=True, help="Seconds of each turn.")
@click.option("--unpinned", is_flag=True, help="Run servers and wrk on any core.")
@click.option(
    "--baseline",
    type=click.Path(exists=True, file_okay=False, resolve_path=True, path_type=Path),
    help="Folder of another checkout of this project, to compare with.",
)
@click.option("--postgresql", metavar="URL", help="A PostgreSQL server, to compare the larger set-ups.")
def main(
    count: int, large: int, rounds: int, seconds: int, unpinned: bool, baseline: Path | None, postgresql: str | None
) -> None:
    """Compare the service with the references; then measure it with a large database."""
    print_environment()
    table = Table(rounds, seconds)
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        if postgresql:
            from benchmarks.set_ups import compare_set_ups  # needs psycopg

            compare_set_ups(folder, postgresql, count, table, stack)
            return
        checkouts = Checkouts(baseline, None if unpinned else pin_client(), stack)
        compare_with_references(checkouts, folder / "comparison", count, table)
        time_large_dataset(checkouts, folder, large, rounds)


if __name__ == "__main__":
    main()
