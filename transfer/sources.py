"""The sources of an import: for each kind, the function that reads it."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from http.client import HTTPException
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile

from converters.csv_files import read_csv
from converters.markdown_files import SUFFIXES, read_folder
from converters.records import Converted, IgnoredItem, SourceArticle, SourceError, SourceOptions
from converters.wordpress import read_wordpress
from transfer.json_files import dump_line, parse_lines, read_document, read_lines
from transfer.remote import is_url, read_articles
from transfer.report import ImportReport

# Yields the articles of a source. Raises SourceError or OSError if it cannot be read any further.
Reader = Callable[[str, SourceOptions], Converted]
WORDPRESS = ".xml"  # several files are read together
# The readers of other files, by suffix.
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


# Shows the progress of a long iteration: takes what is iterated over and a label.
ShowProgress = Callable[[Iterable[bytes], str], AbstractContextManager[Iterable[bytes]]]


@contextmanager
def open_sources(
    sources: tuple[str, ...],
    options: SourceOptions,
    key: str | None,
    report: ImportReport,
    show_progress: ShowProgress,
) -> Iterator[Iterable[SourceArticle]]:
    """Yield an iterator over the articles of all sources. Everything else in them goes to the report.

    Files are read as they come. Standard input and other instances, which `key` opens, are received to their end first,
    and a pipe is rejected, so that the transaction that follows waits for nobody.
    """
    with ExitStack() as files:
        readers: list[tuple[tuple[str, ...], Callable[[], Converted]]] = []
        exports: list[str] = []
        for source in sources:
            name = "standard input" if source == "-" else source
            with report.catch(name):
                if source == "-" or is_url(source):
                    file = files.enter_context(TemporaryFile())
                    with show_progress(_remote_lines(source, key) if is_url(source) else _input_lines(), name) as lines:
                        file.writelines(lines)
                    file.seek(0)
                    readers.append(((name,), partial(parse_lines, name, file, matches_slug=is_url(source))))
                elif os.path.isfile(source) and _suffix(source) == WORDPRESS:
                    exports.append(source)
                elif os.path.isfile(source) or os.path.isdir(source):
                    read = read_folder if os.path.isdir(source) else READERS[_suffix(source)]
                    readers.append(((name,), partial(read, source, options)))
                else:
                    raise SourceError("It is not a file or a folder. Use - for a stream of JSON Lines.")
        if exports:
            readers.append((tuple(exports), partial(read_wordpress, exports, options)))
        yield chain.from_iterable(_read(names, reader, report) for names, reader in readers)


def _remote_lines(url: str, key: str | None) -> Iterator[bytes]:
    """Yield another instance's articles as JSON Lines. Raises SourceError."""
    try:
        yield from map(dump_line, read_articles(url, key))
    except (OSError, HTTPException, TypeError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise SourceError(f"It cannot be read ({reason}). Check that the URL is that of an instance.") from error


def _input_lines() -> Iterable[bytes]:
    """Return the lines of standard input. Raises SourceError."""
    if not sys.stdin:
        raise SourceError("It is closed.")
    return sys.stdin.buffer


def _read(names: tuple[str, ...], reader: Callable[[], Converted], report: ImportReport) -> Iterator[SourceArticle]:
    """Yield the articles of sources that are read together."""
    with report.catch(", ".join(names)):
        for item in reader():
            if isinstance(item, IgnoredItem):
                report.ignore(item)
            elif isinstance(item, SourceArticle):
                yield item
            elif item.where in names and _suffix(item.where) not in SUFFIXES:
                report.add(item)  # about all of a source, which is more than an article
            else:
                report.reject(item)
