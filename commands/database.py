"""`flask database`: back up and restore the database."""

from pathlib import Path

import click

from commands.support.command_errors import Interrupted
from commands.support.groups import database_group
from commands.support.terminal import confirm, echo
from storage.backup import back_up
from storage.backup import restore as restore_backup


@database_group.command()
@click.argument("file", type=click.Path(path_type=Path))
def backup(file: Path) -> None:
    """Back up the database to FILE, a new file.

    The copy is consistent, and the service can keep running.
    """
    back_up(file)
    echo(f"Backed up to {file}.", err=True)


@database_group.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def restore(file: Path, yes: bool) -> None:
    """Replace the database's content with the backup FILE.

    The service can keep running.
    """
    confirm("This replaces all articles and keys.", yes)
    try:
        lines = restore_backup(file)
    except KeyboardInterrupt as error:
        raise Interrupted("the database is either unchanged or completely restored.") from error
    for line in lines:
        echo(line, err=True)
    echo(f"Restored from {file}.", err=True)
