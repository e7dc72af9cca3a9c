"""The sources of an import, and the function that reads each kind."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from http.client import HTTPException
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from converters.csv_files import read_csv
from converters.file_names import SUFFIXES
from converters.markdown_files import read_folder
from converters.records import Converted, Identity, IgnoredItem, SourceArticle, SourceError, SourceOptions
from converters.wordpress import read_wordpress
from transfer.json_files import dump_line, parse_lines, read_document, read_lines
from transfer.remote import CHECK_URL, is_url, read_articles
from transfer.report import ImportReport

# yields what a source contains; raises SourceError or OSError if it cannot be read any further
Reader = Callable[[str, SourceOptions], Converted]
WORDPRESS = ".xml"  # several files are read together
# by suffix
READERS: Mapping[str, Reader] = {
    ".json": read_document,
    ".jsonl": read_lines,
    ".csv": read_csv,
} | dict.fromkeys(SUFFIXES, read_folder)


def is_source(source: str) -> bool:
    """Return whether an import can read `source`, if it exists."""
    return source == "-" or is_url(source) or os.path.isdir(source) or _suffix(source) in (WORDPRESS, *READERS)


def _suffix(source: str) -> str:
    return Path(source).suffix.lower()


# takes an iterable and a label
ShowProgress = Callable[[Iterable[bytes], str], AbstractContextManager[Iterable[bytes]]]


@contextmanager
def open_sources(
    sources: tuple[str, ...],
    options: SourceOptions,
    key: str | None,
    report: ImportReport,
    show_progress: ShowProgress,
) -> Iterator[Iterable[SourceArticle]]:
    """Yield an iterator over the articles of all sources. Ignored items and mistakes go to the report.

    Files are read lazily. Standard input and other instances (opened with `key`) are read completely first, and named
    pipes are rejected, so that no transaction has to wait for them.
    """
    with ExitStack() as files:
        readers: list[tuple[str, Callable[[], Converted]]] = []
        exports = [source for source in sources if _suffix(source) == WORDPRESS and os.path.isfile(source)]
        for source in sources:
            name = "standard input" if source == "-" else source
            with report.catch(name):
                if source == "-" or is_url(source):
                    lines = _remote_lines(source, key) if is_url(source) else _input_lines()
                    file = files.enter_context(_receive(lines, name, show_progress))
                    identity = Identity.SLUG if is_url(source) else Identity.ID
                    readers.append((name, partial(parse_lines, name, file, identity)))
                elif source not in exports:
                    readers.append((name, partial(_find_reader(source), source, options)))
        if exports:
            readers.append((", ".join(exports), partial(read_wordpress, exports, options)))
        yield chain.from_iterable(_read(name, reader, report) for name, reader in readers)


@contextmanager
def _receive(lines: Iterable[bytes], label: str, show_progress: ShowProgress) -> Iterator[IO[bytes]]:
    """Yield a temporary file that contains all lines."""
    with TemporaryFile() as file:
        with show_progress(lines, label) as counted:
            file.writelines(counted)
        file.seek(0)
        yield file


def _find_reader(source: str) -> Reader:
    """Return the function that reads a folder or file. Raises SourceError for a pipe, for example."""
    if os.path.isdir(source):
        return read_folder
    if not os.path.isfile(source):
        raise SourceError("Not a file or a folder. To read JSON Lines from a pipe, use -.")
    return READERS[_suffix(source)]


def _remote_lines(url: str, key: str | None) -> Iterator[bytes]:
    """Yield another instance's articles as JSON Lines. Raises SourceError."""
    try:
        yield from map(dump_line, read_articles(url, key))
    except (OSError, HTTPException, TypeError, ValueError) as error:
        reason = getattr(error, "reason", error)
        reason = getattr(reason, "strerror", None) or reason
        raise SourceError(f"Cannot be read ({reason}). {CHECK_URL}") from error


def _input_lines() -> Iterable[bytes]:
    """Return the lines of standard input. Raises SourceError."""
    if not sys.stdin:
        raise SourceError("Is closed.")
    return sys.stdin.buffer


def _read(name: str, reader: Callable[[], Converted], report: ImportReport) -> Iterator[SourceArticle]:
    """Yield the articles of a source, or of several that are read together."""
    with report.catch(name):
        for item in reader():
            if isinstance(item, IgnoredItem):
                report.ignore(item)
            elif isinstance(item, SourceArticle):
                yield item
            elif item.is_fatal:
                report.add(item)
            else:
                report.reject(item)
