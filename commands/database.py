"""`flask database`: backup and restore."""

from pathlib import Path

import click

from commands import echo
from commands.lookup import confirm
from storage.backup import back_up
from storage.backup import restore as restore_backup


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
def backup(file: Path) -> None:
    """Write a copy of the database to FILE, a new file.

    The service may run meanwhile.
    """
    for line in back_up(file):
        echo(line, err=True)
    echo(f"Backed up to {file}.", err=True)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore(file: Path, yes: bool) -> None:
    """Put the backup FILE in the database's place.

    The service may run meanwhile.
    """
    confirm("This replaces all articles and keys.", yes)
    for line in restore_backup(file):
        echo(line, err=True)
    echo(f"Restored from {file}. Keys that were revoked since the backup are valid again: revoke them.", err=True)
