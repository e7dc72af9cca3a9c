"""Progress of long-running commands, on stderr if that is a terminal."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Timer
from typing import TypeVar

import click

from commands.terminal import echo

DELAY_SECONDS = 2
T = TypeVar("T")


def show_progress(items: Iterable[T], label: str) -> AbstractContextManager[Iterable[T]]:
    """Return a context manager that yields `items` as an iterator which counts them."""
    hidden = not sys.stderr.isatty()
    return click.progressbar(items, label=label, hidden=hidden, show_pos=True, update_min_steps=20, file=sys.stderr)


@contextmanager
def report_if_slow(message: str) -> Iterator[None]:
    """Print `message` if the block takes more than two seconds."""
    timer = Timer(DELAY_SECONDS, echo, [message], {"err": True})
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
