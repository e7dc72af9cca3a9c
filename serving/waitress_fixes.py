"""Subclasses of waitress' classes. Each says what waitress 3.0.2 gets wrong for this service.

Issues and pull requests are those of https://github.com/Pylons/waitress. If one is merged but not yet released, what
it makes needless here can go with that release.
"""

import logging
import re
import socket
import time
from io import BytesIO
from typing import Any
from urllib.parse import quote
from wsgiref.types import WSGIApplication

from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError, TransferEncodingNotImplemented
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, WSGITask

from errors import SECURITY_HEADERS, TITLES, render_problem

IDLE_SECONDS = 1  # A connection that is quiet for longer waits for its client.
MAX_PIPELINED_BYTES = 4_000_000  # A client that has this much to read should not request more.
MIN_SHARED_BYTES = 32_768  # Shorter bodies are copied, and sent in one packet with their headers.

ASCII = bytes(range(128)).decode()
START_LINE = re.compile(rb"[^ ]+ (/|\*|(?i:https?)://)[!-~]* HTTP/1\.[0-9]\r\n")
TRANSFER_ENCODING = re.compile(rb"^transfer-encoding:(.*?)\r\n(?![ \t])", re.IGNORECASE | re.MULTILINE | re.DOTALL)
# RFC 9110, 7.2, and RFC 3986, 3.2.2, define it. It may be empty.
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(:[0-9]*)?")

access_log = logging.getLogger("access")


class StrictRequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types.
    """A parser that rejects requests which RFC 9112 does not accept, and accepts UTF-8 in the target."""

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the start line and the headers. Raises ParsingError.

        Faults: waitress accepts what a proxy in front may read as another request. The comments name the others.
        """
        # waitress rejects a target in UTF-8, which curl sends as it was typed (issue 64).
        if not header_plus.isascii():
            start_line, end, headers = header_plus.partition(b"\r\n")
            header_plus = quote(start_line, safe=ASCII).encode() + end + headers
        # waitress accepts a start line that is none (RFC 9112, 3).
        if not START_LINE.match(header_plus):
            raise ParsingError("Send a method, a path and HTTP/1.1 in the first line.")
        codings = [value.strip(b" \t").lower() for value in TRANSFER_ENCODING.findall(header_plus)]
        try:
            super().parse_header(header_plus)
        except (ValueError, TransferEncodingNotImplemented) as error:  # waitress raises the first for "http://[".
            raise ParsingError("The request's head cannot be read.") from error
        finally:
            # After "100 Continue", waitress reads the next request as this one's body, with this one's API key, even if
            # this one has no body or is rejected (RFC 9110, 10.1.1). No request needs a body, so none is asked for.
            self.expect_continue = False
        # waitress accepts bodies whose end is not certain (RFC 9112, 6.1; issues 464 and 465).
        if codings and (codings != [b"chunked"] or self.version != "1.1" or "CONTENT_LENGTH" in self.headers):
            raise ParsingError("Send Transfer-Encoding as chunked, once, in HTTP/1.1 and without Content-Length.")
        # waitress accepts a Host that is missing, repeated, which it joins by ", ", or invalid (3.2; issue 462).
        host = self.headers.get("HOST", "" if self.version == "1.0" else None)
        if host is None or not HOST.fullmatch(host):
            raise ParsingError("Send exactly one valid Host header.")


class ApiTask(WSGITask):  # type: ignore[misc]
    """A task that sends the application's response."""

    wrote_header: bool

    def start(self) -> None:
        """Start. While the server stops, each response is the last one of its connection (RFC 9112, 9.6)."""
        super().start()
        if self.channel.server.is_stopping:
            super().set_close_on_finish()

    def set_close_on_finish(self) -> None:
        """Close the connection after this response, unless it is a 304 of a connection that the client keeps.

        Fault: waitress does so after each 304, because it has no Content-Length (RFC 9112, 6.3; pull request 502).
        """
        keeps_connection = self.version == "1.1" and self.request.headers.get("CONNECTION", "").lower() != "close"
        if not (self.status.startswith("304") and keeps_connection):
            super().set_close_on_finish()

    def write(self, data: bytes) -> None:
        """Send a part of the body, which is mostly all of it, and the headers if they are not sent yet.

        Speed: waitress sends headers and body in two packets (1.3 times slower for a short body), and copies the body
        for each connection (1.6 times slower for a long one).
        """
        if self.wrote_header or not self.has_body or not data or self.content_length != len(data):
            super().write(data)
            return
        headers = self.build_response_header()
        self.wrote_header, self.content_bytes_written = True, len(data)
        if len(data) < MIN_SHARED_BYTES:
            self.channel.write_soon(headers + data)
            return
        shared_body = ReadOnlyFileBasedBuffer(BytesIO(data))  # BytesIO copies bytes only when it is written.
        shared_body.prepare()
        self.channel.write_soon(headers)
        self.channel.write_soon(shared_body)


