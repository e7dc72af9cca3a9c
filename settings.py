"""The settings: environment variables and the file `.env`, read and checked; and the service's version."""

import os
import re
import tomllib
from collections.abc import Mapping
from functools import lru_cache
from io import StringIO
from pathlib import Path
from typing import Any

import click
from dotenv import dotenv_values, find_dotenv
from dotenv.parser import parse_stream
from flask.helpers import get_load_dotenv
from marshmallow import EXCLUDE, Schema, ValidationError, fields

from field_types import WholeNumber, one_of

FOLDER = Path(__file__).resolve().parent
ENV_FILE = FOLDER / ".env"


class OriginList(fields.Field[list[str]]):
    """Web origins (RFC 6454), separated by commas."""

    def _deserialize(self, value: str, attr: str | None, data: Any, **kwargs: Any) -> list[str]:
        origins = [origin.strip() for origin in value.split(",")]
        if not all(re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:\d+)?", origin) for origin in origins):
            raise ValidationError("Must be origins as in https://www.example.com, separated by commas, in lower case.")
        return origins


class SettingsSchema(Schema):
    """The environment variables that the service reads."""

    class Meta:
        unknown = EXCLUDE

    DATABASE_URL = fields.String(load_default="sqlite:///articles.db")
    HOST = fields.String(load_default="127.0.0.1")
    PORT = WholeNumber(0, 65535, load_default=8000)  # 0 takes a free one
    THREADS = WholeNumber(1, 64, load_default=4)
    CACHE_MB = WholeNumber(0, 100_000, load_default=64)
    CORS_ORIGINS = OriginList(load_default=())
    LOG_LEVEL = fields.String(load_default="info", validate=one_of(("debug", "info", "warning", "error")))


class SettingsError(click.ClickException):
    """A setting that is not valid. Flask's command line also prints it as one line."""


@lru_cache
def read_version() -> str:
    """Return the version of the service, which only `pyproject.toml` contains."""
    project: dict[str, str] = tomllib.loads((FOLDER / "pyproject.toml").read_text("utf-8"))["project"]
    return project["version"]


def read_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the settings by name. An empty variable counts as not set. Raises SettingsError, naming all bad ones."""
    try:
        settings: dict[str, Any] = SettingsSchema().load({name: value for name, value in environment.items() if value})
    except ValidationError as error:
        reasons = [f"{name}: {messages[0]}" for name, messages in error.messages_dict.items()]
        raise SettingsError(" ".join(reasons)) from error
    return settings


def load_environment() -> dict[str, str]:
    """Return the environment variables, and those of the project's `.env` that are not set.

    Flask's command line has set the variables of a `.env` or `.flaskenv` by now, if it found one from the working
    directory upwards. These count less than the project's file. FLASK_SKIP_DOTENV, which is Flask's, turns off both.
    Raises SettingsError for a line that cannot be read.
    """
    environment = {name: value for name, value in os.environ.items() if value}
    if not get_load_dotenv() or not ENV_FILE.is_file():
        return environment
    own = {name: value for name, value in _read_env_file(ENV_FILE).items() if value}
    found = _found_by_flask()
    return environment | own | {name: value for name, value in environment.items() if found.get(name) != value}


def _found_by_flask() -> dict[str, str | None]:
    """Return the variables in the files that Flask's command line looks for, as it has done by now."""
    if "FLASK_RUN_FROM_CLI" not in os.environ:
        return {}
    return dotenv_values(find_dotenv(".env", usecwd=True)) | dotenv_values(find_dotenv(".flaskenv", usecwd=True))


def _read_env_file(path: Path) -> dict[str, str | None]:
    """Return the variables of a file, as python-dotenv reads it. Raises SettingsError for a line that it would skip."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path}, line {line}, is not UTF-8 text. Save the file as UTF-8.") from error
    for binding in parse_stream(StringIO(text)):
        if binding.error or (binding.key and binding.value is None):
            line = text.count("\n", 0, text.index(binding.original.string.strip())) + 1
            raise SettingsError(f"{path}, line {line}, cannot be read. Write it as NAME=value, or begin it with #.")
    return dotenv_values(stream=StringIO(text))
