"""The sources of an import, and the function that reads each kind."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from converters.articles import ConvertedItems, IgnoredItem, SourceArticle, SourceError, SourceOptions
from converters.csv_files import read_csv
from converters.ghost import is_ghost_export, read_ghost
from converters.markdown import ARTICLE_SUFFIXES, read_folder
from converters.wordpress import read_wordpress
from converters.wordpress.site import find_api, read_site
from schemas import API_PATH
from transfer.article_files import parse_own_file
from transfer.json_files import parse_json_lines, read_json, read_json_lines
from transfer.remote import ShowProgress, is_url, read_instance
from transfer.report import ImportReport

START_LENGTH = 4096  # bytes at the beginning of a file, by which its kind is recognized


def _read_standard_input(_source: str, _options: SourceOptions) -> ConvertedItems:
    """Yield the articles on standard input. Raises SourceError if it is empty, since its writer may have failed."""
    if not sys.stdin:
        raise SourceError("Is closed. Redirect a file to it, or name the file.")
    is_empty = True
    for item in parse_json_lines("standard input", sys.stdin.buffer):
        is_empty = False
        yield item
    if is_empty:
        raise SourceError("Is empty. Check the command that writes to it.")


class SourceKind(NamedTuple):
    """A kind of source, and the function that reads it."""

    suffixes: tuple[str, ...]
    # yields what a source contains; raises SourceError or OSError if it cannot be read any further
    read: Callable[[Any, SourceOptions], ConvertedItems]
    recognizes: Callable[[bytes], bool] = lambda _start: True
    reads_together: bool = False  # whether `read` takes all of an import's files of this kind


STANDARD_INPUT = SourceKind((), _read_standard_input)
MARKDOWN = SourceKind(ARTICLE_SUFFIXES, partial(read_folder, read_own=parse_own_file))  # also reads folders

# A file is of the first kind that has its suffix and recognizes its beginning.
SOURCE_KINDS = [
    SourceKind((".xml",), read_wordpress, reads_together=True),
    SourceKind((".json",), read_ghost, is_ghost_export),
    SourceKind((".csv",), read_csv),
    MARKDOWN,
    # this service's own
    SourceKind((".json",), read_json),
    SourceKind((".jsonl",), read_json_lines),
]


def known_suffixes() -> list[str]:
    """Return the suffixes of the files that an import can read."""
    return list(dict.fromkeys(suffix for kind in SOURCE_KINDS for suffix in kind.suffixes))


def is_source(source: str) -> bool:
    """Return whether an import can read `source`, if it exists."""
    return source == "-" or is_url(source) or os.path.isdir(source) or _suffix(source) in known_suffixes()


def _suffix(source: str) -> str:
    return Path(source).suffix.lower()


def read_sources(
    sources: Iterable[str], options: SourceOptions, key: str | None, report: ImportReport, show_progress: ShowProgress
) -> Iterator[SourceArticle]:
    """Yield the articles of all sources, which are read lazily. Ignored items and problems go to the report.

    `key` is the one of another instance. Raises ImportFailedError if the disk is full, for example.
    """
    url_kind = SourceKind((), lambda url, options: _read_url(url, options, key, show_progress))
    readings: dict[SourceKind | int, tuple[SourceKind, list[str]]] = {}  # by kind, if its files are read together
    for number, source in enumerate(sources):
        with report.catch(source):
            kind = url_kind if is_url(source) else _find_kind(source)
            _, names = readings.setdefault(kind if kind.reads_together else number, (kind, []))
            names.append(source)
    for kind, names in readings.values():
        yield from _read(kind, names, options, report)


def _read_url(url: str, options: SourceOptions, key: str | None, show_progress: ShowProgress) -> ConvertedItems:
    """Yield the posts of a WordPress site, or the articles of another instance."""
    api = None
    if API_PATH not in url:
        with suppress(SourceError):
            api = find_api(url)
    if not api:
        yield from read_instance(url, key, show_progress)
    else:
        with show_progress(read_site(api, options), url) as articles:
            yield from articles


def _find_kind(source: str) -> SourceKind:
    """Return the kind of a file, a folder or standard input.

    Raises SourceError if it is anything else, such as a pipe, and OSError if it cannot be read.
    """
    if source == "-":
        return STANDARD_INPUT
    if os.path.isdir(source):
        return MARKDOWN
    if not os.path.isfile(source):
        raise SourceError("Not a file or a folder. To read JSON Lines from a pipe, use -.")
    with open(source, "rb") as file:
        start = file.read(START_LENGTH)
    return next(kind for kind in SOURCE_KINDS if _suffix(source) in kind.suffixes and kind.recognizes(start))


def _read(kind: SourceKind, names: list[str], options: SourceOptions, report: ImportReport) -> Iterator[SourceArticle]:
    """Yield the articles of a source, or of several that are read together."""
    is_empty = True
    has_old_urls = False
    label = "standard input" if kind is STANDARD_INPUT else ", ".join(names)
    with report.catch(label):
        for item in kind.read(names if kind.reads_together else names[0], options):
            if isinstance(item, IgnoredItem):
                report.ignore(item)
            elif isinstance(item, SourceArticle):
                is_empty = False
                has_old_urls = has_old_urls or bool(item.old_urls)
                yield item
            else:
                is_empty = False  # The problem says enough.
                if item.is_fatal:
                    report.stop(item)
                else:
                    report.reject(item)
        if is_empty:
            report.empty_sources.append(label)
        if not has_old_urls:
            report.sources_without_old_urls.append(label)
