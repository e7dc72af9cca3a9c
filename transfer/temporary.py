"""Temporary files, with errors that name their folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from tempfile import TemporaryFile, gettempdir
from typing import Any

from transfer import ImportFailedError

ADVICE = "Free some space there, or set TMPDIR to a folder on another disk."


@contextmanager
def create_temporary_file() -> Iterator[Any]:
    """Yield a new temporary file. Raises ImportFailedError if no folder accepts one."""
    try:
        file = TemporaryFile()  # noqa: SIM115  # closed below
    except OSError as error:
        reason = "No folder for temporary files is writable. Set TMPDIR to a folder on a disk with free space."
        raise ImportFailedError(f"Nothing was written. {reason}") from error
    with file:
        yield file


@contextmanager
def writing_to(file: Any) -> Iterator[None]:
    """Run a block that writes to a temporary file. Raises ImportFailedError if the disk is full, for example."""
    try:
        yield
    except OSError as error:
        file.raw.close()  # otherwise, closing the file would try to write the rest again
        reason = f"Cannot write to the temporary folder {gettempdir()} ({error.strerror}). {ADVICE}"
        raise ImportFailedError(f"Nothing was written. {reason}") from error
