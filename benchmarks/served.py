"""Time the service, as a user runs it, next to what else answers with the same bytes.

    python -m benchmarks.served [--articles 10000] [--large 100000] [--rounds 5] [--seconds 1]

Everything is a process of its own on this machine: the service (`python app.py`) with its defaults and with
`CACHE_MB=0`, and the references of `benchmarks.references`. Every answer is checked before it is timed.

Then the same service serves many more articles: what the first page costs more, and what the slowest requests take.
"""

import gzip
import http.client
import json
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path
from statistics import median
from time import perf_counter

import click

from benchmarks.data import fill
from benchmarks.measure import API, PATHS, Request, Table, check, megabytes_of, running


class Comparison:
    """The service, with and without its cache, and the references, on the articles of a folder."""

    def __init__(self, folder: Path, key: str, table: Table, stack: ExitStack) -> None:
        """Start all of them, until `stack` is closed."""
        self.folder, self.table, self.headers = folder, table, {"x-api-key": key}
        database = f"sqlite:///{folder}/articles.db"
        service, _ = stack.enter_context(running("app.py", DATABASE_URL=database))
        self.uncached, _ = stack.enter_context(running("app.py", DATABASE_URL=database, CACHE_MB="0"))
        self.ours = {name: Request(service, path, self.headers) for name, path in PATHS.items()}
        for name, request in self.ours.items():
            (folder / f"{name}.json").write_bytes(request.send()[2])
        (folder / "small.json").write_bytes(b"x" * 2000)
        self.ports = {
            kind: stack.enter_context(running("-m", "benchmarks.references", kind, "PORT", str(folder)))[0]
            for kind in ("wsgi", "flask", "straightforward")
        }

    def least(self, kind: str, name: str) -> Request:
        """Ask a reference that gives a file's bytes."""
        request = Request(self.ports[kind], f"/{name}", {})
        check(request.send()[2] == (self.folder / f"{name}.json").read_bytes(), f"{kind} {name}")
        return request

    def straightforward(self, name: str) -> Request:
        """Ask the reference that is made of the same libraries."""
        request = self.ours[name]._replace(port=self.ports["straightforward"])
        check(json.loads(request.send()[2]) == json.loads(self.ours[name].send()[2]), f"straightforward {name}")
        return request

    def print(self) -> None:
        """Print a line for each kind of answer."""
        click.echo("Requests per second of the service, and how many times those of the references (in brackets)")
        for name, request in self.ours.items():
            others = {"W": self.least("wsgi", name), "F": self.least("flask", name)}
            if name != "sitemap":
                others["N"] = self.straightforward(name)
            self.table.line(f"cached, {name}", service=request, **others)
        for name, request in self.ours.items():
            packed = request._replace(headers=self.headers | {"Accept-Encoding": "gzip"})
            check(gzip.decompress(packed.send()[2]) == request.send()[2], f"gzip {name}")
            self.table.line(f"gzip, {name}", service=packed, plain=request)
        for name, request in self.ours.items():
            known = request._replace(headers=self.headers | {"If-None-Match": request.send()[1]["ETag"]})
            check(known.send()[0] == 304, f"304 {name}")
            self.table.line(f"304, {name}", service=known, F_2KB=self.least("flask", "small"))
        for name in ("full", "preview"):
            request = self.ours[name]._replace(port=self.uncached)
            check(request.send()[2] == self.ours[name].send()[2], f"uncached {name}")
            self.table.line(f"uncached, {name}", service=request, N=self.straightforward(name))


def milliseconds(request: Request, rounds: int) -> float:
    """Give the median time of one request after another on one connection."""
    times = []
    with closing(http.client.HTTPConnection("127.0.0.1", request.port, timeout=60)) as connection:
        for _ in range(rounds):
            began = perf_counter()
            connection.request("GET", request.path, headers=request.headers)
            response = connection.getresponse()
            response.read()
            times.append((perf_counter() - began) * 1000)
            check(response.status == 200, request.path)
    return median(times)


def grow(folder: Path, count: int, rounds: int) -> None:
    """Print what the first page, and the slowest requests, of 1,000 and `count` articles take, uncached."""
    with ExitStack() as stack:
        first = []
        for size in (min(1000, count), count):
            part = folder / str(size)
            part.mkdir(exist_ok=True)
            database = f"sqlite:///{part}/articles.db"
            headers = {"x-api-key": fill(database, size)}
            port, _ = stack.enter_context(running("app.py", DATABASE_URL=database, CACHE_MB="0"))
            first.append(milliseconds(Request(port, PATHS["full"], headers), rounds * 20))
        click.echo(f"Uncached, {count} articles: milliseconds of one request after another")
        click.echo(f"{'first page':34} {first[1]:7.1f}  {first[1] / first[0]:6.2f} x that of 1,000")
        for what, path in (
            ("last page", f"/articles?skip={count - 50}"),
            ("last page by title", f"/articles?orderBy=title&skip={count - 50}"),
            ("middle page", f"/articles?skip={count // 2}"),
            ("search that matches nothing", "/articles?q=no+such+word"),
            ("search that matches all", "/articles?q=article"),
            ("sitemap", "/sitemap"),
        ):
            click.echo(f"{what:34} {milliseconds(Request(port, API + path, headers), rounds * 2):7.1f}")

        small, process = stack.enter_context(running("app.py", DATABASE_URL=database, CACHE_MB="16"))
        for number in range(count // 10):
            request = Request(small, f"{API}/articles?take={number % 100 + 1}&skip={number}", headers)
            check(request.send()[0] == 200, request.path)
        click.echo(f"Megabytes after {count // 10} different queries, CACHE_MB=16: {megabytes_of(process):.0f}")


@click.command()
@click.option("--articles", "count", default=10_000, show_default=True)
@click.option("--large", default=100_000, show_default=True)
@click.option("--rounds", default=5, show_default=True)
@click.option("--seconds", default=1.0, show_default=True)
def main(count: int, large: int, rounds: int, seconds: float) -> None:
    """Compare the service, on so many articles of 8 KB, with the references; then see how it grows."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        key = fill(f"sqlite:///{folder}/articles.db", count)
        Comparison(folder, key, Table(rounds, seconds), stack).print()
        grow(folder, large, rounds)


if __name__ == "__main__":
    main()
