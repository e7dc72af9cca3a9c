"""The log, on standard error: the access log, one line a request, and what the service reports."""

import logging
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import lru_cache
from threading import Event, Thread
from typing import Any
from urllib.parse import quote
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from content.text import printable

MAX_PATH_LENGTH = 200
MAX_WAITING_LINES = 10_000  # If nobody reads the log, the oldest are dropped.
WRITE_INTERVAL_SECONDS = 0.1


class StderrHandler(logging.Handler):
    """A logging handler that writes in a thread, so that no request waits for a full pipe or a slow disk."""

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file
        self._waiting: deque[bytes] = deque(maxlen=MAX_WAITING_LINES)
        self._stopping = Event()
        self._thread = Thread(target=self._write_waiting, daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Write the lines of a record, which may quote what others have sent or stored."""
        try:
            for line in self.format(record).splitlines():
                self.write(record.levelname, printable(line))
        except Exception:  # A wrong call of the logger is no reason to fail.
            self.handleError(record)

    def write(self, level: str, line: str) -> None:
        """Write a line with the time in UTC."""
        self._waiting.append(f"{format_second(int(time.time()))} {level} {line}\n".encode(errors="replace"))

    def close(self) -> None:
        """Write what is waiting, for a second at most."""
        self._stopping.set()
        self._thread.join(timeout=1)
        super().close()

    def _write_waiting(self) -> None:
        is_last_time = False
        while not is_last_time:
            is_last_time = self._stopping.wait(WRITE_INTERVAL_SECONDS)
            lines = [self._waiting.popleft() for _ in range(len(self._waiting))]
            with suppress(OSError):  # A full disk is no reason to stop.
                os.write(self._file, b"".join(lines))


class AccessLog:
    """WSGI middleware that logs method, path, status, bytes, milliseconds and REMOTE_USER of each request.

    REMOTE_USER names customer and key id, as in "My Site/3"; without a valid key it is "-". The headers and the query
    string, which could hold a key, are not logged. `write` gets level and line: a record of the logging module takes
    as long as a response from the cache.
    """

    def __init__(self, app: WSGIApplication, write: Callable[[str, str], None]) -> None:
        self._app, self._write = app, write

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Call the application, and log its response."""
        began, status, length = time.perf_counter(), "", ""

        def start(start_status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            nonlocal status, length
            status, length = start_status[:3], dict(headers).get("Content-Length", "0")
            return start_response(start_status, headers, *exc_info)

        body = self._app(environ, start)
        # Percent-encoded, a path cannot control a terminal. It is cut before, since it may be long, and after.
        path = quote(environ["PATH_INFO"][:MAX_PATH_LENGTH], encoding="latin-1")[:MAX_PATH_LENGTH]
        request = f"{environ['REQUEST_METHOD'][:20]} {path}"
        milliseconds = (time.perf_counter() - began) * 1000
        user = environ.get("REMOTE_USER", "-")
        self._write("INFO", f"{request} {status} {length} bytes {milliseconds:.1f} ms {user}")
        return body


def log_to_stderr(level: str) -> StderrHandler | None:
    """Log to standard error from this level on. Return the handler if requests are logged too, at info."""
    if not sys.stderr:  # Python sets it to None if it was closed before the service started.
        logging.basicConfig(handlers=[logging.NullHandler()])
        return None
    handler = StderrHandler(sys.stderr.fileno())
    # StderrHandler.write adds the time and the level.
    logging.basicConfig(level=level.upper(), handlers=[handler], format="%(message)s")
    logging.getLogger("waitress").setLevel(logging.ERROR)  # It warns of each request that waits for a thread.
    return handler if logging.getLogger().isEnabledFor(logging.INFO) else None


@lru_cache(1)
def format_second(second: int) -> str:
    """Return a number of seconds since 1970 as a timestamp in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(second))
