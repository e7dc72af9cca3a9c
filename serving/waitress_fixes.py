"""Subclasses of waitress' classes, each of which fixes faults that users of waitress 3.0.2 could meet.

Issues and pull requests are those of https://github.com/Pylons/waitress. Once one is released, its override can go.
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

DRAIN_SECONDS = 8  # container runtimes kill a service that has not ended 10 seconds after SIGTERM
IDLE_SECONDS = 1  # a connection that has been quiet for longer is waiting for its client
# Windows' select() takes 512 sockets. A process may often open 1,024 files: a connection may need a temporary file too.
MAX_CONNECTIONS = 400
MAX_PIPELINED_BYTES = 4_000_000  # a client with this many unread bytes gets no further responses
MIN_SHARED_BYTES = 32_768

START_LINE = re.compile(rb"[^ ]+ (/|\*|(?i:https?)://)[!-~]* HTTP/1\.[0-9]\r\n")
TRANSFER_ENCODING = re.compile(rb"^transfer-encoding:(.*?)\r\n(?![ \t])", re.IGNORECASE | re.MULTILINE | re.DOTALL)
# RFC 9110, 7.2, and RFC 3986, 3.2.2; it may be empty
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(:[0-9]*)?")
ASCII = bytes(range(128)).decode()

access_log = logging.getLogger("access")


class StrictRequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A parser that rejects what RFC 9112 forbids, because a proxy in front might read it as a different request."""

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the start line and the headers. Raises ParsingError."""
        # Fault: a target in UTF-8, which curl sends unencoded, is rejected (issue 64).
        if not header_plus.isascii():
            start_line, end, headers = header_plus.partition(b"\r\n")
            header_plus = quote(start_line, safe=ASCII).encode() + end + headers
        # Fault: malformed start lines are accepted (RFC 9112, 3).
        if not START_LINE.match(header_plus):
            raise ParsingError("Send a method, a path and HTTP/1.1 in the first line.")
        codings = [value.strip(b" \t").lower() for value in TRANSFER_ENCODING.findall(header_plus)]
        try:
            super().parse_header(header_plus)
        except (ValueError, TransferEncodingNotImplemented) as error:  # ValueError: "http://["
            raise ParsingError("The request's head cannot be read.") from error
        finally:
            # Fault: after "100 Continue", the next request is read as this one's body and gets this one's API key, even
            # if this one has no body or was rejected (RFC 9110, 10.1.1). No request needs a body, so none is asked for.
            self.expect_continue = False
        # Fault: bodies whose end is ambiguous are accepted (RFC 9112, 6.1; issues 464 and 465).
        if codings and (codings != [b"chunked"] or self.version != "1.1" or "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Send Transfer-Encoding as chunked, once, in HTTP/1.1 and without Content-Length.")
        # Fault: a missing, repeated (joined by ", ") or invalid Host is accepted (RFC 9112, 3.2; issue 462).
        host = self.headers.get("HOST", "" if self.version == "1.0" else None)
        if host is None or not HOST.fullmatch(host):
            raise ParsingError("Send exactly one valid Host header.")


class ApiTask(WSGITask):  # type: ignore[misc]
    """A task that sends the application's response."""

    def start(self) -> None:
        """Start. While the server stops, each response is the last one of its connection.

        Fault: waitress announces no end, so clients would send requests that get lost (RFC 9112, 9.6).
        """
        super().start()
        if self.channel.server.is_stopping:
            super().set_close_on_finish()

    def set_close_on_finish(self) -> None:
        """Close the connection after this response, except after a 304 if the client keeps the connection.

        Fault: waitress closes it after each 304, which has no Content-Length (RFC 9112, 6.3; pull request 502).
        """
        keeps_connection = self.version == "1.1" and self.request.headers.get("CONNECTION", "").lower() != "close"
        if not (self.status.startswith("304") and keeps_connection):
            super().set_close_on_finish()


