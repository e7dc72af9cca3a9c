"""Time the larger set-ups of docs/operate.md next to the plain one, in one run.

    TEST_POSTGRESQL=postgresql://postgres@127.0.0.1/postgres python -m benchmarks.larger [--articles 10000]

The plain set-up is one instance on a SQLite file. The others are one instance on PostgreSQL (on the server that
TEST_POSTGRESQL names, in a database that is created and dropped), and two of them behind nginx, with the site of the
documentation. Both databases are served without a cache too. Everything runs on this machine, so its cores limit what a
second instance can add.
"""

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import psycopg

from benchmarks.data import fill_database
from benchmarks.measure import (
    PATHS,
    PROJECT,
    Request,
    Table,
    check,
    free_port,
    print_environment,
    run_server,
    wait_for_listener,
)


@contextmanager
def postgresql_database(server: str) -> Iterator[str]:
    """Create a database on the server, yield its URL for the service, and drop it at the end."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE benchmark")
        try:
            url = server.rpartition("/")[0] + "/benchmark"
            yield url.replace("postgresql:", "postgresql+psycopg:")
        finally:
            connection.execute("DROP DATABASE benchmark WITH (FORCE)")


def documented_site(folder: Path, port: int, *instances: int) -> str:
    """Return the nginx site of the documentation, with this port, these instances, and its cache in `folder`."""
    site = re.findall(r"```nginx\n(.*?)```", (PROJECT / "docs/operate.md").read_text(), re.DOTALL)[0]
    for documented, replacement in (
        ("server 127.0.0.1:8000;", "".join(f"server 127.0.0.1:{instance};" for instance in instances)),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("/var/cache/nginx/articles", f"{folder}/cache"),
    ):
        if documented not in site:
            raise click.ClickException(f"The nginx site in docs/operate.md has no {documented!r}.")
        site = site.replace(documented, replacement)
    return str(site)


@contextmanager
def nginx(folder: Path, *instances: int) -> Iterator[int]:
    """Run nginx in front of the instances on these ports, with its files in `folder`, and yield its port."""
    port = free_port()
    main = f"daemon off; pid {folder}/pid; error_log {folder}/error; user root; worker_processes auto;\n"
    site = documented_site(folder, port, *instances)
    (folder / "nginx.conf").write_text(f"{main}events {{}} http {{ access_log off; {site} }}")
    process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])  # noqa: S607
    try:
        wait_for_listener(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()


class SetUps:
    """All set-ups, with the same articles."""

    def __init__(self, folder: Path, server: str, count: int, stack: ExitStack) -> None:
        """Run all of them, until the stack is closed."""
        sqlite = f"sqlite:///{folder}/articles.db"
        postgresql = stack.enter_context(postgresql_database(server))
        sqlite_key, postgresql_key = fill_database(sqlite, count), fill_database(postgresql, count)
        first, second = (stack.enter_context(run_server("app.py", DATABASE_URL=postgresql)).port for _ in range(2))
        uncached, sqlite_cached, sqlite_uncached = (
            stack.enter_context(run_server("app.py", DATABASE_URL=url, CACHE_MB=megabytes)).port
            for url, megabytes in ((postgresql, "0"), (sqlite, "64"), (sqlite, "0"))
        )
        self.ports_and_keys = {
            "PostgreSQL": (first, postgresql_key),
            "PostgreSQL, no cache": (uncached, postgresql_key),
            "SQLite": (sqlite_cached, sqlite_key),
            "SQLite, no cache": (sqlite_uncached, sqlite_key),
            "nginx, two instances": (stack.enter_context(nginx(folder, first, second)), postgresql_key),
        }

    def requests(self, path: str) -> dict[str, Request]:
        """Return a request to each of the set-ups; check that all respond with the same bytes."""
        requests = {name: Request(port, path, {"x-api-key": key}) for name, (port, key) in self.ports_and_keys.items()}
        responses = [request.send() for request in requests.values()]
        check({response.status for response in responses} == {200}, path)
        check(len({response.body for response in responses}) == 1, f"not all have the same bytes, {path}")
        return requests


@click.command()
@click.option("--server", envvar="TEST_POSTGRESQL", show_envvar=True, required=True, help="URL of a PostgreSQL server.")
@click.option("--articles", "count", default=10_000, show_default=True, help="Articles of 8 KB.")
@click.option("--rounds", default=5, show_default=True, help="Turns of each set-up.")
@click.option("--seconds", default=2, show_default=True, help="Seconds of each turn.")
def main(server: str, count: int, rounds: int, seconds: int) -> None:
    """Compare one instance on PostgreSQL with other set-ups."""
    print_environment()
    table = Table(rounds, seconds)
    with TemporaryDirectory() as folder, ExitStack() as stack:
        set_ups = SetUps(Path(folder), server, count, stack)
        table.print_head("PostgreSQL")
        for page, path in PATHS.items():
            table.compare(page, set_ups.requests(path))


if __name__ == "__main__":
    main()
