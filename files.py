"""Files that a command creates for an operator."""

import os
from pathlib import Path

FILE_EXISTS = "{} already exists. Choose another name, or move it away."


def move_to_new_file(path: str | Path, target: Path) -> None:
    """Move a finished file to `target`, which must be on the same file system.

    Raises FileExistsError if the target exists, even if another program has just created it.
    """
    try:
        os.link(path, target)  # unlike a rename, never overwrites a file
    except FileExistsError:
        raise
    except OSError:  # file systems without hard links, such as FAT
        target.touch(0o600, exist_ok=False)
        os.replace(path, target)
