"""The groups of the `flask` commands. A command imports what only it needs when it runs, so that all start fast."""

import signal
import sys
from io import TextIOWrapper
from typing import Any

import click
from flask.cli import AppGroup, ScriptInfo

from commands.errors import report_errors
from storage.engine import release_connection


class CommandGroup(AppGroup):
    """A group whose commands report errors in one line, clean up on signals, and leave no connection open."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command of the group in the application's context."""
        _exit_on_signals()
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # not every terminal can show every title
        with ctx.ensure_object(ScriptInfo).load_app().app_context(), report_errors():
            try:
                return super().invoke(ctx)
            finally:
                release_connection()


def _exit_on_signals() -> None:
    """Let SIGTERM and SIGHUP exit the interpreter, which removes temporary files, instead of killing it."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number and signal.getsignal(number) == signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(number, lambda number, _: sys.exit(128 + number))


articles = CommandGroup("articles", help="Import, export, edit, preview and publish articles.")
customers = CommandGroup("customers", help="List, rename and delete customers.")
database = CommandGroup("database", help="Back up and restore the database.")
keys = CommandGroup("keys", help="Create, list and revoke API keys.")
GROUPS = articles, customers, database, keys
