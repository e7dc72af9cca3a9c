"""Measure how the cost of requests and imports grows with the number of articles, and print it as a Markdown table.

    python -m benchmarks.growth [--articles 1000 --articles 10000 --articles 100000]

With the default numbers, it takes about five minutes.
"""

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import click

from benchmarks.data import CUSTOMER, article_json, write_json_lines
from benchmarks.measure import API, Request, check, pin_client
from benchmarks.servers import run_flask, run_server, start_flask

ROUNDS = 21


def measure(count: int, core: int) -> tuple[list[float], float]:
    """Return how long requests and the import of `count` articles take, in seconds, and the import's memory in MB."""
    with TemporaryDirectory() as folder:
        source, database = Path(folder, "articles.jsonl"), Path(folder, "articles.db")
        write_json_lines(source, map(article_json, range(count)))
        url = f"sqlite:///{database}"
        key = run_flask(url, "keys", "create", CUSTOMER)
        import_seconds, megabytes = measure_import(url, source)
        commit = "UPDATE article SET views = views + 1 WHERE pk = 1"
        with (
            run_server("app.py", core=core, DATABASE_URL=url) as server,
            closing(sqlite3.connect(database, isolation_level=None)) as connection,
        ):
            page = Request(server, f"{API}/articles", {"x-api-key": key})
            search = page._replace(path=f"{page.path}?q=number+{count - 1}")  # finds one article
            first, found = (measure_request(request, lambda: connection.execute(commit)) for request in (page, search))
            return [measure_request(page, lambda: None), first, found, import_seconds], megabytes


def measure_import(url: str, source: Path) -> tuple[float, float]:
    """Import articles. Returns the seconds and the peak memory in megabytes."""
    began = time.perf_counter()
    with start_flask(url, "articles", "import", str(source)) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    check(process.returncode == 0, "The import failed.")
    return time.perf_counter() - began, usage.ru_maxrss / 1024


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
        (*requests, import_seconds), megabytes = measure(count, core)
        milliseconds = " | ".join(f"{seconds * 1000:.1f} ms" for seconds in requests)
        click.echo(f"| {count:,} | {milliseconds} | {import_seconds:.1f} s | {megabytes:.0f} MB |")


if __name__ == "__main__":
    main()
