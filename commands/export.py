"""`flask articles export`: articles as JSON Lines, or as files."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import click

from commands.support import params
from commands.support.groups import articles_group
from commands.support.lookup import get_articles, get_customer
from commands.support.session import command_session
from commands.support.terminal import echo, format_article_count, show_progress
from content.text import printable
from transfer.article_files import write_folder
from transfer.export import export_articles
from transfer.json_files import dump_json_line, write_json_lines

ExportedArticles = Iterable[dict[str, Any]]


def new_folder(value: str) -> Path:
    """Parse the path of a folder that does not exist yet, or that is empty apart from `.git`."""
    path = Path(value)
    if (path.is_dir() and all(name == ".git" for name in os.listdir(path))) or not path.exists():
        return path
    raise click.BadParameter(f"{value!r} must be a new or empty folder.")


@articles_group.command()
@click.argument("slugs", metavar="[SLUG...]", nargs=-1, type=params.text)
@params.customer_option
@click.option("--all-fields", is_flag=True, help="Include values that an import would derive.")
@click.option("--output", metavar="FILE", type=params.new_file, help="Write JSON Lines to FILE, a new file.")
@click.option("--folder", metavar="DIR", type=new_folder, help="Write one file per article into a new or empty folder.")
def export(
    slugs: tuple[str, ...], customer: str | None, all_fields: bool, output: Path | None, folder: Path | None
) -> None:
    """Export articles as JSON Lines, or as files.

    Exports the named articles or, by default, all of them, drafts and scheduled ones included. "flask articles import"
    reads either format. With --folder, each article becomes a file to edit or keep in Git: YAML fields, then HTML.
    """
    if output and folder:
        raise click.UsageError("--output writes one file, and --folder one for each article. Choose one of the two.")
    with command_session(writes=False):
        owner = get_customer(customer)
        get_articles(owner, slugs)  # raises if one does not exist
        exported = export_articles(owner, slugs, all_fields=all_fields)
        if folder:
            _write(exported, folder, write_folder)
        elif output:
            _write(exported, output, write_json_lines)
        else:
            for article in exported:
                click.echo(dump_json_line(article), nl=False)


def _write(exported: ExportedArticles, target: Path, write: Callable[[Path, ExportedArticles], int]) -> None:
    """Write exported articles to a file or folder, and print how many. Raises click.ClickException if that fails."""
    try:
        with show_progress(exported, "Writing articles") as counted:
            count = write(target, counted)
    except OSError as error:
        reason = f"Cannot write all articles to {target} ({error.strerror}). Free some space, or choose another folder."
        raise click.ClickException(printable(reason)) from error
    echo(f"Wrote {format_article_count(count)} to {target}.", err=True)
