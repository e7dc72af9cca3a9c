"""Compare this version of the service with older ones: the rates of requests and of imports.

    python -m benchmarks.compare [--against COMMIT]... [--articles 1000] [--rounds 5] [--seconds 2]

Without --against, there is one older version: the previous release. Each is checked out into a temporary worktree, and
runs with the packages that are installed here. All versions get the same articles, and their responses are checked
before they are timed. The servers share one core, and wrk uses another.

Requests per second are multiples of those of two servers in `benchmarks.references`: for cached responses of F, a Flask
view that returns the same bytes; for uncached ones of N, the straightforward implementation. Imports are measured in
articles per second of CPU time. All versions take turns in each round, so that a slowdown of the machine affects all of
them, and each figure is the median of the rounds. The last columns are this version's figure divided by an older one's,
with the lowest and the highest of the rounds in parentheses. In every row, more is better.
"""

import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import click
import orjson

from benchmarks.data import write_json_lines, write_markdown, write_wordpress
from benchmarks.measure import PAGES, Request, check, import_articles, pin_client
from benchmarks.references import KEY
from benchmarks.servers import PROJECT, run_server

Measure = Callable[[], float]  # returns a rate


class Version(NamedTuple):
    """A version of the service: its name in the table, and the folder of its checkout."""

    name: str
    project: Path


class Table:
    """A printed table with one column for each version, the last of which is compared with the others."""

    def __init__(self, versions: Sequence[Version], rounds: int) -> None:
        """Print the table's header."""
        self.rounds = rounds
        click.echo("Requests per second, as multiples of F's or N's; imported articles per second of CPU time.\n")
        names = [version.name for version in versions]
        self.print_row("", "F or N", *names, *(f"vs {name}" for name in names[:-1]))
        self.print_row(":--", *["--:"] * (2 * len(names)))

    def print_row(self, title: str, *cells: str) -> None:
        """Print a row as Markdown."""
        click.echo(f"| {title:22} | {' | '.join(f'{cell:>16}' for cell in cells)} |")

    def compare(self, title: str, measures: Sequence[Measure], reference: Measure | None = None) -> None:
        """Measure the rate of each version, and print it as a multiple of the reference's rate if there is one."""
        references = []
        rounds = []
        for _ in range(self.rounds):
            references.append(reference() if reference else 1.0)
            rounds.append([measure() / references[-1] for measure in measures])
        rates = [f"{median(column):.3g}" for column in zip(*rounds, strict=True)]
        ratios = zip(*([row[-1] / rate for rate in row[:-1]] for row in rounds), strict=True)
        spreads = [f"{median(column):.2f} ({min(column):.2f}-{max(column):.2f})" for column in ratios]
        self.print_row(title, f"{median(references):,.0f}/s" if reference else "", *rates, *spreads)


def run_git(*arguments: str) -> str:
    """Run git in this checkout and return its output. Raises click.ClickException if it fails."""
    result = subprocess.run(["git", *arguments], cwd=PROJECT, capture_output=True, text=True)
    check(result.returncode == 0, f"git {' '.join(arguments)} failed: {result.stderr.strip()}")
    return result.stdout.strip()


def previous_release() -> str:
    """Return the last commit before the current one that set the version."""
    commit = run_git("log", "-1", "--format=%H", "-G^__version__ = ", "HEAD^", "--", "settings.py")
    check(bool(commit), "The history contains no previous release. Use --against COMMIT.")
    return commit


@contextmanager
def check_out(commit: str, folder: Path) -> Iterator[Version]:
    """Check out a commit into a temporary worktree in `folder`."""
    name = run_git("rev-parse", "--short", commit)
    version = run_git("grep", "-h", "^__version__ = ", commit, "--", "settings.py").split('"')[1]
    run_git("worktree", "add", "--detach", str(folder / name), commit)
    try:
        yield Version(f"{version} {name}", folder / name)
    finally:
        run_git("worktree", "remove", "--force", str(folder / name))


