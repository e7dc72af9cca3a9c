"""Opening the database for a command, and its transactions."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Timer

from commands.errors import Interrupted
from commands.lookup import get_customer
from commands.terminal import echo
from models import Customer
from storage.engine import WAIT_REPORT_SECONDS, release_connection, write_transaction
from storage.tables import open_database


def open_and_report(*, create: bool = False) -> None:
    """Open the database, and print on standard error what was created or upgraded."""
    for line in open_database(create=create):
        echo(line, err=True)


@contextmanager
def command_transaction(*, create: bool = False) -> Iterator[None]:
    """Open the database and a transaction that writes, which is committed when the block ends."""
    open_and_report(create=create)
    with waiting_write_transaction():
        yield


@contextmanager
def waiting_write_transaction() -> Iterator[None]:
    """Run a write transaction. If another writer delays it, say so; if the user interrupts it, say what was written."""
    is_complete = False
    timer = Timer(WAIT_REPORT_SECONDS, report_wait)
    timer.start()
    try:
        with write_transaction():
            timer.cancel()
            yield
            is_complete = True
    except KeyboardInterrupt as error:
        raise Interrupted("the change may have been written." if is_complete else "nothing was written.") from error
    finally:
        timer.cancel()


def report_wait() -> None:
    """Print that a command waits for another writer."""
    echo("Waiting for another program that is writing to the database (Ctrl+C stops)", err=True)


@contextmanager
def customer_transaction(customer: str | None, *, writes: bool) -> Iterator[Customer]:
    """Open the database and a transaction, and yield the customer that `get_customer` finds.

    No connection is left open, so the command may wait for a person or another program afterwards.
    """
    open_and_report()
    try:
        with waiting_write_transaction() if writes else nullcontext():
            yield get_customer(customer, writes=writes)
    finally:
        release_connection()
