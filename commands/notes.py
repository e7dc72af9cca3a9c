"""What an import says besides its result."""

import click

from commands import count_articles
from field_types import printable
from importing.errors import ImportErrors


def echo_notes(errors: ImportErrors) -> None:
    """Print an import's warnings, and what was lost, each with the number of articles and the first slugs."""
    for note, slugs in errors.notes.items():
        names = ", ".join([*map(printable, slugs[:3]), *(["…"] if len(slugs) > 3 else [])])
        click.echo(f"{printable(note)} ({count_articles(len(slugs))}: {names})", err=True)
