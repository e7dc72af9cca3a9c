"""Old URLs of imported articles, as a CSV file to make redirects from."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from storage.files import move_to_new_file


class Redirects:
    """A CSV file of old URLs and slugs, open for writing."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(("old_url", "slug"))

    def add(self, old_urls: Iterable[str], slug: str) -> None:
        """Write one row per old URL of an article."""
        self._writer.writerows((url, slug) for url in old_urls)

    def flush(self) -> None:
        """Flush the file, so that a full disk is noticed before the commit. Raises OSError."""
        self._file.flush()


@contextmanager
def create_redirects(target: Path) -> Iterator[Redirects]:
    """Yield redirects, which become the new file `target` if the block succeeds. Raises OSError."""
    try:
        folder = TemporaryDirectory(".tmp", f".{target.name}-", target.resolve().parent, ignore_cleanup_errors=True)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error  # not the temporary folder's name
    with folder as temporary:
        path = Path(temporary, target.name)
        with open(path, "x", encoding="utf-8", newline="") as file:
            yield Redirects(file)
        move_to_new_file(path, target)
