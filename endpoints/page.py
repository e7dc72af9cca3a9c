"""GET /: a page that shows a key's articles, written as a reference client of the API; and /static, its files."""

from flask import Blueprint, Response, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from settings import PROJECT_FOLDER

# /static also has the banners of the demo
blueprint = Blueprint("page", __name__, static_folder=PROJECT_FOLDER / "static", static_url_path="/static")

# Only our own scripts and styles may run. Article content is shown in a sandboxed frame, which inherits this policy
# (https://www.w3.org/TR/CSP3/#security-inherit-csp).
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src http: https: data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


@blueprint.get("/")
def show_page() -> Response | BaseResponse:
    """Return the page. No key is required, since the page asks for one."""
    # If the service is mounted under a path, the page's relative links require a trailing slash.
    if not request.environ.get("PATH_INFO"):
        return redirect(f"{request.script_root.rpartition('/')[2]}/", 308)
    response = blueprint.send_static_file("page/index.html")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
