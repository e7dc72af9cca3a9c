"""`flask articles preview`: a temporary server that shows drafts as published."""

import os
import signal
import sys
import time
from datetime import UTC, datetime
from tempfile import TemporaryDirectory

import click
import orjson
from flask import Flask

from commands import params
from commands.customers import find_or_create_customer
from commands.groups import articles
from commands.keys import add_key
from commands.lookup import get_articles
from commands.programs import exit_on_signals, find_program, start_program
from commands.terminal import echo
from commands.transactions import customer_transaction
from fields import format_timestamp
from schemas import API_PATH
from storage.engine import release_connection, write_transaction
from storage.tables import open_database

HOST, KEY = "127.0.0.1", "preview"


@articles.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--only",
    metavar="SLUG",
    multiple=True,
    type=params.text,
    help="Of the drafts and scheduled articles, publish only SLUG in the preview (repeatable).",
)
@params.customer_option
def preview(command: tuple[str, ...], only: tuple[str, ...], customer: str | None) -> None:
    """Show drafts as readers will see them.

    Until you press Ctrl+C, a temporary server on this machine serves a copy of all articles, with drafts and scheduled
    articles as if published now. COMMAND, such as the build of a site, gets the server's URL and key in the variables
    ARTICLES_URL and ARTICLES_KEY. The preview stops when COMMAND does, and returns its exit status.
    """
    from app import create_app  # which imports this module

    if command:
        find_program(command[0])
    owner, lines = _read_articles(customer, only)
    with TemporaryDirectory(prefix="articles-preview-") as folder:
        app = create_app({"DATABASE_URL": f"sqlite:///{folder}/articles.db"})
        with app.app_context():
            try:
                _fill(owner, lines)
                status = _serve(app, owner, command)
            finally:
                release_connection()
                app.extensions["change_detector"].close()
    sys.exit(status)


def _read_articles(customer: str | None, only: tuple[str, ...]) -> tuple[str, list[bytes]]:
    """Return the customer's name, and its articles as JSON Lines in which previewed ones are published now."""
    from transfer.export import export_articles
    from transfer.json_files import dump_line

    now, lines = format_timestamp(datetime.now(UTC)), []
    with customer_transaction(customer, writes=False) as owner:
        get_articles(owner, only)  # raises if one does not exist
        for article in export_articles(owner, all_fields=False):
            is_published = article["status"] == "published" and article["publishedAt"] <= now
            if not is_published and (not only or article["slug"] in only):
                article |= {"status": "published", "publishedAt": now}
            lines.append(dump_line(article))
        return owner.name, lines


def _fill(customer: str, lines: list[bytes]) -> None:
    """Write the articles and a key to the preview's database."""
    from converters.records import number_articles
    from transfer.report import ImportReport
    from transfer.writer import save_articles

    open_database(create=True)
    with write_transaction():
        owner, _ = find_or_create_customer(customer)
        add_key(owner, KEY)
        save_articles(owner, number_articles("the database", map(orjson.loads, lines)), ImportReport())


def _serve(app: Flask, customer: str, command: tuple[str, ...]) -> int:
    """Serve until the command ends or, without one, until Ctrl+C or SIGTERM. Return the exit status."""
    from serving import server

    listener = server.listen(HOST, 0)
    url = server.base_url(HOST, listener.getsockname()[1])
    with server.serve_in_thread(app, listener, app.config["THREADS"]):
        exit_on_signals()
        for line in (f"Previewing the articles of {customer} (press Ctrl+C to stop)", f"URL: {url}", f"Key: {KEY}"):
            echo(line, err=bool(command))
        if command:
            return _run(command, url)
        while True:
            time.sleep(60)


def _run(command: tuple[str, ...], url: str) -> int:
    """Run the command with the server's URL and key in its environment. Return its exit status, as a shell would."""
    environment = os.environ | {"ARTICLES_URL": f"{url}{API_PATH}", "ARTICLES_KEY": KEY}
    with start_program(command, env=environment) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends Ctrl+C to the command as well
        status = process.wait()
    return status if status >= 0 else 128 - status
