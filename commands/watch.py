"""`flask articles watch`: run a command whenever published articles change."""

import math
import subprocess
import time
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

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
from storage.queries import BATCH_SIZE, NEXT_PUBLICATION, PUBLIC

POLL_SECONDS = 0.9
SETTLE_SECONDS = 2  # in which other changes may follow, before COMMAND runs
RETRY_SECONDS = 60  # after COMMAND has failed

# all that responses contain or are ordered by, except for the views, which change all the time
COLUMNS = [getattr(Article, name) for name in (*RESPONSE_COLUMNS, "created_at")]


class PublishedArticles:
    """A customer's published articles, read again when they may have changed."""

    def __init__(self, customer: str | None) -> None:
        self.customer = customer  # the customer's name
        self.change_count = 0  # the first reading counts too
        self._is_unavailable = False
        self._digest = b""
        self._next_publication: datetime | None = None  # when the next scheduled article becomes due
        self._version: Any = None

    def wait_for_change(self, since: int, seconds: float = math.inf) -> None:
        """Wait until `change_count` is no longer `since`, or for the given time, and until the database is available.

        Raises click.ClickException if the customer is unknown.
        """
        deadline = time.monotonic() + seconds
        while self._is_unavailable or (self.change_count == since and time.monotonic() < deadline):
            self.poll()

    def poll(self, seconds: float = POLL_SECONDS) -> None:
        """Wait a moment, then read the articles if necessary. Without the database, they stay the same."""
        time.sleep(seconds)
        now = datetime.now(UTC)
        is_due = self._next_publication is not None and self._next_publication <= now
        try:
            version = change_detector().version()
            if version != self._version or is_due:
                self._read(now)
                self._version = version
            self._is_unavailable = False
        except (DBAPIError, StorageError, OSError) as error:
            if not self._is_unavailable:
                echo(f"Waiting for the database {db.engine.url.database}: {database_reason(error)}", err=True)
            self._version = None
            self._is_unavailable = True
            change_detector().close()  # the file may have been replaced
        finally:
            close_connections()

    def _read(self, now: datetime) -> None:
        customer = get_customer(self.customer)  # by name, since a restore may give its id to another customer
        parameters = {"customer_id": customer.id, "now": now}
        digest = sha256(repr((customer.name, customer.site)).encode())  # structured data contains both
        rows = select(*COLUMNS).where(*PUBLIC.visible).order_by(Article.id)
        for row in db.session.execute(rows, parameters, execution_options={"yield_per": BATCH_SIZE}):
            digest.update(repr(tuple(row)).encode())
        self._next_publication = db.session.scalar(NEXT_PUBLICATION, parameters)
        self.customer = customer.name
        self.change_count += digest.digest() != self._digest
        self._digest = digest.digest()


@articles_group.command(context_settings={"allow_interspersed_args": False})
@click.argument("command", metavar="-- COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--now", is_flag=True, help="Also run COMMAND once at startup.")
@params.customer_option
def watch(command: tuple[str, ...], now: bool, customer: str | None) -> None:
    """Run COMMAND when published articles change.

    COMMAND runs a few seconds after the API's content has changed, including when a scheduled article becomes due. If
    it fails, it runs again after a minute, or after the next change.
    """
    find_program(command[0])
    stop_quietly_on_signals()
    published = PublishedArticles(customer)
    published.wait_for_change(since=0)
    echo(f"Watching the articles of {published.customer} (press Ctrl+C to stop)", err=True)
    seen = 0 if now else published.change_count
    wait_seconds = math.inf
    while True:
        published.wait_for_change(seen, wait_seconds)
        published.poll(SETTLE_SECONDS)
        seen = published.change_count  # a change that is undone while COMMAND runs counts too
        wait_seconds = math.inf
        try:
            _run(command, published)
        except ProgramError as error:
            echo(f"{error.message} It runs again in {RETRY_SECONDS} seconds.", err=True)
            wait_seconds = RETRY_SECONDS


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
