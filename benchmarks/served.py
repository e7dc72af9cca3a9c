"""Time the service, as a user runs it, next to other servers that respond with the same bytes.

    python -m benchmarks.served [--articles 10000] [--large 100000] [--rounds 5] [--seconds 2] [--unpinned]
                                [--baseline FOLDER]

Everything is a separate process on this machine: the service (`python app.py`) with its defaults and with
`CACHE_MB=0`, and the servers of `benchmarks.references`: W (`wsgi`), F (`flask`) and N (`straightforward`). Every
response is checked before it is timed. The servers run on one core and wrk on another, unless they are `--unpinned`.

Then the same service serves many more articles: what requests take there, and the memory after many different queries.

`--baseline` compares with another version of the service: the checkout in FOLDER runs in every place where the service
does, with the same interpreter, on a copy of the same database.
"""

import gzip
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import click

from benchmarks.data import fill_database
from benchmarks.measure import (
    API,
    PATHS,
    PROJECT,
    Request,
    Server,
    Table,
    check,
    pin_client,
    print_environment,
    run_server,
)


class Checkouts:
    """The checkouts of this project that are compared: this one, "service", and perhaps another one, "baseline"."""

    def __init__(self, baseline: Path | None, core: int | None) -> None:
        self.folders = {"service": PROJECT} | ({"baseline": baseline} if baseline else {})
        self.core = core

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

    def run(self, databases: Path, stack: ExitStack, **environment: str) -> dict[str, Server]:
        """Run the service of all checkouts, until the stack is closed."""
        return {
            name: stack.enter_context(
                run_server(
                    "app.py",
                    folder=folder,
                    core=self.core,
                    DATABASE_URL=f"sqlite:///{databases / name}/articles.db",
                    **environment,
                )
            )
            for name, folder in self.folders.items()
        }


