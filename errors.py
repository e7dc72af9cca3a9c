"""HTTP errors as problem details (RFC 9457)."""

import re
import sqlite3
from typing import Any

import orjson
from flask import Flask, Response, current_app
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError
from sqlalchemy.exc import DatabaseError, DBAPIError, InternalError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from werkzeug.exceptions import HTTPException, Unauthorized
from werkzeug.http import HTTP_STATUS_CODES

from storage import StorageError

# status -> code, default detail. 400 and 401 each have a second code: invalid_parameters and missing_key.
PROBLEMS = {
    400: ("bad_request", "The request is malformed."),
    401: ("invalid_key", "The API key is not valid."),
    404: (
        "not_found",
        "There is nothing at this path. The endpoints are /api/public/v1/articles, /api/public/v1/articles/preview, "
        "/api/public/v1/sitemap and /healthz. /openapi.json describes them, and / shows a page for browsers.",
    ),
    405: ("method_not_allowed", "This API is read-only. Use GET, HEAD or OPTIONS."),
    500: ("internal_error", "An internal error occurred. The log of the service has the details."),
    503: ("unavailable", "The articles are temporarily unavailable. Try again in a few seconds."),
}
# undefined_table and insufficient_privilege: https://www.postgresql.org/docs/current/errcodes-appendix.html
UNREADABLE_SQLSTATES = "42P01", "42501"
# Messages if the tables are missing or of an earlier version, such as "no such column: customer.site" or "column
# customer.site does not exist". Mistakes in an extension's statements do not name the table, so they are not taken for
# an outdated schema.
OUTDATED_SCHEMA = re.compile(
    r"no such table|no such column: \w+\.|unsupported file format|column \w+\.\w+ does not exist"
)


class MissingKeyError(Unauthorized):
    """The API key is missing from the request."""


def init_app(app: Flask) -> None:
    """Return every error as problem details."""
    app.register_error_handler(HTTPException, _from_http_exception)
    app.register_error_handler(ValidationError, _from_validation_error)
    for error_class in (DBAPIError, PoolTimeoutError, StorageError):
        app.register_error_handler(error_class, _from_database_error)


def _problem_response(response: Response, detail: str | None = None, **members: Any) -> Response:
    """Turn a response with a status into problem details. `detail` defaults to the text for the status.

    The code for a status that is not in PROBLEMS, such as an extension's 429, is its phrase in snake case:
    `too_many_requests`.
    """
    status = response.status_code
    title = HTTP_STATUS_CODES.get(status, "Unknown Error")
    code, default_detail = PROBLEMS.get(status) or (title.lower().replace("'", "").replace(" ", "_"), title)
    problem = {"type": "about:blank", "title": title, "status": status, "detail": detail or default_detail}
    response.data = orjson.dumps(problem | {"code": code} | members)
    response.content_type = "application/problem+json"
    response.headers["Cache-Control"] = "no-store"
    return response


def _from_http_exception(error: HTTPException) -> ResponseReturnValue:
    if error.response is not None:  # from an extension
        return error  # an HTTPException is a WSGI application, so Flask accepts it as a response
    # keep headers such as Allow, WWW-Authenticate and Retry-After
    response = Response(status=error.code, headers=error.get_headers())
    members = {"code": "missing_key"} if isinstance(error, MissingKeyError) else {}
    # PROBLEMS replaces Werkzeug's generic descriptions, but not custom ones
    is_default = error.description == type(error).description and error.code in PROBLEMS
    return _problem_response(response, None if is_default else error.description, **members)


def _from_validation_error(error: ValidationError) -> Response:
    # Views only validate query parameters.
    errors = error.messages_dict
    detail = f'Invalid query parameters: {", ".join(errors)}. See "errors" for the accepted values.'
    return _problem_response(Response(status=400), detail, code="invalid_parameters", errors=errors)


def _from_database_error(error: DBAPIError | PoolTimeoutError | StorageError) -> Response:
    """Return a 503 if the database cannot be read. Any other error is raised again, which makes it a 500."""
    if isinstance(error, DBAPIError) and not _is_unreadable(error):
        raise error
    # the query string may contain a password too
    database = current_app.extensions["sqlalchemy"].engine.url.set(query={}).render_as_string(hide_password=True)
    reason = getattr(error, "orig", error)
    current_app.logger.error("The database %s cannot be read: %s", database, reason)
    return _problem_response(Response(status=503, headers={"Retry-After": "5"}))


def _is_unreadable(error: DBAPIError) -> bool:
    """Return whether the database could not be read, as opposed to a mistake in one of our statements."""
    if OUTDATED_SCHEMA.search(str(error.orig)) or getattr(error.orig, "sqlstate", None) in UNREADABLE_SQLSTATES:
        return True
    # SQLite reports a mistake in a statement as "SQL error", or as "schema error" on a new connection.
    if getattr(error.orig, "sqlite_errorcode", None) in (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA):
        return False
    # Other subclasses of DatabaseError, such as ProgrammingError, are mistakes.
    return isinstance(error, OperationalError | InternalError) or type(error) is DatabaseError
