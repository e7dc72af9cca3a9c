"""Progress of long-running commands, on stderr."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Timer
from typing import TypeVar

import click

from commands.terminal import echo

DELAY_SECONDS = 2
T = TypeVar("T")


@contextmanager
def show_progress(items: Iterable[T], label: str, length: int | None = None) -> Iterator[Iterator[T]]:
    """Yield an iterator over `items` that counts them on a terminal if they take more than two seconds.

    `length` is the number of items, if it is known.
    """
    with ExitStack() as stack:
        yield _count(iter(items), label, length, stack)


def _count(items: Iterator[T], label: str, length: int | None, stack: ExitStack) -> Iterator[T]:
    """Yield the items. The progress bar, once it is shown, ends with the stack."""
    shown_from = time.monotonic() + DELAY_SECONDS
    count = 0
    for item in items:
        yield item
        count += 1
        if time.monotonic() >= shown_from:
            break
    else:
        return
    hidden = not sys.stderr.isatty()
    bar = click.progressbar(items, length, label, hidden=hidden, show_pos=True, update_min_steps=20, file=sys.stderr)
    stack.enter_context(bar)
    bar.update(count)
    yield from bar


@contextmanager
def report_if_slow(message: str) -> Iterator[None]:
    """Print `message` on a terminal if the block takes more than two seconds."""
    timer = Timer(DELAY_SECONDS, echo, [message], {"err": True})
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
