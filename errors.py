"""One shape for every error: RFC 9457 problem details over HTTP, one line on the command line."""

import os
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

FAULTS_SHOWN = 20
FAULT_LENGTH = 500  # characters

# What to do about it, where the framework's own words do not say.
DETAILS = {
    404: "Nothing is here. The endpoints are /api/public/v1/articles, /api/public/v1/articles/preview, "
    "/api/public/v1/sitemap and /healthz.",
    405: "This service only reads: use GET, HEAD or OPTIONS.",
    500: "The service failed to answer. Its log tells why.",
}


def init_app(app: Flask) -> None:
    """Make `app` answer every error as problem details."""
    app.register_error_handler(HTTPException, _from_http_exception)
    app.register_error_handler(ValidationError, _from_validation_error)
    app.register_error_handler(DBAPIError, _from_database_error)
    app.register_error_handler(TimeoutError, _from_database_error)


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
    return _problem(Response(status=400), "Some parameters are not valid; errors names them.", errors=error.messages)


def _from_database_error(error: DBAPIError | TimeoutError) -> Response:
    current_app.logger.error("The database cannot be read: %s", getattr(error, "orig", error))
    response = Response(status=503, headers={"Retry-After": "5"})
    return _problem(response, "The articles cannot be read at the moment. Try again in a few seconds.")


@contextmanager
def database_errors_in_one_line() -> Iterator[None]:
    """Make what the database refuses a command's one-line error (click.ClickException, exit status 1)."""
    try:
        yield
    except DBAPIError as error:
        held = "locked" in str(error.orig)
        advice = "Another program writes to it: try again." if held else "DATABASE_URL says where; it must be writable."
        raise click.ClickException(f"The database cannot be used ({error.orig}). {advice}") from error


class DatabaseCommands(AppGroup):
    """A group of commands that tell an error of the database, or of their output, in one line."""

    def invoke(self, ctx: click.Context) -> Any:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):
                stream.reconfigure(errors="replace")  # not every terminal can show every title
        try:
            with database_errors_in_one_line():
                return super().invoke(ctx)
        except OSError as error:
            if error.errno == EPIPE:  # as of "| head", which click ends quietly
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is left of it, which Python writes when it ends
            raise click.ClickException(f"The output cannot be written ({error.strerror}).") from error


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

    def add(self, place: Place, reason: str) -> None:
        """Note what is wrong with the article, or the whole source, at `place`."""
        self.count += 1
        if self.count <= FAULTS_SHOWN:
            self.shown.append(printable(f"{place}: {reason}"[:FAULT_LENGTH]))

    def raise_any(self) -> None:
        """Raise click.ClickException where there are any."""
        if self.count:
            more = [f"… and {self.count - FAULTS_SHOWN} more."] if self.count > FAULTS_SHOWN else []
            raise click.ClickException("\n".join(["Nothing was written. What is wrong:", *self.shown, *more]))
