"""Front matter: the fields at the top of a file, in YAML between `---` lines or in TOML between `+++` lines."""

import re
import tomllib
from datetime import date, time
from typing import Any, ClassVar

import yaml

from converters.articles import SourceError
from converters.decoding import decode_utf8
from converters.field_names import plain_name
from converters.scalars import Unquoted

MAX_DEPTH = 252  # levels, enough for the deepest structured data
MAX_LINE = 2**31 - 1  # characters; never fold a line
OPENING_LINE = re.compile(r"(---|\+\+\+)[ \t]*(?:\r?\n|\Z)")  # ---
LATE_OPENING_LINE = re.compile(r"[\s\ufeff\u200b]+(---|\+\+\+)[ \t]*\r?\n")  # below empty lines or a second BOM
OTHER_FRONT_MATTER = re.compile(r"\s*\{\s*[\"}]|---[ \t]*js(?:on)?\b")  # Hugo, Eleventy
BOUNDARIES = "An article file must begin with front matter between two --- lines."
LONG_TOML_KEY = re.compile(r"(?:\.[ \t]*[^\s.=]{1,64}[ \t]*){200}")  # tomllib takes quadratic time for these
INDENT_ADVICE = "Indent fields of the same level by the same number of spaces."
# by words in the messages of libyaml and of PyYAML's own parser
YAML_ADVICE = {
    r" tab |'\\t'": "Indent with spaces instead of tabs.",
    "expected ':'": "Write each field as name: value.",
    "expected ',' or": "Close all brackets.",
    "expected key|<block end>": f'{INDENT_ADVICE} Write \\" for a quotation mark within others.',
    "document start|'-'": INDENT_ADVICE,
    "end of stream": "Close all quotation marks.",
    "escape|hexdec": r"Write \\ for a backslash in double quotes.",
    "characters are not allowed": "Remove the control character.",
    "mapping values|any token|alphabetic|line break|unhashable|node content|entries": (
        "Put text that contains ': ' or begins with a special character in double quotes."
    ),
}
SURROGATE_ESCAPES = re.compile(r"(?:\\u[dD][89a-fA-F][0-9a-fA-F]{2})+")  # \ud83d\ude00
TOML_ERROR = re.compile(r"(.+) \(at line (\d+), column \d+\)")  # Invalid value (at line 2, column 9)
# The first line that equals the opening one ends the front matter, whatever the fields contain.
FRONT_MATTER = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class NoFrontMatterError(SourceError):
    """A file without front matter, such as a README, or with an unsupported kind of front matter."""

    def __init__(self, kind: str) -> None:
        """`kind` says what the file has instead, for the report."""
        super().__init__(f"{BOUNDARIES} This one has {kind}.")
        self.kind = kind


class TextLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A YAML loader that keeps every scalar but null as text, such as a title `yes`, `2020-01-01` or `1e22`."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Construct a mapping. Raises SourceError if a key is repeated, which PyYAML ignores, or is a merge key."""
        seen: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 2
                if key.value in seen:
                    raise SourceError(f"{key.value!r} appears twice. Remove one of the two.", line)
                if key.value == "<<" and not key.style:  # between quotes, it is a key like any other
                    raise SourceError("The merge key << is not supported. Write the fields out.", line)
                seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


