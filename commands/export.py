"""`flask articles export`: articles as JSON Lines, or as files."""

import os
from pathlib import Path

import click

from commands import count_articles, echo, params
from commands.lookup import customer_transaction, get_articles
from transfer.article_files import write_folder
from transfer.export import export_articles
from transfer.json_files import dump_line


def new_folder(value: str) -> Path:
    """Parse the path of a folder that does not exist, or is empty but for a history in git."""
    path = Path(value)
    if (path.is_dir() and all(name == ".git" for name in os.listdir(path))) or not path.exists():
        return path
    raise click.BadParameter(f"{value!r} must be a new or an empty folder.")


@click.command()
@click.argument("slugs", metavar="[SLUG...]", nargs=-1, type=params.text)
@params.customer_option
@click.option("--all-fields", is_flag=True, help="Write also what an import would derive to the same value.")
@click.option("--folder", type=new_folder, help="Write a file for each article into this folder, new or empty.")
def export(slugs: tuple[str, ...], customer: str | None, all_fields: bool, folder: Path | None) -> None:
    """Print articles as JSON Lines that import takes.

    All of them, drafts and scheduled ones too, or those named. With --folder, write them as files instead, for an
    editor and a history in git: fields in YAML, then the HTML.
    """
    with customer_transaction(customer, writes=False) as owner:
        get_articles(owner, slugs)  # It raises if one does not exist.
        records = export_articles(owner, slugs, all_fields=all_fields)
        if folder:
            echo(f"Wrote {count_articles(write_folder(folder, records))} to {folder}.", err=True)
            return
        for record in records:
            click.echo(dump_line(record), nl=False)
