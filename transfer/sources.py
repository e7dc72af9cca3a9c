"""The sources of an import, and what reads each kind."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from converters.csv_files import read_csv
from converters.ghost import is_ghost_export, read_ghost
from converters.markdown import ARTICLE_SUFFIXES, read_folder
from converters.source_articles import ConvertedItems, ImportProblem, SourceError, SourceOptions, unreadable_problem
from converters.wordpress import read_wordpress
from converters.wordpress.site import find_api, read_site
from schemas import API_PATH
from transfer.article_files import parse_own_file
from transfer.json_files import parse_json_lines, read_json, read_json_lines
from transfer.remote import is_url, read_instance

KNOWN_SUFFIXES = (".xml", ".json", ".jsonl", ".csv", *ARTICLE_SUFFIXES)


def is_source(source: str) -> bool:
    """Return whether an import can read `source`, if it exists."""
    return source == "-" or is_url(source) or os.path.isdir(source) or _suffix(source) in KNOWN_SUFFIXES


def is_own_json(source: str) -> bool:
    """Return whether a source is a JSON or JSON Lines file of this service."""
    return os.path.isfile(source) and (
        _suffix(source) == ".jsonl" or (_suffix(source) == ".json" and not is_ghost_export(source))
    )


def read_sources(sources: Iterable[str], options: SourceOptions, key: str | None) -> ConvertedItems:
    """Yield what the sources contain, which are read lazily. `key` is another instance's API key."""
    exports = [source for source in sources if _suffix(source) == ".xml" and os.path.isfile(source)]
    if exports:  # one export may consist of several files
        yield from _report_errors(", ".join(exports), read_wordpress(exports, options))
    for source in sources:
        if source not in exports:
            name = "standard input" if source == "-" else source
            yield from _report_errors(name, _read(source, options, key))


def _report_errors(name: str, items: ConvertedItems) -> ConvertedItems:
    """Yield what a source contains, and a problem if it is empty or cannot be read to its end."""
    is_empty = True
    try:
        for item in items:
            is_empty = False
            yield item
    except (SourceError, OSError) as error:
        yield unreadable_problem(name, error, is_fatal=True)
    else:
        if is_empty:
            yield ImportProblem(name, "Contains no articles.", is_fatal=True)


def _read(source: str, options: SourceOptions, key: str | None) -> ConvertedItems:
    """Yield what a source contains. Raises SourceError or OSError if it cannot be read past some point."""
    if source == "-":
        if not sys.stdin:
            raise SourceError("Is closed. Redirect a file to it, or name the file.")
        yield from parse_json_lines("standard input", sys.stdin.buffer, options.source)
    elif is_url(source):
        # Only WordPress sites name their API. A page that cannot be read might be on one, which must not get the key.
        api = None if API_PATH in source else find_api(source)
        yield from read_site(api, options) if api else read_instance(source, key, options)
    elif os.path.isdir(source):
        yield from read_folder(source, options, parse_own_file)
    elif not os.path.isfile(source):  # a pipe would block
        raise SourceError("Not a file or a folder. To read JSON Lines from a pipe, use -.")
    elif _suffix(source) == ".json":
        yield from read_ghost(source, options) if is_ghost_export(source) else read_json(source, options)
    elif _suffix(source) == ".jsonl":
        yield from read_json_lines(source, options)
    elif _suffix(source) == ".csv":
        yield from read_csv(source, options)
    else:
        yield from read_folder(source, options, parse_own_file)


def _suffix(source: str) -> str:
    return Path(source).suffix.lower()
