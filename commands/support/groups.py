"""The groups of the `flask` commands."""

import signal
import sys
from io import TextIOWrapper
from typing import Any

import click
from flask.cli import AppGroup, ScriptInfo

from commands.support.errors import report_errors


class CommandGroup(AppGroup):
    """A group whose commands report errors, and clean up on signals."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command in the application context."""
        clean_up_on_signals()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # not every terminal can print every title
        # AppGroup pushes a context only around each command, and errors are reported in the context of the application.
        with ctx.ensure_object(ScriptInfo).load_app().app_context(), report_errors():
            return super().invoke(ctx)


def clean_up_on_signals() -> None:
    """Exit normally on SIGTERM and SIGHUP, so that temporary files are removed."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number and signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, lambda number, _: sys.exit(128 + number))


articles_group = CommandGroup("articles", help="Import, export, write, edit, preview and publish articles.")
customers_group = CommandGroup("customers", help="List, rename and delete customers, and set their sites.")
database_group = CommandGroup("database", help="Back up and restore the database.")
keys_group = CommandGroup("keys", help="Create, list and revoke API keys.")
GROUPS = articles_group, customers_group, database_group, keys_group
