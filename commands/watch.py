"""`flask articles watch`: run a command after what the API shows has changed."""

import os
import shutil
import signal
import sqlite3
import subprocess
import time
from datetime import UTC, datetime
from hashlib import sha256
from threading import Event
from typing import Any

import click
from flask import current_app
from flask.cli import with_appcontext
from sqlalchemy.exc import DBAPIError

from commands.lookup import get_customer
from commands.params import customer_option
from models import db
from schemas import ArticleSchema
from storage import StorageError
from storage.engine import end_transaction
from storage.selects import select_next_publication, select_published
from storage.sqlite import sqlite_path

POLL_SECONDS = 0.2
QUIET_SECONDS = 1  # without a further change, after which the command runs
MAX_SETTLE_SECONDS = 10  # after which it runs anyhow
MAX_REST_SECONDS = 10  # between two reads of a large database
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 10, 300

# What responses and their order depend on. They can be ordered by views too, but these change all the time.
COLUMNS = (*ArticleSchema().columns, "created_at", "updated_at")


class PublishedState:
    """What the API shows of a customer's articles, as a digest that is read again when it may have changed."""

    def __init__(self, name: str | None) -> None:
        self._name = name
        self._rest_until = 0.0  # so that reading takes at most a tenth of the time
        self._version: Any = None
        self._expires_at: datetime | None = None
        self.customer = ""
        self.digest = b""  # empty until the database could be read
        self.is_away = False

    def refresh(self) -> None:
        """Read the digest if anything was committed, or the next scheduled article is due.

        While the database or its customer is away, the digest stays as it was. Raises click.ClickException if there
        is no such customer from the start.
        """
        if time.monotonic() < self._rest_until:
            return
        detector = current_app.extensions["change_detector"]
        version = detector.version() if detector else None
        now = datetime.now(UTC)
        is_due = self._expires_at and self._expires_at <= now
        if version and version == self._version and not is_due:
            return
        began = time.monotonic()
        try:
            self._read(now)
            self._version, self.is_away = version, False
            self._rest_until = time.monotonic() + min(9 * (time.monotonic() - began), MAX_REST_SECONDS)
        except (click.ClickException, DBAPIError, StorageError, sqlite3.Error, OSError) as error:
            if isinstance(error, click.ClickException) and not (self.digest or self.is_away):
                raise
            self._set_away(error)
        finally:
            end_transaction()

    def _set_away(self, error: Exception) -> None:
        """Remember that the database is away, and print it once, with the reason."""
        if not self.is_away:
            reason = str(getattr(error, "orig", error)).partition("\n")[0]
            click.echo(f"Waiting: {reason}", err=True)
        self._version, self.is_away = None, True

    def _read(self, now: datetime) -> None:
        path = sqlite_path(db.engine.url)
        if path and not os.path.exists(path):  # SQLite's own message does not name the file
            raise StorageError(f"{path} does not exist.")
        customer = get_customer(self._name, changes=False)
        parameters = {"customer_id": customer.id, "now": now}
        expires_at = db.session.scalar(select_next_publication(), parameters)
        digest = sha256()
        for row in db.session.execute(select_published(COLUMNS), parameters, execution_options={"yield_per": 500}):
            digest.update(repr(tuple(row)).encode())
        self._name = customer.name  # another customer may be created
        self.customer, self.digest, self._expires_at = customer.name, digest.digest(), expires_at


@click.command(context_settings={"allow_interspersed_args": False})
@with_appcontext
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--now", is_flag=True, help="Run COMMAND once at the start too.")
@customer_option
def watch(command: tuple[str, ...], now: bool, name: str | None) -> None:
    """Run COMMAND after what the API shows has changed, and when a scheduled article is published.

    COMMAND then reads the new state. It runs once things have been quiet for a second, or after ten.
    """
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    state = PublishedState(name)
    state.refresh()
    while not state.digest and not stop.wait(POLL_SECONDS):
        state.refresh()
    if state.digest:
        click.echo(f"Watching the articles of {state.customer} (Ctrl+C stops)", err=True)
        _run_after_changes(command, state, b"" if now else state.digest, stop)


def _run_after_changes(command: tuple[str, ...], state: PublishedState, built: bytes, stop: Event) -> None:
    """Run the command whenever the state differs from the one that it was last `built` from, until `stop`."""
    retry_seconds = FIRST_RETRY_SECONDS
    while not stop.is_set():
        if state.digest != built:
            _wait_until_quiet(state, stop)
        if state.digest != built and not stop.is_set():
            digest, error = state.digest, _run(command)
            built = b"" if error else digest
            if error:
                click.echo(f"{error} Next attempt in {retry_seconds} seconds.", err=True)
            stop.wait(retry_seconds if error else 0)
            retry_seconds = min(2 * retry_seconds, MAX_RETRY_SECONDS) if error else FIRST_RETRY_SECONDS
        stop.wait(POLL_SECONDS)
        state.refresh()


def _wait_until_quiet(state: PublishedState, stop: Event) -> None:
    """Wait until the state has not changed for a second, or for ten seconds, and the database can be read."""
    began = changed = time.monotonic()
    while state.is_away or time.monotonic() < min(changed + QUIET_SECONDS, began + MAX_SETTLE_SECONDS):
        digest = state.digest
        if stop.wait(POLL_SECONDS):
            return
        state.refresh()
        if state.digest != digest:
            changed = time.monotonic()


def _run(command: tuple[str, ...]) -> str:
    """Run the command, and return why it failed, or nothing.

    It runs in a new process group. A terminal sends Ctrl+C to the whole group of `watch`, and the command is to end its
    work.
    """
    program = shutil.which(command[0]) or command[0]  # on Windows, also npm.cmd for npm
    flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    try:
        status = subprocess.run(  # noqa: S603
            [program, *command[1:]], stdin=subprocess.DEVNULL, process_group=0, creationflags=flags, check=False
        ).returncode
    except OSError as error:
        return f"{command[0]} cannot be started ({error.strerror})."
    return f"{command[0]} failed with exit status {status}." if status else ""
