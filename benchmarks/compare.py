"""Compare this version of the service with an older one: the rates of requests and of imports.

    python -m benchmarks.compare [--against COMMIT] [--rounds 5]

The older version, by default the previous release, is checked out into a temporary worktree, with the packages of its
requirements.txt. Both get the same articles. The servers share one core, and wrk (https://github.com/wg/wrk) uses
another.

Rates are requests and imported articles per second of the service's CPU time, on which other programs have little
influence. Both versions take turns in each round, so that a slowdown of the machine affects both. Figures are medians
of the rounds, and ratios have the lowest and the highest of the rounds in parentheses. In every row, more is better.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from tempfile import TemporaryDirectory

import click

from benchmarks.data import write_json_lines, write_markdown, write_wordpress
from benchmarks.servers import API, PROJECT, PYTHON, Server, check, run_flask, run_service

ARTICLES = 1000  # of 8 KB
SECONDS = 2  # for each measurement of a rate
ROWS = (  # title, path, CACHE_MB
    ("cached, full page", f"{API}/articles", "64"),
    ("cached, previews", f"{API}/articles/preview", "64"),
    ("cached, sitemap", f"{API}/sitemap", "64"),
    ("uncached, full page", f"{API}/articles", "0"),
    ("uncached, previews", f"{API}/articles/preview", "0"),
)


def run_git(*arguments: str) -> str:
    """Run git in this checkout and return its output. Raises click.ClickException if it fails."""
    result = subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True)
    check(result.returncode == 0, f"git {' '.join(arguments)} failed: {result.stderr.strip()}")
    return result.stdout.strip()


@contextmanager
def check_out(commit: str, folder: Path) -> Iterator[Path]:
    """Check out a commit, by default the previous release, into a temporary worktree in `folder`, and install it."""
    commit = commit or run_git("log", "-1", "--format=%H", "-G^__version__ = ", "HEAD^", "--", "settings.py")
    click.echo(f"Compared with {run_git('log', '-1', '--format=%h (%s)', commit)}\n")
    older = folder / "older"
    run_git("worktree", "add", "--detach", str(older), commit)
    try:
        subprocess.run([sys.executable, "-m", "venv", older / ".venv"], check=True)
        subprocess.run([older / PYTHON, "-m", "pip", "install", "-q", "-r", older / "requirements.txt"], check=True)
        yield older
    finally:
        run_git("worktree", "remove", "--force", str(older))


def compare(title: str, rounds: int, measure_older: Callable[[], float], measure: Callable[[], float]) -> None:
    """Measure both versions in turns, and print their rates and the ratio as a row of a Markdown table."""
    rates = [(measure_older(), measure()) for _ in range(rounds)]
    older, newer = (median(column) for column in zip(*rates, strict=True))
    ratios = [rate / older_rate for older_rate, rate in rates]
    spread = f"{median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"
    click.echo(f"| {title:24} | {older:9,.0f} | {newer:9,.0f} | {spread:>16} |")


def measure_requests(server: Server, path: str, key: str) -> float:
    """Return the requests per second of CPU time on 8 connections. Raises click.ClickException if a request fails.

    A client in Python would be slower than the service.
    """
    url = f"http://127.0.0.1:{server.port}{path}"
    command = ["wrk", "-t1", "-c8", f"-d{SECONDS}s", "--timeout", "10s", "-H", f"x-api-key: {key}", url]
    before = server.cpu_seconds()
    output = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True).stdout
    number = re.search(r"(\d+) requests in", output)
    if not number or "Non-2xx" in output or "Socket errors" in output:
        raise click.ClickException(f"wrk failed at {url}: {output}")
    return int(number[1]) / (server.cpu_seconds() - before)


def measure_import(project: Path, source: Path, count: int) -> float:
    """Import `count` articles into an empty database. Returns the number per second of CPU time."""
    with TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/articles.db"
        run_flask(url, "keys", "create", "Benchmark", project=project)
        before = getrusage(RUSAGE_CHILDREN)
        run_flask(url, "articles", "import", str(source), project=project)
        after = getrusage(RUSAGE_CHILDREN)
        return count / (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def compare_requests(projects: list[Path], folder: Path, rounds: int) -> None:
    """Compare the rates of requests, with and without a cache."""
    write_json_lines(folder / "articles.jsonl", ARTICLES)
    urls = [f"sqlite:///{folder}/{number}.db" for number in range(len(projects))]
    keys = []
    for url, project in zip(urls, projects, strict=True):
        keys.append(run_flask(url, "keys", "create", "Benchmark", project=project))
        run_flask(url, "articles", "import", str(folder / "articles.jsonl"), project=project)
    first_core, *_, last_core = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, [last_core])  # of wrk, which inherits it
    for title, path, cache in ROWS:
        with ExitStack() as stack:
            measures = []
            for url, key, project in zip(urls, keys, projects, strict=True):
                service = run_service(url, "taskset", "-c", str(first_core), project=project, CACHE_MB=cache)
                measures.append(partial(measure_requests, stack.enter_context(service), path, key))
            compare(title, rounds, *measures)


def compare_imports(projects: list[Path], folder: Path, rounds: int) -> None:
    """Compare imports of Markdown posts, and of more articles in formats that take less time."""
    write_markdown(folder / "posts", ARTICLES)
    write_json_lines(folder / "posts.jsonl", 10 * ARTICLES)
    write_wordpress(folder / "posts.xml", 3 * ARTICLES)
    imports = (("Markdown", "posts", 1), ("JSON", "posts.jsonl", 10), ("WordPress", "posts.xml", 3))
    for system, name, factor in imports:
        number = factor * ARTICLES
        measures = [partial(measure_import, project, folder / name, number) for project in projects]
        compare(f"import {number:,} {system}", rounds, *measures)


@click.command()
@click.option("--against", "commit", default="", metavar="COMMIT", help="Older version. [default: last release]")
@click.option("--rounds", default=5, show_default=True, help="Measurements of each figure.")
def main(commit: str, rounds: int) -> None:
    """Compare this version's requests and imports with those of an older version."""
    check(shutil.which("wrk") is not None, "wrk is missing. Install it, for example with apt-get install wrk.")
    with TemporaryDirectory() as name, check_out(commit, Path(name)) as older:
        click.echo(f"| {'':24} | {'older':>9} | {'this':>9} | {'ratio':>16} |\n|:--|--:|--:|--:|")
        compare_requests([older, PROJECT], Path(name), rounds)
        compare_imports([older, PROJECT], Path(name), rounds)


if __name__ == "__main__":
    main()
