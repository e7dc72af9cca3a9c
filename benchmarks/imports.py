"""Measure imports: CPU time, peak memory, and the share of the time during which no other program can write.

    python -m benchmarks.imports [--baseline CHECKOUT] [--source FILE]

The checkouts take turns. The default source has 10,000 JSON articles of 8 KB.
"""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

import click

from benchmarks.data import CUSTOMER, article_json, write_json_lines
from benchmarks.measure import check
from benchmarks.servers import PROJECT, run_flask, start_flask

ROUNDS = 3


def measure_import(project: Path, source: Path) -> tuple[float, float, float]:
    """Import into an empty database. Return the CPU seconds, the peak memory in MB, and the share of the lock."""
    with TemporaryDirectory() as folder:
        run_flask(f"sqlite:///{folder}/articles.db", "keys", "create", CUSTOMER, project=project)
        samples = []
        with (
            closing(sqlite3.connect(f"{folder}/articles.db", timeout=0, isolation_level=None)) as other,
            start_flask(
                f"sqlite:///{folder}/articles.db", "articles", "import", str(source), project=project
            ) as process,
        ):
            while not (finished := os.wait4(process.pid, os.WNOHANG))[0]:
                samples.append(is_locked(other))
                time.sleep(0.005)
            _, status, usage = finished
            process.returncode = os.waitstatus_to_exitcode(status)
        check(process.returncode == 0, "The import failed.")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, mean(samples)


def is_locked(connection: sqlite3.Connection) -> bool:
    """Return whether another program is writing."""
    try:
        connection.executescript("BEGIN IMMEDIATE; ROLLBACK")
    except sqlite3.OperationalError:
        return True
    return False


@click.command()
@click.option("--baseline", type=click.Path(exists=True, path_type=Path), help="A checkout of another version.")
@click.option("--source", type=click.Path(exists=True, path_type=Path), help="What to import.")
def main(baseline: Path | None, source: Path | None) -> None:
    """Measure imports, beside those of another version."""
    projects = [PROJECT, *([baseline.resolve()] if baseline else [])]
    with TemporaryDirectory() as folder:
        if not source:
            source = Path(folder, "articles.jsonl")
            write_json_lines(source, map(article_json, range(10_000)))
        rounds = [[measure_import(project, source.resolve()) for project in projects] for _ in range(ROUNDS)]
    for project, measured in zip(projects, zip(*rounds, strict=True), strict=True):
        seconds, megabytes, share = (median(values) for values in zip(*measured, strict=True))
        click.echo(f"{project}: CPU {seconds:.1f} s, peak memory {megabytes:.0f} MB, locked {share:.0%} of the time")


if __name__ == "__main__":
    main()
