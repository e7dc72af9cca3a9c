"""Running the programs that users name after a command, without a shell; and being stopped like one."""

import shutil
import signal
import subprocess
from threading import Event
from typing import Any

import click


class ProgramError(click.ClickException):
    """A program that does not exist or cannot be started. Shells exit with this status too."""

    exit_code = 127


def stop_on_signal() -> Event:
    """Return an event that Ctrl+C and SIGTERM set.

    Poll it: to wait for it could deadlock with the signal handler.
    """
    stop = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    return stop


def find_program(name: str) -> str:
    """Return the path of a program; on Windows, also npm.cmd for npm. Raises ProgramError."""
    path = shutil.which(name)
    if not path:
        raise ProgramError(f"There is no executable program {name!r}. Check its name, or give its path.")
    return path


def start_program(command: tuple[str, ...], **options: Any) -> subprocess.Popen[bytes]:
    """Start a program with its arguments; the options are those of `subprocess.Popen`. Raises ProgramError."""
    try:
        return subprocess.Popen([find_program(command[0]), *command[1:]], **options)  # noqa: S603
    except OSError as error:
        raise ProgramError(f"{command[0]!r} cannot be started ({error.strerror}).") from error