class ProblemTask(ErrorTask):  # type: ignore[misc]
    """A task that responds to a request that waitress rejects.

    Fault: waitress' own response is text that names the server, without the API's format, code and headers.
    """

    def execute(self) -> None:
        """Send problem details. The log shows no method and path, since the request may not have been parsed."""
        error = self.request.error
        body = render_problem(error.code, error.body if error.code == 400 else None)
        self.status = f"{error.code} {TITLES[error.code]}"
        self.response_headers += [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
        self.response_headers += SECURITY_HEADERS
        if self.channel.server.allow_origins:  # all of them, since the Origin may not have been parsed
            self.response_headers.append(("Access-Control-Allow-Origin", "*"))
        self.content_length = len(body)
        self.set_close_on_finish()
        self.write(b"" if getattr(self.request, "command", "") == "HEAD" else body)
        access_log.info("- - %d %d bytes - -", error.code, len(body))


class ApiChannel(HTTPChannel):  # type: ignore[misc]
    """A connection."""

    parser_class, task_class, error_task_class = StrictRequestParser, ApiTask, ProblemTask

    def writable(self) -> bool:
        """Return whether the event loop has something to send or a connection to close.

        Fault: waitress' loop spins while a worker thread sends, and takes the interpreter from it (no issue yet). A
        page of 400 KB takes 1.1 to 1.4 times the CPU time.
        """
        return not self.requests and bool(super().writable())

    def write_soon(self, data: Any) -> int:
        """Queue bytes for the client.

        Fault: waitress copies a body for each connection, in memory or in a temporary file, so 100 slow readers of a
        page of 20 MB take 2 GB. A page of 400 KB takes 2.6 times the CPU time.
        """
        if isinstance(data, bytes) and len(data) >= MIN_SHARED_BYTES:
            data = ReadOnlyFileBasedBuffer(BytesIO(data))  # BytesIO shares the bytes until it is written to
            data.prepare()
        written: int = super().write_soon(data)
        return written


class ApiServer(TcpWSGIServer):  # type: ignore[misc]
    """The server and its event loop."""

    channel_class = ApiChannel
    is_stopping = False

    def __init__(self, app: WSGIApplication, listener: socket.socket, *, allow_origins: bool, **settings: Any) -> None:
        """Create the server on a socket that listens already.

        With `allow_origins`, web pages may read the errors of requests that never reach the application.
        """
        self.allow_origins = allow_origins
        self.sockets: dict[int, Any] = {}  # what the event loop polls, by file descriptor
        super().__init__(app, self.sockets, _sock=listener, bind_socket=False, **settings)

    def run(self) -> None:
        """Serve until `stop` is called, then finish the requests in flight, for `DRAIN_SECONDS` at most.

        Fault: waitress drops requests in flight (issue 198).
        """
        while not self.is_stopping:
            wasyncore.loop(timeout=1, use_poll=True, map=self.sockets, count=1)
            self.close_idle_connections()
        wasyncore.dispatcher.close(self)  # the server's own close() would also close what wakes the loop
        deadline = time.monotonic() + DRAIN_SECONDS
        while self.active_channels and time.monotonic() < deadline:
            wasyncore.loop(timeout=0.1, use_poll=True, map=self.sockets, count=1)
            self.close_idle_connections()

    def stop(self) -> None:
        """End the event loop, from any thread or signal handler."""
        self.is_stopping = True
        self.pull_trigger()  # wakes the loop

    def add_task(self, channel: ApiChannel) -> None:
        """Queue a connection's next request for a worker thread.

        Fault: a client that pipelines requests and does not read blocks a worker thread (no issue yet). Here, its
        connection closes once the client has read what was written; it can repeat the other requests (RFC 9112, 9.3.2).
        """
        if channel.total_outbufs_len <= MAX_PIPELINED_BYTES:
            super().add_task(channel)
        else:
            channel.requests.clear()
            channel.close_when_flushed = True

    def close_idle_connections(self) -> None:
        """Close connections without activity, the idlest beyond `MAX_CONNECTIONS`, and at a stop all that are done.

        Faults: waitress waits for a client that does not read before it closes the connection (issue 418), and accepts
        nobody while there are `connection_limit` connections.
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
