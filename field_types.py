"""Field types of marshmallow, each beside the functions for its values, and the base class of forms that render rows.

Requests, responses, imports and settings are made of these values: text, JSON, numbers, and times.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, tzinfo
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import orjson
from marshmallow import Schema, ValidationError, fields, validate
from orjson import Fragment

MAX_READ_TIME_MINUTES = 1_000_000
TOO_DEEP = "Must not be nested more than 250 levels deep."
# Text that makes a browser end a script element too early, or miss its end tag:
# https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements
SCRIPT_BREAKOUT = re.compile("<(?=/script|!--)", re.IGNORECASE | re.ASCII)
# A NUL character in JSON text. PostgreSQL could not check such JSON.
NUL_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
# Characters that no XML document can hold, so neither can a feed or a sitemap: https://www.w3.org/TR/xml/#charsets
NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class RenderedField(fields.Field[Any]):
    """A field that renders a stored value as JSON."""

    def render(self, value: Any) -> Any:
        """Return a stored value as the JSON library can dump it."""
        return value

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        return self.render(value)


class Text(RenderedField):
    """Text without the NUL character, which PostgreSQL cannot store and which ends strings in SQLite's functions."""

    default_error_messages = {"required": "Missing. Every article needs it."}  # noqa: RUF012  # marshmallow has it so.

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("Must be a string.")
        validate_no_nul(value)
        return value


def printable(text: str) -> str:
    """Return `text` on one line, without characters that a terminal would act on."""
    return "".join(character if character.isprintable() else " " for character in text)


def one_of(choices: Iterable[str]) -> validate.OneOf:
    """Return a validator that allows exactly `choices`, and lists them in its error."""
    return validate.OneOf(tuple(choices), error="Must be one of: {choices}.")


def validate_no_nul(value: str) -> None:
    """Raise ValidationError for text that PostgreSQL cannot store, and that SQLite's functions would cut."""
    if "\0" in value:
        raise ValidationError("Must not hold a NUL character.")


def validate_xml_text(value: str) -> None:
    """Raise ValidationError for text that holds a character that no XML document can hold."""
    validate_no_nul(value)
    if NOT_XML.search(value):
        raise ValidationError("Must not hold control characters, which break feeds. Remove them.")


def validate_http_url(value: str) -> None:
    """Raise ValidationError for text that is neither empty nor an absolute http(s) URL."""
    if " " in value.strip():
        raise ValidationError("Holds a space. Write %20.")
    try:
        url = urlsplit(value)
        is_valid = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:  # It is not a URL, or its port is not a number.
        is_valid = False
    if value and (not is_valid or re.search(r"[\s\x00-\x1f\x7f]", value)):
        raise ValidationError("Must be an http or https URL, or empty.")


class JsonText(RenderedField):
    """JSON text, rendered without parsing it."""

    def render(self, value: str | None) -> Fragment | None:
        return Fragment(value) if value else None


class Keywords(JsonText):
    """An array of strings."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, list) or not all(isinstance(keyword, str) for keyword in value):
            raise ValidationError("Must be an array of strings.")
        for keyword in value:
            validate_xml_text(keyword)
        return dump_json(value)


class SchemaMarkup(JsonText):
    """A schema.org graph in JSON-LD, which sites inject into their pages. None is generated from the article."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not (
            isinstance(value, dict) and isinstance(value.get("@context"), str) and isinstance(value.get("@graph"), list)
        ):
            raise ValidationError("Must be an object with @context, a string, and @graph, an array.")
        text = dump_json(value)
        if SCRIPT_BREAKOUT.search(text):
            raise ValidationError("Must not hold </script or <!--, which would break out of the page's script element.")
        if NUL_ESCAPE.search(text):
            raise ValidationError("Must not hold a NUL character.")
        return text


def dump_json(value: Any) -> str:
    """Return `value` as JSON text. Raises ValidationError if it is nested too deeply.

    The JSON library writes 254 levels. Four are left for the document that will hold the value.
    """
    try:
        return orjson.dumps([[[[value]]]])[4:-4].decode()
    except TypeError as error:
        raise ValidationError(TOO_DEEP) from error


