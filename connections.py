"""Connections: what waitress does with requests, set for a read-only API that nobody watches."""

import logging
import time
from collections import deque
from io import BytesIO
from threading import current_thread, main_thread
from typing import Any
from urllib.parse import quote
from weakref import ref

import orjson
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.task import ErrorTask, ThreadedTaskDispatcher, WSGITask

from cache import Answer, Cache
from errors import HARDENING

GRACE_SECONDS = 1  # in which a connection may go on before it is taken for a still one
CONNECTIONS = 800  # at most: with the files of up to 64 threads they stay below the 1,024 that a process may open
REQUESTS_KNOWN = 10_000  # with the answers that they were given
AT_ONCE = 1_000_000  # bytes of the longest answer that the loop gives itself: no more than fits in memory at once
SHARED = 100_000  # bytes of an answer from which on connections send from one copy of it

ASCII = bytes(range(128)).decode()

LIMITS = {
    "connection_limit": CONNECTIONS + 100,  # nobody is to reach it: see server._make_room
    "channel_timeout": 60,  # seconds until an idle connection is closed
    "outbuf_overflow": 2 * AT_ONCE,  # never reached either, so that no connection opens a file
    "max_request_header_size": 16 * 1024,  # a search of 200 characters takes 2.4 KB at most
    "max_request_body_size": 64 * 1024,  # a body is read past, never used
    "send_bytes": 16 * 1024,  # what is shorter is sent with its head, in one packet
}

access_log = logging.getLogger("access")


