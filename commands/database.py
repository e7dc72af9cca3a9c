"""`flask database`: backup and restore."""

from pathlib import Path

import click

from commands import DatabaseGroup, announce_file, confirm
from storage.backup import back_up
from storage.backup import restore as restore_backup


@click.group(cls=DatabaseGroup)
def database() -> None:
    """Back up and restore the database."""


@database.command()
@click.argument("file", type=click.Path(path_type=Path))
def backup(file: Path) -> None:
    """Write a copy of the database to FILE, a new file, while the service runs."""
    back_up(file)
    click.echo(f"Backed up to {file}.", err=True)


@database.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore(file: Path, yes: bool) -> None:
    """Put the backup FILE in the database's place, while the service runs."""
    confirm("This replaces all articles and keys.", yes)
    announce_file(restore_backup(file))
    click.echo(f"Restored from {file}. Keys that were revoked since the backup are valid again: revoke them.", err=True)