class Servers:
    """Servers of the same articles. Their requests have no path yet."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        """Pin wrk to another core than the servers, which run until the stack is closed."""
        self.stack = stack
        self.folder = folder
        self.core = pin_client()

    def run(self, headers: Mapping[str, str], *arguments: str, project: Path = PROJECT, **environment: str) -> Request:
        """Run a server from a checkout, and return a request to it."""
        server = run_server(*arguments, project=project, core=self.core, **environment)
        return Request(self.stack.enter_context(server), "", headers)

    def run_versions(self, versions: Sequence[Version], source: Path) -> tuple[list[Request], list[Request]]:
        """Run each version on its own database, with the default cache and without one."""
        cached = []
        uncached = []
        for number, (_, project) in enumerate(versions):
            url = f"sqlite:///{self.folder}/{number}.db"
            headers = {"x-api-key": import_articles(url, source, project).key}
            cached.append(self.run(headers, "app.py", project=project, DATABASE_URL=url))
            uncached.append(self.run(headers, "app.py", project=project, DATABASE_URL=url, CACHE_MB="0"))
        return cached, uncached

    def run_references(self, service: Request, count: int) -> tuple[Request, Request]:
        """Run F and N with the content that a version of the service returns."""
        for page, path in PAGES.items():
            (self.folder / f"{page}.json").write_bytes(service._replace(path=path).send().body)
        articles = []
        for skip in range(0, count, 100):
            response = service._replace(path=f"{PAGES['full']}?take=100&skip={skip}").send()
            articles += orjson.loads(response.body)["data"]
        (self.folder / "articles.json").write_bytes(orjson.dumps(articles))
        program = ("-m", "benchmarks.references")
        flask = self.run({}, *program, "flask", str(self.folder))
        straightforward = self.run({"x-api-key": KEY}, *program, "straightforward", str(self.folder))
        return flask, straightforward


def compare_requests(table: Table, versions: Sequence[Version], folder: Path, count: int, seconds: int) -> None:
    """Compare the rates of requests, with and without a cache."""
    source = folder / "articles.jsonl"
    write_json_lines(source, count)
    with ExitStack() as stack:
        servers = Servers(stack, folder)
        cached, uncached = servers.run_versions(versions, source)
        flask, straightforward = servers.run_references(cached[-1], count)
        for page in PAGES:
            compare_page(table, f"cached, {page}, F", page, [*cached, flask], seconds)
        for page in ("full", "previews"):
            compare_page(table, f"uncached, {page}, N", page, [*uncached, straightforward], seconds)


def compare_page(table: Table, title: str, page: str, contestants: Sequence[Request], seconds: int) -> None:
    """Check and measure a page of all versions, and of the reference, which comes last."""
    requests = [contestant._replace(path=PAGES[page]) for contestant in contestants]
    bodies = [request.send().body for request in requests]
    slugs = [[article.get("slug") or article["url"] for article in orjson.loads(body)["data"]] for body in bodies]
    check(all(order == slugs[-1] for order in slugs), f"The versions return different articles: {title}")
    check(max(map(len, bodies)) < 1.1 * min(map(len, bodies)), f"The sizes of the responses differ: {title}")
    *measures, reference = (partial(request.measure_rate, seconds) for request in requests)
    table.compare(title, measures, reference)


def compare_imports(table: Table, versions: Sequence[Version], folder: Path, count: int) -> None:
    """Compare imports of `count` Markdown posts, and of more articles in formats that take less time."""
    write_markdown(folder / "posts", count)
    write_json_lines(folder / "posts.jsonl", 10 * count)
    write_wordpress(folder / "posts.xml", 3 * count)
    sources = [("Markdown", "posts", count), ("JSON", "posts.jsonl", 10 * count), ("WordPress", "posts.xml", 3 * count)]
    for system, name, number in sources:
        measures = [partial(import_rate, folder / name, number, version) for version in versions]
        table.compare(f"import {number:,} {system}", measures)


def import_rate(source: Path, count: int, version: Version) -> float:
    """Import `count` articles into an empty database, and return the number per second of CPU time."""
    with TemporaryDirectory() as folder:
        return count / import_articles(f"sqlite:///{folder}/articles.db", source, version.project).seconds


@click.command()
@click.option("--against", "commits", multiple=True, metavar="COMMIT", help="Older version. [default: last release]")
@click.option("--articles", "count", default=1000, show_default=True, help="Articles of 8 KB.")
@click.option("--rounds", default=5, show_default=True, help="Measurements of each figure.")
@click.option("--seconds", default=2, show_default=True, help="Seconds for each measurement of a rate.")
def main(commits: tuple[str, ...], count: int, rounds: int, seconds: int) -> None:
    """Compare this version's requests and imports with those of older versions."""
    check(shutil.which("wrk") is not None, "wrk is missing. Install it, for example with apt-get install wrk.")
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        older = [stack.enter_context(check_out(commit, folder)) for commit in commits or [previous_release()]]
        versions = [*older, Version("this version", PROJECT)]
        table = Table(versions, rounds)
        compare_requests(table, versions, folder, count, seconds)
        compare_imports(table, versions, folder, count)


if __name__ == "__main__":
    main()
