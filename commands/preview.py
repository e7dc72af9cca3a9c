"""`flask articles preview`: a temporary server that shows drafts as published."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import Any

import click
from flask import Flask
from sqlalchemy import URL, RowMapping, insert, select

from auth import add_key
from commands.support import params
from commands.support.errors import report_errors
from commands.support.groups import articles_group
from commands.support.lookup import get_articles, get_customer
from commands.support.programs import find_program, start_program, stop_quietly_on_signals
from commands.support.session import command_session
from commands.support.terminal import echo
from models import Article, Customer, db
from schemas import API_PATH
from serving.listener import base_url, listen
from serving.server import serve_in_thread
from storage.changes import change_detector
from storage.database import prepare_database
from storage.engine import close_connections, write_transaction
from storage.queries import BATCH_SIZE

HOST = "127.0.0.1"
KEY = "preview"


@articles_group.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="[-- COMMAND...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--only",
    metavar="SLUG",
    multiple=True,
    type=params.text,
    help="Of the unpublished articles, show only SLUG as published. Repeatable.",
)
@params.customer_option
def preview(command: tuple[str, ...], only: tuple[str, ...], customer: str | None) -> None:
    """Show drafts as readers will see them.

    Until you press Ctrl+C, a temporary server on this machine serves a copy of all articles. Unpublished and scheduled
    ones appear as if published now, but pending ones keep a date in the past. COMMAND, such as the build of a site,
    gets the server's URL and key in the variables ARTICLES_URL and ARTICLES_KEY. The preview stops when COMMAND does,
    and returns its exit status.
    """
    from app import create_app  # which imports this module

    if command:
        find_program(command[0])
    with TemporaryDirectory(prefix="articles-preview-") as folder:
        app = create_app({"DATABASE_URL": URL.create("sqlite", database=f"{folder}/copy.db")})
        try:
            name = _copy_articles(app, customer, only)
            status = _serve(app, name, command)
        finally:
            with app.app_context():
                close_connections()
                change_detector(app).close()
    sys.exit(status)


@contextmanager
def _in_copy(app: Flask) -> Iterator[None]:
    """Use the database of `app`, and name it in errors: the live one is not to blame for a full temporary folder."""
    with app.app_context(), report_errors():
        yield


def _copy_articles(app: Flask, customer: str | None, only: tuple[str, ...]) -> str:
    """Copy the customer and its articles, as they are to be previewed, to the database of `app`, and add a key.

    The articles are copied a batch at a time. Returns the customer's name.
    """
    with _in_copy(app):
        prepare_database(create=True)
    with command_session(writes=False):
        owner = get_customer(customer)
        get_articles(owner, only)  # raises if one does not exist
        row = {"id": owner.id, "name": owner.name, "site": owner.site}
        with _in_copy(app), db.engine.begin() as target:
            target.execute(insert(Customer), row)
        _copy_rows(owner, only, app)
    with _in_copy(app), write_transaction():
        add_key(db.session.get_one(Customer, row["id"]), KEY)
    return str(row["name"])


def _copy_rows(owner: Customer, only: tuple[str, ...], app: Flask) -> None:
    """Copy the customer's articles from the session to the database of `app`.

    Nothing is checked, so that an article that another tool wrote cannot prevent the preview. Reports how many articles
    this database cannot hold, such as the second of two slugs that differ only in bytes that are not UTF-8.
    """
    now = datetime.now(UTC)
    insert_article = insert(Article.__table__).prefix_with("OR IGNORE")
    articles = select(Article.__table__).where(Article.customer_id == owner.id)
    result = db.session.execute(articles, execution_options={"yield_per": BATCH_SIZE})
    left_out = 0
    for batch in result.mappings().partitions():
        rows = [_as_previewed(row, only, now) for row in batch]
        with _in_copy(app), db.engine.begin() as target:
            left_out += len(rows) - target.execute(insert_article, rows).rowcount
    if left_out:
        echo(f"Articles left out because another tool wrote invalid values: {left_out}", err=True)


def _as_previewed(row: RowMapping, only: tuple[str, ...], now: datetime) -> dict[str, Any]:
    """Return an article's row, published now unless it is published already.

    If `only` has slugs, other articles stay as they are. A pending article keeps a date in the past, as it does when it
    is published.
    """
    date = row["published_at"]
    is_past = date is not None and date <= now
    if (only and row["slug"] not in only) or (row["status"] == "published" and is_past):
        return dict(row)
    keeps_date = row["status"] == "pending" and is_past
    return {**row, "status": "published", "published_at": date if keeps_date else now}


def _serve(app: Flask, customer: str, command: tuple[str, ...]) -> int:
    """Serve until the command ends or, without one, until Ctrl+C or SIGTERM. Returns the exit status."""
    listener = listen(HOST, 0)
    url = base_url(HOST, listener.getsockname()[1])
    with serve_in_thread(app, listener, app.config["THREADS"]):
        stop_quietly_on_signals()
        for line in (f"Previewing the articles of {customer} (press Ctrl+C to stop)", f"URL: {url}", f"Key: {KEY}"):
            echo(line, err=bool(command))
        if command:
            return _run(command, url)
        while True:
            time.sleep(60)


def _run(command: tuple[str, ...], url: str) -> int:
    """Run the command with the server's URL and key in its environment. Returns its exit status, as a shell would."""
    environment = os.environ | {"ARTICLES_URL": f"{url}{API_PATH}", "ARTICLES_KEY": KEY}
    with start_program(command, env=environment) as process:
        signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends Ctrl+C to the command as well
        status = process.wait()
    return status if status >= 0 else 128 - status
