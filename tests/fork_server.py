"""Start the project's programs from a process that has imported them: nine tenths of a start are imports.

Run as a script, this module is that process. For each program it forks a parent, which forks the program, waits for
its end and reports its exit status. Elsewhere than on Linux, with `TEST_COLD` in the environment, and if it could make
a difference to the program, the program starts as a user starts it.
"""

import gc
import importlib
import json
import os
import runpy
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import IO, Any

PROJECT = Path(__file__).parent.parent
PROGRAMS = (["app.py"], ["seed.py"], ["-m", "flask"])
READ_BY_PYTHON = ("PYTHON", "LC_", "LANG")  # the variables that Python itself reads when it starts
OPTIONS = {"stdin", "stdout", "stderr", "text", "process_group"}
REPORT = struct.Struct("i")  # a process id or an exit status, from the program's parent

start_new_process = subprocess.Popen


def start(args: list[str], *others: Any, **options: Any) -> Any:
    """Start a program with the options of `subprocess.Popen`, which also says what the result is like."""
    if others or not can_fork(args, **options):
        return start_new_process(args, *others, **options)
    try:
        return Program(args, **options)
    except (BrokenPipeError, ConnectionResetError):  # the server has ended
        server.stop()
        print("The process that starts the tests' programs has ended. Another one is started.", file=sys.stderr)
        return Program(args, **options)


def can_fork(args: Any, cwd: Any = None, env: Mapping[str, str] | None = None, **options: Any) -> bool:
    """Return whether a program that is forked does the same as one that is started anew."""
    variables = os.environ if env is None else env
    if sys.platform != "linux" or "TEST_COLD" in variables or cwd != PROJECT or options.keys() - OPTIONS:
        return False
    names = {name for name in (*os.environ, *variables) if name.startswith(READ_BY_PYTHON)}
    is_program = args[0] == sys.executable and any(args[1 : 1 + len(program)] == program for program in PROGRAMS)
    return is_program and all(os.environ.get(name) == variables.get(name) for name in names)


