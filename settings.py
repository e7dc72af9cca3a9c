"""The settings, from environment variables and the file `.env`; and the service's name and version."""

import os
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, tzinfo
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import click
from dotenv import dotenv_values
from dotenv.parser import parse_stream
from flask.helpers import get_load_dotenv
from marshmallow import EXCLUDE, Schema, ValidationError, fields

from schema_fields import WholeNumber, one_of, parse_time_zone, validate_site

SERVICE_NAME = "Article Delivery API"
__version__ = "4.0.0"

PROJECT_FOLDER = Path(__file__).resolve().parent
ENV_FILE = PROJECT_FOLDER / ".env"


# https://www.example.com:8443, http://my_host, http://[::1]:3000: browsers send hosts in lower case
WEB_ORIGIN = r"https?://([a-z0-9._-]+|\[[0-9a-f:]+\])(:[1-9][0-9]*)?"
# of apps and browser extensions: capacitor://localhost, chrome-extension://abcdefgh, safari-web-extension://0A1B2C3D
APP_ORIGIN = r"(?!https?:|file:)[a-z][a-z0-9+.-]*://[A-Za-z0-9._-]+(:[1-9][0-9]*)?"


class OriginList(fields.Field[list[str]]):
    """Web origins (RFC 6454), in a list or separated by commas."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> list[str]:
        is_list = isinstance(value, Iterable) and not isinstance(value, str)
        items = value if is_list else str(value).split(",")
        origins = [str(origin).strip() for origin in items]
        if not all(re.fullmatch(f"{WEB_ORIGIN}|{APP_ORIGIN}", origin) for origin in origins):
            raise ValidationError(
                "Must be lower-case origins without a path, separated by commas, such as https://www.example.com."
            )
        for origin in origins:
            if re.fullmatch("https:.*:443|http:.*:80", origin):
                raise ValidationError(f"Remove the default port of {origin}: browsers do not send it.")
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
    PORT = WholeNumber(0, 65535, load_default=8000)  # 0 picks a free port
    THREADS = WholeNumber(1, 64, load_default=4)
    CACHE_MB = WholeNumber(0, 100_000, load_default=64)
    CORS_ORIGINS = OriginList(load_default=())
    SITE_URL = fields.String(load_default="", validate=validate_site)
    CUSTOMER = fields.String(load_default="")
    TIMEZONE = TimeZone(load_default=UTC)
    LOG_LEVEL = fields.String(load_default="info", validate=one_of(("debug", "info", "warning", "error")))


class SettingsError(click.ClickException):
    """An invalid setting. Like every click exception, it is printed as one line, by Flask's command line too."""


def read_settings(*sources: Mapping[str, Any]) -> dict[str, Any]:
    """Return all settings by name. Later sources take precedence; an empty value is treated as unset.

    Raises SettingsError if any are invalid, naming each with its value.
    """
    values = {name: value for source in sources for name, value in source.items() if value != ""}
    try:
        settings: dict[str, Any] = SettingsSchema().load(values)
    except ValidationError as error:
        # DATABASE_URL, which may hold a password, is not checked here.
        reasons = [f"{name}={values[name]!r:.100}: {messages[0]}" for name, messages in error.messages_dict.items()]
        raise SettingsError("\n".join(reasons)) from error
    return settings


def load_environment() -> dict[str, str]:
    """Return the environment variables, supplemented by the project's `.env`. `os.environ` is not modified.

    Flask's own FLASK_SKIP_DOTENV turns the file off. Raises SettingsError if it cannot be read.
    """
    environment = {name: value for name, value in os.environ.items() if value}
    return _read_env_file(ENV_FILE) | environment if get_load_dotenv() else environment


@cache  # read once per process
def _read_env_file(path: Path) -> dict[str, str]:
    try:
        text = path.read_text("utf-8") if path.exists() else ""
    except OSError as error:
        raise SettingsError(f"Cannot read {path} ({error.strerror}). Check its permissions.") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"Cannot read {path} (not UTF-8). Save it as UTF-8.") from error
    for binding in parse_stream(StringIO(text)):
        if binding.error:  # python-dotenv would only warn, and a default could take the place of the setting
            line = binding.original.line
            raise SettingsError(f"Cannot read {path}, line {line}. Write NAME=value, and close quotation marks.")
    values = dotenv_values(stream=StringIO(text))
    return {name: value for name, value in values.items() if value is not None}