class WholeNumber(RenderedField, fields.Integer):
    """A whole number in a range: in ASCII digits, with or without a sign, or if `strict`, a number of JSON."""

    def __init__(self, minimum: int, maximum: int, **kwargs: Any) -> None:
        error = f"Must be a whole number, {minimum} to {maximum}."
        in_range = validate.Range(minimum, maximum, error=error)
        super().__init__(validate=in_range, error_messages={"invalid": error}, **kwargs)

    def _validated(self, value: Any) -> int:
        if not self.strict:
            # int() accepts more than digits, but no more than 4,300 of them. Leading zeros do not count here.
            match = re.fullmatch("([+-]?)([0-9]+)", str(value))
            value = match and match[1] + (match[2].lstrip("0") or "0")
        return super()._validated(value)


class Minutes(RenderedField):
    """A number of minutes. A whole number is rendered without a fraction."""

    def render(self, value: float) -> int | float:
        return int(value) if value.is_integer() else value

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if type(value) not in (int, float) or not 0 <= value < MAX_READ_TIME_MINUTES:
            raise ValidationError(f"Must be a number of minutes, at least 0 and under {MAX_READ_TIME_MINUTES}.")
        return float(value)


class Timestamp(RenderedField):
    """An aware datetime in UTC, to the millisecond."""

    def render(self, value: datetime | None) -> str | None:
        return format_timestamp(value) if value else None

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        return parse_timestamp(value)


class Day(RenderedField):
    """The UTC date of an aware datetime in UTC, YYYY-MM-DD."""

    def render(self, value: datetime) -> str:
        return str(value.date())


def format_timestamp(moment: datetime) -> str:
    """Return an aware datetime in UTC as JavaScript's `toISOString` writes it: 2026-01-31T09:30:00.000Z."""
    # The JSON library takes half the time of isoformat(). It writes six digits of a second, or none, and then the zone.
    return f"{orjson.dumps(moment)[1:20].decode()}.{moment.microsecond // 1000:03}Z"


def truncate_to_milliseconds(moment: datetime) -> datetime:
    """Return the datetime without the digits of its fraction after the third."""
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def parse_timestamp(text: Any) -> datetime:
    """Return an ISO 8601 timestamp with a zone as a datetime in UTC, to the millisecond. Raises ValidationError."""
    try:
        moment = datetime.fromisoformat(text.upper())  # RFC 3339 allows "t" and "z".
        if moment.tzinfo:
            return truncate_to_milliseconds(moment.astimezone(UTC))
    except (AttributeError, ValueError, OverflowError):  # In datetime's first and last hours, UTC overflows.
        pass
    raise ValidationError("Must be a timestamp with its zone, as in 2026-01-31T09:30:00Z.")


def parse_time_zone(name: str) -> tzinfo:
    """Return the time zone with an IANA name. UTC needs no time zone data on the machine. Raises ValidationError."""
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise ValidationError("Must be the name of a time zone, such as Europe/Berlin.") from error


class RowSchema(Schema):
    """A form in which database rows are rendered. Its fields are RenderedFields, named after their columns."""

    def __init__(self) -> None:
        super().__init__()
        self.columns = tuple(self.fields)
        self.fields_by_key: dict[str, Any] = {field.data_key or name: field for name, field in self.fields.items()}
        # Text is rendered as it is, which needs no call.
        self._renderers = [
            (key, field.render)
            for key, field in self.fields_by_key.items()
            if type(field).render is not RenderedField.render
        ]

    def example(self) -> dict[str, Any]:
        """Return an example of the form, as JSON."""
        return {key: field.metadata["openapi"]["examples"][0] for key, field in self.fields_by_key.items()}

    def render(self, rows: Iterable[Sequence[Any]]) -> list[dict[str, Any]]:
        """Return rows that begin with `columns`, in that order, as dictionaries that the JSON library can dump.

        A page has hundreds of values. `dump` returns the same, but looks each of them up by its name.
        """
        records = [dict(zip(self.fields_by_key, row, strict=False)) for row in rows]
        for record in records:
            for key, render in self._renderers:
                record[key] = render(record[key])
        return records
