"""`flask articles watch`: run a command after what the API shows has changed."""

import subprocess
import time
from datetime import UTC, datetime
from hashlib import sha256
from threading import Event
from typing import Any

import click
from flask import current_app
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from commands import echo, params
from commands.errors import database_reason
from commands.lookup import get_customer
from commands.programs import ProgramError, find_program, start_program, stop_on_signal
from models import Article, Customer, db
from schemas import ArticleSchema
from storage import StorageError
from storage.engine import release_connection
from storage.queries import BATCH_SIZE, NEXT_PUBLICATION, PUBLISHED

# Between two looks at the database, which with a read take less than a second.
LOOK_SECONDS = 0.9
MAX_SETTLE_SECONDS = 10  # The command waits this long after the first change while there are further ones.
MIN_RETRY_SECONDS, MAX_RETRY_SECONDS = 10, 300

# The columns on which responses and their order depend, without the views, which change all the time.
COLUMNS = [getattr(Article, name) for name in (*ArticleSchema().fields, "created_at", "updated_at")]


class PublishedState:
    """A digest of a customer's published articles, which is read again when they may have changed."""

    is_away = False
    _customer_id = 0
    _version: Any = None
    _expires_at: datetime | None = None
    _digest = b""

    def __init__(self, customer: str | None) -> None:
        self.customer = customer

    def refresh(self) -> bool:
        """Read the digest if anything was committed, or the next scheduled article is due; return whether it differs.

        While the database is away, the digest stays as it was. Raises click.ClickException if there is no such
        customer.
        """
        version, now, before = current_app.extensions["change_detector"].version(), datetime.now(UTC), self._digest
        if version and version == self._version and not (self._expires_at and self._expires_at <= now):
            return False
        try:
            self._read(now)
            self._version, self.is_away = version, False
        except (DBAPIError, StorageError, OSError) as error:
            if not self.is_away:
                echo(f"Waiting: {database_reason(error)}", err=True)
            self._version, self.is_away = None, True
        finally:
            release_connection()
        return self._digest != before

    def _read(self, now: datetime) -> None:
        """Read the digest. A customer that was renamed keeps its id."""
        customer = db.session.get(Customer, self._customer_id) or get_customer(self.customer, writes=False)
        parameters = {"customer_id": customer.id, "now": now}
        self._expires_at = db.session.scalar(NEXT_PUBLICATION, parameters)
        digest = sha256(customer.name.encode())  # The name is in structured data.
        rows = select(*COLUMNS).where(*PUBLISHED).order_by(Article.id)
        for row in db.session.execute(rows, parameters, execution_options={"yield_per": BATCH_SIZE}):
            digest.update(repr(tuple(row)).encode())
        self._customer_id, self.customer, self._digest = customer.id, customer.name, digest.digest()


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--now", is_flag=True, help="Run COMMAND once at the start too.")
@params.customer_option
def watch(command: tuple[str, ...], now: bool, customer: str | None) -> None:
    """Run COMMAND when published articles change.

    COMMAND runs after what the API shows has changed, also when a scheduled article is published, and reads the new
    state. It runs once things have been quiet for a second, or after ten.
    """
    find_program(command[0])
    stop, state = stop_on_signal(), PublishedState(customer)
    while not state.refresh():
        time.sleep(LOOK_SECONDS)
        if stop.is_set():
            return
    echo(f"Watching the articles of {state.customer} (Ctrl+C stops)", err=True)
    _run_after_changes(command, state, stop, is_pending=now)


def _run_after_changes(command: tuple[str, ...], state: PublishedState, stop: Event, *, is_pending: bool) -> None:
    """Run the command after each change that is seen, also after one while it runs, until `stop` and its end.

    A change that is taken back while the command runs counts too.
    """
    process: subprocess.Popen[bytes] | None = None
    settle_deadline, retry_at, retry_seconds = 0.0, 0.0, MIN_RETRY_SECONDS
    while not stop.is_set():
        time.sleep(LOOK_SECONDS)
        has_changed, now = state.refresh(), time.monotonic()
        if has_changed and not is_pending:
            is_pending, settle_deadline = True, now + MAX_SETTLE_SECONDS
        try:
            is_due = now >= retry_at and (not has_changed or now >= settle_deadline)
            if not process and is_pending and is_due and not state.is_away:
                # A terminal sends Ctrl+C to the whole group of `watch`, and the command is to end its work.
                process = start_program(command, stdin=subprocess.DEVNULL, process_group=0)
                is_pending = False
            elif process and process.poll() is not None:
                status, process = process.returncode, None
                if status:
                    raise ProgramError(f"{command[0]} failed with exit status {status}.")
                retry_seconds = MIN_RETRY_SECONDS
        except ProgramError as error:
            echo(f"{error.message} Next attempt in {retry_seconds} seconds.", err=True)
            is_pending, retry_at = True, now + retry_seconds
            retry_seconds = min(2 * retry_seconds, MAX_RETRY_SECONDS)
    if process:
        process.wait()
