"""Subclasses that work around bugs in waitress 3.0.2.

Issues and pull requests refer to https://github.com/Pylons/waitress. Remove an override once its fix is released.
"""

import logging
import re
import socket
import time
from io import BytesIO
from typing import Any
from urllib.parse import quote
from wsgiref.types import WSGIApplication

from waitress import wasyncore
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError, TransferEncodingNotImplemented
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, WSGITask

from errors import SECURITY_HEADERS, TITLES, render_problem

DRAIN_SECONDS = 8  # container runtimes send SIGKILL 10 seconds after SIGTERM
IDLE_SECONDS = 1  # a connection without activity for longer than this may be closed
# Windows' select() supports 512 sockets. Elsewhere, a process can often open only 1,024 files, and each connection may
# need a temporary file as well.
MAX_CONNECTIONS = 400
MAX_PIPELINED_BYTES = 4_000_000  # with more unsent bytes than this, no further pipelined requests are processed
MIN_SHARED_BYTES = 32_768

START_LINE = re.compile(rb"[^ ]+ (/|\*|(?i:https?)://)[!-~]* HTTP/1\.[0-9]\r\n")
TRANSFER_ENCODING = re.compile(rb"^transfer-encoding:(.*?)\r\n(?![ \t])", re.IGNORECASE | re.MULTILINE | re.DOTALL)
# RFC 9110, 7.2, and RFC 3986, 3.2.2; may be empty
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(:[0-9]*)?")
ASCII = bytes(range(128)).decode()

access_log = logging.getLogger("access")


class StrictRequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A parser that rejects malformed requests, which a proxy might interpret differently (request smuggling)."""

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the start line and the headers. Raises ParsingError."""
        # Bug: raw UTF-8 in the request target, as curl sends it, is rejected (issue 64).
        if not header_plus.isascii():
            start_line, end, headers = header_plus.partition(b"\r\n")
            header_plus = quote(start_line, safe=ASCII).encode() + end + headers
        # Bug: malformed start lines are accepted (RFC 9112, 3).
        if not START_LINE.match(header_plus):
            raise ParsingError("The request line is malformed. Send a method, a path and HTTP/1.1.")
        codings = [value.strip(b" \t").lower() for value in TRANSFER_ENCODING.findall(header_plus)]
        try:
            super().parse_header(header_plus)
        except (ValueError, TransferEncodingNotImplemented) as error:  # ValueError: "http://["
            raise ParsingError("The request target or Transfer-Encoding is malformed or unsupported.") from error
        finally:
            # Bug: after "100 Continue", the next request on the connection is parsed as this request's body and gets
            # its API key, even if this request has no body or was rejected (RFC 9110, 10.1.1). No endpoint needs a
            # body, so we never ask for one.
            self.expect_continue = False
        # Bug: ambiguous body lengths are accepted (RFC 9112, 6.1; issues 464 and 465).
        if codings and (codings != [b"chunked"] or self.version != "1.1" or "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Transfer-Encoding must be chunked, in HTTP/1.1 and without Content-Length.")
        # Bug: a missing, repeated (joined by ", ") or invalid Host is accepted (RFC 9112, 3.2; issue 462).
        host = self.headers.get("HOST", "" if self.version == "1.0" else None)
        if host is None or not HOST.fullmatch(host):
            raise ParsingError("Send exactly one valid Host header.")


class ApiTask(WSGITask):  # type: ignore[misc]
    """A task that sends the application's response."""

    def start(self) -> None:
        """Start the response. During shutdown, it is the last one on its connection.

        Bug: waitress does not send "Connection: close", so clients send requests that get lost (RFC 9112, 9.6).
        """
        super().start()
        if self.channel.server.is_stopping:
            super().set_close_on_finish()

    def set_close_on_finish(self) -> None:
        """Close the connection after this response, unless it is a 304 on a persistent connection.

        Bug: waitress closes the connection after every 304, which has no Content-Length (RFC 9112, 6.3; pull request
        502).
        """
        keeps_connection = self.version == "1.1" and self.request.headers.get("CONNECTION", "").lower() != "close"
        if not (self.status.startswith("304") and keeps_connection):
            super().set_close_on_finish()


class ProblemTask(ErrorTask):  # type: ignore[misc]
    """A task that sends the response to a request that waitress has rejected.

    Bug: waitress sends plain text that names the server, instead of the API's error format and headers.
    """

    def execute(self) -> None:
        """Send problem details. The request may not have been parsed, so method and path are not logged."""
        error = self.request.error
        body = render_problem(error.code, error.body if error.code == 400 else None)
        self.status = f"{error.code} {TITLES[error.code]}"
        self.response_headers += [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
        self.response_headers += SECURITY_HEADERS
        if self.channel.server.allow_origins:  # any, because the Origin header may not have been parsed
            self.response_headers.append(("Access-Control-Allow-Origin", "*"))
        self.content_length = len(body)
        self.set_close_on_finish()
        self.write(b"" if getattr(self.request, "command", "") == "HEAD" else body)
        access_log.info("- - %d %d bytes - -", error.code, len(body))


class ApiChannel(HTTPChannel):  # type: ignore[misc]
    """A client connection."""

    parser_class, task_class, error_task_class = StrictRequestParser, ApiTask, ProblemTask

    def writable(self) -> bool:
        """Return whether the event loop has data to send or a connection to close.

        Bug: waitress' event loop spins while a worker thread is sending, and competes with it for the GIL (no issue
        yet). A page of 400 KB then takes 1.1 to 1.4 times the CPU time.
        """
        return not self.requests and bool(super().writable())

    def write_soon(self, data: Any) -> int:
        """Queue bytes for the client.

        Bug: waitress copies the body for each connection, to memory or to a temporary file, so 100 slow clients of a
        20 MB response take 2 GB. A page of 400 KB takes 2.6 times the CPU time.
        """
        if isinstance(data, bytes) and len(data) >= MIN_SHARED_BYTES:
            data = ReadOnlyFileBasedBuffer(BytesIO(data))  # BytesIO shares the bytes (copy on write)
            data.prepare()
        written: int = super().write_soon(data)
        return written


class ApiServer(TcpWSGIServer):  # type: ignore[misc]
    """The server and its event loop."""

    channel_class = ApiChannel
    is_stopping = False

    def __init__(self, app: WSGIApplication, listener: socket.socket, *, allow_origins: bool, **settings: Any) -> None:
        """Create the server on a listening socket.

        If `allow_origins` is true, errors for requests that never reach the application get CORS headers too.
        """
        self.allow_origins = allow_origins
        self.sockets: dict[int, Any] = {}  # polled by the event loop; keys are file descriptors
        super().__init__(app, self.sockets, _sock=listener, bind_socket=False, **settings)

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

        Bugs: waitress never times out clients that stop reading (issue 418), and accepts no new connections beyond
        `connection_limit`.
        """
        now = time.time()
        channels = self.active_channels.values()
        idle = [channel for channel in channels if channel.last_activity < now - IDLE_SECONDS and not channel.requests]
        idle.sort(key=lambda channel: channel.last_activity)
        excess = len(channels) - MAX_CONNECTIONS
        for number, channel in enumerate(idle):
            is_done = self.is_stopping and not channel.total_outbufs_len
            if is_done or number < excess or channel.last_activity < now - self.adj.channel_timeout:
                channel.handle_close()
