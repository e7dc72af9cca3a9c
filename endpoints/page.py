"""GET /: a page to look at, which is also the API's reference client."""

from pathlib import Path

from flask import Blueprint, Response, request

blueprint = Blueprint("page", __name__)

PAGE = Path(__file__).parent.parent / "static" / "page" / "index.html"

# Only the service's own scripts and styles run in the page. An article's content is shown in a sandboxed frame, which
# inherits this policy (https://www.w3.org/TR/CSP3/#security-inherit-csp).
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src http: https: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@blueprint.get("/")
def show_page() -> Response:
    """Return the page. It needs no key: it asks its reader for one."""
    headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}
    response = Response(PAGE.read_bytes(), headers=headers, mimetype="text/html")
    response.add_etag()
    response.make_conditional(request)
    return response
