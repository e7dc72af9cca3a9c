"""Measure how the cost of requests and imports grows with the number of articles, and print it as a Markdown table.

    python -m benchmarks.growth [--articles 1000 --articles 10000 --articles 100000]

With the default numbers, it takes about five minutes.
"""

import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click

from benchmarks.data import write_json_lines
from benchmarks.measure import PAGES, Request, check, import_articles, pin_client
from benchmarks.servers import run_server

ROUNDS = 21
COMMIT = "UPDATE article SET views = views + 1 WHERE pk = 1"


def measure(count: int, core: int) -> list[str]:
    """Return what requests and an import cost with `count` articles."""
    with TemporaryDirectory() as folder:
        source, database = Path(folder, "articles.jsonl"), Path(folder, "articles.db")
        write_json_lines(source, count)
        url = f"sqlite:///{database}"
        key, import_seconds, megabytes = import_articles(url, source)
        with (
            run_server("app.py", core=core, DATABASE_URL=url) as server,
            closing(sqlite3.connect(database, isolation_level=None)) as connection,
        ):
            page = Request(server, PAGES["full"], {"x-api-key": key})
            search = page._replace(path=f"{page.path}?q=number+{count - 1}")  # finds one article
            cached = measure_request(page, lambda: None)
            first, found = (measure_request(request, lambda: connection.execute(COMMIT)) for request in (page, search))
        milliseconds = [f"{seconds * 1000:.1f} ms" for seconds in (cached, first, found)]
        return [*milliseconds, f"{import_seconds:.1f} s", f"{megabytes:.0f} MB"]


def measure_request(request: Request, prepare: Callable[[], object]) -> float:
    """Return the request's median time in seconds. `prepare` is called before each round."""
    seconds = []
    with closing(request.connect()) as connection:
        for _ in range(ROUNDS):
            prepare()
            began = time.perf_counter()
            check(request.send(connection).status == 200, f"Failed: {request}")
            seconds.append(time.perf_counter() - began)
    return median(seconds)


@click.command()
@click.option("--articles", "counts", multiple=True, default=(1000, 10_000, 100_000), show_default=True)
def main(counts: tuple[int, ...]) -> None:
    """Measure how the cost of requests and imports grows with the number of articles."""
    core = pin_client()
    click.echo("| Articles | Cached request | First request after a commit | Search after a commit | Import | Memory |")
    click.echo("|--:|--:|--:|--:|--:|--:|")
    for count in sorted(counts):
        click.echo(f"| {count:,} | {' | '.join(measure(count, core))} |")


if __name__ == "__main__":
    main()
