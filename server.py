"""Serving: the log, the listening socket, waitress' loop, and stopping."""

import gc
import logging
import os
import resource
import select
import signal
import socket
import time
from contextlib import suppress
from types import FrameType

import click
from flask import Flask
from waitress import wasyncore
from waitress.server import TcpWSGIServer, create_server

from connections import AT_ONCE, CONNECTIONS, GRACE_SECONDS, LIMITS, Channel, Dispatcher

DRAIN_SECONDS = 10  # for what is in flight when the service is stopped; container runtimes wait as long


class LogHandler(logging.Handler):
    """Writes the log to a file, but drops what would have to wait, as for a reader of a pipe that reads no more."""

    def __init__(self, file: int) -> None:
        super().__init__()
        formatter = logging.Formatter("%(asctime)sZ %(levelname)s %(message)s", "%Y-%m-%dT%H:%M:%S")
        formatter.converter = time.gmtime
        self.setFormatter(formatter)
        self._file = file
        self._room = select.poll()
        self._room.register(file, select.POLLOUT)

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(Exception):  # no line is worth an answer
            for line in self.format(record).splitlines():
                if self._room.poll(0):  # then a pipe takes PIPE_BUF bytes at once
                    os.write(self._file, f"{line}\n".encode(errors="replace")[-select.PIPE_BUF :])


def base_url(host: str, port: int) -> str:
    """Give the address at which a client on this machine reaches a service that listens on `host` and `port`."""
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{local}]:{port}" if ":" in local else f"http://{local}:{port}"


def listen(host: str, port: int) -> socket.socket:
    """Open the listening socket; of a name with several addresses, take IPv4.

    Raises click.ClickException where that cannot be done.
    """
    try:
        family, *_, address = min(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        return socket.create_server(address, family=family)
    except UnicodeError as error:
        raise click.ClickException(f"HOST {host[:50]} is not the name of a host.") from error
    except OSError as error:
        reason = str(error.strerror).partition(" (while")[0]
        raise click.ClickException(f"Cannot listen on HOST {host}, PORT {port}: {reason}.") from error


def serve(app: Flask, listener: socket.socket, threads: int) -> None:
    """Serve `app` until SIGTERM or Ctrl+C, then answer what is in flight, for `DRAIN_SECONDS` at most."""
    logging.getLogger("waitress").setLevel(logging.ERROR)  # its warnings are of requests that wait for a thread
    _, most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most_files, most_files))
    TcpWSGIServer.channel_class = Channel
    dispatcher = Dispatcher(app.extensions["cache"])
    dispatcher.set_thread_count(threads)
    server = create_server(
        app,
        sockets=[listener],
        _dispatcher=dispatcher,
        ident=None,
        log_socket_errors=False,  # a client that goes away is no event
        asyncore_use_poll=True,  # select() fails from the 1,024th open file on
        **LIMITS,
    )
    if app.extensions["cache"].watch:
        app.extensions["cache"].watch.serve()
    gc.freeze()  # what is there by now stays: collections need not go through it
    _run(server)
    _drain(server)


def _run(server: TcpWSGIServer) -> None:
    """Serve until the first signal. A second one ends the process at once, as if there were no handler."""
    stopping = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True
        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, signal.SIG_DFL)
        server.pull_trigger()  # wakes the loop

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    while not stopping:
        _turn(server, timeout=1)


def _turn(server: TcpWSGIServer, timeout: float) -> None:
    """Wait for something to happen, for so many seconds, and deal with it."""
    wasyncore.loop(timeout=timeout, use_poll=True, map=server._map, count=1)
    server.task_dispatcher.answer_ready()
    if len(server.active_channels) > CONNECTIONS:
        _make_room(server)


def _make_room(server: TcpWSGIServer) -> None:
    """Close the connections that have been still for longest, so that idle ones keep nobody out."""
    channels = server.active_channels.values()
    quiet_since = time.time() - GRACE_SECONDS
    still = [each for each in channels if not each.requests or each.total_outbufs_len > AT_ONCE]
    for channel in sorted(still, key=lambda each: each.last_activity)[: len(channels) - CONNECTIONS]:
        if channel.last_activity < quiet_since:
            channel.handle_close()


def _drain(server: TcpWSGIServer) -> None:
    """Take no new connections, close the idle ones, and go on until the others are answered or time is up."""
    backlog = select.poll()
    backlog.register(server.socket, select.POLLIN)
    for _ in range(CONNECTIONS):  # which, to their clients, are open already
        if not backlog.poll(0):
            break
        _turn(server, timeout=0)
    wasyncore.dispatcher.close(server)  # its own close() would also close what its threads wake the loop with
    deadline = time.monotonic() + DRAIN_SECONDS
    while server.active_channels and time.monotonic() < deadline:
        _turn(server, timeout=0.1)
        for channel in server.active_channels.values():
            if channel.can_be_closed():
                channel.will_close = True
