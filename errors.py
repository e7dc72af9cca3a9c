"""Problem details (RFC 9457) for every HTTP error."""

from typing import Any

import orjson
from flask import Flask, Response, current_app
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from werkzeug.exceptions import HTTPException, Unauthorized
from werkzeug.http import HTTP_STATUS_CODES

# Browsers must not guess the content type, run the response or show it in another page:
# https://cheatsheetseries.owasp.org/cheatsheets/REST_Security_Cheat_Sheet.html#security-headers
SECURITY_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
]
TITLES = HTTP_STATUS_CODES | {413: "Content Too Large"}  # RFC 9110, 15.5.14
BAD_PARAMETERS = "Some parameters are not valid; errors names them."
# The code and the default detail of each status. 400 and 401 have a second code each: invalid_parameters, missing_key.
PROBLEMS = {
    400: ("bad_request", "The request is malformed."),
    401: ("invalid_key", "The API key is not valid."),
    404: (
        "not_found",
        "Nothing is here. The endpoints are /api/public/v1/articles, /api/public/v1/articles/preview, "
        "/api/public/v1/sitemap and /healthz.",
    ),
    405: ("method_not_allowed", "This service only reads: use GET, HEAD or OPTIONS."),
    413: ("body_too_large", "The request's body is too large: 64 KB is the limit, and no request needs a body."),
    431: ("headers_too_large", "The request's headers are too large: 16 KB is the limit."),
    500: ("internal_error", "The service failed to respond. Its log says why."),
    503: ("unavailable", "The articles cannot be read at the moment. Try again in a few seconds."),
}


class MissingKeyError(Unauthorized):
    """A request that needs an API key has none."""


def init_app(app: Flask) -> None:
    """Render every error of `app` as problem details, and add the security headers to every response."""
    app.register_error_handler(HTTPException, _from_http_exception)
    app.register_error_handler(ValidationError, _from_validation_error)
    app.register_error_handler(DBAPIError, _from_database_error)
    app.register_error_handler(PoolTimeoutError, _from_database_error)
    app.after_request(add_security_headers)


def add_security_headers(response: Response) -> Response:
    """Add the security headers that the response does not have yet."""
    for name, value in SECURITY_HEADERS:
        if name not in response.headers:
            response.headers.add(name, value)
    return response


def render_problem(status: int, detail: str | None = None, **members: Any) -> bytes:
    """Return a problem document as JSON; `detail` replaces the status's default.

    The code of a status that is not in PROBLEMS, such as an extension's 429, is its phrase: `too_many_requests`.
    """
    title = TITLES.get(status, "Unknown Error")
    code, default_detail = PROBLEMS.get(status) or (title.lower().replace("'", "").replace(" ", "_"), title)
    problem = {"type": "about:blank", "title": title, "status": status, "detail": detail or default_detail}
    return orjson.dumps(problem | {"code": code} | members)


def _problem(response: Response, detail: str | None = None, **members: Any) -> Response:
    response.data = render_problem(response.status_code, detail, **members)
    response.content_type = "application/problem+json"
    response.headers["Cache-Control"] = "no-store"
    return response


def _from_http_exception(error: HTTPException) -> ResponseReturnValue:
    if error.response is not None:  # a response that an extension has made
        return error  # an HTTPException is a WSGI application, which Flask accepts
    # The headers of some errors matter: Allow, WWW-Authenticate and Retry-After.
    response = Response(status=error.code, headers=error.get_headers())
    members = {"code": "missing_key"} if isinstance(error, MissingKeyError) else {}
    # A detail in PROBLEMS replaces Werkzeug's generic description.
    is_default = error.description == type(error).description and error.code in PROBLEMS
    return _problem(response, None if is_default else error.description, **members)


def _from_validation_error(error: ValidationError) -> Response:
    # Views raise it for query parameters only.
    return _problem(Response(status=400), BAD_PARAMETERS, code="invalid_parameters", errors=error.messages)


def _from_database_error(error: DBAPIError | PoolTimeoutError) -> Response:
    # The query of a URL may hold a password too.
    database = current_app.extensions["sqlalchemy"].engine.url.set(query={}).render_as_string(hide_password=True)
    current_app.logger.error("The database %s cannot be read: %s", database, getattr(error, "orig", repr(error)))
    return _problem(Response(status=503, headers={"Retry-After": "5"}))
