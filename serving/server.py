"""The HTTP server: waitress with its documented settings, and fixes for seven faults.

Comments marked "Fault" refer to waitress 3.0.2, and their numbers to https://github.com/Pylons/waitress. Remove such
code once the fix is released. Slow and crowded clients are nginx's task: see docs/operate.md.
"""

import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from threading import Thread
from typing import Any
from urllib.parse import quote
from wsgiref.types import WSGIApplication

from waitress import wasyncore
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import WSGITask

# https://docs.pylonsproject.org/projects/waitress/en/stable/arguments.html
SETTINGS = {
    "connection_limit": 500,  # load balancers keep hundreds of connections open
    "max_request_body_size": 64 * 1024,  # bodies are read but ignored
    "ident": None,
    "log_socket_errors": False,  # clients disconnect all the time
}
DRAIN_SECONDS = 8  # container runtimes send SIGKILL 10 seconds after SIGTERM
MIN_SHARED_BYTES = 32 * 1024
ASCII = bytes(range(128)).decode()
TRANSFER_ENCODING = re.compile(rb"^transfer-encoding:[ \t]*(.*?)[ \t]*\r\n(?![ \t])", re.IGNORECASE | re.M | re.S)
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(:[0-9]*)?")  # RFC 3986, 3.2.2; may be empty


class RequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A parser that rejects what a proxy might interpret differently (request smuggling)."""

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the start line and the headers. Raises ParsingError if the body's length or the host is ambiguous."""
        # Fault: raw UTF-8 in the request target, as curl sends it, is rejected (issue 64).
        start_line, line_end, headers = header_plus.partition(b"\r\n")
        super().parse_header(quote(start_line, safe=ASCII).encode() + line_end + headers)
        # Fault: after "100 Continue", the next request on the connection is parsed as the body of this one, and gets
        # the API key of this one (RFC 9110, 10.1.1). No endpoint needs a body, so we never ask for one.
        self.expect_continue = False
        # Fault: ambiguous body lengths are accepted (RFC 9112, 6.1; issues 464 and 465).
        codings = [coding.lower() for coding in TRANSFER_ENCODING.findall(line_end + headers)]
        if codings and (codings != [b"chunked"] or self.version != "1.1" or "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Transfer-Encoding must be chunked, in HTTP/1.1 and without Content-Length.")
        # Fault: a missing, repeated (joined by ", ") or invalid Host is accepted (RFC 9112, 3.2; issue 462).
        if not HOST.fullmatch(self.headers.get("HOST", " " if self.version == "1.1" else "")):
            raise ParsingError("Send exactly one valid Host header.")


class ResponseTask(WSGITask):  # type: ignore[misc]
    """A task that sends the application's response."""

    def start(self) -> None:
        """Start the response. During shutdown, it is the last one on its connection (RFC 9112, 9.6)."""
        super().start()
        if self.channel.server.is_stopping:
            super().set_close_on_finish()

    def set_close_on_finish(self) -> None:
        """Close the connection after this response, unless it is a 304 on a persistent connection.

        Fault: waitress closes the connection after every 304, which has no Content-Length (RFC 9112, 6.3; pull request
        502).
        """
        keeps_connection = self.version == "1.1" and self.request.headers.get("CONNECTION", "").lower() != "close"
        if not (self.status.startswith("304") and keeps_connection):
            super().set_close_on_finish()


class Channel(HTTPChannel):  # type: ignore[misc]
    """A client connection."""

    parser_class = RequestParser
    task_class = ResponseTask

    def writable(self) -> bool:
        """Return whether the event loop has something to send.

        Fault: the loop spins while a worker thread is sending, and competes with it for the GIL (no issue yet), which
        doubles the CPU time of a response. At the watermark, the worker thread waits for the loop to send.
        """
        worker_sends = self.requests and self.total_outbufs_len < self.adj.outbuf_high_watermark
        return not worker_sends and bool(super().writable())

    def write_soon(self, data: Any) -> int:
        """Queue bytes for the client.

        Fault: waitress copies the body for each client (no issue yet). BytesIO shares the bytes.
        """
        if isinstance(data, bytes) and len(data) >= MIN_SHARED_BYTES:
            data = ReadOnlyFileBasedBuffer(BytesIO(data))
            data.prepare()
        written: int = super().write_soon(data)
        return written


class Server(TcpWSGIServer):  # type: ignore[misc]
    """The server and its event loop."""

    channel_class = Channel
    is_stopping = False

    def __init__(self, app: WSGIApplication, listener: socket.socket, threads: int) -> None:
        """Create the server on a listening socket."""
        self.sockets: dict[int, Any] = {}  # polled by the event loop; keys are file descriptors
        super().__init__(app, self.sockets, _sock=listener, bind_socket=False, threads=threads, **SETTINGS)

    def run(self) -> None:
        """Serve until `stop` is called, then finish requests in flight within `DRAIN_SECONDS`.

        Fault: waitress drops requests in flight (issue 198).
        """
        while not self.is_stopping:
            wasyncore.loop(timeout=1, use_poll=True, map=self.sockets, count=1)
        wasyncore.dispatcher.close(self)  # unlike the server's close(), keeps the trigger that wakes the loop
        deadline = time.monotonic() + DRAIN_SECONDS
        is_busy = True
        while is_busy and time.monotonic() < deadline:
            wasyncore.loop(timeout=0.1, use_poll=True, map=self.sockets, count=1)
            channels = list(self.active_channels.values())
            is_busy = any(channel.requests or channel.total_outbufs_len for channel in channels)

    def stop(self, *_signal: Any) -> None:
        """Begin the shutdown. May be called from any thread, or as a signal handler."""
        self.is_stopping = True
        self.pull_trigger()  # wakes the loop


def serve(app: WSGIApplication, listener: socket.socket, threads: int) -> None:
    """Serve `app` until SIGTERM or Ctrl+C, then finish requests in flight."""
    server = Server(app, listener, threads)
    signal.signal(signal.SIGTERM, server.stop)
    signal.signal(signal.SIGINT, server.stop)
    server.run()


@contextmanager
def serve_in_thread(app: WSGIApplication, listener: socket.socket, threads: int) -> Iterator[None]:
    """Serve `app` in a background thread. On exit, finish requests in flight."""
    server = Server(app, listener, threads)
    loop = Thread(target=server.run, daemon=True)
    loop.start()
    try:
        yield
    finally:
        server.stop()
        loop.join()
