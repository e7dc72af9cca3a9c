"""The sources of an import: for each kind, the function that reads it."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile, gettempdir

import orjson

from importing.errors import ImportErrors, ImportFailedError, Records, SourceError, SourceLocation, SourceOptions
from importing.folders import SUFFIXES, read_folder
from importing.instance import is_url, read_instance
from importing.json_files import STANDARD_INPUT, dump_line, read_document, read_lines, read_standard_input
from importing.slugs import SlugClaims
from importing.tables import read_table
from importing.wordpress import read_wordpress

# Reads a source's articles, as far as it can: other mistakes than SourceError and OSError go to the errors.
Reader = Callable[[str, SourceOptions, ImportErrors], Records]
READERS: dict[str, Reader] = {  # by the file's suffix
    ".json": read_document,
    ".jsonl": read_lines,
    ".xml": read_wordpress,
    ".csv": read_table,
} | dict.fromkeys(SUFFIXES, read_folder)


def find_reader(source: str) -> Reader | None:
    """Return the function that reads `source`, or None if there is none."""
    if source == "-":
        return read_standard_input
    if is_url(source):
        return read_instance
    return read_folder if os.path.isdir(source) else READERS.get(Path(source).suffix.lower())


@contextmanager
def open_sources(sources: tuple[str, ...], options: SourceOptions, errors: ImportErrors) -> Iterator[Records]:
    """Open `sources`, and yield an iterator over all their records. Errors of reading go to `errors`.

    All but JSON Lines in a file or a named pipe, which are read as they come, are first received to their end: the
    transaction that follows then waits for nobody. Raises ImportFailedError if there is no room for them.
    """
    claims = SlugClaims()
    with ExitStack() as stack:
        opened = []
        for source in sources:
            records = _read_source(source, options, errors)
            opened.append(records if find_reader(source) is read_lines else _receive(records, claims, errors, stack))
        claims.settle(errors)
        yield map(claims.apply, chain.from_iterable(opened))


def _read_source(source: str, options: SourceOptions, errors: ImportErrors) -> Records:
    reader, location = find_reader(source), SourceLocation(STANDARD_INPUT if source == "-" else source)
    try:
        is_file = reader in READERS.values() and reader is not read_lines
        if is_file and not (os.path.isfile(source) or os.path.isdir(source)):  # a pipe would never end
            raise SourceError("It is not a file that can be read. Name a file.")
        if reader:
            yield from reader(source, options, errors)
    except SourceError as error:
        errors.add(location.at_line(error.line), str(error))
    except OSError as error:
        errors.add_unreadable(location, error)


def _receive(records: Records, claims: SlugClaims, errors: ImportErrors, stack: ExitStack) -> Records:
    """Return an iterator over records that are received to their end, in a file that the stack closes."""
    file = stack.enter_context(TemporaryFile())  # noqa: SIM115
    for location, record in records:
        if location.matches_slug:
            claims.add(location, record)
        location = location._replace(source=location.source.encode(errors="replace").decode())  # names are any bytes
        try:
            file.write(dump_line([[*location], record]))
        except TypeError:  # of the JSON library, at its limit of 254 levels
            errors.add(location, "Must not be nested more than 250 levels deep.")
        except OSError as error:
            reason = f"The folder {gettempdir()} cannot be written ({error.strerror})."
            raise ImportFailedError(f"{reason} Set TMPDIR to a folder with more room.") from error
    file.seek(0)
    return ((SourceLocation(*location), record) for location, record in map(orjson.loads, file))
