"""Run the programs that `watch` and `preview` take as arguments, without a shell."""

import shutil
import signal
import subprocess
import sys
from typing import Any

import click


class ProgramError(click.ClickException):
    """A program does not exist, cannot be started, or has failed."""

    exit_code = 127  # as in a shell, if it does not exist; `watch` handles failures itself


def stop_quietly_on_signals() -> None:
    """Exit with status 0 on Ctrl+C or SIGTERM. Further signals are ignored, so that none interrupts the cleanup."""

    def exit_once(*_: Any) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: None)  # SIG_IGN could print "ignored due to race condition"
        sys.exit()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, exit_once)


def find_program(name: str) -> str:
    """Return the path of a program, such as npm.cmd for npm on Windows. Raises ProgramError if it does not exist."""
    path = shutil.which(name)
    if not path:
        raise ProgramError(f"Program {name!r} not found. Check its name, or give its full path.")
    return path


def start_program(command: tuple[str, ...], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program with its arguments. `options` go to `subprocess.Popen`. Raises ProgramError if that fails."""
    try:
        return subprocess.Popen([find_program(command[0]), *command[1:]], **options)  # noqa: S603
    except OSError as error:
        reason = f"{command[0]!r} cannot be started ({error.strerror})."
        raise ProgramError(f"{reason} Check that it is executable.") from error
