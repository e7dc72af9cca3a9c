"""One shape for every error: RFC 9457 problem details over HTTP, one line on the command line."""

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EPIPE
from http import HTTPStatus
from io import TextIOWrapper
from typing import Any, NamedTuple

import click
import orjson
from flask import Flask, Response, current_app
from flask.cli import AppGroup
from marshmallow import ValidationError
from sqlalchemy.exc import DBAPIError, TimeoutError
from werkzeug.exceptions import HTTPException

from watch import DisturbedError

FAULTS_SHOWN = 20
FAULT_LENGTH = 500  # characters

# For browsers: the type is what it says, and nothing in it is to be run or shown within another page
# (https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html#security-headers).
HARDENING = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
]

BAD_PARAMETERS = "Some parameters are not valid; errors names them."

# What to do about it, where the framework's own words do not say.
DETAILS = {
    404: "Nothing is here. The endpoints are /api/public/v1/articles, /api/public/v1/articles/preview, "
    "/api/public/v1/sitemap and /healthz.",
    405: "This service only reads: use GET, HEAD or OPTIONS.",
    500: "The service failed to answer. Its log tells why.",
    503: "The articles cannot be read at the moment. Try again in a few seconds.",
}

# What to do about what the database says.
ADVICE = {
    "locked": "Another program writes to it: try again.",
    "exceeds btree": "Nothing was written: a title is too long for PostgreSQL; 500 characters always fit.",
    "read-only transaction": "Nothing was written: DATABASE_URL must name the server that this standby follows.",
    "during recovery": "Nothing was written: DATABASE_URL must name the server that this standby follows.",
    "lock timeout": "Another program writes to it: try again.",
    "readonly": "Nothing was written: you must be allowed to write the file and its folder. DATABASE_URL says where.",
    "unable to open": "You must be allowed to read and write the file and its folder. DATABASE_URL says where.",
    "is full": "Nothing was written: make room on the disk, and try again.",
    "disk I/O": "Nothing was written: look whether the disk is full or broken.",
    "malformed": "The file is damaged: restore a backup.",
    "not a database": "The file is another one, or damaged: DATABASE_URL says where; or restore a backup.",
}


def init_app(app: Flask) -> None:
    """Make `app` answer every error as problem details."""
    app.register_error_handler(HTTPException, _from_http_exception)
    app.register_error_handler(ValidationError, _from_validation_error)
    app.register_error_handler(DBAPIError, _from_database_error)
    app.register_error_handler(TimeoutError, _from_database_error)
    app.register_error_handler(DisturbedError, _from_database_error)


def harden(response: Response) -> Response:
    """Add the headers that keep browsers from making more of an answer than it is; one that is there stays."""
    response.headers.extend((name, value) for name, value in HARDENING if name not in response.headers)
    return response


def _problem(response: Response, detail: str, **members: Any) -> Response:
    status = HTTPStatus(response.status_code)
    problem = {"type": "about:blank", "title": status.phrase, "status": status, "detail": detail, **members}
    response.data = orjson.dumps(problem)
    response.content_type = "application/problem+json"
    response.headers["Cache-Control"] = "no-store"
    return response


def _from_http_exception(error: HTTPException) -> Response:
    response = Response(status=error.code, headers=error.get_headers())  # among them Allow and WWW-Authenticate
    return _problem(response, DETAILS.get(response.status_code) or error.description or "")


def _from_validation_error(error: ValidationError) -> Response:
    return _problem(Response(status=400), BAD_PARAMETERS, errors=error.messages)


def _from_database_error(error: DBAPIError | TimeoutError | DisturbedError) -> Response:
    current_app.logger.error("The database cannot be read: %s", getattr(error, "orig", repr(error)))
    response = Response(status=503, headers={"Retry-After": "5"})
    return _problem(response, DETAILS[503])


@contextmanager
def database_errors_in_one_line() -> Iterator[None]:
    """Make what the database refuses a command's one-line error (click.ClickException, exit status 1)."""
    try:
        yield
    except (DBAPIError, sqlite3.Error) as error:
        reason = str(getattr(error, "orig", error)).partition("\n")[0]
        advice = next((advice for words, advice in ADVICE.items() if words in reason), "Nothing was written.")
        raise click.ClickException(f"The database cannot be used ({reason}). {advice}") from error


@contextmanager
def errors_in_one_line() -> Iterator[None]:
    """Make what the database refuses, and output that cannot be written, a command's one-line error."""
    try:
        with database_errors_in_one_line():
            yield
    except OSError as error:
        if error.errno == EPIPE:  # as of "| head", which click ends quietly
            raise
        drop_output()
        raise click.ClickException(f"The output cannot be written ({error.strerror}).") from error


def drop_output() -> None:
    """Let standard output go nowhere: what is left of it Python writes when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class DatabaseCommands(AppGroup):
    """A group of commands that tell an error of the database, or of their output, in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # not every terminal can show every title
        with errors_in_one_line():
            return super().invoke(ctx)


def printable(text: str) -> str:
    """Give `text` on one line, without what could make a terminal do more than show it."""
    return "".join(character if character.isprintable() else " " for character in text)


class Place(NamedTuple):
    """Where an article stands: its source, its position there from 1, its slug where it has one."""

    source: str
    position: str = ""
    slug: Any = None

    def __str__(self) -> str:
        slug = f"slug {self.slug[:80]!r}" if isinstance(self.slug, str) else ""
        return ", ".join(filter(None, (self.source, self.position, slug)))


class Faults:
    """What is wrong with an import: the articles are counted, the first of them kept in words, a line each."""

    def __init__(self) -> None:
        self.count = 0
        self.shown: list[str] = []
        self.refused: set[str] = set()  # the ids of articles that are not looked at any further

    def add(self, place: Place, reason: str) -> None:
        """Note what is wrong with the article, or the whole source, at `place`."""
        self.count += 1
        if self.count <= FAULTS_SHOWN:
            line = f"{place}: {reason}"
            self.shown.append(printable(line if len(line) <= FAULT_LENGTH else line[: FAULT_LENGTH - 1] + "…"))

    def raise_any(self) -> None:
        """Raise click.ClickException where there are any."""
        if self.count:
            more = [f"… and {self.count - FAULTS_SHOWN} more."] if self.count > FAULTS_SHOWN else []
            raise click.ClickException("\n".join(["Nothing was written. What is wrong:", *self.shown, *more]))
