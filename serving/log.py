"""The log on standard error: one line per request, and whatever else the service logs."""

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
MAX_QUEUED_LINES = 10_000  # drops the oldest if stderr is not being read
WRITE_INTERVAL_SECONDS = 0.1

access_log = logging.getLogger("access")


class StderrHandler(logging.Handler):
    """A logging handler that writes in a thread, so that no request waits for a full pipe or a slow disk.

    While nobody reads the log, the newest lines are kept and the oldest dropped. `logging.handlers.QueueListener` is
    not used because its `stop` waits for a blocked write forever, and fails if the queue is full.
    """

    def __init__(self, file: int) -> None:
        super().__init__()
        self._file = file
        self._queue: deque[bytes] = deque(maxlen=MAX_QUEUED_LINES)
        self._stopping = Event()
        self._thread = Thread(target=self._write_queued, daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue the record, each of its lines with the time in UTC and the level.

        A message may quote what clients sent or other tools stored, so control characters are replaced.
        """
        try:
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
            for line in self.format(record).splitlines():
                shown = line if line.isprintable() else printable(line)
                self._queue.append(f"{moment} {record.levelname} {shown}\n".encode(errors="replace"))
        except Exception:
            self.handleError(record)

    def close(self) -> None:
        """Write the lines that are waiting, for a second at most."""
        self._stopping.set()
        self._thread.join(timeout=1)
        super().close()

    def _write_queued(self) -> None:
        is_last_time = False
        while not is_last_time:
            is_last_time = self._stopping.wait(WRITE_INTERVAL_SECONDS)
            lines = [self._queue.popleft() for _ in range(len(self._queue))]
            with suppress(OSError):  # the service outlives a full disk and a closed pipe
                # Not sys.stderr.write: its lock, held by a blocked write, would abort the interpreter at exit.
                os.write(self._file, b"".join(lines))


class AccessLog:
    """WSGI middleware that logs method, path, status, bytes, milliseconds and REMOTE_USER of each request.

    REMOTE_USER is the customer and the key's id, as in "My Site/3", or "-" without a valid key. Headers and the query
    string are not logged because they could hold a key.
    """

    def __init__(self, app: WSGIApplication) -> None:
        self._app = app

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Call the application and log its response."""
        began, status, length = time.perf_counter(), "", ""

        def start(start_status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            nonlocal status, length
            status, length = start_status[:3], dict(headers).get("Content-Length", "0")
            return start_response(start_status, headers, *exc_info)

        body = self._app(environ, start)
        # Percent-encoding may make a path three times as long, so it is cut twice.
        path = quote(environ["PATH_INFO"][:MAX_PATH_LENGTH], encoding="latin-1")[:MAX_PATH_LENGTH]
        milliseconds = (time.perf_counter() - began) * 1000
        user = environ.get("REMOTE_USER", "-")
        method = environ["REQUEST_METHOD"][:20]
        access_log.info("%s %s %s %s bytes %.1f ms %s", method, path, status, length, milliseconds, user)
        return body


def log_to_stderr(level: str) -> None:
    """Log to standard error from this level on; requests are logged at info."""
    if not sys.stderr:  # Python sets it to None if it was closed before the service started
        logging.basicConfig(handlers=[logging.NullHandler()])
        return
    logging.basicConfig(level=level.upper(), handlers=[StderrHandler(sys.stderr.fileno())], format="%(message)s")
    logging.getLogger("waitress").setLevel(logging.ERROR)  # it warns of each request that waits for a thread
