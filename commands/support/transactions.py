"""Database access of commands: opening the database, and transactions."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Timer

from commands.support.errors import Interrupted
from commands.support.lookup import get_customer
from commands.support.terminal import echo
from models import Customer
from storage.database import open_database
from storage.engine import WAIT_REPORT_SECONDS, release_connection, write_transaction


def open_and_report(*, create: bool = False) -> None:
    """Open the database, and report on stderr whether it was created or upgraded."""
    for line in open_database(create=create):
        echo(line, err=True)


@contextmanager
def command_transaction(*, create: bool = False) -> Iterator[None]:
    """Open the database and run the block in a write transaction."""
    open_and_report(create=create)
    with waiting_write_transaction():
        yield


@contextmanager
def waiting_write_transaction() -> Iterator[None]:
    """Run a write transaction, and report a long wait for another writer. Ctrl+C raises Interrupted."""
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
    """Report on stderr that another writer has the lock."""
    echo("Waiting for another program that is writing to the database (press Ctrl+C to stop)", err=True)


@contextmanager
def customer_transaction(customer: str | None, *, writes: bool) -> Iterator[Customer]:
    """Open the database, and yield the customer in a transaction (see `get_customer`).

    The connection is released afterwards, so the command may then wait for a person or another program.
    """
    open_and_report()
    try:
        with waiting_write_transaction() if writes else nullcontext():
            yield get_customer(customer, writes=writes)
    finally:
        release_connection()
