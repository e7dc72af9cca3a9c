"""Database access of commands."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from commands.support.command_errors import Interrupted
from commands.support.terminal import echo
from storage.database_setup import prepare_database
from storage.engine import close_connections, write_transaction


@contextmanager
def command_session(*, writes: bool, create: bool = False) -> Iterator[None]:
    """Open the database, and run the block in one transaction of `db.session`.

    With `writes`, it locks out other writers, and is committed if the block succeeds. Reports on stderr whether the
    database was created or upgraded; see `prepare_database` for `create`. Afterwards, no connection stays open, so a
    command may then wait for a person or another program. Raises Interrupted if Ctrl+C is pressed before the commit.
    """
    for line in prepare_database(create=create):
        echo(line, err=True)
    is_complete = False
    try:
        with write_transaction() if writes else nullcontext():
            yield
            is_complete = True
    except KeyboardInterrupt as error:
        if is_complete:  # The change may have been written.
            raise
        raise Interrupted("nothing was written.") from error
    finally:
        close_connections()
