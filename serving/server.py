"""Serving with waitress: its settings, listening, and a graceful stop."""

import gc
import select
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread, current_thread
from types import FrameType
from typing import TYPE_CHECKING

from waitress import wasyncore
from waitress.adjustments import Adjustments

from serving.waitress_fixes import ApiServer
from settings import SettingsError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

DRAIN_SECONDS = 10  # for requests in flight when the service is stopped; container runtimes wait as long
# Windows' select() takes 512 sockets. Elsewhere, with the files of 64 threads, they stay below 1,024 open files.
MAX_CONNECTIONS = 800 if hasattr(select, "poll") else 400
SEND_BUFFER_BYTES = 256 * 1024  # of a connection, which Linux doubles; a worker thread copies as much in one go

SETTINGS = {
    "connection_limit": MAX_CONNECTIONS + 100,  # for new connections, before older ones are closed to make room
    "channel_timeout": 60,  # seconds without activity, after which a connection is closed
    "max_request_header_size": 16 * 1024,  # a search of 200 characters takes 2.4 KB at most
    "max_request_body_size": 64 * 1024,  # a body is read, but never used
    "outbuf_overflow": 64 * 1024,  # of a connection's unread bytes, but for shared bodies, go to a temporary file
    "outbuf_high_watermark": 1 << 40,  # no worker thread waits for a client: ApiChannel does
    "ident": None,
    "log_socket_errors": False,  # a client that goes away is no event
}


def base_url(host: str, port: int) -> str:
    """Return the URL at which a client on this machine reaches a service that listens on `host` and `port`."""
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """Return the listening socket; IPv4 if the name has several addresses. Raises SettingsError."""
    try:
        family, *_, address = min(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        return socket.create_server(address, family=family)
    except UnicodeError as error:
        raise SettingsError(
            f"HOST {host[:50]} is not a valid host name. Set HOST to 127.0.0.1 or another one."
        ) from error
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        advice = "Set PORT to a free port, or HOST to an address of this machine."
        raise SettingsError(f"Cannot listen on HOST {host}, PORT {port}: {reason}. {advice}") from error


def serve(app: "WSGIApplication", listener: socket.socket, threads: int, *, allow_origins: bool = False) -> None:
    """Serve `app` until SIGTERM or Ctrl+C, then finish what is in flight, for `DRAIN_SECONDS` at most.

    With `allow_origins`, web pages may read the errors of requests that never reach the application.
    """
    server = _create_server(app, listener, threads)
    server.allow_origins = allow_origins
    gc.freeze()  # what exists by now stays: collections need not go through it
    _stop_on_signal(server)
    _run(server)


@contextmanager
def serve_in_thread(app: "WSGIApplication", listener: socket.socket, threads: int) -> Iterator[None]:
    """Serve `app` in a thread while the context lasts, then finish what is in flight as `serve` does."""
    server = _create_server(app, listener, threads)
    loop = Thread(target=_run, args=(server,), daemon=True)
    loop.start()
    try:
        yield
    finally:
        server.stop()
        loop.join()


def _create_server(app: "WSGIApplication", listener: socket.socket, threads: int) -> ApiServer:
    _raise_file_limit()
    settings = Adjustments(sockets=[listener], threads=threads, **SETTINGS)
    settings.socket_options = [*settings.socket_options, (socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)]
    sockinfo = listener.family, listener.type, listener.proto, listener.getsockname()
    return ApiServer(app, _sock=listener, adj=settings, sockinfo=sockinfo, bind_socket=False)


def _raise_file_limit() -> None:
    """Allow two files for each connection, if the system has a limit and lets it be raised.

    One is its socket, the other holds what its client has not read yet.
    """
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 3 * MAX_CONNECTIONS if hard == resource.RLIM_INFINITY else min(3 * MAX_CONNECTIONS, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _stop_on_signal(server: ApiServer) -> None:
    """Stop at the first signal. A second one ends the process at once, as if there were no handler."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        server.stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def _run(server: ApiServer) -> None:
    """Serve until the server is stopped, then finish what is in flight."""
    server.loop_thread = current_thread()
    while not server.is_stopping:
        _run_once(server, timeout=1)
    _drain(server)


def _run_once(server: ApiServer, timeout: float) -> None:
    """Wait for events, for at most `timeout` seconds, and handle them."""
    wasyncore.loop(timeout=timeout, use_poll=True, map=server._map, count=1)
    server.make_room(MAX_CONNECTIONS)


def _drain(server: ApiServer) -> None:
    """Accept no new connections, close the idle ones, and go on until the others are done or time is up."""
    accepted = -1
    while accepted != len(server.active_channels):  # those in the backlog, which to their clients are open already
        accepted = len(server.active_channels)
        server.handle_accept()
    wasyncore.dispatcher.close(server)  # its own close() would also close what wakes the loop
    deadline = time.monotonic() + DRAIN_SECONDS
    while server.active_channels and time.monotonic() < deadline:
        _run_once(server, timeout=0.1)
        for channel in server.active_channels.values():
            if channel.is_drained():
                channel.will_close = True
