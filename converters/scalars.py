"""Scalars of YAML, TOML and CSV, which stay text unless their field takes a number, true or false."""

from contextlib import suppress
from typing import Any

import orjson

from converters.field_names import IMPORT_FIELDS
from schema_fields import Flag, Minutes, SchemaMarkup, WholeNumber

NON_TEXT_FIELDS = {
    name for name, field in IMPORT_FIELDS.items() if isinstance(field, Flag | WholeNumber | Minutes | SchemaMarkup)
}


class Unquoted(str):
    """Text that was written without quotes, so a field may read it as a number, true or false."""


def parse_scalars(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with unquoted numbers and booleans parsed, in the fields that take them."""
    return record | {name: _parse_unquoted(record[name]) for name in record.keys() & NON_TEXT_FIELDS}


def _parse_unquoted(value: Any) -> Any:
    """Return a value with each unquoted number, true and false in it parsed."""
    if isinstance(value, dict):
        return {str(name): _parse_unquoted(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_parse_unquoted(item) for item in value]
    if isinstance(value, Unquoted):
        with suppress(orjson.JSONDecodeError):  # A number such as 1e999 is too large.
            scalar = orjson.loads(value.encode())
            return scalar if isinstance(scalar, int | float) else str(value)
    return value
