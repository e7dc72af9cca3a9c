"""Lists of old URLs that an import writes: of its articles, to make redirects from, and of their pictures."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from files import move_to_new_file


class ListFile:
    """A text file, written to a temporary path until `save` moves it into place.

    Its methods raise OSError, for example if a file exists at its path or the disk is full.
    """

    def __init__(self, file: IO[str], target: Path) -> None:
        self._file = file
        self._target = target
        self.is_saved = False

    def write(self, text: str) -> None:
        """Write some lines."""
        with _naming_in_errors(self._target):
            self._file.write(text)

    def save(self) -> None:
        """Move the file to its path."""
        with _naming_in_errors(self._target):
            self._file.close()
            move_to_new_file(Path(self._file.name), self._target)
        self.is_saved = True


class UrlLists:
    """The lists of one import, of which either may be missing."""

    def __init__(self, redirects: ListFile | None = None, pictures: ListFile | None = None) -> None:
        self._redirects = redirects
        self._pictures = pictures
        self._listed: set[str] = set()
        if redirects:
            self.add_redirects(["old_url"], "slug")

    def add_redirects(self, old_urls: Iterable[str], slug: str) -> None:
        """Write one row per old URL of an article."""
        if self._redirects:
            csv.writer(self._redirects, lineterminator="\n").writerows((url, slug) for url in old_urls)

    def add_pictures(self, urls: Iterable[str]) -> None:
        """Write the URLs that are not in the list yet, one a line."""
        for url in urls:
            if self._pictures and url not in self._listed:
                self._listed.add(url)
                self._pictures.write(f"{url}\n")

    def save(self) -> None:
        """Move the files to their paths."""
        for file in filter(None, (self._redirects, self._pictures)):
            file.save()


NO_LISTS = UrlLists()


@contextmanager
def create_url_lists(redirects: Path | None, pictures: Path | None) -> Iterator[UrlLists]:
    """Yield lists to save as the new files with these paths, which may be None.

    If the block fails after saving them, they are removed again, except after Ctrl+C. Raises OSError if a file cannot
    be written.
    """
    with _create_file(redirects) as redirects_file, _create_file(pictures) as pictures_file:
        yield UrlLists(redirects_file, pictures_file)


@contextmanager
def _create_file(target: Path | None) -> Iterator[ListFile | None]:
    if not target:
        yield None
        return
    with _naming_in_errors(target):
        folder = TemporaryDirectory(".tmp", f".{target.name}-", target.resolve().parent, ignore_cleanup_errors=True)
    with folder as temporary, open(Path(temporary, target.name), "x", encoding="utf-8", newline="") as file:
        list_file = ListFile(file, target)
        try:
            yield list_file
        except BaseException as error:
            # After Ctrl+C, the articles may have been written.
            if list_file.is_saved and not isinstance(error.__cause__ or error, KeyboardInterrupt):
                target.unlink(missing_ok=True)
            raise


@contextmanager
def _naming_in_errors(target: Path) -> Iterator[None]:
    """Name `target` in errors instead of a temporary file."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from error
