"""Access to the database."""

from collections.abc import Callable
from contextlib import AbstractContextManager

# Called with a label and a length; yields a function that reports progress in units of the length.
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


class StorageError(Exception):
    """Why the database cannot be used, and what to do about it, in one or two lines."""
