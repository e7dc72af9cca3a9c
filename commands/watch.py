"""`flask articles watch`: run a command whenever published articles change."""

import math
import subprocess
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

import click
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from commands.support import params
from commands.support.command_errors import database_reason
from commands.support.groups import articles_group
from commands.support.lookup import get_customer
from commands.support.programs import ProgramError, find_program, start_program, stop_quietly_on_signals
from commands.support.terminal import echo
from models import Article, db
from schemas import RESPONSE_COLUMNS
from storage import StorageError
from storage.changes import change_detector
from storage.engine import close_connections
from storage.queries import BATCH_SIZE, NEXT_PUBLICATION, PUBLISHED

POLL_SECONDS = 0.9
MAX_SETTLE_SECONDS = 10  # after the first change, if others keep coming
RETRY_SECONDS = 60  # after COMMAND has failed

# all that responses contain or are ordered by, except for the views, which change all the time
COLUMNS = [getattr(Article, name) for name in (*RESPONSE_COLUMNS, "created_at")]


class Snapshot(NamedTuple):
    """The published articles of a customer at one time."""

    customer: str | None  # the customer's name
    digest: bytes = b""  # of the published articles
    expires_at: datetime | None = None  # when the next scheduled article becomes due


class PublishedArticles:
    """A customer's published articles, read again when they may have changed."""

    def __init__(self, customer: str | None) -> None:
        self.is_unavailable = False
        self.change_count = 0
        self._latest = Snapshot(customer)
        self._version: Any = None

    @property
    def customer(self) -> str | None:
        """The customer's name."""
        return self._latest.customer

    def poll(self) -> bool:
        """Wait a moment, then `refresh`."""
        time.sleep(POLL_SECONDS)
        return self.refresh()

    def wait_for_change(self, seconds: float = math.inf) -> None:
        """Wait until the articles change, but no longer than the given time."""
        deadline = time.monotonic() + seconds
        while not self.poll() and time.monotonic() < deadline:
            pass

    def wait_until_settled(self) -> None:
        """Return once the database is available and changes have stopped, or have gone on for too long."""
        deadline = time.monotonic() + MAX_SETTLE_SECONDS
        while True:
            has_changed = self.poll()
            is_settled = not has_changed or time.monotonic() >= deadline
            if is_settled and not self.is_unavailable:
                return

    def refresh(self) -> bool:
        """Read the articles if necessary, and return whether they changed. The first call returns True.

        They stay the same while the database is unavailable. Raises click.ClickException if the customer is unknown.
        """
        now = datetime.now(UTC)
        before = self._latest
        is_due = before.expires_at is not None and before.expires_at <= now
        try:
            version = change_detector().version()
            if version == self._version and not is_due:
                return False
            self._latest = self._read(now)
            self._version = version
            self.is_unavailable = False
        except (DBAPIError, StorageError, OSError) as error:
            if not self.is_unavailable:
                name = db.engine.url.database
                reason = database_reason(error).rstrip(".")
                advice = "If it does not become available, check DATABASE_URL."
                echo(f"Waiting for the database {name} ({reason}). {advice}", err=True)
            self._version = None
            self.is_unavailable = True
            change_detector().close()  # the file may have been replaced
        finally:
            close_connections()
        has_changed = self._latest.digest != before.digest
        self.change_count += has_changed
        return has_changed

    def _read(self, now: datetime) -> Snapshot:
        customer = get_customer(self.customer)  # by name, since a restore may give its id to another customer
        parameters = {"customer_id": customer.id, "now": now}
        digest = sha256(repr((customer.name, customer.site)).encode())  # structured data contains both
        rows = select(*COLUMNS).where(*PUBLISHED).order_by(Article.id)
        for row in db.session.execute(rows, parameters, execution_options={"yield_per": BATCH_SIZE}):
            digest.update(repr(tuple(row)).encode())
        next_publication = db.session.scalar(NEXT_PUBLICATION, parameters)
        return Snapshot(customer.name, digest.digest(), next_publication)


@articles_group.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--now", is_flag=True, help="Also run COMMAND once at startup.")
@params.customer_option
def watch(command: tuple[str, ...], now: bool, customer: str | None) -> None:
    """Run COMMAND when published articles change.

    COMMAND runs whenever the API's content changes, including when a scheduled article becomes due. It starts once
    changes have stopped for a second, or after ten seconds at most. If it fails, it runs again after a minute, or at
    the next change.
    """
    find_program(command[0])
    stop_quietly_on_signals()
    published = PublishedArticles(customer)
    published.refresh()
    if published.is_unavailable:
        published.wait_for_change()
    echo(f"Watching the articles of {published.customer} (press Ctrl+C to stop)", err=True)
    if not now:
        published.wait_for_change()
    while True:
        published.wait_until_settled()
        change_count = published.change_count
        wait_seconds = math.inf
        try:
            _run(command, published)
        except ProgramError as error:
            echo(f"{error.message} It runs again in {RETRY_SECONDS} seconds.", err=True)
            wait_seconds = RETRY_SECONDS
        if published.change_count == change_count:  # A change that was undone counts too.
            published.wait_for_change(wait_seconds)


def _run(command: tuple[str, ...], published: PublishedArticles) -> None:
    """Run the command, and note changes in the meantime. A signal to exit lets the command finish.

    Raises ProgramError if it cannot be started or fails.
    """
    # a separate process group, so that the terminal's Ctrl+C does not interrupt the command
    with start_program(command, stdin=subprocess.DEVNULL, process_group=0) as process:  # waits for it to exit
        while process.poll() is None:
            published.poll()
    if process.returncode:
        status = process.returncode  # negative: the number of a signal
        reason = f"failed with exit status {status}" if status > 0 else f"was killed by signal {-status}"
        raise ProgramError(f"{command[0]} {reason}.")
