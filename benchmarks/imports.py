"""Time an import of JSON Lines next to the least work that stores the file.

    python -m benchmarks.imports [--articles 100000] [--rounds 3]

The reference parses each line with `orjson.loads` and inserts it with `sqlite3.executemany` into the same table. It
validates, matches and derives nothing. Two files are imported: one with all fields of the full form, as another
instance returns them, and one with the required fields and a date. Each run is a new process on a new database;
the three take turns. The seconds are medians; the memory is the maximum of all runs.
"""

import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple

import click
import orjson

from benchmarks.data import CUSTOMER, full_article, run_flask, write_json_lines
from benchmarks.measure import PROJECT

MAX_MEMORY_MB = 250
REQUIRED = ("title", "slug", "contentHtml", "publishedAt")


class Run(NamedTuple):
    """What a run took: seconds, and the maximum of its resident memory in megabytes."""

    seconds: float
    megabytes: float


def required_fields(number: int) -> dict[str, Any]:
    """Return an article with the required fields and a date."""
    article = full_article(number)
    return {name: article[name] for name in REQUIRED}


def create_database(folder: Path) -> str:
    """Create a database with one customer, replacing an older one, and return its URL."""
    for file in folder.glob("articles.db*"):
        file.unlink()
    url = f"sqlite:///{folder}/articles.db"
    run_flask(url, "keys", "create", CUSTOMER)
    return url


def parse_rows(source: str) -> Iterator[dict[str, Any]]:
    """Yield the columns of the file's articles, named in camel case as the API's fields are."""
    with open(source, "rb") as file:
        for line in file:
            article = orjson.loads(line)
            moment = article["publishedAt"].replace("T", " ").replace("Z", "000")
            title = article["title"].lower()
            yield article | {
                "customerId": 1,
                "status": "published",
                "views": 0,
                "publishedAt": moment,
                "createdAt": moment,
                "updatedAt": moment,
                "foldedTitle": title,
                "searchText": f"{title}\n{article['slug'].lower()}",
                "keywords": orjson.dumps(article["keywords"]).decode(),
                "schemaMarkup": orjson.dumps(article["schemaMarkup"]).decode(),
            }


def insert_directly(source: str, database: str) -> None:
    """Insert the articles of a file, as the reference does."""
    with closing(sqlite3.connect(database)) as connection, connection:
        table = connection.execute("SELECT name, type FROM pragma_table_info('article') WHERE name <> 'pk'").fetchall()
        columns = ", ".join(name for name, _ in table)
        values = ", ".join(  # a flag says that a text was derived, and these were not
            "0" if kind == "BOOLEAN" else ":" + re.sub("_(.)", lambda match: match[1].upper(), name)
            for name, kind in table
        )
        connection.executemany(f"INSERT INTO article ({columns}) VALUES ({values})", parse_rows(source))


def measure_run(arguments: list[str], url: str) -> Run:
    """Run a program of this project on the database at the URL, and return what it took."""
    began = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=PROJECT, env=os.environ | {"DATABASE_URL": url}, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise click.ClickException(f"A run failed: {arguments}")
    return Run(perf_counter() - began, usage.ru_maxrss / 1024)


def check_database(database: Path, count: int) -> None:
    """Check that a run stored all articles of the file."""
    with closing(sqlite3.connect(database)) as connection:
        stored, complete = connection.execute(
            "SELECT count(*), min(length(content_html)) > 8000 FROM article"
        ).fetchone()
    if stored != count or not complete:
        raise click.ClickException(f"A run stored {stored} articles instead of {count}, or not all of their content.")


def measure_runs(folder: Path, count: int, rounds: int) -> dict[str, list[Run]]:
    """Return the runs of the reference and the imports, which take turns."""
    full, required, database = folder / "full.jsonl", folder / "required.jsonl", folder / "articles.db"
    write_json_lines(full, map(full_article, range(count)))
    write_json_lines(required, map(required_fields, range(count)))
    programs = {
        "orjson and sqlite3": ["-m", "benchmarks.imports", "--directly", str(full), str(database)],
        "full articles": ["-m", "flask", "articles", "import", str(full)],
        "required fields": ["-m", "flask", "articles", "import", str(required)],
    }
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, arguments in programs.items():
            runs[name].append(measure_run(arguments, create_database(folder)))
            check_database(database, count)
    return runs


@click.command()
@click.option("--articles", "count", default=100_000, show_default=True, help="Articles of 8 KB.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--directly", nargs=2, hidden=True)
def main(count: int, rounds: int, directly: tuple[str, str] | None) -> None:
    """Compare an import with plain inserts of the same file."""
    if directly:
        insert_directly(*directly)
        return
    with TemporaryDirectory() as folder:
        runs_by_name = measure_runs(Path(folder), count, rounds)
    click.echo(f"{count} articles: seconds, ratio to the first, megabytes")
    reference = median(run.seconds for run in runs_by_name["orjson and sqlite3"])
    for name, runs in runs_by_name.items():
        seconds, megabytes = median(run.seconds for run in runs), max(run.megabytes for run in runs)
        click.echo(f"{name:20} {seconds:8.1f} {seconds / reference:8.2f} {megabytes:8.0f}")
        if megabytes > MAX_MEMORY_MB:
            raise click.ClickException(f"A run took more than {MAX_MEMORY_MB} MB.")


if __name__ == "__main__":
    main()
