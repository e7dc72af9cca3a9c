"""Logging to standard error, including an access log with one line per request."""

import logging
import time
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from content.text import printable

MAX_PATH_LENGTH = 200

access_log = logging.getLogger("access")


class AccessLog:
    """WSGI middleware that logs the method, path, status, bytes, milliseconds and REMOTE_USER of each request.

    REMOTE_USER is the customer and key id, such as "My Site/3", or "-" without a valid key. Headers and query strings
    are not logged because they may contain a key.
    """

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Call the application and log its response."""
        began = time.perf_counter()
        status = ""
        length = ""

        def start(start_status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            nonlocal status, length
            status = start_status[:3]
            length = dict(headers).get("Content-Length", "0")
            return start_response(start_status, headers, *exc_info)

        body = self._app(environ, start)
        # Truncated twice, since percent-encoding may triple the length.
        path = quote(environ["PATH_INFO"][:MAX_PATH_LENGTH], encoding="latin-1")[:MAX_PATH_LENGTH]
        milliseconds = (time.perf_counter() - began) * 1000
        user = environ.get("REMOTE_USER", "-")
        method = environ["REQUEST_METHOD"][:20]
        access_log.info("%s %s %s %s bytes %.1f ms %s", method, path, status, length, milliseconds, user)
        return body


class LineFormatter(logging.Formatter):
    """A formatter for records whose messages may quote a request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record's lines, all but the first indented, and without control characters."""
        return "\n    ".join(printable(line) for line in super().format(record).splitlines())


def log_to_stderr(level: str) -> None:
    """Log messages of at least this level to standard error. Requests are logged at level info."""
    formatter = LineFormatter("%(asctime)s %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    formatter.converter = time.gmtime
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=[handler])
    logging.getLogger("waitress").setLevel(logging.WARNING)  # at level info, it reports every disconnect
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # it warns about every request that waits for a thread
