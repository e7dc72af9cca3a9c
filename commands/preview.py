"""`flask articles preview`: show what readers would see, before they do, in a temporary instance."""

import os
import signal
import sys
import time
from datetime import UTC, datetime
from tempfile import TemporaryDirectory

import click
import orjson
from flask import Flask

from commands import echo, params
from commands.keys import add_key
from commands.lookup import customer_transaction, find_or_create_customer, get_articles
from commands.programs import find_program, start_program, stop_on_signal
from converters.records import number_articles
from fields import format_timestamp
from schemas import API_PATH
from serving import server
from storage.engine import release_connection, write_transaction
from storage.tables import open_database
from transfer.export import export_articles
from transfer.json_files import dump_line
from transfer.report import ImportReport
from transfer.writer import save_articles

HOST, KEY = "127.0.0.1", "preview"


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option("--only", metavar="SLUG", multiple=True, type=params.text, help="Publish this one alone.")
@params.customer_option
def preview(command: tuple[str, ...], only: tuple[str, ...], customer: str | None) -> None:
    """Show drafts as readers will see them.

    A temporary instance serves a copy of all articles on this machine, with the drafts and the scheduled ones published
    as of now (or some, with --only for each), until Ctrl+C. COMMAND, such as the build of a site, gets its URL and key
    in the variables ARTICLES_URL and ARTICLES_KEY, and the instance ends with it.
    """
    from app import create_app  # The application imports the list of commands.

    if command:
        find_program(command[0])
    owner, lines = _read_articles(customer, only)
    with TemporaryDirectory(prefix="articles-preview-") as folder:
        app = create_app({"DATABASE_URL": f"sqlite:///{folder}/articles.db"})
        with app.app_context():
            try:
                open_database(create=True)
                with write_transaction():
                    copy, _ = find_or_create_customer(owner)
                    add_key(copy, KEY)
                    save_articles(copy, number_articles("the database", map(orjson.loads, lines)), ImportReport())
                status = _serve(app, owner, command)
            finally:
                release_connection()
                app.extensions["change_detector"].close()
    sys.exit(status)


def _read_articles(customer: str | None, only: tuple[str, ...]) -> tuple[str, list[bytes]]:
    """Return the customer's name and its articles as lines of JSON, those to preview as published now."""
    now, lines = format_timestamp(datetime.now(UTC)), []
    with customer_transaction(customer, writes=False) as owner:
        get_articles(owner, only)  # It raises if one does not exist.
        for article in export_articles(owner, all_fields=False):
            is_published = article["status"] == "published" and article["publishedAt"] <= now
            if not is_published and (not only or article["slug"] in only):
                article |= {"status": "published", "publishedAt": now}
            lines.append(dump_line(article))
        return owner.name, lines


def _serve(app: Flask, customer: str, command: tuple[str, ...]) -> int:
    """Serve until the command has ended, or else until Ctrl+C or SIGTERM, and return the exit status."""
    listener = server.listen(HOST, 0)
    url = server.base_url(HOST, listener.getsockname()[1])
    with server.serve_in_thread(app, listener, app.config["THREADS"]):
        stop = stop_on_signal()
        for line in (f"Previewing the articles of {customer} (Ctrl+C stops)", f"URL: {url}", f"Key: {KEY}"):
            echo(line, err=bool(command))
        if command:
            return _run(command, url)
        while not stop.is_set():
            time.sleep(0.2)
    return 0


def _run(command: tuple[str, ...], url: str) -> int:
    """Run a command that finds the instance in its environment, and return its exit status, as a shell would.

    A terminal sends Ctrl+C to the command too, and SIGTERM goes on to it.
    """
    environment = os.environ | {"ARTICLES_URL": f"{url}{API_PATH}", "ARTICLES_KEY": KEY}
    with start_program(command, env=environment) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        status = process.wait()
    return status if status >= 0 else 128 - status
