"""The groups of the `flask` commands."""

import signal
import sys
from collections.abc import Mapping
from importlib import import_module
from io import TextIOWrapper
from typing import Any

import click
from flask.cli import AppGroup, ScriptInfo

from commands.support.command_errors import report_errors


class CommandGroup(AppGroup):
    """A group whose commands report errors, and clean up on signals.

    The module of a command is imported once the command is used, so that serving loads none of them
    (https://click.palletsprojects.com/en/stable/complex/#lazily-loading-subcommands).
    """

    def __init__(self, name: str, summary: str, modules: Mapping[str, str]) -> None:
        """`modules` has, by the names of the commands, the modules that add them to the group."""
        super().__init__(name, help=summary)
        self._modules = modules

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in alphabetical order."""
        return sorted(self._modules)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command with this name, or None."""
        if cmd_name in self._modules:
            import_module(self._modules[cmd_name])
        return super().get_command(ctx, cmd_name)

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


articles_group = CommandGroup(
    "articles",
    "Import, export, write, edit, preview and publish articles.",
    {
        "delete": "commands.delete_articles",
        "edit": "commands.edit",
        "export": "commands.export",
        "import": "commands.import_articles",
        "list": "commands.list_articles",
        "new": "commands.edit",
        "preview": "commands.preview",
        "publish": "commands.publish",
        "unpublish": "commands.publish",
        "watch": "commands.watch",
    },
)
customers_group = CommandGroup(
    "customers",
    "List, rename and delete customers, and set their sites.",
    dict.fromkeys(("delete", "list", "rename", "site"), "commands.customers"),
)
database_group = CommandGroup(
    "database", "Back up and restore the database.", dict.fromkeys(("backup", "restore"), "commands.database")
)
keys_group = CommandGroup(
    "keys", "Create, list and revoke API keys.", dict.fromkeys(("create", "list", "revoke"), "commands.keys")
)
GROUPS = articles_group, customers_group, database_group, keys_group
