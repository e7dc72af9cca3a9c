"""`flask articles export`: articles as JSON Lines."""

from pathlib import Path

import click

from commands.support import params
from commands.support.groups import articles_group
from commands.support.lookup import get_articles, get_customer
from commands.support.session import command_session
from commands.support.terminal import echo, format_article_count, show_progress
from transfer.json_files import dump_json_line, write_json_lines
from transfer.records import export_articles


@articles_group.command()
@click.argument("slugs", metavar="[SLUG...]", nargs=-1)
@params.customer_option
@click.option("--all-fields", is_flag=True, help="Include values that an import would derive.")
@click.option("--output", metavar="FILE", type=params.new_file, help="Write JSON Lines to FILE, a new file.")
def export(slugs: tuple[str, ...], customer: str | None, all_fields: bool, output: Path | None) -> None:
    """Export articles as JSON Lines.

    Exports the named articles or, by default, all of them, drafts and scheduled ones included. "flask articles import"
    reads the result.
    """
    with command_session(writes=False):
        owner = get_customer(customer)
        pks = [row.pk for row in get_articles(owner, slugs)] if slugs else None
        exported = export_articles(owner, pks, all_fields=all_fields)
        if not output:
            for article in exported:
                click.echo(dump_json_line(article), nl=False)
            return
        with show_progress(exported, "Writing articles") as counted:
            count = write_json_lines(output, counted)
    echo(f"Wrote {format_article_count(count)} to {output}.", err=True)
