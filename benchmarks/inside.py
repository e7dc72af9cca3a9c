"""Time an uncached page inside the process against the least that can be done for it, in turn.

    python -m benchmarks.inside [--articles 10000] [--rounds 300]

The reference selects the same rows with the `sqlite3` module and makes JSON of them with `orjson`: no total, no ETag,
no HTTP. A page is what the view does: query, total, rendering, JSON, ETag. A request is all of the application: Flask's
routing, the key, the page, the log left out. The figures are medians.
"""

import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from statistics import median
from time import perf_counter
from typing import Any

import click
import orjson
from flask import Flask
from werkzeug.datastructures import Headers
from werkzeug.test import create_environ

from app import create_app
from benchmarks.data import fill
from schemas import ArticlePreviewSchema, ArticleSchema, RowSchema

PATHS: dict[str, RowSchema] = {"/articles": ArticleSchema(), "/articles/preview": ArticlePreviewSchema()}


def least(connection: sqlite3.Connection, schema: RowSchema) -> bytes:
    """Make JSON of the same 50 articles, as the reference does."""
    names = [field.data_key or name for name, field in schema.fields.items()]
    rows = connection.execute(
        f"SELECT {', '.join(schema.columns)} FROM article"
        " WHERE customer_id = 1 AND status = 'published' AND published_at <= ?"
        " ORDER BY published_at DESC, id DESC LIMIT 50 OFFSET 100",
        (datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f"),),
    )
    return orjson.dumps({"data": [dict(zip(names, row, strict=True)) for row in rows]})


def ask(app: Flask, path: str, key: str) -> bytes:
    """Send one request through the whole application."""
    environ = create_environ(
        f"/api/public/v1{path}", query_string="take=50&skip=100", headers=Headers({"x-api-key": key})
    )
    return b"".join(app.wsgi_app(environ, lambda *_: lambda _: None))


def milliseconds(do: Callable[[], Any]) -> float:
    """Give how long `do` takes."""
    began = perf_counter()
    do()
    return (perf_counter() - began) * 1000


def compare(app: Flask, connection: sqlite3.Connection, path: str, key: str, rounds: int) -> None:
    """Check that both have the same articles, then time them in turn; print the medians and their ratios."""
    schema = PATHS[path]
    ours, reference = orjson.loads(ask(app, path, key)), orjson.loads(least(connection, schema))
    if [each["slug"] for each in ours["data"]] != [each["slug"] for each in reference["data"]]:
        raise click.ClickException(f"The answers to {path} differ.")
    endpoint, _ = app.url_map.bind("").match(f"/api/public/v1{path}")
    view, pages, requests, references = app.view_functions[endpoint], list[float](), list[float](), list[float]()

    def timed_view() -> Any:
        began = perf_counter()
        response = view()
        pages.append((perf_counter() - began) * 1000)
        return response

    app.view_functions[endpoint] = timed_view
    for _ in range(rounds):
        references.append(milliseconds(lambda: least(connection, schema)))
        requests.append(milliseconds(lambda: ask(app, path, key)))
    for what, times in (("reference", references), ("page", pages), ("request", requests)):
        click.echo(f"{path:18} {what:10} {median(times):6.2f} ms {median(times) / median(references):6.2f}")


@click.command()
@click.option("--articles", "count", default=10_000, show_default=True)
@click.option("--rounds", default=300, show_default=True)
def main(count: int, rounds: int) -> None:
    """Compare a page of 50 articles of 8 KB with the least that can be done for it."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/articles.db"
        key = fill(url, count)
        app = create_app({"DATABASE_URL": url, "CACHE_MB": 0})
        with closing(sqlite3.connect(f"{folder}/articles.db")) as connection:
            for path in PATHS:
                compare(app, connection, path, key, rounds)


if __name__ == "__main__":
    main()
