"""The settings: environment variables and the file `.env`, read and checked; and the service's version."""

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import UTC, tzinfo
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

import click
from dotenv import dotenv_values
from dotenv.parser import parse_stream
from flask.helpers import get_load_dotenv
from marshmallow import EXCLUDE, Schema, ValidationError, fields

from fields import WholeNumber, one_of, parse_time_zone, validate_http_url

FOLDER = Path(__file__).resolve().parent
ENV_FILE = FOLDER / ".env"


class OriginList(fields.Field[list[str]]):
    """Web origins (RFC 6454), in a list or separated by commas."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[str]:
        is_list = isinstance(value, Iterable) and not isinstance(value, str)
        items = value if is_list else str(value).split(",")
        origins = [str(origin).strip() for origin in items]
        if not all(re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?", origin) for origin in origins):
            raise ValidationError("Must be origins as in https://www.example.com, separated by commas, in lower case.")
        return origins


class TimeZone(fields.Field[tzinfo]):
    """The IANA name of a time zone, or a tzinfo."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> tzinfo:
        return value if isinstance(value, tzinfo) else parse_time_zone(str(value))


class SettingsSchema(Schema):
    """The settings: environment variables, or items of `create_app`'s configuration."""

    class Meta:
        unknown = EXCLUDE

    DATABASE_URL = fields.Raw(load_default="sqlite:///articles.db")
    HOST = fields.String(load_default="127.0.0.1")
    PORT = WholeNumber(0, 65535, load_default=8000)  # 0 takes a free one
    THREADS = WholeNumber(1, 64, load_default=4)
    CACHE_MB = WholeNumber(0, 100_000, load_default=64)
    CORS_ORIGINS = OriginList(load_default=())
    SITE_URL = fields.String(load_default="", validate=validate_http_url)
    TIMEZONE = TimeZone(load_default=UTC)
    LOG_LEVEL = fields.String(load_default="info", validate=one_of(("debug", "info", "warning", "error")))


class SettingsError(click.ClickException):
    """A setting that is not valid. Flask's command line also prints it as one line."""


@lru_cache
def read_version() -> str:
    """Return the version of the service, which only `pyproject.toml` contains."""
    project: dict[str, str] = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
    return project["version"]


def read_settings(*sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings by name, as the last source has them. Empty text counts as not set.

    Raises SettingsError, naming all bad ones.
    """
    values = {name: value for source in sources for name, value in source.items() if value != ""}
    try:
        settings: dict[str, Any] = SettingsSchema().load(values)
    except ValidationError as error:
        reasons = [f"{name}: {messages[0]}" for name, messages in error.messages_dict.items()]
        raise SettingsError(" ".join(reasons)) from error
    return settings


def load_environment() -> dict[str, str]:
    """Return the environment variables, and those of the project's `.env` that are not set.

    FLASK_SKIP_DOTENV, which is Flask's, turns the file off. Raises SettingsError for a line that cannot be read.
    """
    environment = {name: value for name, value in os.environ.items() if value}
    return _read_env_file() | environment if get_load_dotenv() and ENV_FILE.exists() else environment


def _read_env_file() -> dict[str, str]:
    """Return the variables of `.env`, as python-dotenv reads it, which would only log a bad line."""
    try:
        text = ENV_FILE.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{ENV_FILE} cannot be read ({error}).") from error
    for binding in parse_stream(StringIO(text)):
        if binding.error or (binding.key and binding.value is None):
            # The text of a binding begins with the blank lines before it, and may end with its own line feed.
            line = binding.original.line + binding.original.string.rstrip().count("\n")
            raise SettingsError(f"{ENV_FILE}, line {line}, cannot be read. Write it as NAME=value, or begin it with #.")
    return {name: value for name, value in dotenv_values(stream=StringIO(text)).items() if value is not None}
