"""Old URLs of imported articles, as a CSV file to make redirects from."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from files import move_to_new_file


class Redirects:
    """A CSV file of old URLs and slugs, written to a temporary path until `save` moves it into place."""

    def __init__(self, file: IO[str], target: Path) -> None:
        self._file = file
        self._target = target
        self.is_saved = False
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(("old_url", "slug"))

    def add(self, old_urls: Iterable[str], slug: str) -> None:
        """Write one row per old URL of an article. Raises OSError if the disk is full, for example."""
        with _naming_in_errors(self._target):
            self._writer.writerows((url, slug) for url in old_urls)

    def save(self) -> None:
        """Move the file to its path. Raises OSError, for example if a file exists there or the disk is full."""
        with _naming_in_errors(self._target):
            self._file.close()
            move_to_new_file(Path(self._file.name), self._target)
        self.is_saved = True


@contextmanager
def create_redirects(target: Path) -> Iterator[Redirects]:
    """Yield redirects to save as the new file `target`.

    If the block fails after saving it, the file is removed again, except after Ctrl+C. Raises OSError if the file
    cannot be written.
    """
    with _naming_in_errors(target):
        folder = TemporaryDirectory(".tmp", f".{target.name}-", target.resolve().parent, ignore_cleanup_errors=True)
    with folder as temporary, open(Path(temporary, target.name), "x", encoding="utf-8", newline="") as file:
        redirects = Redirects(file, target)
        try:
            yield redirects
        except BaseException as error:
            # After Ctrl+C, the articles may have been written.
            if redirects.is_saved and not isinstance(error.__cause__ or error, KeyboardInterrupt):
                target.unlink(missing_ok=True)
            raise


@contextmanager
def _naming_in_errors(target: Path) -> Iterator[None]:
    """Name `target` in errors instead of a temporary file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error
