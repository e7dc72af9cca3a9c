"""Front matter: the fields at the top of a file, in YAML between `---` lines or in TOML between `+++` lines."""

import re
import tomllib
from collections.abc import Iterator
from datetime import date, time
from typing import Any, ClassVar

import yaml

from converters.decoding import decode_utf8
from converters.source_articles import SourceError
from converters.values import Unquoted

MAX_DEPTH = 252  # levels, enough for the deepest structured data
MAX_LINE = 2**31 - 1  # characters; never fold a line
OPENING_LINE = re.compile(r"(---|\+\+\+)[ \t]*(?:\r?\n|\Z)")
# The first line that equals the opening one ends the front matter, whatever the fields contain.
FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
BOUNDARIES = "An article file must begin with front matter between two --- lines."
NOT_SUPPORTED = "The front matter must not use tags, anchors or aliases, nor more than 252 levels. Quote such text."
LONG_TOML_KEY = re.compile(r"(?:\.[ \t]*[^\s.=]{1,64}[ \t]*){200}")  # tomllib takes quadratic time for these
TOML_ERROR = re.compile(r"(.+) \(at line (\d+), column \d+\)")  # Invalid value (at line 2, column 9)
NULL = ("", "~", "null", "Null", "NULL")
Events = Iterator[yaml.Event]


class NoFrontMatterError(SourceError):
    """A file without front matter, such as a README."""


class FrontMatterDumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """A YAML dumper that does not quote timestamps, but quotes text that would be a number in JSON."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {
        first: [resolver for resolver in resolvers if resolver[0] != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items()
    }


JSON_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")  # -1.5e22
FrontMatterDumper.add_implicit_resolver("tag:yaml.org,2002:float", JSON_NUMBER, "-0123456789")


def parse_front_matter(data: bytes) -> tuple[dict[str, Any], str]:
    """Return a file's fields and its content. A value is text, None, or a list or dictionary of values.

    Raises NoFrontMatterError if it is missing, and SourceError if it is invalid or the file is empty.
    """
    text = decode_utf8(data)
    if not text.strip():
        raise SourceError("Is empty. Restore it, or delete it.")
    match = FRONT_MATTER.match(text)
    if not match:
        opening = OPENING_LINE.match(text)
        if opening:
            raise SourceError(f"{BOUNDARIES.replace('---', opening[1])} The second one is missing.")
        raise NoFrontMatterError(f"{BOUNDARIES} This one has none.")
    fields = _parse_yaml(match[2]) if match[1] == "---" else _parse_toml(match[2])
    if not isinstance(fields, dict):
        raise SourceError("The front matter must have fields, as in title: Our spring menu")
    if "contentHtml" in fields:
        raise SourceError("contentHtml belongs below the front matter.")
    return {str(name): value for name, value in fields.items()}, text[match.end() :]


def dump_front_matter(fields: dict[str, Any]) -> str:
    """Return fields as front matter in YAML."""
    style = {"allow_unicode": True, "default_flow_style": None, "sort_keys": False, "width": MAX_LINE}
    return f"---\n{yaml.dump(fields, Dumper=FrontMatterDumper, **style)}---\n"


def _parse_yaml(text: str) -> Any:
    """Parse YAML. Every scalar but null stays text, such as a title `No`, a slug `007` or a date."""
    events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        next(events)  # the start of the stream
        if isinstance(next(events), yaml.StreamEndEvent):  # only comments
            return {}
        value = _read_node(events, next(events), depth=1)
        next(events)  # the end of the document
        if not isinstance(next(events), yaml.StreamEndEvent):
            raise SourceError("The front matter must be one YAML document. Remove the line ---.")
        return {} if value is None else value
    except yaml.YAMLError as error:
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        mark = getattr(error, "problem_mark", None)
        advice = "Correct that line. Text with special characters belongs in double quotes."
        raise SourceError(
            f"The front matter must be YAML ({reason}). {advice}", mark.line + 2 if mark else None
        ) from error


def _read_node(events: Events, event: Any, depth: int) -> Any:
    """Return the value that begins with an event. Raises SourceError for a repeated key, and for what could expand."""
    line = event.start_mark.line + 2
    if getattr(event, "anchor", None) or getattr(event, "tag", None) not in (None, "!") or depth > MAX_DEPTH:
        raise SourceError(NOT_SUPPORTED, line)
    if isinstance(event, yaml.ScalarEvent):
        if event.style or event.tag:
            return event.value
        return None if event.value in NULL else Unquoted(event.value)
    if isinstance(event, yaml.SequenceStartEvent):
        items = []
        while not isinstance(item := next(events), yaml.SequenceEndEvent):
            items.append(_read_node(events, item, depth + 1))
        return items
    mapping: dict[str, Any] = {}
    while not isinstance(key := next(events), yaml.MappingEndEvent):
        name = _read_node(events, key, depth + 1)
        is_merge_key = isinstance(name, Unquoted) and name == "<<"
        if isinstance(name, list | dict) or is_merge_key or str(name) in mapping:
            reason = f"{str(name)!r} must be text and appear only once. There are no merge keys (<<)."
            raise SourceError(reason, key.start_mark.line + 2)
        mapping[str(name)] = _read_node(events, next(events), depth + 1)
    return mapping


def _parse_toml(text: str) -> Any:
    """Parse TOML. Numbers, dates and truth values become text."""
    if LONG_TOML_KEY.search(text):
        raise SourceError("The TOML front matter has a key of hundreds of parts. Shorten it.")
    try:
        return _to_text(tomllib.loads(f"\n{text}", parse_float=Unquoted))
    except (ValueError, TypeError, RecursionError) as error:
        place = TOML_ERROR.fullmatch(str(error))
        reason = f"The front matter must be TOML ({place[1] if place else error}). Correct that line."
        raise SourceError(reason, int(place[2]) if place else None) from error


def _to_text(value: Any) -> Any:
    """Convert a TOML value to what the YAML parser returns."""
    if isinstance(value, dict):
        return {name: _to_text(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_to_text(item) for item in value]
    if isinstance(value, bool):
        return Unquoted(str(value).lower())
    if isinstance(value, date | time):  # a datetime is a date
        return Unquoted(value.isoformat())
    return value if isinstance(value, str) else Unquoted(value)
