"""What a command prints on stderr when it works for more than two seconds."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeVar

import click

DELAY_SECONDS = 2
T = TypeVar("T")


@contextmanager
def show_progress(items: Iterable[T], label: str, length: int | None = None) -> Iterator[Iterator[T]]:
    """Yield an iterator over `items`, which counts them on a terminal if they take long.

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
