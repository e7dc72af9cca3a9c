"""`flask articles watch`: run a command after what the API shows has changed."""

import math
import subprocess
import time
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from threading import Event
from typing import Any

import click
from flask import current_app
from sqlalchemy.exc import DBAPIError

from commands import params
from commands.lookup import find_customer, get_customer
from commands.programs import POLL_SECONDS, ProgramError, find_program, start_program, stop_on_signal
from field_types import printable
from models import Customer, db
from schemas import ArticleSchema
from storage import StorageError
from storage.engine import release_connection
from storage.selects import NEXT_PUBLICATION, select_published
from storage.sqlite import require_file, sqlite_path

QUIET_SECONDS = 1  # without a further change, after which the command runs
MAX_SETTLE_SECONDS = 10  # after which it runs anyhow
MAX_REST_SECONDS = 10  # between two reads of a large database
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 10, 300

# What responses and their order depend on. They can be ordered by views too, but these change all the time.
COLUMNS = (*ArticleSchema().columns, "created_at", "updated_at")


class PublishedState:
    """A digest of a customer's published articles, which is read again when they may have changed."""

    def __init__(self, name: str | None) -> None:
        self.name, self._customer_id = name, 0
        self._rest_until = 0.0  # so that reading takes at most a tenth of the time
        self._version: Any = None
        self._expires_at: datetime | None = None
        self._digest = b""  # empty until the database could be read
        self.is_away = False

    def refresh(self, *, rests: bool = True) -> bool:
        """Read the digest if anything was committed, or the next scheduled article is due; return whether it differs.

        While the database or its customer is away, the digest stays as it was. Raises click.ClickException if there
        is no such customer from the start.
        """
        detector = current_app.extensions["change_detector"]
        version = detector.version() if detector else None
        now, began, before = datetime.now(UTC), time.monotonic(), self._digest
        is_due = self._expires_at and self._expires_at <= now
        if (rests and began < self._rest_until) or (version and version == self._version and not is_due):
            return False
        try:
            self._read(now)
            self._version, self.is_away = version, False
            self._rest_until = time.monotonic() + min(9 * (time.monotonic() - began), MAX_REST_SECONDS)
        except (click.ClickException, DBAPIError, StorageError, OSError) as error:
            if isinstance(error, click.ClickException) and not (before or self.is_away):
                raise
            if not self.is_away:
                reason = str(getattr(error, "orig", error)).partition("\n")[0]
                click.echo(f"Waiting: {printable(reason)}", err=True)
            self._version, self.is_away = None, True
        finally:
            release_connection()
        return self._digest != before

    def _read(self, now: datetime) -> None:
        """Read the digest. A customer that was renamed keeps its id; in another database, it keeps its name."""
        if path := sqlite_path(db.engine.url):
            require_file(path)  # SQLite's own message does not name it
        found = find_customer(self.name or "") or db.session.get(Customer, self._customer_id)
        customer = found or get_customer(self.name, changes=False)
        parameters = {"customer_id": customer.id, "now": now}
        self._expires_at = db.session.scalar(NEXT_PUBLICATION, parameters)
        digest = sha256(customer.name.encode())  # which is in structured data
        for row in db.session.execute(select_published(COLUMNS), parameters, execution_options={"yield_per": 500}):
            digest.update(repr(tuple(row)).encode())
        self._customer_id, self.name, self._digest = customer.id, customer.name, digest.digest()


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--now", is_flag=True, help="Run COMMAND once at the start too.")
@params.customer_option
def watch(command: tuple[str, ...], now: bool, name: str | None) -> None:
    """Run COMMAND when published articles change.

    COMMAND runs after what the API shows has changed, also when a scheduled article is published, and reads the new
    state. It runs once things have been quiet for a second, or after ten.
    """
    find_program(command[0])
    stop = stop_on_signal()
    state = PublishedState(name)
    while not state.refresh():
        time.sleep(POLL_SECONDS)
        if stop.is_set():
            return
    click.echo(f"Watching the articles of {printable(state.name or '')} (Ctrl+C stops)", err=True)
    with ThreadPoolExecutor(1) as executor:  # which, at its end, waits for COMMAND
        _run_after_changes(command, state, executor, stop, now=now)


def _run_after_changes(
    command: tuple[str, ...], state: PublishedState, executor: Executor, stop: Event, *, now: bool
) -> None:
    """Run the command after each change that is seen, also after one while it runs, until `stop`."""
    changed_at = pending_since = 0.0 if now else math.inf  # the last and the first change that no run was started for
    retry_at, retry_seconds = 0.0, FIRST_RETRY_SECONDS
    run: Future[str] | None = None
    while not stop.is_set():
        time.sleep(POLL_SECONDS)
        if state.refresh(rests=not run):  # COMMAND may see a change that is taken back
            changed_at = time.monotonic()
            pending_since = min(pending_since, changed_at)
        if run and run.done():
            error, run = run.result(), None
            if error:
                click.echo(f"{error} Next attempt in {retry_seconds} seconds.", err=True)
                changed_at = pending_since = time.monotonic()
                retry_at = changed_at + retry_seconds
            retry_seconds = min(2 * retry_seconds, MAX_RETRY_SECONDS) if error else FIRST_RETRY_SECONDS
        due_at = max(retry_at, min(changed_at + QUIET_SECONDS, pending_since + MAX_SETTLE_SECONDS))
        if not run and not state.is_away and time.monotonic() >= due_at:
            run = executor.submit(_run, command)
            changed_at = pending_since = math.inf


def _run(command: tuple[str, ...]) -> str:
    """Run the command, and return why it failed, or nothing.

    It runs in a new process group. A terminal sends Ctrl+C to the whole group of `watch`, and the command is to end its
    work.
    """
    flags = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    try:
        status = start_program(command, stdin=subprocess.DEVNULL, process_group=0, creationflags=flags).wait()
    except ProgramError as error:
        return error.message
    return f"{command[0]} failed with exit status {status}." if status else ""
