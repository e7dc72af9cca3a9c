"""Time an uncached page inside the process next to the least work that produces it.

    python -m benchmarks.inside [--articles 10000] [--rounds 300]

The reference selects the same rows with the `sqlite3` module and renders them as JSON with `orjson`: no total, no ETag,
no HTTP. A page is the work of the view: query, total, rendering, JSON. A request is the work of the whole application:
Flask's routing, the key, the page, but not the log. They take turns; the figures are medians.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import click
import orjson
from flask import Flask
from marshmallow import Schema
from werkzeug.datastructures import Headers
from werkzeug.test import create_environ

from app import create_app
from benchmarks.data import fill_database
from benchmarks.measure import API, PATHS
from schemas import ArticlePreviewSchema, ArticleSchema

SCHEMAS: dict[str, Schema] = {"full": ArticleSchema(), "preview": ArticlePreviewSchema()}


def baseline_page(connection: sqlite3.Connection, schema: Schema) -> bytes:
    """Return the JSON of 50 articles, as the reference renders it."""
    names = [field.data_key or name for name, field in schema.fields.items()]
    rows = connection.execute(
        f"SELECT {', '.join(schema.fields)} FROM article"
        " WHERE customer_id = 1 AND status = 'published' AND published_at <= ?"
        " ORDER BY published_at DESC, id DESC LIMIT 50 OFFSET 100",
        (datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f"),),
    )
    return orjson.dumps({"data": [dict(zip(names, row, strict=True)) for row in rows]})


def service_page(app: Flask, path: str, key: str) -> bytes:
    """Return the application's response to a request for the same articles."""
    environ = create_environ(path, query_string="take=50&skip=100", headers=Headers({"x-api-key": key}))
    return b"".join(app.wsgi_app(environ, lambda *_: lambda _: None))


def timed(function: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    """Return the function, extended so that it appends the milliseconds of each call to `times`."""

    def timed_function(*arguments: Any) -> Any:
        began = perf_counter()
        result = function(*arguments)
        times.append((perf_counter() - began) * 1000)
        return result

    return timed_function


def compare(app: Flask, connection: sqlite3.Connection, page: str, key: str, rounds: int) -> None:
    """Check that reference and service have the same articles, then time them in turns and print the medians."""
    path, schema = PATHS[page], SCHEMAS[page]
    service, reference = orjson.loads(service_page(app, path, key)), orjson.loads(baseline_page(connection, schema))
    if [article["slug"] for article in service["data"]] != [article["slug"] for article in reference["data"]]:
        raise click.ClickException(f"The service and the reference differ in the articles of {path}.")
    times: dict[str, list[float]] = {"reference": [], "page": [], "request": []}
    endpoint, _ = app.url_map.bind("").match(path)
    app.view_functions[endpoint] = timed(app.view_functions[endpoint], times["page"])
    send_reference, send_request = timed(baseline_page, times["reference"]), timed(service_page, times["request"])
    for _ in range(rounds):
        send_reference(connection, schema)
        send_request(app, path, key)
    for name, values in times.items():
        ratio = median(values) / median(times["reference"])
        click.echo(f"{path.removeprefix(API):18} {name:10} {median(values):6.2f} ms {ratio:6.2f}")


@click.command()
@click.option("--articles", "count", default=10_000, show_default=True, help="Articles of 8 KB.")
@click.option("--rounds", default=300, show_default=True)
def main(count: int, rounds: int) -> None:
    """Compare a page of 50 articles with the least work that produces it."""
    with TemporaryDirectory() as folder:
        database = Path(folder) / "articles.db"
        key = fill_database(f"sqlite:///{database}", count)
        app = create_app({"DATABASE_URL": f"sqlite:///{database}", "CACHE_MB": 0})
        with closing(sqlite3.connect(database)) as connection:
            for page in SCHEMAS:
                compare(app, connection, page, key, rounds)


if __name__ == "__main__":
    main()
