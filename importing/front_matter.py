"""Front matter: the fields at the top of a file, in YAML between lines `---` or in TOML between lines `+++`."""

import codecs
import re
import tomllib
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, NamedTuple

import yaml

from importing.errors import SourceError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # with libyaml it takes a fifteenth of the time
MAX_DEPTH = 252  # levels: as many as structured data may have, within its field
NULLS = ("", "~", "null", "Null", "NULL")
FIRST_LINE = re.compile(rb"(---|\+\+\+)[ \t]*\r?\n")
# The first line that equals the opening one ends the front matter, whatever the fields hold.
FRONT_MATTER = re.compile(FIRST_LINE.pattern + rb"(.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class Plain(str):
    """Text that was written without quotes, so that a field may take it for a number, true or false."""

    __slots__ = ()


class FrontMatter(NamedTuple):
    """The parts of a file.

    A field's value is text, None, or a list or dictionary of values. Every scalar is text, as it was written, so that a
    title `yes` or `2020-01-01` stays what it is.
    """

    language: str  # "YAML", "TOML", or "" if the file has no front matter
    fields: dict[str, Any]
    lines: dict[str, int]  # the number of each field's line
    content: str


def parse_front_matter(data: bytes, first_line: int = 1) -> FrontMatter:
    """Return the parts of a file. `first_line` is the number of its first line. Raises SourceError with a line."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise SourceError("Must be text in UTF-8. Save the file in that encoding.", line) from error
    match = FRONT_MATTER.match(data)
    if not match:
        if FIRST_LINE.match(data):
            raise SourceError(f"The front matter must end with a line {text[:3]}, as it begins.", first_line)
        return FrontMatter("", {}, {}, text)
    language, parse = ("YAML", _parse_yaml) if match[1] == b"---" else ("TOML", _parse_toml)
    try:
        fields, lines = parse(match[2].decode())
    except SourceError as error:
        raise SourceError(str(error), first_line + 1 + (error.line or 0)) from error
    lines = {name: first_line + 1 + line for name, line in lines.items()}
    return FrontMatter(language, fields, lines, data[match.end() :].decode())


def _parse_yaml(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return fields, and their lines from 0. Raises SourceError."""
    fields: dict[str, Any] = {}
    lines: dict[str, int] = {}
    try:
        events = _yaml_events(text)
        root = next(events, None)
        if root and not isinstance(root, yaml.MappingStartEvent):
            raise SourceError("The front matter must hold fields, as in title: Our spring menu", root.start_mark.line)
        for key, event in _pairs(events):
            if key.value in fields:
                raise SourceError(f"The field {key.value!r} appears twice. Remove one.", key.start_mark.line)
            fields[key.value], lines[key.value] = _read_yaml(event, events), key.start_mark.line
        if rest := next(events, None):
            raise SourceError("The front matter must be one document. Remove the line before it.", rest.start_mark.line)
    except yaml.YAMLError as error:
        reason, mark = getattr(error, "problem", None) or str(error), getattr(error, "problem_mark", None)
        hint = "Put text that holds ': ' or begins with a special character between double quotes."
        raise SourceError(f"The front matter must be YAML ({reason}). {hint}", mark and mark.line) from error
    return fields, lines


def _yaml_events(text: str) -> Iterator[Any]:
    """Yield the events of values. Raises SourceError for what can make a small file large, or run code."""
    depth = 0
    for event in yaml.parse(text, Loader=LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise SourceError("The front matter is nested too deeply.", event.start_mark.line)
        if isinstance(event, yaml.NodeEvent) and (event.anchor or event.tag):  # every alias has an anchor
            reason = "The front matter must not have YAML's tags, anchors and aliases (!, &, *)."
            hint = "Put text that begins with one between double quotes."
            raise SourceError(f"{reason} {hint}", event.start_mark.line)
        if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
            yield event


def _pairs(events: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the name of each member of a mapping, and the first event of its value, which the caller reads."""
    for key in _until_end(events):
        if not isinstance(key, yaml.ScalarEvent):
            raise SourceError("A field's name must be text.", key.start_mark.line)
        yield key, next(events)


def _until_end(events: Iterator[Any]) -> Iterator[Any]:
    return takewhile(lambda event: not isinstance(event, yaml.CollectionEndEvent), events)


def _read_yaml(event: Any, events: Iterator[Any]) -> Any:
    """Return the value that begins with an event."""
    if isinstance(event, yaml.SequenceStartEvent):
        values = []
        for item in _until_end(events):  # no comprehension: it would take twice the levels of Python's stack
            values.append(_read_yaml(item, events))
        return values
    if isinstance(event, yaml.MappingStartEvent):
        members = {}
        for key, item in _pairs(events):
            members[key.value] = _read_yaml(item, events)
        return members
    if not event.implicit[0]:  # in quotes
        return event.value
    return None if event.value in NULLS else Plain(event.value)


def _parse_toml(text: str) -> tuple[dict[str, Any], dict[str, int]]:
    """Return fields, and their lines from 0. Raises SourceError."""
    try:
        fields = {name: _to_text(value) for name, value in tomllib.loads(text).items()}
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        reason, _, place = str(error).rpartition(" (at line ")
        found = re.match("[0-9]+", place)
        reason = f"The front matter must be TOML ({reason or error})."
        raise SourceError(reason, int(found[0]) - 1 if found else 0) from error
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n")):
        match = re.match(r"[\s\[]*[\"']?([\w-]+)", line)
        if match and match[1] in fields:
            lines.setdefault(match[1], number)
    return fields, lines


def _to_text(value: Any) -> Any:
    """Return a value of TOML with text for each number, date, true and false."""
    if isinstance(value, dict):
        return {name: _to_text(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_to_text(item) for item in value]
    if isinstance(value, bool):
        return Plain(str(value).lower())
    return value if isinstance(value, str) else Plain(value)
