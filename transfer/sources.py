"""The sources of an import, and the function that reads each kind."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

from converters.csv_files import read_csv
from converters.ghost import is_ghost_export, read_ghost
from converters.markdown import ARTICLE_SUFFIXES, read_folder
from converters.records import ConvertedItems, IgnoredItem, SourceArticle, SourceError, SourceOptions
from converters.wordpress import read_wordpress
from transfer.article_files import parse_own_file
from transfer.json_files import parse_json_lines, read_json, read_json_lines
from transfer.remote import ShowProgress, is_url, parse_received, receive_articles
from transfer.report import ImportReport

Reader = Callable[[], ConvertedItems]
START_LENGTH = 4096  # bytes at the beginning of a file, by which its system is recognized


class System(NamedTuple):
    """A kind of file, and the function that reads it."""

    suffixes: tuple[str, ...]
    # yields what a file contains; raises SourceError or OSError if it cannot be read any further
    read: Callable[[Any, SourceOptions], ConvertedItems]
    recognizes: Callable[[bytes], bool] = lambda _start: True
    reads_together: bool = False  # whether `read` takes all of an import's files of this kind


MARKDOWN = System(ARTICLE_SUFFIXES, partial(read_folder, read_own=parse_own_file))  # also reads folders

# A file is read by the first system that has its suffix and recognizes its beginning.
SYSTEMS = [
    System((".xml",), read_wordpress, reads_together=True),
    System((".json",), read_ghost, is_ghost_export),
    System((".csv",), read_csv),
    MARKDOWN,
    # this service's own
    System((".json",), read_json),
    System((".jsonl",), read_json_lines),
]


def known_suffixes() -> list[str]:
    """Return the suffixes of the files that an import can read."""
    return list(dict.fromkeys(suffix for system in SYSTEMS for suffix in system.suffixes))


def is_source(source: str) -> bool:
    """Return whether an import can read `source`, if it exists."""
    return source == "-" or is_url(source) or os.path.isdir(source) or _suffix(source) in known_suffixes()


def _suffix(source: str) -> str:
    return Path(source).suffix.lower()


@contextmanager
def open_sources(
    sources: tuple[str, ...],
    options: SourceOptions,
    key: str | None,
    report: ImportReport,
    show_progress: ShowProgress,
) -> Iterator[Iterable[SourceArticle]]:
    """Yield an iterator over the articles of all sources. Ignored items and mistakes go to the report.

    Files and standard input are read lazily, other instances (with `key`) completely before the first article. Raises
    ImportFailedError if the disk is full, for example.
    """
    with ExitStack() as files:
        readers: list[tuple[str, Reader]] = []
        for system, names in _group(sources, report):
            with report.catch(names[0]):
                reader: Reader
                if system:
                    reader = partial(system.read, names if system.reads_together else names[0], options)
                else:
                    reader = _open_lines(names[0], key, files, show_progress)
                readers.append((", ".join(names), reader))
        yield chain.from_iterable(_read(name, reader, report) for name, reader in readers)


def _group(sources: Iterable[str], report: ImportReport) -> list[tuple[System | None, list[str]]]:
    """Return the sources in order, each with its system, which is None for standard input and other instances.

    Files that are read together are grouped at the place of the first one. Mistakes go to the report.
    """
    groups: list[tuple[System | None, list[str]]] = []
    together: dict[System, list[str]] = {}
    for source in sources:
        if source == "-":
            groups.append((None, ["standard input"]))
        elif is_url(source):
            groups.append((None, [source]))
        else:
            with report.catch(source):
                system = _find_system(source)
                if system in together:
                    together[system].append(source)
                    continue
                names = [source]
                groups.append((system, names))
                if system.reads_together:
                    together[system] = names
    return groups


def _open_lines(name: str, key: str | None, files: ExitStack, show_progress: ShowProgress) -> Reader:
    """Return the function that reads standard input or another instance, whose articles are received first.

    Raises SourceError if they cannot be read.
    """
    if is_url(name):
        file = files.enter_context(receive_articles(name, key, show_progress))
        return partial(parse_received, name, file)
    if not sys.stdin:
        raise SourceError("Is closed. Redirect a file to it.")
    return partial(_read_stream, name, sys.stdin.buffer)


def _read_stream(name: str, file: IO[bytes]) -> ConvertedItems:
    """Yield the articles on standard input. Raises SourceError if it is empty, since its writer may have failed."""
    items = iter(parse_json_lines(name, file))
    first = next(items, None)
    if first is None:
        raise SourceError("Is empty. Check the command that writes to it.")
    yield first
    yield from items


def _find_system(source: str) -> System:
    """Return the system that reads a file or a folder.

    Raises SourceError if it is neither, such as a pipe, and OSError if it cannot be read.
    """
    if os.path.isdir(source):
        return MARKDOWN
    if not os.path.isfile(source):
        raise SourceError("Not a file or a folder. To read JSON Lines from a pipe, use -.")
    with open(source, "rb") as file:
        start = file.read(START_LENGTH)
    return next(system for system in SYSTEMS if _suffix(source) in system.suffixes and system.recognizes(start))


def _read(name: str, reader: Reader, report: ImportReport) -> Iterator[SourceArticle]:
    """Yield the articles of a source, or of several that are read together."""
    is_empty = True
    has_old_urls = False
    with report.catch(name):
        for item in reader():
            if isinstance(item, IgnoredItem):
                report.ignore(item)
            elif isinstance(item, SourceArticle):
                is_empty = is_empty and item.is_withdrawn
                has_old_urls = has_old_urls or bool(item.old_urls)
                yield item
            else:
                is_empty = False  # The mistake says enough.
                record = report.stop if item.is_fatal else report.reject
                record(item)
    if is_empty:
        report.empty_sources.append(name)
    if not has_old_urls:
        report.sources_without_old_urls.append(name)
