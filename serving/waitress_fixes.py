"""Subclasses of waitress' classes, which correct what it gets wrong for this service."""

import logging
import re
import time
from threading import Thread, current_thread
from typing import Any
from urllib.parse import quote

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError, TransferEncodingNotImplemented
from waitress.server import TcpWSGIServer
from waitress.task import ErrorTask, WSGITask

from errors import SECURITY_HEADERS, TITLES, render_problem

GRACE_SECONDS = 1  # without activity, after which a connection counts as idle
MAX_UNREAD_BYTES = 1_000_000  # of responses, beyond which a connection's further requests wait

ASCII = bytes(range(128)).decode()
START_LINE = re.compile(rb"[^ ]+ (/|\*|(?i:https?)://)[!-~]* HTTP/1\.[0-9]\r\n")  # RFC 9112, 3
TRANSFER_ENCODING = re.compile(rb"^transfer-encoding:(.*?)\r\n(?![ \t])", re.IGNORECASE | re.MULTILINE | re.DOTALL)
# RFC 9110, 7.2, and RFC 3986, 3.2.2. It may be empty.
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+;=%-]*)(:[0-9]*)?")

access_log = logging.getLogger("access")


class StrictRequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """Rejects requests that waitress accepts although RFC 9112 does not, and accepts UTF-8 in the target."""

    def received(self, data: bytes) -> int:
        """Consume data.

        A complete or rejected request needs no "100 Continue". waitress would send it, and then parse the next request
        as the rest of this one, with this one's API key.
        """
        consumed: int = super().received(data)
        if self.completed:
            self.expect_continue = False
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Parse the start line and the headers. Raises ParsingError.

        curl sends a target as it is typed, in UTF-8: percent-encode it.
        """
        if not header_plus.isascii():
            target, end, headers = header_plus.partition(b"\r\n")
            header_plus = quote(target, safe=ASCII).encode() + end + headers
        if not START_LINE.match(header_plus):
            raise ParsingError("Send a method, a path and HTTP/1.1 in the first line.")
        codings = [value.strip(b" \t").lower() for value in TRANSFER_ENCODING.findall(header_plus)]
        try:
            super().parse_header(header_plus)
        except (ValueError, TransferEncodingNotImplemented) as error:  # such as the target "http://["
            raise ParsingError("The request's head cannot be read.") from error
        if codings and (codings != [b"chunked"] or self.version != "1.1" or "CONTENT_LENGTH" in self.headers):
            # A proxy might see the end of this request, and the next one, elsewhere: RFC 9112, 6.1.
            raise ParsingError("Send Transfer-Encoding as chunked, once, in HTTP/1.1 and without Content-Length.")
        host = self.headers.get("HOST", "" if self.version == "1.0" else None)
        if host is None or not HOST.fullmatch(host):  # several are joined by ", "
            raise ParsingError("Send exactly one valid Host header.")  # RFC 9112, 3.2
        connection = self.headers.get("CONNECTION", "").lower()
        if "," in connection and "close" in re.split(r"[\s,]+", connection):
            self.headers["CONNECTION"] = "close"  # waitress does not see it in a list: RFC 9110, 7.6.1


class OnePacketMixin:
    """Sends headers and body together. waitress sends them one after the other, in two packets."""

    def write(self: Any, data: bytes) -> None:
        """Send a part of the body, which is mostly all of it, and the headers if they are not sent yet."""
        if not self.wrote_header and self.has_body and data and self.content_length == len(data):
            headers = self.build_response_header()
            self.wrote_header, self.content_bytes_written = True, len(data)
            self.channel.write_soon(headers + data)
        else:
            super().write(data)  # type: ignore[misc]  # Task's


class ProblemTask(OnePacketMixin, ErrorTask):  # type: ignore[misc]
    """Sends what waitress itself rejects as problem details (RFC 9457), like every error of the API."""

    def execute(self) -> None:
        """Send the response. The log has no method and path, since the request could not be parsed."""
        error = self.request.error
        body = render_problem(error.code, error.body)
        self.status = f"{error.code} {TITLES[error.code]}"
        self.response_headers += [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
        self.response_headers += SECURITY_HEADERS
        if self.channel.server.allow_origins:  # to all, since the Origin may not be parsed yet: it reveals nothing
            self.response_headers.append(("Access-Control-Allow-Origin", "*"))
        self.content_length = len(body)
        self.set_close_on_finish()
        self.write(b"" if getattr(self.request, "command", "") == "HEAD" else body)
        access_log.info("- - %d %d bytes - -", error.code, len(body))


class KeepAliveTask(OnePacketMixin, WSGITask):  # type: ignore[misc]
    """Keeps the connection after a 304, which waitress closes because it has no Content-Length (RFC 9112, 6.3)."""

    def set_close_on_finish(self) -> None:
        """Close the connection after this response, unless it is a 304 to a client that keeps connections."""
        requested = self.request.headers.get("CONNECTION", "").lower() == "close"
        if requested or self.version != "1.1" or not self.status.startswith("304"):
            super().set_close_on_finish()


class ApiChannel(HTTPChannel):  # type: ignore[misc]
    """A connection. While its client does not read, its pipelined requests wait, and no worker thread does."""

    parser_class, task_class, error_task_class = StrictRequestParser, KeepAliveTask, ProblemTask
    is_stalled = False  # whether requests wait for the client to read

    def _flush_some(self, do_close: bool = True) -> bool:
        """Send in one thread at a time, and close broken connections in the event loop alone.

        A worker thread that appends "100 Continue" to its responses would send the same buffer as the loop does.
        """
        if do_close and current_thread() is not self.server.loop_thread:
            return False  # the thread is about to wake the loop
        with self.outbuf_lock:
            flushed: bool = super()._flush_some(do_close=do_close)
        return flushed

    def handle_write(self) -> None:
        """Send, and resume the requests that wait once the client has read."""
        super().handle_write()
        with self.outbuf_lock:
            resumes = self.is_stalled and self.connected and self.total_outbufs_len <= MAX_UNREAD_BYTES
            self.is_stalled = self.is_stalled and not resumes
        if resumes:
            self.server.add_task(self)

    def stall_if_unread(self) -> bool:
        """Return whether the next request has to wait for the client, and resume it in `handle_write` then."""
        with self.outbuf_lock:
            self.is_stalled = self.total_outbufs_len > MAX_UNREAD_BYTES
        return self.is_stalled

    def is_drained(self) -> bool:
        """Return whether no response and no request is in flight; a new connection may be about to send one."""
        responded = self.last_activity > self.creation_time and self.request is None
        idle = responded or time.time() - self.last_activity > GRACE_SECONDS
        return idle and not self.requests and not self.total_outbufs_len


class ApiServer(TcpWSGIServer):  # type: ignore[misc]
    """Closes connections that are idle, makes room for new ones, and stops gracefully."""

    channel_class = ApiChannel
    loop_thread: Thread | None = None  # which runs the event loop
    is_stopping = False
    allow_origins = False  # whether pages may read the errors of requests that never reach the application

    def stop(self) -> None:
        """End the event loop, from any thread or signal handler."""
        self.is_stopping = True
        self.pull_trigger()  # wakes the loop

    def add_task(self, channel: ApiChannel) -> None:
        """Queue a connection's next request for a worker thread, unless its client has to read first."""
        if not channel.stall_if_unread():
            super().add_task(channel)

    def maintenance(self, now: float) -> None:
        """Close connections without activity. waitress never closes those whose clients do not read."""
        self._close_idle_connections(now - self.adj.channel_timeout, len(self.active_channels))

    def make_room(self, limit: int) -> None:
        """Close those connections beyond `limit` that have been idle for longest."""
        if len(self.active_channels) > limit:
            self._close_idle_connections(time.time() - GRACE_SECONDS, len(self.active_channels) - limit)

    def _close_idle_connections(self, since: float, count: int) -> None:
        """Close at most `count` connections that wait for their clients since that time, the longest first."""
        idle = [channel for channel in self.active_channels.values() if channel.is_stalled or not channel.requests]
        idle.sort(key=lambda channel: channel.last_activity)
        for channel in idle[:count]:
            if channel.last_activity < since:
                channel.handle_close()
