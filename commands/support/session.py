"""Database access of commands."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Timer

from commands.support.command_errors import Interrupted
from commands.support.terminal import echo
from storage.database_setup import prepare_database
from storage.engine import close_connections, write_transaction

WAIT_REPORT_SECONDS = 2


@contextmanager
def command_session(*, writes: bool, create: bool = False) -> Iterator[None]:
    """Open the database, and run the block in one transaction of `db.session`.

    With `writes`, it locks out other writers, and is committed if the block succeeds. Reports on stderr whether the
    database was created or upgraded; see `prepare_database` for `create`. Afterwards, no connection stays open, so a
    command may then wait for a person or another program.
    """
    for line in prepare_database(create=create):
        echo(line, err=True)
    try:
        with _reported_write() if writes else nullcontext():
            yield
    finally:
        close_connections()


@contextmanager
def _reported_write() -> Iterator[None]:
    """Run a write transaction, and report a long wait for another writer. Ctrl+C raises Interrupted."""
    is_complete = False
    timer = Timer(WAIT_REPORT_SECONDS, report_wait)
    timer.start()
    try:
        with write_transaction():
            timer.cancel()
            yield
            is_complete = True
        close_connections()  # here too, since the next Ctrl+C is reported as "the database was not changed"
    except KeyboardInterrupt as error:
        raise Interrupted("the change may have been written." if is_complete else "nothing was written.") from error
    finally:
        timer.cancel()


def report_wait() -> None:
    """Report on stderr that another writer has the lock."""
    echo("Waiting for another program that is writing to the database (press Ctrl+C to stop)", err=True)