TextLoader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL)?\Z"), None)
TextLoader.add_implicit_resolver("!unquoted", re.compile(""), None)
# A scalar may be in quotes after the tag "!", as in `! '#code'`, which means text.
TextLoader.add_constructor("!unquoted", lambda _loader, node: node.value if node.style else Unquoted(node.value))
TextLoader.add_constructor("tag:yaml.org,2002:null", lambda _loader, node: node.value if node.style else None)


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

    Raises SourceError if the front matter is missing or invalid.
    """
    text = decode_utf8(data)
    match = FRONT_MATTER.match(text)
    if not match:
        raise _missing_front_matter(text)
    fields = _parse_yaml(match[2]) if match[1] == "---" else _parse_toml(match[2])
    if not isinstance(fields, dict):
        raise SourceError("The front matter must have fields, as in title: Our spring menu")
    if "contentHtml" in fields:
        raise SourceError("contentHtml belongs below the front matter.")
    return {str(name): value for name, value in fields.items()}, text[match.end() :]


def field_value(fields: dict[str, Any], name: str) -> Any:
    """Return the first non-empty value of a field with this plain name, however it is spelled, or None."""
    return next((value for key, value in fields.items() if value and plain_name(key) == name), None)


def _missing_front_matter(text: str) -> SourceError:
    """Return the error for a file that does not begin with complete front matter."""
    if opening := OPENING_LINE.match(text):
        return SourceError(f"{BOUNDARIES.replace('---', opening[1])} The second one is missing.")
    if late := LATE_OPENING_LINE.match(text):
        return SourceError(f"{BOUNDARIES} Remove the empty lines above it.", text.count("\n", 0, late.start(1)) + 1)
    if OTHER_FRONT_MATTER.match(text):
        return NoFrontMatterError("front matter in JavaScript or JSON, not YAML")
    return NoFrontMatterError("no front matter")


def dump_front_matter(fields: dict[str, Any]) -> str:
    """Return fields as front matter in YAML."""
    style = {"allow_unicode": True, "default_flow_style": None, "sort_keys": False, "width": MAX_LINE}
    return f"---\n{yaml.dump(fields, Dumper=FrontMatterDumper, **style)}---\n"


def _parse_yaml(text: str) -> Any:
    try:
        _check_yaml(text)
        return yaml.load(text, TextLoader) or {}  # noqa: S506
    except yaml.YAMLError as error:
        decoded = SURROGATE_ESCAPES.sub(_decode_surrogates, text)
        if decoded != text:
            return _parse_yaml(decoded)
        reason = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 2 if mark else None
        advice = next((advice for words, advice in YAML_ADVICE.items() if re.search(words, reason)), "Correct it.")
        raise SourceError(f"The front matter must be YAML ({reason}). {advice}", line) from error


def _decode_surrogates(escapes: re.Match[str]) -> str:
    """Return the characters of surrogate pairs, which only JSON writes as two escapes, and U+FFFD for each half."""
    text = escapes[0].encode().decode("unicode_escape")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _check_yaml(text: str) -> None:
    """Reject YAML that could run code (tags), expand exponentially (aliases) or exhaust the stack (nesting)."""
    depth = 0
    for event in yaml.parse(text, Loader=TextLoader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        has_tag = getattr(event, "tag", None) not in (None, "!")
        if depth > MAX_DEPTH or getattr(event, "anchor", None) or has_tag:
            reason = "The front matter must not use the YAML syntax !tag, &anchor or *alias, or deep nesting."
            advice = "Put text that begins with !, & or * in double quotes."
            raise SourceError(f"{reason} {advice}", event.start_mark.line + 2)


def _parse_toml(text: str) -> Any:
    if LONG_TOML_KEY.search(text):
        raise SourceError("The TOML front matter has a key of hundreds of parts. Shorten it.")
    try:
        return _to_text(tomllib.loads(f"\n{text}", parse_float=Unquoted))
    except (ValueError, TypeError, RecursionError) as error:
        place = TOML_ERROR.fullmatch(str(error))
        reason = place[1] if place else str(error)
        advice = "Put text in double quotes." if reason == "Invalid value" else "Correct that line."
        line = int(place[2]) if place else None
        raise SourceError(f"The front matter must be TOML ({reason}). {advice}", line) from error


def _to_text(value: Any, depth: int = 0) -> Any:
    """Convert a TOML value to what the YAML loader returns: numbers, dates and booleans become text.

    Raises ValueError if the value is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {name: _to_text(item, depth + 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_to_text(item, depth + 1) for item in value]
    if isinstance(value, bool):
        return Unquoted(str(value).lower())
    if isinstance(value, date | time):  # a datetime is a date
        return Unquoted(value.isoformat())
    return value if isinstance(value, str) else Unquoted(value)
