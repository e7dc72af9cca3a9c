"""Serving with waitress: its settings, listening, and a graceful stop."""

import gc
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType
from wsgiref.types import WSGIApplication

from waitress import wasyncore

from serving.waitress_fixes import ApiServer
from settings import SettingsError

DRAIN_SECONDS = 8  # Container runtimes kill a service that has not ended 10 seconds after SIGTERM.
# Windows' select() takes 512 sockets. The other limit is of the files that a process may open, often 1,024: beside its
# socket, a connection may need a temporary file.
MAX_CONNECTIONS = 400
# The system buffers as much for a client that does not read, and Linux twice as much, 0.5 MB. Without this limit,
# Linux buffers up to 4 MB (tcp_wmem in tcp(7)), in all 1.7 GB.
SEND_BUFFER_BYTES = 256 * 1024

SETTINGS = {
    "connection_limit": MAX_CONNECTIONS + 100,  # New connections wait only if older ones cannot be closed.
    "channel_timeout": 60,  # A connection is closed after these seconds without activity.
    "max_request_header_size": 16 * 1024,  # A search of 200 characters takes 2.4 KB at most.
    "max_request_body_size": 64 * 1024,  # A body is read, but never used.
    "outbuf_overflow": 64 * 1024,  # More unread bytes of a connection, but for large bodies, go to a temporary file.
    "outbuf_high_watermark": 1 << 40,  # No worker thread waits for a client: see ApiServer.add_task.
    "ident": None,
    "log_socket_errors": False,  # A client that goes away is no event.
}


def base_url(host: str, port: int) -> str:
    """Return the URL at which a client on this machine reaches a service that listens on `host` and `port`."""
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """Return the listening socket; IPv4 if the name has several addresses. Raises SettingsError."""
    try:
        # The number of IPv4's family is the smallest.
        family, *_, address = min(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        listener = socket.create_server(address, family=family)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)  # Connections inherit it.
        return listener
    except (OSError, UnicodeError) as error:
        # Python adds "(while attempting to bind on address …)".
        reason = str(getattr(error, "strerror", "This is no valid host name")).partition(" (while")[0]
        advice = "Set PORT to a free port, or HOST to an address of this machine."
        raise SettingsError(f"Cannot listen on HOST {host[:50]}, PORT {port}: {reason}. {advice}") from error


def serve(app: WSGIApplication, listener: socket.socket, threads: int, *, allow_origins: bool = False) -> None:
    """Serve `app` until SIGTERM or Ctrl+C, then finish what is in flight, for `DRAIN_SECONDS` at most.

    A second signal ends the process at once. With `allow_origins`, web pages may read the errors of requests that never
    reach the application.
    """
    server = ApiServer(app, listener, threads=threads, allow_origins=allow_origins, **SETTINGS)
    # Garbage collection need not go through what exists by now. A large sitemap that is not cached is 1.4 times faster.
    gc.freeze()

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        server.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    _run(server)


@contextmanager
def serve_in_thread(app: WSGIApplication, listener: socket.socket, threads: int) -> Iterator[None]:
    """Serve `app` in a thread while the context lasts, then finish what is in flight as `serve` does."""
    server = ApiServer(app, listener, threads=threads, allow_origins=False, **SETTINGS)
    loop = Thread(target=_run, args=(server,), daemon=True)
    loop.start()
    try:
        yield
    finally:
        server.stop()
        loop.join()


def _run(server: ApiServer) -> None:
    """Serve until the server is stopped, then finish what is in flight.

    waitress' own loop drops that (issue 198 of https://github.com/Pylons/waitress).
    """
    next_check = 0.0
    while not server.is_stopping:
        wasyncore.loop(timeout=1, use_poll=True, map=server.sockets, count=1)
        if len(server.active_channels) > MAX_CONNECTIONS or time.monotonic() >= next_check:
            server.close_idle_connections(MAX_CONNECTIONS)
            next_check = time.monotonic() + 1
    wasyncore.dispatcher.close(server)  # The server's own close() would also close what wakes the loop.
    deadline = time.monotonic() + DRAIN_SECONDS
    while server.active_channels and time.monotonic() < deadline:
        wasyncore.loop(timeout=0.1, use_poll=True, map=server.sockets, count=1)
        server.close_drained_connections()
