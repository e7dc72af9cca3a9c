"""marshmallow fields and validators for requests, responses, imports and settings."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, tzinfo
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, available_timezones

import orjson
from marshmallow import ValidationError, fields, validate

MAX_READ_TIME = 1_000_000  # minutes
# https://html.spec.whatwg.org/multipage/scripting.html#restrictions-for-contents-of-script-elements
SCRIPT_BREAKOUT = re.compile("<(?=/script|!--)", re.IGNORECASE | re.ASCII)
# an escaped NUL character in JSON, which PostgreSQL's jsonb rejects
NUL_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
# characters not allowed in XML, and therefore in feeds and sitemaps: https://www.w3.org/TR/xml/#charsets
NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class StringList(fields.Field[Any]):
    """An array of strings, stored as JSON text."""

    def _serialize(self, value: str | None, attr: str | None, obj: Any, **kwargs: Any) -> list[str] | None:
        return None if value is None else orjson.loads(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise ValidationError("Must be an array of strings.")
        for text in value:
            validate_xml_text(text)
        return dump_json(value)


class SchemaMarkup(fields.Field[Any]):
    """A schema.org graph (JSON-LD), stored as JSON text, which sites inject into a script element."""

    def _serialize(self, value: str | None, attr: str | None, obj: Any, **kwargs: Any) -> orjson.Fragment | None:
        return None if value is None else orjson.Fragment(value)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> str:
        return dump_schema_markup(value)


def dump_schema_markup(value: Any) -> str:
    """Return structured data as JSON text. Raises ValidationError if sites cannot use it."""
    if not (
        isinstance(value, dict) and isinstance(value.get("@context"), str) and isinstance(value.get("@graph"), list)
    ):
        raise ValidationError("Must be an object with a string @context and an array @graph.")
    text = dump_json(value)
    if SCRIPT_BREAKOUT.search(text):
        raise ValidationError("Must not contain </script or <!--, which would break out of a script element.")
    if "\\u0000" in text and NUL_ESCAPE.search(text):  # the pattern alone takes 35 µs per kilobyte
        raise ValidationError("Must not contain a NUL character.")
    return text


def dump_json(value: Any) -> str:
    """Return `value` as JSON text. Raises ValidationError if it is nested too deeply for orjson."""
    try:
        return orjson.dumps(value).decode()
    except orjson.JSONEncodeError as error:
        raise ValidationError("Is nested too deeply. Flatten it.") from error


class WholeNumber(fields.Integer):
    """An integer within a range: ASCII digits with an optional sign or, with `strict=True`, a JSON number."""

    def __init__(self, minimum: int, maximum: int, **kwargs: Any) -> None:
        error = f"Must be a whole number, {minimum} to {maximum}."
        in_range = validate.Range(minimum, maximum, error=error)
        super().__init__(validate=in_range, error_messages={"invalid": error}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> int:
        if not self.strict:
            digits = re.fullmatch("([+-]?)([0-9]+)", str(value))
            if not digits:
                raise self.make_error("invalid", input=value)
            value = digits[1] + (digits[2].lstrip("0") or "0")  # int() rejects more than 4,300 digits
        return super()._deserialize(value, attr, data, **kwargs)


class Flag(fields.Field[bool]):
    """True or false."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("Must be true or false.")
        return value


class Minutes(fields.Float):
    """A number of minutes. Integral values are dumped as 4, not 4.0."""

    def _serialize(self, value: float | None, attr: str | None, obj: Any, **kwargs: Any) -> float | None:
        return int(value) if value is not None and value.is_integer() else value

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> float:
        if type(value) not in (int, float) or not 0 <= value < MAX_READ_TIME:
            raise ValidationError(f"Must be a number of minutes, at least 0 and less than {MAX_READ_TIME}.")
        return float(value)


class Timestamp(fields.DateTime):
    """An aware datetime in UTC, with millisecond precision."""

    def _serialize(self, value: datetime | None, attr: str | None, obj: Any, **kwargs: Any) -> str | None:
        return format_timestamp(value) if value else None

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> datetime:
        return parse_timestamp(value)


def format_timestamp(moment: datetime) -> str:
    """Format a datetime in UTC like JavaScript's `toISOString`: 2026-01-31T09:30:00.000Z."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: Any) -> datetime:
    """Parse an ISO 8601 timestamp that has a UTC offset. Returns a datetime in UTC, truncated to milliseconds.

    Raises ValidationError if the text is anything else.
    """
    try:
        moment = datetime.fromisoformat(text.upper())  # RFC 3339 allows "t" and "z"
        if moment.tzinfo:
            return truncate_to_milliseconds(moment.astimezone(UTC))
    except (AttributeError, ValueError, OverflowError):  # OverflowError: in UTC, the year would be 0 or 10000
        pass
    raise ValidationError("Must be a valid timestamp with a time zone, such as 2026-01-31T09:30:00Z.")


def truncate_to_milliseconds(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


class Day(fields.Date):
    """The date (YYYY-MM-DD) of a datetime in UTC."""

    def _serialize(self, value: datetime, attr: str | None, obj: Any, **kwargs: Any) -> str:  # type: ignore[override]
        return value.date().isoformat()


def one_of(choices: Iterable[str]) -> validate.OneOf:
    """Return a validator that lists the allowed values in its error."""
    return validate.OneOf(tuple(choices), error="Must be one of: {choices}.")


def validate_no_nul(value: str) -> None:
    """Reject text with a NUL character, which PostgreSQL cannot store and SQLite's functions treat as the end."""
    if "\0" in value:
        raise ValidationError("Must not contain a NUL character.")


def validate_xml_text(value: str) -> None:
    """Reject text with characters that XML does not allow."""
    if NOT_XML.search(value):
        raise ValidationError("Must not contain control characters, because they break feeds.")


def validate_http_url(value: str) -> None:
    """Reject text that is neither empty nor an absolute http(s) URL."""
    if " " in value.strip():
        raise ValidationError("Must not contain spaces. Write %20 instead.")
    try:
        url = urlsplit(value)
        is_valid = url.scheme in ("http", "https") and url.hostname and url.port != 0
    except ValueError:  # malformed host or port
        is_valid = False
    if value and (not is_valid or re.search(r"[\s\x00-\x1f\x7f]", value)):
        raise ValidationError("Must be an absolute http or https URL, or empty.")


def validate_site(value: str) -> None:
    """Reject text that is neither empty nor the URL of a site, such as a pattern of its articles' URLs."""
    validate_http_url(value)
    if re.search("[{}]", value):
        raise ValidationError("Must not contain { or }. Write the URL of the folder, such as https://x.example/blog/.")


def parse_time_zone(name: str) -> tzinfo:
    """Return the time zone with this IANA name. Raises ValidationError if it does not exist."""
    if name == "UTC":  # works without time zone data
        return UTC
    try:
        return ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        if not available_timezones():
            raise ValidationError("This system has no time zone database. Run: pip install tzdata") from error
        raise ValidationError("Must be a time zone such as Europe/Berlin.") from error
