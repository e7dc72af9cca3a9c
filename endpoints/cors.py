"""CORS headers and preflight requests (https://fetch.spec.whatwg.org/#http-cors-protocol)."""

from flask import Flask, Response, current_app, request


def init_app(app: Flask) -> None:
    """Enable CORS if CORS_ORIGINS is set."""
    if app.config["CORS_ORIGINS"]:
        app.before_request(respond_to_preflight)
        app.after_request(add_cors_headers)


def respond_to_preflight() -> Response | None:
    """Accept preflight requests on any path and without a key, so that pages can read a 401 or a 404."""
    is_preflight = request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
    return Response() if is_preflight else None


def add_cors_headers(response: Response) -> Response:
    """Allow pages from CORS_ORIGINS to read the response."""
    # Required even without an Origin in the request, because caches may store the response and reuse it.
    response.vary.add("Origin")
    if request.headers.get("Origin") in current_app.config["CORS_ORIGINS"]:
        response.headers["Access-Control-Allow-Origin"] = request.headers["Origin"]
        response.headers["Access-Control-Expose-Headers"] = "ETag, Link, Retry-After"
        if request.method == "OPTIONS":
            response.headers["Access-Control-Allow-Methods"] = "GET, HEAD"
            # All headers that the page asks for; "*" would not include Authorization.
            response.headers["Access-Control-Allow-Headers"] = request.headers.get("Access-Control-Request-Headers", "")
            response.headers["Access-Control-Max-Age"] = "7200"
    return response
