"""The HTTP server: waitress, with its event loop adapted to many idle and slow clients.

Comments marked "Bug" here and in the modules beside this one refer to waitress 3.0.2, and their numbers to
https://github.com/Pylons/waitress. Remove such code once the fix is released.
"""

import logging
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Thread
from types import FrameType
from typing import Any
from wsgiref.types import WSGIApplication

from waitress import wasyncore
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from serving.open_files import raise_open_file_limit
from serving.requests import StrictRequestParser
from serving.responses import ApiTask, ProblemTask

MAX_CONNECTIONS = 500  # Windows' select() supports 512 sockets
CROWDED_SHARE = 0.8  # of the connections; beyond it, idle ones are closed to make room for new clients
FILES_PER_THREAD = 3  # a connection to a SQLite database
OTHER_FILES = 20  # such as the log, the listening socket, and Python modules being loaded
KEEP_ALIVE_SECONDS = 120  # load balancers reuse connections that have been idle for up to 60 seconds
STALLED_SECONDS = 60  # if a client stops in the middle of a request or a response
IDLE_SECONDS = 1  # a connection without activity for longer than this may be closed to make room
DRAIN_SECONDS = 8  # container runtimes send SIGKILL 10 seconds after SIGTERM
WARNING_SECONDS = 60  # between warnings
UNLIMITED = 1 << 40
MAX_PIPELINED_BYTES = 256 * 1024  # with more unsent bytes than this, no further pipelined requests are processed
MIN_SHARED_BYTES = 32 * 1024

SETTINGS = {
    "max_request_header_size": 16 * 1024,  # a search with all filters needs less than 10 KB
    "max_request_body_size": 64 * 1024,  # bodies are read but ignored
    "outbuf_high_watermark": UNLIMITED,  # worker threads never wait for slow clients: see add_task
    "ident": None,
    "log_socket_errors": False,  # clients disconnect all the time
}

log = logging.getLogger("serving")


class ApiChannel(HTTPChannel):  # type: ignore[misc]  # waitress has no types
    """A client connection."""

    parser_class = StrictRequestParser
    task_class = ApiTask
    error_task_class = ProblemTask

    def writable(self) -> bool:
        """Return whether the event loop has data to send or a connection to close.

        Bug: waitress' event loop spins while a worker thread is sending, and competes with it for the GIL (no issue
        yet). A page of 400 KB then takes 1.1 to 1.4 times the CPU time.
        """
        return not self.requests and bool(super().writable())

    def write_soon(self, data: Any) -> int:
        """Queue bytes for the client.

        Bug: waitress copies the body for each connection, so 100 slow clients of a 20 MB response take 2 GB.
        """
        if isinstance(data, bytes) and len(data) >= MIN_SHARED_BYTES:
            data = ReadOnlyFileBasedBuffer(BytesIO(data))  # BytesIO shares the bytes (copy on write)
            data.prepare()
        written: int = super().write_soon(data)
        return written

    def is_timed_out(self, now: float) -> bool:
        """Return whether the client has been silent for too long.

        Bug: waitress never times out clients that stop reading (issue 418).
        """
        is_mid_transfer = self.request is not None or self.total_outbufs_len > 0
        seconds = STALLED_SECONDS if is_mid_transfer else KEEP_ALIVE_SECONDS
        return bool(self.last_activity < now - seconds)

    def has_unread_request(self) -> bool:
        """Return whether a request has arrived that the event loop will read next."""
        try:
            return self.readable() and bool(self.socket.recv(1, socket.MSG_PEEK))
        except OSError:  # BlockingIOError: nothing has arrived
            return False


