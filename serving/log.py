"""Logging to standard error, including an access log with one line per request."""

import logging
import os
import sys
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from threading import Event, Thread
from typing import Any
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from content.text import printable

MAX_PATH_LENGTH = 200
MAX_QUEUED_LINES = 10_000  # drop the oldest if stderr is not being read
WRITE_INTERVAL_SECONDS = 0.1

access_log = logging.getLogger("access")


class StderrHandler(logging.Handler):
    """A logging handler that writes in a background thread, so that a full pipe or a slow disk never blocks requests.

    `logging.handlers.QueueListener` is not used because its `stop` waits forever if a write blocks, and fails if the
    queue is full.
    """

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file
        self._queue: deque[bytes] = deque(maxlen=MAX_QUEUED_LINES)
        self._stopping = Event()
        self._thread = Thread(target=self._write_queued, daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue the record's lines, each prefixed with the UTC time and the level.

        Messages may contain untrusted text, so control characters are replaced.
        """
        try:
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
            for line in self.format(record).splitlines():
                shown = line if line.isprintable() else printable(line)
                self._queue.append(f"{moment} {record.levelname} {shown}\n".encode(errors="replace"))
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Write the queued lines, but give up after one second."""
        self._stopping.set()
        self._thread.join(timeout=1)
        super().close()

    def _write_queued(self) -> None:
        is_last_time = False
        while not is_last_time:
            is_last_time = self._stopping.wait(WRITE_INTERVAL_SECONDS)
            lines = [self._queue.popleft() for _ in range(len(self._queue))]
            with suppress(OSError):  # a full disk or a closed pipe must not stop the service
                # sys.stderr.write would hold a lock while it blocks, which aborts the interpreter at exit.
                os.write(self._file, b"".join(lines))


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


def log_to_stderr(level: str) -> None:
    """Log messages of at least this level to standard error. Requests are logged at level info."""
    if not sys.stderr:  # None if it was already closed when Python started
        logging.basicConfig(handlers=[logging.NullHandler()])
        return
    logging.basicConfig(level=level.upper(), handlers=[StderrHandler(sys.stderr.fileno())], format="%(message)s")
    logging.getLogger("waitress").setLevel(logging.ERROR)  # it warns about every request that waits for a thread
