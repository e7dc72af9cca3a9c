"""The `flask` commands."""

from flask import Flask

from commands import (  # noqa: F401  # each module adds its commands to their group
    articles,
    customers,
    database,
    edit,
    export,
    import_articles,
    keys,
    preview,
    watch,
)
from commands.support.groups import GROUPS


def init_app(app: Flask) -> None:
    """Add the commands to `flask`."""
    for group in GROUPS:
        app.cli.add_command(group)
