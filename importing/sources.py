"""The sources of an import: for each kind, the function that reads it."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from http.client import HTTPException
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from importing.article_files import SUFFIXES, read_folder
from importing.instance import is_url, read_instance
from importing.json_files import dump_line, parse_lines, read_document, read_lines
from importing.records import MirroredArticle, Records, SourceError, SourceOptions
from importing.report import ImportReport
from importing.tables import read_table
from importing.wordpress import read_wordpress

# Yields the articles of a source. Raises SourceError or OSError if it cannot be read.
Reader = Callable[[str, SourceOptions, ImportReport], Records]
# The readers of files, by suffix.
READERS: Mapping[str, Reader] = {
    ".json": read_document,
    ".jsonl": read_lines,
    ".xml": read_wordpress,
    ".csv": read_table,
} | dict.fromkeys(SUFFIXES, read_folder)


def is_source(source: str) -> bool:
    """Return whether an import can read `source`, if it exists."""
    return source == "-" or is_url(source) or os.path.isdir(source) or Path(source).suffix.lower() in READERS


@contextmanager
def open_sources(sources: tuple[str, ...], options: SourceOptions, report: ImportReport) -> Iterator[Records]:
    """Yield an iterator over the articles of all sources. Mistakes in reading go to the report.

    Files are read as they come. Standard input and other instances are received to their end first, and a pipe is
    refused, so that the transaction that follows waits for nobody.
    """
    with ExitStack() as files:
        readers = []
        for source in sources:
            name = "standard input" if source == "-" else source
            with report.catch(name):
                if source == "-" or is_url(source):
                    file = files.enter_context(TemporaryFile())
                    _receive(source, options, file)
                    parse = _read_mirrored if is_url(source) else parse_lines
                    readers.append((name, partial(parse, name, file, report)))
                elif os.path.isfile(source) or os.path.isdir(source):
                    read = read_folder if os.path.isdir(source) else READERS[Path(source).suffix.lower()]
                    readers.append((name, partial(read, source, options, report)))
                else:
                    raise SourceError("It is not a file or a folder. Use - for a stream of JSON Lines.")
        yield chain.from_iterable(_read(name, reader, report) for name, reader in readers)


def _receive(source: str, options: SourceOptions, file: IO[bytes]) -> None:
    """Write what standard input or another instance sends to a file, as JSON Lines. Raises SourceError."""
    if is_url(source):
        try:
            file.writelines(map(dump_line, read_instance(source, options.key)))
        except (OSError, HTTPException, TypeError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise SourceError(f"It cannot be read ({reason}). Check that the URL is that of an instance.") from error
    elif sys.stdin:
        shutil.copyfileobj(sys.stdin.buffer, file)
    else:
        raise SourceError("It is closed.")
    file.seek(0)


def _read_mirrored(name: str, file: IO[bytes], report: ImportReport) -> Records:
    for place, record in parse_lines(name, file, report):
        yield place, MirroredArticle(record) if isinstance(record, dict) else record


def _read(name: str, reader: Callable[[], Records], report: ImportReport) -> Records:
    with report.catch(name):
        yield from reader()
