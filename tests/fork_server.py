"""A process that has imported the service, and forks a process for each program: nine tenths of a start are imports.

`programs.py` starts it and sends the requests.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

MODULES = ("app", "seed", "flask.cli", "sqlalchemy.dialects.sqlite", "psycopg")
MAX_REQUEST_BYTES = 1 << 20


def wait_for_request(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Fork for each request; return it and the program's standard streams in the new process.

    The parent of the new process ends before its id is sent, so that it has become a child of the tests' process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, streams, _, _ = socket.recv_fds(connection, MAX_REQUEST_BYTES, 3)
        if not message:
            os._exit(0)
        reading, writing = os.pipe()
        parent = os.fork()
        if not parent:
            if program := os.fork():
                os.write(writing, str(program).encode())
                os._exit(0)
            return json.loads(message), streams
        os.waitpid(parent, 0)
        connection.send(os.read(reading, 100))
        for file in (reading, writing, *streams):
            os.close(file)


def prepare(request: dict[str, Any], streams: list[int]) -> None:
    """Give this process the environment, process group and standard streams of a program."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(streams):
        os.dup2(file, number)
    os.closerange(3, 1000)
    if request["process_group"] >= 0:
        os.setpgid(0, request["process_group"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    sys.stdin, sys.stdout = open(0), open(1, "w", buffering=1 if os.isatty(1) else -1)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115


def run(arguments: list[str]) -> None:
    """Run a program as Python does at its start."""
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parent.parent)
    for module in MODULES:
        with suppress(ModuleNotFoundError):
            importlib.import_module(module)
    gc.freeze()  # so that the programs share its memory
    request, streams = wait_for_request(socket.socket(fileno=int(sys.argv[1])))
    prepare(request, streams)
    run(request["arguments"])
