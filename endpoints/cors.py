"""CORS: which pages of other origins may read responses (https://fetch.spec.whatwg.org/#http-cors-protocol)."""

from flask import Flask, Response, current_app, request


def init_app(app: Flask) -> None:
    """Allow requests from pages of CORS_ORIGINS, if there are any."""
    if app.config["CORS_ORIGINS"]:
        app.before_request(respond_to_preflight)
        app.after_request(add_cors_headers)


def respond_to_preflight() -> Response | None:
    """Respond to a preflight request, on every path and before the key check.

    Otherwise a page could not read a 404 or a 401.
    """
    is_preflight = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
    return Response() if is_preflight else None


def add_cors_headers(response: Response) -> Response:
    """Allow the page that sent the request to read the response, if it is of one of CORS_ORIGINS."""
    # Responses to requests without Origin vary too: a shared cache may store both kinds.
    response.vary.add("Origin")
    if request.headers.get("Origin") in current_app.config["CORS_ORIGINS"]:
        response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
        response.headers["Access-Control-Expose-Headers"] = "ETag, Link, Retry-After"
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = "GET, HEAD"
            response.headers["Access-Control-Allow-Headers"] = "x-api-key, If-None-Match, Accept, Content-Type"
            response.headers["Access-Control-Max-Age"] = "7200"
    return response
