"""Parameter types of the commands, and the option that several share."""

from datetime import datetime
from typing import Any

import click
from marshmallow import ValidationError

from field_types import parse_timestamp
from importing.sources import is_source, is_url


class CustomerNameType(click.ParamType[str]):
    """A customer's name: one line, without white space around it."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name, or fail."""
        value = value.strip()
        if not 1 <= len(value) <= 100 or not value.isprintable():
            self.fail("A customer's name has 1 to 100 printable characters.", param, ctx)
        return value


class SlugType(click.ParamType[str]):
    """A slug."""

    name = "slug"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the slug. Bytes that are not UTF-8 become "?", which no slug has."""
        return value.encode(errors="replace").decode()


class ApiKeyType(click.ParamType[str]):
    """An API key, as an HTTP header can carry it."""

    name = "key"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the key, or fail."""
        if not (1 <= len(value) <= 200 and value.isascii() and value.isprintable() and " " not in value):
            self.fail("a key has 1 to 200 ASCII characters, no spaces.", param, ctx)
        return value


class SourceType(click.ParamType[str]):
    """What an import reads: a .json or .jsonl file, "-" for standard input, an http(s) URL."""

    name = "source"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the source, or fail."""
        if not is_source(value):
            self.fail(f"{value!r} is no .json or .jsonl file, no http(s) URL and not -.", param, ctx)
        if value == "-" or is_url(value):
            return value
        return str(click.Path(exists=True, dir_okay=False)(value, param, ctx))


class TimestampType(click.ParamType[datetime]):
    """A timestamp with its zone."""

    name = "timestamp"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the timestamp in UTC, or fail."""
        try:
            return parse_timestamp(value)
        except ValidationError as error:
            self.fail(error.messages[0], param, ctx)


customer_option = click.option(
    "--customer", "name", type=CustomerNameType(), help="Whose articles. Not needed while there is one customer."
)
