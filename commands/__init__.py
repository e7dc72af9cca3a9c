"""The `flask` commands, and how they print. A command's module is imported when the command runs or shows its help."""

import atexit
import gc
import signal
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import click
from flask import Flask
from flask.cli import ScriptInfo

from commands.errors import report_errors
from content.text import printable
from storage.engine import release_connection


class CommandGroup(click.Group):
    """A group that imports its commands when they are needed, and runs them in the application's context.

    https://click.palletsprojects.com/en/stable/complex/#lazily-loading-subcommands
    """

    def __init__(self, name: str, help: str, names: str) -> None:
        """Create a group from the names of its commands."""
        super().__init__(name, help=help)
        self.names = names.split()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return self.names

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name, or None."""
        if cmd_name not in self.names:
            return None
        module = import_module(f"commands.{MODULES.get(cmd_name, self.name)}")
        commands = (value for value in vars(module).values() if isinstance(value, click.Command))
        return next(command for command in commands if command.name == cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Invoke a command of the group. Errors of the database and of the output become one line."""
        # At exit, Python would look for cycles among all that was imported: a fifth of a short command's time.
        atexit.register(gc.freeze)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # Not every terminal can show every title.
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)  # Windows has no SIGHUP.
            if number and signal.getsignal(number) == signal.SIG_DFL:  # "nohup" ignores SIGHUP.
                # An exit runs the code that removes temporary files, unlike the end by a signal.
                signal.signal(number, lambda number, _: sys.exit(128 + number))
        with report_errors(), ctx.ensure_object(ScriptInfo).load_app().app_context():
            try:
                return super().invoke(ctx)
            finally:
                release_connection()


ARTICLES = "delete edit export import list preview publish unpublish watch"
GROUPS = (
    CommandGroup("articles", "Import, export, edit, preview and publish articles.", ARTICLES),
    CommandGroup("customers", "List, rename and delete customers.", "delete list rename"),
    CommandGroup("database", "Back up and restore the database.", "backup restore"),
    CommandGroup("keys", "Create, list and revoke API keys.", "create list revoke"),
)
# The modules that hold one command. The others are in the module of their group.
MODULES = {"import": "import_articles"} | {name: name for name in ("edit", "export", "preview", "watch")}


def init_app(app: Flask) -> None:
    """Add the commands to `flask`."""
    for group in GROUPS:
        app.cli.add_command(group)


def echo(*cells: Any, err: bool = False) -> None:
    """Print a line of cells, with tabs between them and no other character that a terminal would act on."""
    click.echo("\t".join(printable(str(cell)) for cell in cells), err=err)


def count_articles(number: int) -> str:
    """Return a number of articles in words: 1 article, 2 articles."""
    return f"{number} {'article' if number == 1 else 'articles'}"
