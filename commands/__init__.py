"""The `flask` commands."""

from flask import Flask

from commands.support.groups import GROUPS


def init_app(app: Flask) -> None:
    """Add the commands to `flask`."""
    for group in GROUPS:
        app.cli.add_command(group)
