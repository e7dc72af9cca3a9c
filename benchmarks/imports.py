"""Compare imports of the same articles from several kinds of sources.

    python -m benchmarks.imports [--articles 100000] [--rounds 3]

Each import is a new process on a new database, and the sources take turns. Reports the median CPU time, which other
programs on the machine hardly affect, and the maximum memory over all rounds.
"""

import csv
import os
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import click

from benchmarks.data import CUSTOMER, article_json, fill_database, write_json_lines
from benchmarks.measure import check
from benchmarks.servers import run_flask, start_flask

REQUIRED = ("title", "slug", "contentHtml", "publishedAt")


def write_csv(path: Path, articles: Iterable[dict[str, Any]]) -> None:
    """Write articles to a CSV file."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, article_json(0))
        writer.writeheader()
        writer.writerows(article | {"keywords": ", ".join(article["keywords"])} for article in articles)


def write_sources(folder: Path, count: int) -> dict[str, Path]:
    """Write the articles in each format. Returns the paths by the name of the format."""
    lines, required, table, files = (folder / name for name in ("all.jsonl", "required.jsonl", "table.csv", "files"))
    write_json_lines(lines, map(article_json, range(count)))
    write_json_lines(required, ({name: article_json(number)[name] for name in REQUIRED} for number in range(count)))
    write_csv(table, map(article_json, range(count)))
    url = f"sqlite:///{folder}/source.db"
    fill_database(url, lines)
    run_flask(url, "articles", "export", "--folder", str(files))
    return {"JSON Lines": lines, "JSON Lines, required fields": required, "CSV": table, "article files": files}


def measure_import(source: Path, count: int) -> tuple[float, float]:
    """Import a source into a new database. Returns the CPU time in seconds and the peak memory in megabytes."""
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/articles.db"
        run_flask(url, "keys", "create", CUSTOMER)
        with start_flask(url, "articles", "import", str(source)) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        check(run_flask(url, "articles", "list").count("\n") == count - 1, f"{source} was not imported.")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


@click.command()
@click.option("--articles", "count", default=100_000, show_default=True, help="Articles of 8 KB.")
@click.option("--rounds", default=3, show_default=True)
def main(count: int, rounds: int) -> None:
    """Compare imports from several kinds of sources."""
    with TemporaryDirectory() as name:
        sources = write_sources(Path(name), count)
        rows = [[measure_import(source, count) for source in sources.values()] for _ in range(rounds)]
    click.echo(f"{count} articles: CPU seconds, ratio to the first, peak megabytes")
    for source, runs in zip(sources, zip(*rows, strict=True), strict=True):
        seconds, megabytes = median(seconds for seconds, _ in runs), max(megabytes for _, megabytes in runs)
        ratio = median(seconds / turns[0][0] for turns, (seconds, _) in zip(rows, runs, strict=True))
        click.echo(f"{source:30}{seconds:8.1f} {ratio:8.2f} {megabytes:8.0f}")


if __name__ == "__main__":
    main()