class ProblemTask(ErrorTask):  # type: ignore[misc]
    """A task that responds to a request that waitress rejects, with problem details (RFC 9457) as the API does."""

    def execute(self) -> None:
        """Send the response. The log has no method and path, since the request may not have been parsed."""
        error = self.request.error
        body = render_problem(error.code, error.body)
        self.status = f"{error.code} {TITLES[error.code]}"
        self.response_headers += [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
        self.response_headers += SECURITY_HEADERS
        if self.channel.server.allow_origins:  # All are allowed, since the Origin may not be parsed yet.
            self.response_headers.append(("Access-Control-Allow-Origin", "*"))
        self.content_length = len(body)
        self.set_close_on_finish()
        self.write(b"" if getattr(self.request, "command", "") == "HEAD" else body)
        access_log.info("- - %d %d bytes - -", error.code, len(body))


class ApiChannel(HTTPChannel):  # type: ignore[misc]
    """A connection."""

    parser_class, task_class, error_task_class = StrictRequestParser, ApiTask, ProblemTask

    def writable(self) -> bool:
        """Return whether the event loop has something to send or to close.

        Speed: while a worker thread responds, it sends by itself, and then wakes the loop. waitress' loop spins
        meanwhile, and takes the interpreter from the thread (1.6 times slower; there is no issue).
        """
        return not self.requests and bool(self.total_outbufs_len or self.will_close or self.close_when_flushed)


class ApiServer(TcpWSGIServer):  # type: ignore[misc]
    """The server, whose event loop `serving.server` runs."""

    channel_class = ApiChannel
    is_stopping = False

    def __init__(self, app: WSGIApplication, listener: socket.socket, *, allow_origins: bool, **settings: Any) -> None:
        """Create the server. The listener listens already.

        With `allow_origins`, web pages may read the errors of requests that never reach the application.
        """
        self.allow_origins = allow_origins
        self.sockets: dict[int, Any] = {}  # What the event loop waits for, by file descriptor.
        super().__init__(app, self.sockets, _sock=listener, bind_socket=False, **settings)

    def stop(self) -> None:
        """End the event loop, from any thread or signal handler."""
        self.is_stopping = True
        self.pull_trigger()  # This wakes the loop.

    def add_task(self, channel: ApiChannel) -> None:
        """Queue a connection's next request for a worker thread.

        Fault: a client that pipelines requests and does not read blocks a worker thread (there is no issue). Here, the
        connection closes once what is written has been read. The client can repeat the others (RFC 9112, 9.3.2).
        """
        if channel.total_outbufs_len <= MAX_PIPELINED_BYTES:
            super().add_task(channel)
        else:
            channel.requests.clear()
            channel.close_when_flushed = True

    def close_idle_connections(self, limit: int) -> None:
        """Close connections without activity, and those beyond `limit` that have been idle for longest.

        Faults: waitress waits for a client that does not read before it closes the connection (issue 418), and accepts
        nobody while there are `connection_limit` connections.
        """
        idle = self._idle_connections()
        excess = max(0, len(self.active_channels) - limit)
        timeout = time.time() - self.adj.channel_timeout
        for number, channel in enumerate(idle):
            if number < excess or channel.last_activity < timeout:
                channel.handle_close()

    def close_drained_connections(self) -> None:
        """Close connections whose clients have read everything."""
        for channel in self._idle_connections():
            if not channel.total_outbufs_len:
                channel.handle_close()

    def _idle_connections(self) -> list[ApiChannel]:
        """Return the connections that wait for their clients, beginning with the one that has waited for longest."""
        since = time.time() - IDLE_SECONDS
        channels = self.active_channels.values()
        idle = [channel for channel in channels if channel.last_activity < since and not channel.requests]
        return sorted(idle, key=lambda channel: channel.last_activity)
