"""Files that a command creates for an operator."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

FILE_EXISTS = "{} already exists. Choose another name, or move it away."


@contextmanager
def create_new_file(target: Path) -> Iterator[IO[bytes]]:
    """Yield a file to write, which appears as `target` once the block has succeeded.

    Raises OSError, for example if `target` exists or the disk is full.
    """
    with create_folder_beside(target) as temporary:
        with open(Path(temporary, target.name), "xb") as file:
            yield file
        move_to_new_file(file.name, target)


def create_folder_beside(target: Path) -> TemporaryDirectory[str]:
    """Create a temporary folder, from which a finished file can be moved to `target`.

    Raises OSError that names `target` if the folder cannot be written to.
    """
    try:
        return TemporaryDirectory(".tmp", f".{target.name}-", target.resolve().parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error


def move_to_new_file(path: str | Path, target: Path) -> None:
    """Link or move a finished file to `target`, which must be on the same file system.

    Raises FileExistsError if the target exists, even if another program has just created it.
    """
    try:
        os.link(path, target)  # unlike a rename, never overwrites a file
    except OSError:  # The target exists, or the file system has no hard links, such as FAT.
        target.touch(0o600, exist_ok=False)
        os.replace(path, target)