class Popen(subprocess.Popen):
    """What the tests have in the place of `subprocess.Popen`, so that `subprocess.run` starts programs fast too."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return start(*args, **options)


class ForkServer:
    """The process that starts programs. It is started for the first of them."""

    def __init__(self) -> None:
        self._connection: socket.socket | None = None
        self._lock = Lock()

    def send(self, files: list[int]) -> None:
        """Send what the process needs for one program. Raises BrokenPipeError if it has ended."""
        with self._lock:
            if not self._connection:
                self._connection, theirs = socket.socketpair()
                with theirs:
                    arguments = [sys.executable, __file__, str(theirs.fileno())]
                    self._process = start_new_process(arguments, cwd=PROJECT, pass_fds=[theirs.fileno()])
            socket.send_fds(self._connection, [b"+"], files)

    def stop(self) -> None:
        """End the process, but no program."""
        with self._lock:
            if self._connection:
                self._connection.close()
                self._connection = None
                self._process.wait()


server = ForkServer()


class Program:
    """A program that the server has started, with what the tests use of `subprocess.Popen`."""

    def __init__(
        self,
        args: list[str],
        cwd: Path,
        env: Mapping[str, str] | None = None,
        text: bool = False,
        process_group: int = -1,
        **streams: Any,
    ) -> None:
        self.args = args
        self.returncode: int | None = None
        self._connection, theirs = socket.socketpair()
        to_close = [theirs.detach()]
        files = [*to_close]
        self.stdin, self.stdout, self.stderr = (
            open_stream(number, streams.get(name), text, files, to_close)
            for number, name in enumerate(("stdin", "stdout", "stderr"))
        )
        try:
            server.send(files)
        finally:
            for file in to_close:
                os.close(file)
        request = {"arguments": args[1:], "env": dict(os.environ if env is None else env), "group": process_group}
        self._connection.sendall(json.dumps(request).encode() + b"\n")
        self.pid = self._receive()

    def _receive(self) -> int:
        report = self._connection.recv(REPORT.size)
        if not report:
            raise BrokenPipeError("The parent of a program has ended before the program.")
        return int(REPORT.unpack(report)[0])

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_error: object) -> None:
        for file in (self.stdout, self.stderr, self.stdin):
            if file:
                with suppress(BrokenPipeError):
                    file.close()
        self.wait()

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._connection.settimeout(timeout)
            try:
                self.returncode = self._receive()
            except (TimeoutError, BlockingIOError):
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            self._connection.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        """Write the input, read both outputs to their ends, and wait for the exit status."""
        deadline = time.monotonic() + timeout if timeout is not None else None
        received: dict[str, Any] = {"stdout": None, "stderr": None}

        def read(name: str) -> None:
            received[name] = getattr(self, name).read()

        def write() -> None:
            with suppress(BrokenPipeError), self.stdin:
                if input:
                    self.stdin.write(input)

        threads = [Thread(target=partial(read, name), daemon=True) for name in received if getattr(self, name)]
        threads += [Thread(target=write, daemon=True)] if self.stdin and not self.stdin.closed else []
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0, deadline - time.monotonic()) if deadline else None)
            if thread.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(max(0, deadline - time.monotonic()) if deadline else None)
        for file in (self.stdout, self.stderr):
            if file:
                file.close()
        return received["stdout"], received["stderr"]


def open_stream(number: int, value: Any, text: bool, files: list[int], to_close: list[int]) -> IO[Any] | None:
    """Add the file that a program has as a standard stream to `files`, and return this process's end of a pipe."""
    if value == subprocess.PIPE:
        read, write = os.pipe()
        own, theirs = (write, read) if number == 0 else (read, write)
        files.append(theirs)
        to_close.append(theirs)
        return os.fdopen(own, ("w" if number == 0 else "r") + ("" if text else "b"))
    if value == subprocess.DEVNULL:
        files.append(os.open(os.devnull, os.O_RDWR))
        to_close.append(files[-1])
    elif value == subprocess.STDOUT:
        files.append(files[2])
    else:
        files.append(number if value is None else value if isinstance(value, int) else value.fileno())
    return None


def receive_program(connection: socket.socket) -> list[str]:
    """Fork for each request. Return in the process of a program, with its environment and files, its arguments."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        message, files, _, _ = socket.recv_fds(connection, 1, 4)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG) != (0, 0):
                pass
        if not message:
            os._exit(0)
        if not os.fork():
            break
        for file in files:
            os.close(file)
    connection.close()
    reports = socket.socket(fileno=files.pop(0))
    with reports.makefile() as lines:
        request = json.loads(lines.readline())
    if program := os.fork():
        for file in files:
            os.close(file)
        status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
        with suppress(OSError):
            reports.send(REPORT.pack(status))
        os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, file in enumerate(files):
        os.dup2(file, number)
    if request["group"] >= 0:
        os.setpgid(0, request["group"])
    os.environ.clear()
    os.environ.update(request["env"])
    time.tzset()
    reports.send(REPORT.pack(os.getpid()))
    reports.close()
    os.closerange(3, max(files) + 1)
    return list(request["arguments"])


def run_program(arguments: list[str]) -> None:
    """Run a program as Python does at its start."""
    sys.stdin, sys.stdout = open(0), open(1, "w", buffering=1 if os.isatty(1) else -1)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace")  # noqa: SIM115
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    sys.path[0] = str(PROJECT)
    for module in ("app", "seed", "flask.cli", "sqlalchemy.dialects.sqlite"):
        importlib.import_module(module)
    with suppress(ImportError):
        importlib.import_module("psycopg")
    gc.freeze()  # so that the programs share its memory
    run_program(receive_program(socket.socket(fileno=int(sys.argv[1]))))