class ApiServer(TcpWSGIServer):  # type: ignore[misc]
    """The server and its event loop."""

    channel_class = ApiChannel
    is_stopping = False

    def __init__(
        self, app: WSGIApplication, listener: socket.socket, threads: int, *, allow_origins: bool = False
    ) -> None:
        """Create the server on a listening socket.

        If `allow_origins` is true, errors for requests that never reach the application get CORS headers too.
        """
        self.allow_origins = allow_origins
        self.sockets: dict[int, Any] = {}  # polled by the event loop; keys are file descriptors
        reserved = OTHER_FILES + FILES_PER_THREAD * threads
        self.max_files = raise_open_file_limit(reserved + MAX_CONNECTIONS)
        self.max_connections = max(1, min(MAX_CONNECTIONS, self.max_files - reserved))
        self._next_accept_at = 0.0  # after an error
        self._next_warning_at = 0.0
        super().__init__(app, self.sockets, _sock=listener, bind_socket=False, threads=threads, **SETTINGS)

    def run(self) -> None:
        """Serve until `stop` is called, then finish requests in flight within `DRAIN_SECONDS`.

        Bug: waitress drops requests in flight (issue 198).
        """
        while not self.is_stopping:
            wasyncore.loop(timeout=1, use_poll=True, map=self.sockets, count=1)
            self.close_idle_connections()
        wasyncore.dispatcher.close(self)  # unlike the server's close(), keeps the trigger that wakes the loop
        deadline = time.monotonic() + DRAIN_SECONDS
        while self.active_channels and time.monotonic() < deadline:
            wasyncore.loop(timeout=0.1, use_poll=True, map=self.sockets, count=1)
            self.close_idle_connections()

    def stop(self) -> None:
        """Begin the shutdown. May be called from any thread or signal handler."""
        self.is_stopping = True
        self.pull_trigger()  # wakes the loop

    def readable(self) -> bool:
        """Return whether to accept a connection. Otherwise, new clients wait in the system's queue."""
        if len(self.active_channels) >= self.max_connections:
            self._warn(self._explain_limit())
            return False
        return bool(self.accepting) and time.monotonic() >= self._next_accept_at

    def accept(self) -> Any:
        """Accept a connection. After an error, which may last, the next attempt is a second later.

        Bug: waitress' event loop spins if there are too many open files (no issue yet).
        """
        try:
            return super().accept()
        except OSError as error:
            self._warn(f"Cannot accept connections: {error.strerror}")
            self._next_accept_at = time.monotonic() + 1
            raise

    def _explain_limit(self) -> str:
        waiting = f"All {self.max_connections} connections are in use, so new clients wait."
        if self.max_connections == MAX_CONNECTIONS:
            return waiting
        advice = "Raise it: LimitNOFILE in systemd, ulimit -n in a shell."
        return f"{waiting} The limit of {self.max_files} open files allows no more. {advice}"

    def _warn(self, message: str) -> None:
        """Log a warning, but not too often."""
        now = time.monotonic()
        if now >= self._next_warning_at:
            self._next_warning_at = now + WARNING_SECONDS
            log.warning(message)

    def add_task(self, channel: ApiChannel) -> None:
        """Queue a connection's next request for a worker thread.

        Bug: a client that pipelines requests without reading the responses blocks a worker thread (no issue yet).
        Here, its connection is closed once it has read what is buffered. It may retry the remaining requests (RFC 9112,
        9.3.2).
        """
        if channel.total_outbufs_len <= MAX_PIPELINED_BYTES:
            super().add_task(channel)
        else:
            channel.requests.clear()
            channel.close_when_flushed = True

    def close_idle_connections(self) -> None:
        """Close connections that timed out, the longest idle if there are too many, and all idle ones during shutdown.

        Requests that are being processed have no time limit. A client may send a request at the same moment, so
        connections are closed only if none has arrived yet.
        """
        now = time.time()
        channels = self.active_channels.values()
        idle = [channel for channel in channels if channel.last_activity < now - IDLE_SECONDS and not channel.requests]
        idle.sort(key=lambda channel: channel.last_activity)
        excess = len(channels) - int(self.max_connections * CROWDED_SHARE)
        for number, channel in enumerate(idle):
            is_done = self.is_stopping and not channel.total_outbufs_len
            if (is_done or number < excess or channel.is_timed_out(now)) and not channel.has_unread_request():
                channel.handle_close()


def serve(app: WSGIApplication, listener: socket.socket, threads: int, *, allow_origins: bool = False) -> None:
    """Serve `app` until SIGTERM or Ctrl+C, then finish requests in flight. A second signal kills the process.

    If `allow_origins` is true, errors for requests that never reach the application get CORS headers too.
    """
    server = ApiServer(app, listener, threads, allow_origins=allow_origins)

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        server.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    server.run()


@contextmanager
def serve_in_thread(app: WSGIApplication, listener: socket.socket, threads: int) -> Iterator[None]:
    """Serve `app` in a background thread. On exit, finish requests in flight."""
    server = ApiServer(app, listener, threads)
    loop = Thread(target=server.run, daemon=True)
    loop.start()
    try:
        yield
    finally:
        server.stop()
        loop.join()
