"""Time the larger set-ups of docs/operate.md next to the plain one, in one run.

    TEST_POSTGRESQL=postgresql://postgres@127.0.0.1/postgres python -m benchmarks.larger [--articles 10000]

The plain set-up is one instance on a SQLite file. Beside it: one instance and two of them on PostgreSQL (on the server
that TEST_POSTGRESQL names, in a database that is made and dropped), and two behind nginx, with the site of the docs.
Everything runs on this machine, so what two instances add is bounded by its cores.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import psycopg

from benchmarks.data import fill
from benchmarks.measure import PATHS, PROJECT, Request, Table, check, free_port, running, wait_for_listener


@contextmanager
def made_database() -> Iterator[str]:
    """Make a database on PostgreSQL, give its address for the service, and drop it at the end."""
    server = os.environ["TEST_POSTGRESQL"]
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE benchmark")
        try:
            address = server.rpartition("/")[0] + "/benchmark"
            yield address.replace("postgresql:", "postgresql+psycopg:")
        finally:
            connection.execute("DROP DATABASE benchmark WITH (FORCE)")


@contextmanager
def nginx(folder: Path, *instances: int) -> Iterator[int]:
    """Run nginx with the site of the docs, with its files in `folder`, before these instances; give its port."""
    port = free_port()
    servers = "".join(f"server 127.0.0.1:{each};" for each in instances)
    site = re.findall(r"```nginx\n(.*?)```", (PROJECT / "docs/operate.md").read_text(), re.DOTALL)[0]
    for written, here in (
        ("server 127.0.0.1:8000;", servers),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("/var/cache/nginx/articles", f"{folder}/cache"),
    ):
        check(written in site, f"{written} in the site of the docs")
        site = site.replace(written, here)
    head = f"daemon off; pid {folder}/pid; error_log {folder}/error; user root; worker_processes auto;\n"
    (folder / "nginx.conf").write_text(f"{head}events {{}} http {{ access_log off; {site} }}")
    process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])  # noqa: S607
    try:
        wait_for_listener(port)
        yield port
    finally:
        process.terminate()
        process.wait()


@click.command()
@click.option("--articles", default=10_000, show_default=True)
@click.option("--rounds", default=5, show_default=True)
@click.option("--seconds", default=1.0, show_default=True)
def main(articles: int, rounds: int, seconds: float) -> None:
    """Time the larger set-ups."""
    table = Table(rounds, seconds)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        postgresql = stack.enter_context(made_database())
        sqlite = f"sqlite:///{folder}/articles.db"
        keys = {url: fill(url, articles) for url in (sqlite, postgresql)}
        plain, _ = stack.enter_context(running("app.py", DATABASE_URL=sqlite))
        uncached, _ = stack.enter_context(running("app.py", DATABASE_URL=sqlite, CACHE_MB="0"))
        first, _ = stack.enter_context(running("app.py", DATABASE_URL=postgresql))
        second, _ = stack.enter_context(running("app.py", DATABASE_URL=postgresql))
        front = stack.enter_context(nginx(folder, first, second))

        def ask(port: int, url: str, path: str) -> Request:
            return Request(port, path, {"x-api-key": keys[url]})

        click.echo(
            "Requests per second through nginx to two instances on PostgreSQL, and how many times those of others"
        )
        for name, path in PATHS.items():
            asked = {
                "nginx": ask(front, postgresql, path),
                "one on PostgreSQL": ask(first, postgresql, path),
                "SQLite": ask(plain, sqlite, path),
                "SQLite, CACHE_MB=0": ask(uncached, sqlite, path),
            }
            bodies = {request.send()[2] for request in asked.values()}
            check(len(bodies) == 1, f"{name}: all answer alike")
            table.line(name, **asked)


if __name__ == "__main__":
    main()
