"""Serving with waitress: settings, listening socket, and graceful shutdown."""

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from types import FrameType
from wsgiref.types import WSGIApplication

from serving.waitress_fixes import MAX_CONNECTIONS, ApiServer
from settings import SettingsError

SETTINGS = {
    "connection_limit": MAX_CONNECTIONS + 100,  # headroom: connections beyond MAX_CONNECTIONS are closed once idle
    "channel_timeout": 60,  # seconds of inactivity
    "max_request_header_size": 16 * 1024,  # a search with all filters needs less than 10 KB
    "max_request_body_size": 64 * 1024,  # bodies are read but ignored
    "outbuf_overflow": 64 * 1024,  # beyond this, unsent responses go to a temporary file
    "outbuf_high_watermark": 1 << 40,  # worker threads never wait for slow clients: see ApiServer.add_task
    "ident": None,
    "log_socket_errors": False,  # clients disconnect all the time
}


def base_url(host: str, port: int) -> str:
    """Return the URL for reaching a service on `host` and `port` from this machine."""
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket, preferring IPv4 if the host name has several addresses. Raises SettingsError."""
    try:
        family, *_, address = min(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))  # IPv4 sorts first
        return socket.create_server(address, family=family)
    except (OSError, UnicodeError) as error:
        # create_server appends "(while attempting to bind on address …)"
        reason = str(getattr(error, "strerror", "Invalid host name")).partition(" (while")[0]
        advice = "Set PORT to a free port, 1024 or higher, or HOST to an address of this machine."
        raise SettingsError(f"Cannot listen on HOST {host[:50]}, PORT {port}: {reason}. {advice}") from error


def serve(app: WSGIApplication, listener: socket.socket, threads: int, *, allow_origins: bool = False) -> None:
    """Serve `app` until SIGTERM or Ctrl+C, then finish requests in flight. A second signal kills the process.

    If `allow_origins` is true, errors for requests that never reach the application get CORS headers too.
    """
    server = ApiServer(app, listener, threads=threads, allow_origins=allow_origins, **SETTINGS)

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
    server = ApiServer(app, listener, threads=threads, allow_origins=False, **SETTINGS)
    loop = Thread(target=server.run, daemon=True)
    loop.start()
    try:
        yield
    finally:
        server.stop()
        loop.join()
