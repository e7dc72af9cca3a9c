"""GET /: a page to look at, which is also the API's reference client."""

from pathlib import Path

from flask import Blueprint, Response, request

blueprint = Blueprint("page", __name__)

PAGE = Path(__file__).parent.parent / "static/page/index.html"

# What the page is made of comes from here alone, and nothing in an article's content can run or reach it: its frame is
# sandboxed, and has this policy too (https://www.w3.org/TR/CSP3/#security-inherit-csp).
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src http: https: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@blueprint.get("/")
def show_page() -> Response:
    """Show the page, to anyone: it asks for the key itself."""
    headers = {"Content-Security-Policy": POLICY, "Referrer-Policy": "no-referrer", "Cache-Control": "no-cache"}
    response = Response(PAGE.read_bytes(), headers=headers, mimetype="text/html")
    response.add_etag()
    response.make_conditional(request)
    return response
