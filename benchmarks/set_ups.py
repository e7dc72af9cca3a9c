"""The larger set-ups of docs/operate.md, compared with the plain one."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import click
import psycopg

from benchmarks.data import fill_database
from benchmarks.measure import PATHS, PROJECT, Request, Server, Table, check, free_port, listening, run_server


@contextmanager
def postgresql_database(server: str) -> Iterator[str]:
    """Create a database on the server, yield its URL for the service, and drop it at the end."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE benchmark")
        try:
            yield server.rpartition("/")[0].replace("postgresql:", "postgresql+psycopg:") + "/benchmark"
        finally:
            connection.execute("DROP DATABASE benchmark WITH (FORCE)")


def documented_site(folder: Path, port: int, *instances: int) -> str:
    """Return the nginx site of the documentation, with this port, these instances, and its cache in `folder`."""
    site = re.findall(r"```nginx\n(.*?)```", (PROJECT / "docs/operate.md").read_text(), re.DOTALL)[0]
    for documented, replacement in (
        ("server 127.0.0.1:8000;", "".join(f"server 127.0.0.1:{instance};" for instance in instances)),
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("/var/cache/nginx-articles", f"{folder}/cache"),
    ):
        if documented not in site:
            raise click.ClickException(f"The nginx site in docs/operate.md has no {documented!r}.")
        site = site.replace(documented, replacement)
    return str(site)


@contextmanager
def nginx(folder: Path, *instances: int) -> Iterator[Server]:
    """Run nginx in front of the instances on these ports, with its files in `folder`, until the block ends."""
    port = free_port()
    main = f"daemon off; pid {folder}/pid; error_log {folder}/error; user root; worker_processes auto;\n"
    site = documented_site(folder, port, *instances)
    (folder / "nginx.conf").write_text(f"{main}events {{}} http {{ access_log off; {site} }}")
    process = subprocess.Popen(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")])  # noqa: S607
    with listening(process, port) as server:
        yield server


def compare_set_ups(folder: Path, postgresql: str, count: int, table: Table, stack: ExitStack) -> None:
    """Compare an instance on PostgreSQL with one on SQLite, both without a cache, and two instances behind nginx."""
    urls = {"PostgreSQL": stack.enter_context(postgresql_database(postgresql)), "SQLite": f"sqlite:///{folder}/a.db"}
    requests = {}
    for name, url in urls.items():
        headers = {"x-api-key": fill_database(url, count)}
        for title, megabytes in ((name, "64"), (f"{name}, no cache", "0")):
            server = stack.enter_context(run_server("app.py", DATABASE_URL=url, CACHE_MB=megabytes))
            requests[title] = Request(server, "", headers)
    first = requests["PostgreSQL"]
    second = stack.enter_context(run_server("app.py", DATABASE_URL=urls["PostgreSQL"]))
    proxy = stack.enter_context(nginx(folder, first.server.port, second.port))
    requests["nginx, two instances"] = first._replace(server=proxy)
    for page, path in PATHS.items():
        contestants = {name: request._replace(path=path) for name, request in requests.items()}
        responses = [request.send() for request in contestants.values()]
        check({response.status for response in responses} == {200}, path)
        check(len({response.body for response in responses}) == 1, f"not all have the same bytes, {path}")
        table.compare(page, contestants)
