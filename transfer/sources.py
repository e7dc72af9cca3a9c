"""The sources of an import: for each kind, the function that reads it."""

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPException
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from converters.csv_files import read_csv
from converters.markdown_files import SUFFIXES, read_folder
from converters.records import Converted, IgnoredItem, Mistake, SourceArticle, SourceError, SourceOptions
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


@contextmanager
def open_sources(
    sources: tuple[str, ...], options: SourceOptions, key: str | None, report: ImportReport
) -> Iterator[Iterable[SourceArticle]]:
    """Yield an iterator over the articles of all sources. Everything else in them goes to the report.

    Files are read as they come. Standard input and other instances, which `key` opens, are received to their end first,
    and a pipe is rejected, so that the transaction that follows waits for nobody.
    """
    with ExitStack() as files:
        readers: list[tuple[str, Callable[[], Converted]]] = []
        exports: list[str] = []
        for source in sources:
            name = "standard input" if source == "-" else source
            with report.catch(name):
                if source == "-" or is_url(source):
                    file = files.enter_context(TemporaryFile())
                    _receive(source, key, file)
                    readers.append((name, partial(parse_lines, name, file, matches_slug=is_url(source))))
                elif os.path.isfile(source) and _suffix(source) == WORDPRESS:
                    exports.append(source)
                elif os.path.isfile(source) or os.path.isdir(source):
                    read = read_folder if os.path.isdir(source) else READERS[_suffix(source)]
                    readers.append((name, partial(read, source, options)))
                else:
                    raise SourceError("It is not a file or a folder. Use - for a stream of JSON Lines.")
        if exports:
            readers.append((", ".join(exports), partial(read_wordpress, exports, options)))
        yield chain.from_iterable(_read(name, reader, report) for name, reader in readers)


def _receive(source: str, key: str | None, file: IO[bytes]) -> None:
    """Write what standard input or another instance sends to a file, as JSON Lines. Raises SourceError."""
    if is_url(source):
        try:
            file.writelines(map(dump_line, read_articles(source, key)))
        except (OSError, HTTPException, TypeError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise SourceError(f"It cannot be read ({reason}). Check that the URL is that of an instance.") from error
    elif sys.stdin:
        shutil.copyfileobj(sys.stdin.buffer, file)
    else:
        raise SourceError("It is closed.")
    file.seek(0)


def _read(name: str, reader: Callable[[], Converted], report: ImportReport) -> Iterator[SourceArticle]:
    with report.catch(name):
        for item in reader():
            if isinstance(item, Mistake):
                report.add(item)
            elif isinstance(item, IgnoredItem):
                report.ignore(item)
            else:
                yield item
