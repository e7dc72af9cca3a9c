"""Time an import of JSON Lines against the least that can be done with the file.

    python -m benchmarks.imports [--articles 100000] [--rounds 3]

The reference reads each line with `orjson.loads` and inserts it, with `sqlite3.executemany`, into the same tables: no
validation, no matching, nothing made. Two files are imported: one with every field, as another instance gives them, and
one with the required fields alone. Each run is a process of its own, on a new database; each round runs all three. The
figures are medians, the memory the most that a run ever held.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import click
import orjson

from app import create_app
from benchmarks.data import article
from benchmarks.measure import PROJECT
from content import complete, schema_markup
from database import create_tables
from models import article_table
from schemas import ArticleSchema
from search import searchable

MOST_MEMORY = 250  # megabytes
REQUIRED = ("title", "slug", "contentHtml", "publishedAt")


def write_files(folder: Path, count: int) -> tuple[Path, Path]:
    """Write `count` articles as JSON Lines twice: whole, and with the required fields and a date alone."""
    schema = ArticleSchema()
    whole, least = folder / "whole.jsonl", folder / "least.jsonl"
    with whole.open("wb") as whole_file, least.open("wb") as least_file:
        for number in range(count):
            made = complete(article(number))
            made["schema_markup"] = schema_markup(made, "Benchmark")
            line = orjson.dumps(schema.render([[made[name] for name in schema.columns]])[0])
            whole_file.write(line + b"\n")
            fields = orjson.loads(line)
            least_file.write(orjson.dumps({name: fields[name] for name in REQUIRED}) + b"\n")
    return whole, least


def new_database(folder: Path) -> str:
    """Make an empty database with one customer; return its address."""
    for file in folder.glob("articles.db*"):
        file.unlink()
    url = f"sqlite:///{folder}/articles.db"
    app = create_app({"DATABASE_URL": url})
    with app.app_context():
        create_tables()
    with closing(sqlite3.connect(folder / "articles.db")) as connection, connection:
        connection.execute("INSERT INTO customer (name) VALUES ('Benchmark')")
    return url


def insert_plainly(source: str, database: str) -> None:
    """Do what the reference does."""

    def rows() -> Iterator[dict[str, Any]]:
        with open(source, "rb") as file:
            for line in file:
                fields = orjson.loads(line)
                moment = fields["publishedAt"].replace("T", " ").replace("Z", "000")
                yield (
                    fields
                    | searchable(fields["title"], fields["slug"])
                    | {
                        "moment": moment,
                        "keywords": orjson.dumps(fields["keywords"]).decode(),
                        "schemaMarkup": orjson.dumps(fields["schemaMarkup"]).decode(),
                    }
                )

    columns = [column.name for column in article_table.c if column.name != "pk"]
    fixed = {
        "customer_id": "1",
        "status": "'published'",
        "views": "0",
        "markup_is_made": "0",
        "published_at": ":moment",
        "created_at": ":moment",
        "updated_at": ":moment",
    }
    fields = {name: field.data_key or name for name, field in ArticleSchema().fields.items()}
    values = ", ".join(fixed.get(name) or f":{fields.get(name, name)}" for name in columns)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany(f"INSERT INTO article ({', '.join(columns)}) VALUES ({values})", rows())


def measure(command: list[str], url: str) -> tuple[float, float]:
    """Run a command of this project on the database at `url`; give its seconds, and the most megabytes it held."""
    began = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *command], cwd=PROJECT, env=os.environ | {"DATABASE_URL": url}, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise click.ClickException("A run failed.")
    return perf_counter() - began, usage.ru_maxrss / 1024


def check(database: Path, count: int) -> None:
    """Check that a run wrote what the file holds."""
    with closing(sqlite3.connect(database)) as connection:
        found = connection.execute("SELECT count(*), min(length(content_html)) > 8000 FROM article").fetchone()
    if found != (count, 1):
        raise click.ClickException(f"There should be {count} articles, and there are {found}.")


@click.command()
@click.option("--articles", "count", default=100_000, show_default=True)
@click.option("--rounds", default=3, show_default=True)
@click.option("--plainly", nargs=2, hidden=True)
def main(count: int, rounds: int, plainly: tuple[str, str] | None) -> None:
    """Compare an import of so many articles of 8 KB with plain inserts of the same file."""
    if plainly:
        insert_plainly(*plainly)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole, least = write_files(folder, count)
        commands = {
            "orjson and sqlite3": ["-m", "benchmarks.imports", "--plainly", str(whole), str(folder / "articles.db")],
            "whole articles": ["-m", "flask", "articles", "import", str(whole)],
            "required fields": ["-m", "flask", "articles", "import", str(least)],
        }
        runs: dict[str, list[tuple[float, float]]] = {what: [] for what in commands}
        for _ in range(rounds):
            for what, command in commands.items():
                runs[what].append(measure(command, new_database(folder)))
                check(folder / "articles.db", count)
    click.echo(f"{count} articles: seconds, ratio to the first, megabytes")
    reference = median(seconds for seconds, _ in runs["orjson and sqlite3"])
    for what, each in runs.items():
        seconds, most = median(seconds for seconds, _ in each), max(most for _, most in each)
        click.echo(f"{what:20} {seconds:8.1f} {seconds / reference:8.2f} {most:8.0f}")
        if most > MOST_MEMORY:
            raise click.ClickException(f"No import may take more than {MOST_MEMORY} MB.")


if __name__ == "__main__":
    main()
