"""GET /: a page to look at, which is also the API's reference client; and the files under /static."""

from flask import Blueprint, Response, redirect, request, send_from_directory
from werkzeug.wrappers import Response as BaseResponse

from settings import FOLDER

blueprint = Blueprint("page", __name__)

STATIC = FOLDER / "static"

# Only the service's own scripts and styles run in the page. An article's content is shown in a sandboxed frame, which
# inherits this policy (https://www.w3.org/TR/CSP3/#security-inherit-csp).
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src http: https: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@blueprint.get("/")
def show_page() -> Response | BaseResponse:
    """Return the page. It needs no key: it asks its reader for one."""
    # Below a path of another server, the page's relative links need a slash at the end of that path.
    if not request.environ.get("PATH_INFO"):
        return redirect(f"{request.script_root.rpartition('/')[2]}/", 308)
    response = send_from_directory(STATIC, "page/index.html")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


@blueprint.get("/static/<path:name>")
def show_static_file(name: str) -> Response:
    """Return a file of the page, or a banner of the demo."""
    return send_from_directory(STATIC, name)