class ProblemTask(ErrorTask):  # type: ignore[misc]  # waitress has no types
    """What waitress itself refuses, told as every error of this API is (RFC 9457)."""

    def execute(self) -> None:
        """Refuse the request. What it was cannot be told, so the log has only that it was refused."""
        error = self.request.error
        # 501 is its answer to a transfer coding that it does not know: the request's fault, not the service's.
        status, title = (400, "Bad Request") if error.code == 501 else (error.code, error.reason)
        body = orjson.dumps({"type": "about:blank", "title": title, "status": status, "detail": error.body})
        self.status = f"{status} {title}"
        self.response_headers += [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
        self.content_length = len(body)
        self.response_headers += HARDENING
        self.set_close_on_finish()
        self.write(b"" if getattr(self.request, "command", "") == "HEAD" else body)
        access_log.info("- - %d %d bytes - -", status, len(body))


class ApiTask(WSGITask):  # type: ignore[misc]
    """A request to the application."""

    def get_environment(self) -> dict[str, Any]:
        """Add what the dispatcher has just found out, so that the application need not."""
        environ: dict[str, Any] = super().get_environment()
        environ["cache.version"] = getattr(self.request, "database_version", None)
        return environ

    def execute(self) -> None:
        super().execute()
        if "cache.answer" in self.environ and (self.content_length or 0) <= AT_ONCE:
            self.channel.server.task_dispatcher.note(self.request, self.environ["cache.answer"])

    def set_close_on_finish(self) -> None:
        """Keep the connection after a 304, which waitress closes for want of a Content-Length."""
        asked = self.request.headers.get("CONNECTION", "").lower() == "close"
        if asked or self.version != "1.1" or not self.status.startswith("304"):
            super().set_close_on_finish()


class Parser(HTTPRequestParser):  # type: ignore[misc]
    """Reads a request, where waitress would stumble, or go on where it must not."""

    def received(self, data: bytes) -> int:
        """Read on. Of what is complete, or refused, nothing is to come, whatever it expects.

        After "100 Continue" waitress takes what comes for more of the same: the next request, with this one's key.
        """
        consumed: int = super().received(data)
        if self.completed:
            self.expect_continue = False
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        """Read a request's head. Its target may hold UTF-8 as it is, as curl sends what is typed."""
        if not header_plus.isascii():
            target, end, headers = header_plus.partition(b"\r\n")
            header_plus = quote(target, safe=ASCII).encode() + end + headers
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # as for the target "http://["
            raise ParsingError("The request's head cannot be read.") from error
        if "TRANSFER_ENCODING" in self.headers or (self.chunked and "CONTENT_LENGTH" in self.headers):
            # Others might see another end of it, and the next request elsewhere: RFC 9112, 6.1.
            raise ParsingError("Transfer-Encoding goes neither with HTTP/1.0 nor with Content-Length.")


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection. Its pipelined requests wait for its client to read, and no thread does: see `Dispatcher`."""

    parser_class, task_class, error_task_class = Parser, ApiTask, ProblemTask

    def write_soon(self, data: bytes | ReadOnlyFileBasedBuffer) -> int:
        """Send a long answer from where it is in memory: slow readers of one answer need no copy each."""
        if isinstance(data, bytes) and len(data) >= SHARED:  # else it is a file
            data = ReadOnlyFileBasedBuffer(BytesIO(data))
            data.prepare()
        written: int = super().write_soon(data)
        return written

    def _flush_some(self, do_close: bool = True) -> bool:
        """Send what waits, in one thread at a time, and let the loop alone close what is broken.

        Where waitress' thread adds "100 Continue" to what it has answered, the loop may just be sending that.
        """
        if do_close and current_thread() is not main_thread():
            return False  # the thread is about to wake the loop
        with self.outbuf_lock:
            flushed: bool = super()._flush_some(do_close=do_close)
        return flushed

    def _flush_outbufs_below_high_watermark(self) -> None:
        pass

    def can_be_closed(self) -> bool:
        """Tell whether nothing is in flight: no answer, and no request, if only by its first byte or a moment ago."""
        answered = self.last_activity > self.creation_time and self.request is None
        quiet = answered or time.time() - self.last_activity > GRACE_SECONDS
        return quiet and not self.requests and not self.total_outbufs_len


class Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Gives requests to threads, but answers at once, in the loop that read it, what needs no more than the cache.

    Python runs one thread at a time, so to hand a request over costs more than such an answer itself. The application
    tells which answer it gave; the next request like it is known by that, as long as the cache holds the answer.
    """

    def __init__(self, cache: Cache) -> None:
        super().__init__()
        self._cache = cache
        self._given: dict[int, ref[Answer]] = {}
        self._ready: deque[HTTPChannel] = deque()
        self._held_back: deque[HTTPChannel] = deque()  # until their clients have read

    def add_task(self, channel: HTTPChannel) -> None:
        """Take a channel's next request. Called by the loop, and by threads for requests that were pipelined."""
        if channel.total_outbufs_len > AT_ONCE:
            self._held_back.append(channel)
            return
        request = channel.requests[0]
        given = None if request.error else self._given.get(_likeness(request))
        answer = given() if given else None
        # One with something still to send takes its turn among the threads: pipelined requests cannot keep the loop.
        if answer and not channel.total_outbufs_len:
            version = self._cache.version()
            if self._cache.holds(answer, version):
                request.database_version = version
                self._ready.append(channel)
                return
        super().add_task(channel)

    def note(self, request: HTTPRequestParser, answer: Answer) -> None:
        """Note that `request` was given `answer`."""
        if len(self._given) >= REQUESTS_KNOWN:
            self._given.clear()
        self._given[_likeness(request)] = ref(answer)

    def answer_ready(self) -> None:
        """Answer what the loop has read and the cache holds; look again at the channels that were held back."""
        for _ in range(len(self._held_back)):
            channel = self._held_back.popleft()
            if time.time() - channel.last_activity > LIMITS["channel_timeout"]:
                channel.handle_close()
            elif channel.connected:
                self.add_task(channel)
        for _ in range(len(self._ready)):
            self._ready.popleft().service()


def _likeness(request: HTTPRequestParser) -> int:
    """Give a number that is the same for requests that the application answers alike while nothing changes."""
    headers = map(request.headers.get, ("X_API_KEY", "ACCEPT_ENCODING", "IF_NONE_MATCH"))
    return hash((request.path, request.query, *headers))
