"""Front matter: the fields at the top of a file, in YAML between lines `---` or in TOML between lines `+++`."""

import codecs
import json
import re
import tomllib
from typing import Any, ClassVar

import orjson
import yaml

from importing.errors import SourceError

MAX_DEPTH = 252  # levels: as many as structured data may have, within its field
FIRST_LINE = re.compile(rb"(?:%s)?(---|\+\+\+)[ \t]*\r?\n" % codecs.BOM_UTF8)
# The first line that equals the opening one ends the front matter, whatever the fields hold.
FRONT_MATTER = re.compile(FIRST_LINE.pattern + rb"(.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class Plain(str):
    """Text that was written without quotes, so that a field may take it for a number, true or false."""

    __slots__ = ()


class TextLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A loader of YAML that leaves every scalar but null as it was written: a title `yes`, `2020-01-01` or `1e22`."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


TextLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL)?\Z"), None)
TextLoader.add_implicit_resolver("!plain", re.compile(""), None)
TextLoader.add_constructor("!plain", lambda _loader, node: Plain(node.value))


def parse_front_matter(data: bytes, first_line: int) -> tuple[dict[str, Any], dict[str, int], str]:
    """Return a file's fields, the number of each field's line, and the content.

    A field's value is text, None, or a list or dictionary of values; in TOML also a boolean. `first_line` is the number
    of the file's first line. Raises SourceError with a line.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise SourceError("Must be text in UTF-8. Save the file in that encoding.", line) from error
    opening, match = FIRST_LINE.match(data), FRONT_MATTER.match(data)
    if not opening:
        raise SourceError(
            "An article file must begin with front matter between two lines ---. Add it, or rename the file to _*.",
            first_line,
        )
    if not match:
        reason = f"The front matter must end with a line {opening[1].decode()}, as it begins."
        raise SourceError(reason, first_line)
    is_yaml, text = match[1] == b"---", "\n" * first_line + match[2].decode()  # in which each line has its number
    fields = _parse_yaml(text) if is_yaml else _parse_toml(text)
    if not isinstance(fields, dict):
        raise SourceError("The front matter must hold fields, as in title: Our spring menu", first_line + 1)
    lines = _field_lines(text, unique=is_yaml)
    return {str(name): value for name, value in fields.items()}, lines, data[match.end() :].decode()


def _parse_yaml(text: str) -> Any:
    try:
        _check_yaml(text)
        return yaml.load(text, TextLoader) or {}  # noqa: S506
    except yaml.YAMLError as error:
        reason, mark = getattr(error, "problem", None) or str(error), getattr(error, "problem_mark", None)
        hint = "Put text that holds ': ' or begins with a special character between double quotes."
        raise SourceError(f"The front matter must be YAML ({reason}). {hint}", mark and mark.line + 1) from error


def _check_yaml(text: str) -> None:
    """Raise SourceError for what can run code, make a small file large, or exhaust the stack."""
    depth = 0
    for event in yaml.parse(text, Loader=TextLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH or getattr(event, "anchor", None) or getattr(event, "tag", None):
            reason = "The front matter must have no tags, anchors and aliases (!, &, *), and no deep nesting."
            hint = "Put text that begins with such a character between double quotes."
            raise SourceError(f"{reason} {hint}", event.start_mark.line + 1)


def _parse_toml(text: str) -> Any:
    try:
        data = orjson.dumps(tomllib.loads(text))  # which writes dates in ISO format
    except (ValueError, TypeError, RecursionError) as error:
        raise SourceError(f"The front matter must be TOML ({error}).") from error
    return json.loads(data, parse_int=Plain, parse_float=Plain)


def _field_lines(text: str, *, unique: bool) -> dict[str, int]:
    """Return the number of each field's line. Raises SourceError if they should be `unique` and are not."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        match = re.match(r"[\"']?([\w-]+)[\"']?\s*[:=]", line)
        if match and lines.setdefault(match[1], number) != number and unique:
            raise SourceError(f"The field {match[1]!r} appears twice. Remove one.", number)
    return lines
