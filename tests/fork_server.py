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
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

REPORT = struct.Struct("i")  # a process id, then an exit status
MODULES = ("app", "seed", "flask.cli", "sqlalchemy.dialects.sqlite", "psycopg")


def wait_for_request(connection: socket.socket) -> list[int]:
    """Fork for each request, and return its files in the new process: a connection and three standard streams."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, files, _, _ = socket.recv_fds(connection, 1, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        if not message:
            os._exit(0)
        if not os.fork():
            connection.close()
            return files
        close(files)


def fork_program(reports: socket.socket, streams: list[int]) -> None:
    """Fork, and return in the new process. This one waits for it, reports its exit status and ends."""
    if program := os.fork():
        close(streams)  # so that the program alone keeps a pipe open
        status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
        with suppress(OSError):
            reports.send(REPORT.pack(status))
        os._exit(0)


def prepare(request: dict[str, Any], reports: socket.socket, streams: list[int]) -> None:
    """Give this process the environment, process group and standard streams of a program, and report its id."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(streams):
        os.dup2(file, number)
    if request["process_group"] >= 0:
        os.setpgid(0, request["process_group"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    reports.send(REPORT.pack(os.getpid()))
    reports.close()
    os.closerange(3, max(streams) + 1)
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


def close(files: list[int]) -> None:
    for file in files:
        os.close(file)


if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parent.parent)
    for module in MODULES:
        with suppress(ModuleNotFoundError):
            importlib.import_module(module)
    gc.freeze()  # so that the programs share its memory
    file, *streams = wait_for_request(socket.socket(fileno=int(sys.argv[1])))
    reports = socket.socket(fileno=file)
    with reports.makefile() as lines:
        request = json.loads(lines.readline())
    fork_program(reports, streams)
    prepare(request, reports, streams)
    run(request["arguments"])
