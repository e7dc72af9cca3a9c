"""Time an import of JSON Lines next to the least work that stores the file.

    python -m benchmarks.imports [--articles 100000] [--rounds 3]

The reference parses each line with `orjson.loads` and inserts it with `sqlite3.executemany` into the same table. It
validates, matches and derives nothing. Two files are imported: one with all fields, as an export writes them, and one
with the required fields and a date. Each run is a new process on a new database; the three take turns. The seconds are
medians; the memory is the maximum of all runs.
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
from typing import Any

import click
import orjson

from benchmarks.data import CUSTOMER, article_json, fill_database, run_flask, write_json_lines
from benchmarks.measure import PROJECT, check

MAX_MEMORY_MB = 250
REQUIRED = ("title", "slug", "contentHtml", "publishedAt")


def parse_rows(source: str) -> Iterator[dict[str, Any]]:
    """Yield the columns of the file's articles, named in camel case as the API's fields are."""
    with open(source, "rb") as file:
        for article in map(orjson.loads, file):
            moments = {
                name: article[name].replace("T", " ").replace("Z", "000")
                for name in ("publishedAt", "createdAt", "updatedAt")
            }
            title = article["title"].lower()
            yield (
                article
                | moments
                | {
                    "customerId": 1,
                    "foldedTitle": title,
                    "searchText": f"{title}\n{article['slug'].lower()}",
                    "keywords": orjson.dumps(article["keywords"]).decode(),
                    "schemaMarkup": orjson.dumps(article["schemaMarkup"]).decode(),
                }
            )


def insert_directly(source: str, database: str) -> None:
    """Insert the articles of a file, as the reference does."""
    with closing(sqlite3.connect(database)) as connection, connection:
        columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info('article')")][1:]
        values = ", ".join(":" + re.sub("_(.)", lambda match: match[1].upper(), name) for name in columns)
        connection.executemany(f"INSERT INTO article ({', '.join(columns)}) VALUES ({values})", parse_rows(source))


def measure_run(arguments: list[str], database: Path, count: int) -> tuple[float, float]:
    """Run a program of this project on a new database; return seconds and the maximum of its memory in megabytes."""
    for file in database.parent.glob(f"{database.name}*"):
        file.unlink()
    url = f"sqlite:///{database}"
    run_flask(url, "keys", "create", CUSTOMER)
    began = perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=PROJECT, env=os.environ | {"DATABASE_URL": url}, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = perf_counter() - began
    with closing(sqlite3.connect(database)) as connection:
        stored = connection.execute("SELECT count(*) FROM article WHERE length(content_html) > 8000").fetchone()
    check((process.returncode, stored) == (0, (count,)), f"{arguments}, {stored} articles stored")
    return seconds, usage.ru_maxrss / 1024


def write_sources(folder: Path, count: int) -> tuple[Path, Path]:
    """Write the articles with all fields, and with the required ones; return the files."""
    full, required = folder / "full.jsonl", folder / "required.jsonl"
    url = f"sqlite:///{folder}/source.db"
    fill_database(url, count)
    full.write_text(run_flask(url, "articles", "export", "--all-fields") + "\n")
    write_json_lines(required, ({name: article_json(number)[name] for name in REQUIRED} for number in range(count)))
    return full, required


@click.command()
@click.option("--articles", "count", default=100_000, show_default=True, help="Articles of 8 KB.")
@click.option("--rounds", default=3, show_default=True)
@click.option("--directly", nargs=2, hidden=True)
def main(count: int, rounds: int, directly: tuple[str, str] | None) -> None:
    """Compare an import with plain inserts of the same file."""
    if directly:
        insert_directly(*directly)
        return
    with TemporaryDirectory() as name:
        database = Path(name) / "articles.db"
        full, required = write_sources(Path(name), count)
        programs = {
            "orjson and sqlite3": ["-m", "benchmarks.imports", "--directly", str(full), str(database)],
            "full articles": ["-m", "flask", "articles", "import", str(full)],
            "required fields": ["-m", "flask", "articles", "import", str(required)],
        }
        rows = [[measure_run(program, database, count) for program in programs.values()] for _ in range(rounds)]
    click.echo(f"{count} articles: seconds, ratio to the first, megabytes")
    runs_by_name = dict(zip(programs, zip(*rows, strict=True), strict=True))
    reference = median(seconds for seconds, _ in runs_by_name["orjson and sqlite3"])
    for name, runs in runs_by_name.items():
        seconds, megabytes = median(seconds for seconds, _ in runs), max(megabytes for _, megabytes in runs)
        click.echo(f"{name:20} {seconds:8.1f} {seconds / reference:8.2f} {megabytes:8.0f}")
        check(megabytes <= MAX_MEMORY_MB, f"{name} took more than {MAX_MEMORY_MB} MB")


if __name__ == "__main__":
    main()
