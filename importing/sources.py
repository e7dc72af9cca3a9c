"""The sources of an import: for each kind, the function that reads it."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from operator import attrgetter
from pathlib import Path
from tempfile import TemporaryFile, gettempdir
from typing import IO, Any, NamedTuple

import orjson

from field_types import TOO_DEEP
from importing.article_files import SUFFIXES, read_folder
from importing.errors import ImportErrors, ImportFailedError, Records, SourceError, SourceLocation, SourceOptions
from importing.instance import is_url, read_instance
from importing.json_files import STANDARD_INPUT, dump_line, read_document, read_lines
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
        return read_lines
    if is_url(source):
        return read_instance
    return read_folder if os.path.isdir(source) else READERS.get(Path(source).suffix.lower())


class SlugClaim(NamedTuple):
    """An article of another system that has a slug."""

    is_draft: bool
    location: SourceLocation
    title: str | None


@contextmanager
def open_sources(sources: tuple[str, ...], options: SourceOptions, errors: ImportErrors) -> Iterator[Records]:
    """Open `sources`, and yield an iterator over all their records. Errors of reading go to `errors`.

    All but JSON Lines in a file or a named pipe, which are read as they come and last, are first received to their end:
    the transaction that follows then waits for nobody. Raises ImportFailedError if there is no room for them.
    """
    streamed = [source for source in sources if find_reader(source) is read_lines and source != "-"]
    claims: list[SlugClaim] = []
    with TemporaryFile() as file:
        for source in sources:
            if source not in streamed:
                _receive(_read_source(source, options, errors), file, claims, errors)
        slugs = _replace_slugs(claims, errors)
        file.seek(0)
        received = ((SourceLocation(*location), record) for location, record in map(orjson.loads, file))
        renamed = (_with_slug(*located, slugs) for located in received)
        yield chain(renamed, *(_read_source(source, options, errors) for source in streamed))


def _read_source(source: str, options: SourceOptions, errors: ImportErrors) -> Records:
    reader = find_reader(source)
    with errors.catch(SourceLocation(STANDARD_INPUT if source == "-" else source)):
        if reader in (read_document, read_wordpress, read_table) and not os.path.isfile(source):
            raise SourceError("It is not a file that can be read. Name a file.")  # a pipe would never end
        if reader:
            yield from reader(source, options, errors)


def _receive(records: Records, file: IO[bytes], claims: list[SlugClaim], errors: ImportErrors) -> None:
    """Write records to a file, to their end, and add the slugs of those from other systems to the claims."""
    for location, record in records:
        location = location._replace(source=location.source.encode(errors="replace").decode())  # names are any bytes
        if location.matches_slug:
            status = record.get("status", "published" if "publishedAt" in record else "draft")
            claims.append(SlugClaim(status == "draft", location, record.get("title")))
            errors.imported_ids.add(str(record.get("id") or ""))
        try:
            file.write(dump_line([[*location], record]))
        except TypeError:  # of the JSON library, at its limit of 254 levels
            errors.add(location, TOO_DEEP)
        except OSError as error:
            reason = f"The folder {gettempdir()} cannot be written ({error.strerror})."
            raise ImportFailedError(f"{reason} Set TMPDIR to a folder with more room.") from error


def _replace_slugs(claims: list[SlugClaim], errors: ImportErrors) -> dict[str, str]:
    """Return other slugs, by their locations, for drafts whose slug is taken.

    Two published articles with one slug are an error.
    """
    taken = {claim.location.slug for claim in claims}
    numbers: dict[str, Iterator[int]] = defaultdict(lambda: count(2))  # that are not tried yet
    holders: dict[str, SlugClaim] = {}
    slugs: dict[str, str] = {}
    for claim in sorted(claims, key=attrgetter("is_draft")):
        wanted = claim.location.slug
        holder = holders.setdefault(wanted, claim)
        if claim.is_draft and holder is not claim:
            candidates = (f"{wanted}-{number}" for number in numbers[wanted])
            slugs[str(claim.location)] = slug = next(candidate for candidate in candidates if candidate not in taken)
            taken.add(slug)
        elif holder is not claim:
            reason = f"{claim.title!r} has the same slug as {holder.title!r} ({holder.location})."
            errors.add(claim.location, f"{reason} Change one of the slugs.")
    return slugs


def _with_slug(location: SourceLocation, record: Any, slugs: dict[str, str]) -> tuple[SourceLocation, Any]:
    """Return an article with the slug that was found for it, if any."""
    if slug := slugs.get(str(location)):
        note = "Drafts with another slug, because an article has theirs"
        return location._replace(slug=slug, notes=[*location.notes, note]), record | {"slug": slug}
    return location, record