class Comparison:
    """The service, with and without its cache, and the references, on the same articles."""

    def __init__(self, checkouts: Checkouts, folder: Path, count: int, table: Table, stack: ExitStack) -> None:
        """Run all of them, until the stack is closed."""
        self.headers = checkouts.fill_databases(folder, count)
        self.table, self.folder = table, folder / "service"
        self.cached = checkouts.run(folder, stack)
        self.uncached = checkouts.run(folder, stack, CACHE_MB="0")
        for page, path in PATHS.items():
            response = Request(self.cached["service"].port, path, self.headers).send()
            check(response.status == 200, path)
            (self.folder / f"{page}.json").write_bytes(response.body)
        (self.folder / "small.json").write_bytes(b"x" * 2000)
        self.references = {
            kind: stack.enter_context(
                run_server("-m", "benchmarks.references", kind, str(self.folder), core=checkouts.core)
            )
            for kind in ("wsgi", "flask", "straightforward")
        }

    def api_requests(self, servers: Mapping[str, Server], page: str) -> dict[str, Request]:
        """Return a request for the page to each of the servers; check that the service responds with the same bytes.

        Other servers respond with the same JSON.
        """
        requests = {name: Request(server.port, PATHS[page], self.headers) for name, server in servers.items()}
        expected = (self.folder / f"{page}.json").read_bytes()
        for name, request in requests.items():
            body = request.send().body
            same = body == expected or (name != "service" and json.loads(body) == json.loads(expected))
            check(same, f"{name}, {page}")
        return requests

    def bare_request(self, kind: str, page: str) -> Request:
        """Return a request to a reference that responds with a file's bytes."""
        request = Request(self.references[kind].port, f"/{page}", {})
        check(request.send().body == (self.folder / f"{page}.json").read_bytes(), f"{kind}, {page}")
        return request

    def straightforward_request(self, page: str) -> dict[str, Request]:
        """Return a request to the straightforward implementation, N."""
        return self.api_requests({"N": self.references["straightforward"]}, page)

    def compare_all(self) -> None:
        """Print the table."""
        self.table.print_head("service")
        for page in PATHS:
            self.compare_cached(page)
        for page in PATHS:
            self.compare_gzip(page)
        for page in PATHS:
            self.compare_not_modified(page)
        for page in ("full", "preview"):
            contestants = self.api_requests(self.uncached, page) | self.straightforward_request(page)
            self.table.compare(f"uncached, {page}", contestants)

    def compare_cached(self, page: str) -> None:
        """Compare responses from the cache with references that have the bytes in memory."""
        contestants = self.api_requests(self.cached, page)
        contestants |= {"W": self.bare_request("wsgi", page), "F": self.bare_request("flask", page)}
        if page != "sitemap":
            contestants |= self.straightforward_request(page)
        self.table.compare(f"cached, {page}", contestants)

    def compare_gzip(self, page: str) -> None:
        """Compare compressed responses with plain ones."""
        plain = self.api_requests(self.cached, page)
        contestants = {}
        for name, request in plain.items():
            contestants[name] = request._replace(headers=self.headers | {"Accept-Encoding": "gzip"})
            check(gzip.decompress(contestants[name].send().body) == request.send().body, f"gzip, {name}, {page}")
        self.table.compare(f"gzip, {page}", contestants | {"plain": plain["service"]})

    def compare_not_modified(self, page: str) -> None:
        """Compare responses to conditional requests with a Flask view that returns 2 KB."""
        contestants = {}
        for name, request in self.api_requests(self.cached, page).items():
            headers = self.headers | {"If-None-Match": request.send().headers["ETag"]}
            contestants[name] = request._replace(headers=headers)
            check(contestants[name].send().status == 304, f"304, {name}, {page}")
        self.table.compare(f"304, {page}", contestants | {"F, 2 KB": self.bare_request("flask", "small")})


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
    with ExitStack() as stack:
        latencies = []
        for size, databases in ((min(1000, count), folder / "small"), (count, folder / "large")):
            headers = checkouts.fill_databases(databases, size)
            servers = checkouts.run(databases, stack, CACHE_MB="0")
            first_page = {name: Request(server.port, PATHS["full"], headers) for name, server in servers.items()}
            latencies.append(median_latencies(first_page, rounds * 20))
        click.echo(f"\n{f'Uncached, {count} articles, milliseconds':43}" + "".join(f"{name:>10}" for name in servers))
        small, large = latencies
        print_row("first page", large)
        print_row("first page, ratio to that of 1,000 articles", {name: large[name] / small[name] for name in large}, 2)
        for title, path in slow_requests(count):
            requests = {name: request._replace(path=API + path) for name, request in first_page.items()}
            print_row(title, median_latencies(requests, rounds * 2))
    measure_memory(checkouts, folder / "large", headers, count // 10)


def slow_requests(count: int) -> Iterator[tuple[str, str]]:
    """Yield titles and paths of the requests that take longest with `count` articles."""
    yield "last page", f"/articles?skip={count - 50}"
    yield "last page by title", f"/articles?orderBy=title&skip={count - 50}"
    yield "middle page", f"/articles?skip={count // 2}"
    yield "search that matches nothing", "/articles?q=no+such+word"
    yield "search that matches all", "/articles?q=article"
    yield "sitemap", "/sitemap"


def measure_memory(checkouts: Checkouts, databases: Path, headers: Mapping[str, str], queries: int) -> None:
    """Print the memory of services after many different queries, with a small cache and with the default one."""
    click.echo(f"\nMegabytes after {queries} different queries")
    for title, environment in (("CACHE_MB=16", {"CACHE_MB": "16"}), ("default CACHE_MB", {})):
        with ExitStack() as stack:
            servers = checkouts.run(databases, stack, **environment)
            for name, server in servers.items():
                send_queries(name, Request(server.port, "", headers), queries)
            print_row(title, {name: server.resident_megabytes() for name, server in servers.items()}, 0)


def send_queries(name: str, request: Request, queries: int) -> None:
    """Send requests for different pages on one connection."""
    with closing(request.connect()) as connection:
        for number in range(queries):
            path = f"{API}/articles?take={number % 100 + 1}&skip={number}"
            check(request._replace(path=path).send(connection).status == 200, f"{name}, {path}")


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
def main(count: int, large: int, rounds: int, seconds: int, unpinned: bool, baseline: Path | None) -> None:
    """Compare the service with the references; then measure it with a large database."""
    print_environment()
    core = None if unpinned else pin_client()
    checkouts = Checkouts(baseline, core)
    with TemporaryDirectory() as name:
        folder = Path(name)
        with ExitStack() as stack:
            Comparison(checkouts, folder / "comparison", count, Table(rounds, seconds), stack).compare_all()
        time_large_dataset(checkouts, folder, large, rounds)


if __name__ == "__main__":
    main()
